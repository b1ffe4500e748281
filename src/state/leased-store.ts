import type { Address } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { lostLease, NotKept, StillLocked, Unanswered, unsettledRun } from './failures.ts';
import { isRunId, type JournalEntry, type RunBegan } from './journal.ts';
import {
  type FileEnd,
  JOURNAL_HEADER,
  type JournalWriter,
  openOnFirst,
  TORN,
  writeJournal,
} from './journal-text.ts';
import {
  acquireLease,
  breakLease,
  currentMoment,
  elapsedSince,
  formatBeat,
  type LockEffects,
  type LockPlace,
  longestSilence,
  type Moment,
  RELEASED,
  readHolder,
} from './lock.ts';
import type { State } from './model.ts';
import {
  type EndsByRun,
  inOrder,
  type OpenRun,
  type OpenRuns,
  readEnds,
  readReceipt,
  type Stored,
  summarise,
  type Wanted,
} from './runs.ts';
import { type Remainder, salvageFrom } from './salvage.ts';
import type { LineSeals, Seals } from './seal.ts';
import {
  type Base,
  checkSuccession,
  readHead,
  type StateHead,
  type StateMark,
} from './state-text.ts';
import type {
  Claim,
  Expected,
  Holder,
  KeptRun,
  Lease,
  Overlap,
  RunSummary,
  StateStore,
} from './store.ts';

/**
 * Keeps a state, its journals and its lock. Whose turn it is, what a run may write and what a journal means is the
 * same for all of them, and stands below; a driver is small: it does each change in one step, or in steps after any of
 * which the next command finds its way.
 *
 *     StateStore ◄── leased-store.ts ──► StoreDriver ◄── file
 *                                                    ◄── features/stores/remote/store.ts ──► Remote ◄── document.ts, of one document
 *                                                                                            ◄── of rows
 */
export type StoreDriver = LockPlace &
  Remainder & {
    /**
     * True if the store itself refuses the writes of a lost lease. Then what the holder of a lease has read holds for
     * as long as the lease does, and is read once.
     */
    readonly isFenced: boolean;
    /** Puts failures of the store into words, where it has not done so itself. */
    readonly worded?: <T>(work: () => Promise<T>) => Promise<T>;
    /** The seals of what it keeps. */
    readonly seals: Seals;
    /** Makes room for the lock. */
    readonly prepare?: () => Promise<void>;
    /** Removes what writers that died left half-done. For the holder of the lock. */
    readonly removeDrafts?: () => Promise<void>;
    /** Throws `CallsheetError('locked')` where the lease has been lost, as far as one sees without asking the store. */
    readonly check?: (lease: string) => void;
    readonly load: () => Promise<Stored>;
    /** The same where only the mark of the state and the ends of the journals are asked for. */
    readonly loadMark: () => Promise<Stored<StateMark>>;
    /** Returns true if it is known without reading the state that no journal is open. */
    readonly hasNoOpenRuns?: () => Promise<boolean>;
    /** Files what the dead left behind. */
    readonly tidy: (lease: string, runs: OpenRuns) => Promise<void>;
    /** Opens a journal for lines at its end. `new`: the run has none yet. */
    readonly openEnd: (lease: string, run: string, which: 'new' | 'existing') => Promise<FileEnd>;
    /** Looks once at the state that is there. False: it is neither of that write nor of a later one. */
    readonly keeps: (written: StateHead) => Promise<boolean>;
    /** Replaces the state and files the journal of that run. */
    readonly commit: (lease: string, state: State, run: string | undefined) => Promise<void>;
    /** As `Lease.replace` says. */
    readonly replace: (
      lease: string,
      state: State,
      journal: readonly [RunBegan, ...JournalEntry[]],
    ) => Promise<readonly string[]>;
    /** As `Lease.receive` says. Receipts first: a state is there when all of it is. */
    readonly receive: (lease: string, state: State, receipts: readonly KeptRun[]) => Promise<void>;
    /** Writes the journal of a finished run again. */
    readonly refile: (lease: string, receipt: KeptRun) => Promise<void>;
    /** Removes the journals of finished runs; an open journal of such an id stays. */
    readonly forget: (lease: string, runs: readonly string[]) => Promise<void>;
    /** As `StateStore.mostRuns` says. */
    readonly mostRuns?: number | undefined;
    /** The runs whose journals were filed, in no order. */
    readonly filedRuns: () => Promise<readonly string[]>;
    /** Runs that committed and whose journals were not filed; none where that is one step. */
    readonly unfiledRuns?: () => Promise<readonly OpenRun[]>;
    /** The ends of the journals of some filed runs, by as few requests as the store can. */
    readonly ends: (runs: readonly string[]) => Promise<EndsByRun>;
    /** The journal of a run, open or filed. */
    readonly run: (run: string, wanted: Wanted) => Promise<OpenRun | undefined>;
    /**
     * Lists what other stacks in the same place manage. That is known only if one place keeps many stacks: others
     * have neither of these two.
     */
    readonly overlaps?: (account: string, claims: readonly Claim[]) => Promise<readonly Overlap[]>;
    /**
     * Claims resources for what the lease is going to do, until its next change of the state or its end; nothing where
     * that overlaps.
     */
    readonly claim?: (
      lease: string,
      account: string,
      claims: readonly Claim[],
    ) => Promise<readonly Overlap[]>;
    /** As `Lease.gathers` says. */
    readonly gathers?: number;
    /** As `StateStore.traffic` and `StateStore.estimate` say. */
    readonly traffic?: StateStore['traffic'];
    readonly estimate?: StateStore['estimate'];
    /** Throws `CallsheetError('refused')` where there is no room for a run. Only where a place is bounded. */
    readonly reserve?: (expected: Expected) => Promise<void>;
    readonly close: () => Promise<void>;
  };

/** Receipts that are listed by one request of a store. */
const PAGE = 250;

/** A driver throws this if the store refuses the writes of a lease. Only `openLeasedStore` catches it. */
export class NotHeld extends Error {}

/** A store over a driver. Nothing is written before the first `acquire`. */
export function openLeasedStore(driver: StoreDriver, effects: LockEffects): StateStore {
  const { location, worded = (work) => work() } = driver;
  const leases = new Set<Lease>();
  /** The last reading under a fenced lease: only its holder can have changed it since. */
  let latest: Stored | undefined;
  let closing: Promise<void> | undefined;

  async function takeLatest(): Promise<Stored<StateMark>> {
    const stored = latest ?? (await driver.loadMark());
    latest = undefined;
    return stored;
  }

  async function runs(): Promise<readonly RunSummary[]> {
    const receipts = ((await driver.unfiledRuns?.()) ?? []).map(summarise);
    const filed = await driver.filedRuns();
    for (let from = 0; from < filed.length; from += PAGE) {
      const page = filed.slice(from, from + PAGE);
      const ends = await driver.ends(page);
      for (const run of page) receipts.push(await readReceipt(run, () => readSummary(run, ends)));
    }
    return inOrder(receipts);
  }

  async function readSummary(run: string, ends: EndsByRun) {
    const own = ends.get(run);
    const read = own && (await readEnds(own, run, driver.seals));
    return read ?? (await driver.run(run, 'ends'));
  }

  async function runIds(): Promise<readonly string[]> {
    const unfiled = ((await driver.unfiledRuns?.()) ?? []).map(({ run }) => run);
    return [...new Set([...unfiled, ...(await driver.filedRuns())])];
  }

  async function close(): Promise<void> {
    for (const lease of leases) await lease.release();
    leases.clear();
    await driver.close();
  }

  return {
    location,
    trust: async () => driver.seals.trust(),
    load: () =>
      worded(async () => {
        const stored = await driver.load();
        latest = driver.isFenced && leases.size > 0 ? stored : undefined;
        return { state: stored.state, pending: stored.runs.pending?.entries ?? [] };
      }),
    overlaps: async (account, claims) => (await driver.overlaps?.(account, claims)) ?? [],
    salvage: () => worded(() => salvageFrom(driver)),
    lock: () => worded(() => readHolder(driver, effects)),
    unlock: (lease, by) =>
      worded(() => breakLease(driver, lease, by, effects, driver.check !== undefined)),
    acquire: (holder) =>
      worded(async () => {
        await driver.prepare?.();
        const acquired = await acquireLease(driver, holder, effects);
        latest = undefined;
        const lease = openLease(acquired, holder, driver, effects, takeLatest);
        try {
          await driver.removeDrafts?.();
        } catch (error) {
          await lease.release();
          throw error;
        }
        leases.add(lease);
        return lease;
      }),
    traffic: () => driver.traffic?.(),
    estimate: (expected) => worded(async () => driver.estimate?.(expected)),
    mostRuns: async () => driver.mostRuns,
    runIds: () => worded(runIds),
    runs: () => worded(runs),
    run: (id) =>
      worded(async () => (isRunId(id) ? (await driver.run(id, 'all'))?.entries : undefined)),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** How things stand, as far as the holder knows. */
type Stock = {
  readonly state: StateMark | undefined;
  readonly pending:
    | Pick<OpenRun & { readonly began: RunBegan }, 'run' | 'began' | 'count' | 'torn'>
    | undefined;
};

const NOTHING_OPEN: Stock = { state: undefined, pending: undefined };

/** A heartbeat: when it began, and how many requests had left before. */
type Heartbeat = { readonly began: Moment; readonly sent: number };

/** A heartbeat is overdue after so many times what lies between two. */
const OVERDUE = 1.5;
/** A heartbeat is left out if a write was one so much of that time ago: the next one still comes before it is overdue. */
const RECENT = 0.7;

/**
 * The right to write, for as long as the lock is held. One lease can settle a dead run and then do its
 * own: entries without a `began` go on with the pending run's journal, `commit` files it, and the next
 * `began` opens another.
 */
function openLease(
  { id, since }: { readonly id: string; readonly since: Moment },
  holder: Holder,
  driver: StoreDriver,
  effects: LockEffects,
  load: () => Promise<Stored<StateMark>>,
): Lease {
  const { location, worded = (work) => work() } = driver;
  let lost: CallsheetError | undefined;
  const journal = openOnFirst(openJournal, location);
  let known: Stock | undefined;
  let beating: Promise<void> | undefined;
  /** When the last heartbeat began that was confirmed. */
  let confirmed = since;
  /** Addresses of requests since then. */
  let sent: readonly Address[] = [];
  /** How many before those. */
  let sentBefore = 0;
  const silence = () => elapsedSince(confirmed, effects);
  const mostSilence = longestSilence(driver.timing);
  const isOverdue = () => silence() > OVERDUE * driver.timing.beat;
  /** The last write that was a heartbeat, too. */
  let written: Heartbeat | undefined;
  const stopBeating = effects.every(driver.timing.beat, () => {
    const isRecent =
      written !== undefined && elapsedSince(written.began, effects) < RECENT * driver.timing.beat;
    if (isRecent && written !== undefined) learnConfirmed(written);
    else void beat();
  });

  function beat(): Promise<void> {
    beating ??= confirmHeld()
      // One that cannot be written is a missed one; the next request tells whether it mattered.
      .catch(() => undefined)
      .finally(() => {
        beating = undefined;
      });
    return beating;
  }

  async function confirmHeld(): Promise<void> {
    if (lost !== undefined) return;
    const heartbeat = beginHeartbeat();
    const isLate = silence() > mostSilence;
    const { beat: confirmLease, renew = confirmLease } = driver;
    if (!(await (isLate ? renew : confirmLease)(id, formatBeat(effects.now())))) {
      await lose();
      return;
    }
    check();
    learnConfirmed(heartbeat);
  }

  function beginHeartbeat(): Heartbeat {
    return { began: currentMoment(effects), sent: sentBefore + sent.length };
  }

  function learnConfirmed(heartbeat: Heartbeat): void {
    // One that began later was confirmed meanwhile.
    if (heartbeat.sent < sentBefore) return;
    confirmed = heartbeat.began;
    sent = sent.slice(heartbeat.sent - sentBefore);
    sentBefore = heartbeat.sent;
  }

  /** The end of a journal, whose writes may be heartbeats, too. */
  function confirming(end: FileEnd): FileEnd {
    return {
      ...end,
      async append(text) {
        const heartbeat = beginHeartbeat();
        await end.append(text);
        if (end.wasHeartbeat?.() === true) written = heartbeat;
      },
    };
  }

  function silenced(): CallsheetError {
    return lostLease(location, { why: 'silent', milliseconds: silence() });
  }

  async function confirm(address: Address): Promise<void> {
    check();
    // One that is under way may have begun before the machine was suspended, or the store was away.
    for (let tries = 0; tries < 2 && isOverdue() && lost === undefined; tries += 1) await beat();
    check();
    if (silence() > mostSilence) throw silenced();
    sent = [...sent, address];
  }

  function check(): void {
    if (lost !== undefined) throw lost;
    try {
      driver.check?.(id);
    } catch (error) {
      if (error instanceof CallsheetError) lost = error;
      throw error;
    }
  }

  async function lose(): Promise<CallsheetError> {
    const there = await driver.lockRecord().catch(() => undefined);
    lost ??=
      there === undefined || there.id === id
        ? lostLease(location, { why: 'removed' })
        : lostLease(location, { why: 'taken', by: there.holder });
    return lost;
  }

  function learn(stock: Stock): void {
    known = driver.isFenced ? stock : undefined;
  }

  /** Reads how things stand, and files what the dead left behind. */
  async function look(): Promise<Stock> {
    if (known !== undefined) return known;
    check();
    const { state, runs } = await load();
    // Again: what was read is only sure to be left by the dead if the lock was held throughout.
    check();
    await driver.tidy(id, runs);
    const stock = { state, pending: runs.pending };
    learn(stock);
    return stock;
  }

  async function openJournal(first: JournalEntry): Promise<JournalWriter> {
    check();
    // With nothing open, the usual case, a large state need not be read for it.
    const { state, pending } = (await driver.hasNoOpenRuns?.()) ? NOTHING_OPEN : await look();
    if (first.type === 'began') {
      if (pending !== undefined) throw unsettledRun(location, pending.run);
      checkRunId(first.run);
      learn({ state, pending: { run: first.run, began: first, count: 0, torn: false } });
      return write(first.run, 'new', JOURNAL_HEADER, driver.seals.lines(first.run));
    }
    if (pending === undefined) throw new Error(`no run has begun: ${first.type} entry`);
    const seals = driver.seals.lines(pending.run, pending);
    return write(pending.run, 'existing', pending.torn ? TORN : '', seals);
  }

  async function write(run: string, which: 'new' | 'existing', head: string, seals: LineSeals) {
    const end = confirming(await driver.openEnd(id, run, which));
    return writeJournal(run, end, check, head, seals);
  }

  async function commit(state: State): Promise<void> {
    check();
    await journal.close();
    const { state: current, pending } = await look();
    if (pending !== undefined && state.last_run !== pending.run)
      throw unsettledRun(location, pending.run);
    const base: Base | undefined = current ?? pending?.began;
    checkSuccession(state, base, location);
    await driver.commit(id, state, pending?.run);
    learn({ state, pending: undefined });
    await expectKept(state);
  }

  async function replace(
    state: State,
    entries: readonly [RunBegan, ...JournalEntry[]],
  ): Promise<readonly string[]> {
    const { run } = entries[0];
    if (!isRunId(run) || state.last_run !== run) throw new Error(`not written by a run: ${run}`);
    check();
    const aside = await driver.replace(id, state, entries);
    learn({ state, pending: undefined });
    await expectKept(state);
    return aside;
  }

  async function receive(state: State, receipts: readonly KeptRun[]): Promise<void> {
    check();
    for (const { run } of receipts) checkRunId(run);
    await driver.receive(id, state, receipts);
    learn({ state, pending: undefined });
    await expectKept(state);
  }

  /** A server that is not the store, or a copy of it, may confirm every write and keep none. */
  async function expectKept({ lineage, serial }: State): Promise<void> {
    try {
      const isKept = await driver.keeps({ lineage, serial });
      check();
      if (isKept) return;
    } catch (error) {
      // The write was confirmed before, and nothing speaks against it.
      if (error instanceof Unanswered) return;
      throw error;
    }
    const lines = await driver.stateLines().catch(() => undefined);
    const found = lines && (await readHead(lines));
    const there = found === undefined ? 'no state' : `serial ${found.serial}`;
    throw new NotKept(location, `serial ${serial}, and returns ${there}`);
  }

  async function claim(account: string, claims: readonly Claim[]): Promise<readonly Overlap[]> {
    check();
    return (await driver.claim?.(id, account, claims)) ?? [];
  }

  /**
   * Gives a failure after the lease was lost that reason: another run tidied something away, say. A failed write may
   * have come through all the same.
   */
  function whileHeld<T>(work: () => Promise<T>): Promise<T> {
    return worded(async () => {
      try {
        return await work();
      } catch (error) {
        known = undefined;
        check();
        throw error instanceof NotHeld ? await lose() : error;
      }
    });
  }

  return {
    id,
    holder,
    gathers: driver.gathers,
    confirm,
    unconfirmed: () => (lost === undefined && !isOverdue() ? [] : [...new Set(sent)]),
    claim: (account, claims) => whileHeld(() => claim(account, claims)),
    reserve: (expected) => whileHeld(async () => driver.reserve?.(expected)),
    append: (entry) => whileHeld(() => journal.append(entry)),
    note: (entry) => journal.note(entry),
    commit: (state) => whileHeld(() => commit(state)),
    replace: (state, entries) => whileHeld(() => replace(state, entries)),
    receive: (state, receipts) => whileHeld(() => receive(state, receipts)),
    refile: (receipt) => whileHeld(() => driver.refile(id, receipt)),
    forget: (runs) =>
      whileHeld(async () => {
        check();
        for (const run of runs) checkRunId(run);
        if (runs.length > 0) await driver.forget(id, runs);
      }),
    async release() {
      stopBeating();
      // The append that failed has thrown this already.
      await journal.close().catch(() => undefined);
      await beating;
      // A file of a lock that was lost is still to be closed.
      if (lost !== undefined && driver.isFenced) return;
      lost ??= lostLease(location, { why: 'released' });
      try {
        await driver.beat(id, RELEASED);
      } catch (error) {
        // A lease that cannot be given back now is free when its heartbeat has been silent for long enough.
        if (error instanceof StillLocked) throw error;
      }
    },
  };
}

function checkRunId(run: string): void {
  if (!isRunId(run)) throw new Error(`not the id of a run: ${JSON.stringify(run)}`);
}
