import type { CallsheetError } from '../../core/errors.ts';
import { lostLease, unsettledRun } from '../failures.ts';
import { isRunId, type JournalEntry, type RunBegan } from '../journal.ts';
import {
  JOURNAL_HEADER,
  type JournalWriter,
  journalPieces,
  linesIn,
  openOnFirst,
  TORN,
  writeJournal,
} from '../journal-text.ts';
import { formatBeat, type LockEffects, RELEASED_BEAT } from '../lock.ts';
import type { State } from '../model.ts';
import {
  inOrder,
  isSound,
  type OpenRun,
  type Receipt,
  readOpenRun,
  readReceipt,
  type Standing,
  sortOpenRuns,
  type Wanted,
} from '../runs.ts';
import { salvageFrom, salvageJournal } from '../salvage.ts';
import {
  type Base,
  checkSuccession,
  parseState,
  readState,
  type StateMark,
} from '../state-text.ts';
import type { Claim, Holder, KeptRun, Lease, Overlap, StateStore } from '../store.ts';
import { StillLocked } from './failures.ts';
import {
  type Aside,
  acquireLease,
  breakLease,
  type Change,
  type Kept,
  type OpenText,
  type Remote,
  seeLease,
} from './remote.ts';

/** A store over what keeps the texts somewhere else. Nothing is written before the first `acquire`. */
export function openRemoteStore(remote: Remote, effects: LockEffects): StateStore {
  const { location } = remote;
  const leases = new Set<Lease>();
  /** What was read under a lease: nobody but its holder can have changed it since. */
  let latest: Standing | undefined;
  let closing: Promise<void> | undefined;

  async function load(): Promise<Standing> {
    const standing = await standingOf(await remote.read(), location);
    latest = leases.size > 0 ? standing : undefined;
    return standing;
  }

  async function takeStock(): Promise<Standing> {
    const standing = latest ?? (await standingOf(await remote.read(), location));
    latest = undefined;
    return standing;
  }

  async function readRun(run: string, wanted: Wanted): Promise<OpenRun | undefined> {
    const pieces = await remote.journal(run);
    return pieces && readOpenRun(linesIn(pieces), run, nameOf(run, location), wanted);
  }

  async function close(): Promise<void> {
    for (const lease of leases) await lease.release();
    leases.clear();
    await remote.close();
  }

  return {
    location,
    async load() {
      const { state, runs } = await load();
      return { state, pending: runs.pending?.entries ?? [] };
    },
    overlaps: async (account, claims) => (await remote.overlaps?.(account, claims)) ?? [],
    salvage: () => salvageRemote(remote),
    lock: () => seeLease(remote, effects),
    unlock: (lease, by) => breakLease(remote, lease, by, effects),
    async acquire(holder) {
      const id = await acquireLease(remote, holder, effects);
      latest = undefined;
      const lease = openRemoteLease(id, holder, remote, effects, takeStock);
      leases.add(lease);
      return lease;
    },
    async runs() {
      const names = await remote.runs();
      const receipts: Receipt[] = [];
      for (const run of names)
        receipts.push(
          await readReceipt(
            run,
            () => readRun(run, 'ends'),
            async () => '',
          ),
        );
      return inOrder(receipts);
    },
    async run(id) {
      return isRunId(id) ? (await readRun(id, 'all'))?.entries : undefined;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** What messages call the journal of a run. */
export function nameOf(run: string, location: string): string {
  return `of run ${run} in ${location}`;
}

async function standingOf({ state: pieces, open }: Kept, location: string): Promise<Standing> {
  const state =
    pieces && ((await readState(linesIn(pieces))) ?? (await parseState(pieces.join(''), location)));
  const runs: OpenRun[] = [];
  for (const { run, pieces } of open)
    runs.push(await readOpenRun(linesIn(pieces), run, nameOf(run, location), 'all'));
  return { state, runs: sortOpenRuns(state, runs, location) };
}

function salvageRemote(remote: Remote) {
  const { location } = remote;
  return salvageFrom({
    location,
    check: async () => standingOf(await remote.read(), location),
    lines: async () => {
      const { state } = await remote.read();
      return state && linesIn(state);
    },
    state: async () => (await remote.read()).state?.join(''),
    async journals() {
      const { open } = await remote.read();
      const sourceOf = (
        run: string,
        finished: boolean,
        pieces: () => Promise<readonly string[]>,
      ) => {
        const path = nameOf(run, location);
        const read = async () => salvageJournal(linesIn(await pieces()), path);
        return { run, path, finished, read };
      };
      const finished = await remote.runs();
      return [
        ...open.map(({ run, pieces }) => sourceOf(run, false, async () => pieces)),
        ...finished.map((run) =>
          sourceOf(run, true, async () => (await remote.journal(run)) ?? []),
        ),
      ];
    },
  });
}

/** Characters of a journal that are written at once: half of what fits into one string. */
const MOST_AT_ONCE = 256 * 1024 * 1024;

/** How things stand, as far as the holder knows: nobody else can change them. */
type Stock = {
  readonly state: StateMark | undefined;
  readonly pending:
    | { readonly run: string; readonly began: RunBegan; readonly torn: boolean }
    | undefined;
};

/**
 * The right to write into a store far away. Every change asks the store whether the lease still holds, in the
 * same step that makes the change: a holder that was paused for long cannot write after its successor.
 */
function openRemoteLease(
  id: string,
  holder: Holder,
  remote: Remote,
  effects: LockEffects,
  takeStock: () => Promise<Standing>,
): Lease {
  const { location } = remote;
  let lost: CallsheetError | undefined;
  const journal = openOnFirst(openJournal, location);
  let stock: Stock | undefined;
  let beating: Promise<void> | undefined;
  const stopBeating = effects.every(remote.timing.beat, () => {
    beating ??= beat()
      // One that cannot be written is a missed one; the next write tells whether it mattered.
      .catch(() => undefined)
      .finally(() => {
        beating = undefined;
      });
  });

  async function beat(): Promise<void> {
    const isHeld = await remote.beat(id, formatBeat(effects.now()).trim());
    if (!isHeld) await lose();
  }

  function check(): void {
    if (lost !== undefined) throw lost;
  }

  async function lose(): Promise<CallsheetError> {
    const there = await remote.lockRecord().catch(() => undefined);
    lost ??=
      there === undefined || there.id === id
        ? lostLease(location, { why: 'removed' })
        : lostLease(location, { why: 'taken', by: there.holder });
    return lost;
  }

  async function write(change: Change): Promise<void> {
    check();
    if (!(await remote.write(id, change))) throw await lose();
  }

  /** Reads how things stand, and files what the dead left behind. */
  async function look(): Promise<Stock> {
    if (stock !== undefined) return stock;
    const { state, runs } = await takeStock();
    const file = runs.finished.map(({ run }) => run);
    const drop = runs.blank.map(({ run }) => run);
    if (file.length + drop.length > 0) await write({ file, drop });
    stock = { state, pending: runs.pending };
    return stock;
  }

  async function openJournal(first: JournalEntry): Promise<JournalWriter> {
    const { state, pending } = await look();
    if (first.type === 'began') {
      if (pending !== undefined) throw unsettledRun(location, pending.run);
      if (!isRunId(first.run)) throw new Error(`not the id of a run: ${JSON.stringify(first.run)}`);
      stock = { state, pending: { run: first.run, began: first, torn: false } };
      return goOn(first.run, JOURNAL_HEADER, true);
    }
    if (pending === undefined) throw new Error(`no run has begun: ${first.type} entry`);
    return goOn(pending.run, pending.torn ? TORN : '', false);
  }

  function goOn(run: string, head: string, leavesRoom: boolean): JournalWriter {
    const end = {
      append: (text: string) => write({ append: { run, text, leavesRoom } }),
      async close() {},
    };
    return writeJournal(run, end, check, head);
  }

  async function commit(state: State): Promise<void> {
    check();
    await journal.close();
    const { state: current, pending } = await look();
    if (pending !== undefined && state.last_run !== pending.run)
      throw unsettledRun(location, pending.run);
    const base: Base | undefined = current ?? pending?.began;
    checkSuccession(state, base, location);
    await write({ state, file: pending === undefined ? [] : [pending.run] });
    stock = { state, pending: undefined };
  }

  /** One step, so there is nothing in between to die in. */
  async function replace(
    state: State,
    [began, ...rest]: readonly [RunBegan, ...JournalEntry[]],
  ): Promise<readonly string[]> {
    const { run } = began;
    if (!isRunId(run) || state.last_run !== run) throw new Error(`not written by a run: ${run}`);
    check();
    const kept = await remote.read();
    const aside: Aside[] =
      kept.state === undefined ? [] : [{ name: `state.before-${run}`, pieces: kept.state }];
    const sound: string[] = [];
    const drop: string[] = [];
    for (const open of kept.open) {
      const read = () => readOpenRun(linesIn(open.pieces), open.run, '', 'ends');
      if (await isSound(read, state.lineage)) sound.push(open.run);
      else {
        drop.push(open.run);
        aside.push({ name: `${open.run}.before-${run}`, pieces: open.pieces });
      }
    }
    const append = await appendAll(run, [began, ...rest]);
    await write({ append, state, file: [...sound, run], drop, aside });
    stock = { state, pending: undefined };
    return aside.map(({ name }) => name);
  }

  /** Appends a journal but for its last piece, which is returned: all of it, unless it is too large for one text. */
  async function appendAll(run: string, entries: readonly JournalEntry[]): Promise<OpenText> {
    let text = '';
    for (const piece of journalPieces(entries)) {
      if (text.length + piece.length > MOST_AT_ONCE) {
        await write({ append: { run, text } });
        text = '';
      }
      text += piece;
    }
    return { run, text };
  }

  async function claim(account: string, claims: readonly Claim[]): Promise<readonly Overlap[]> {
    check();
    const overlaps = (await remote.claim?.(id, account, claims)) ?? [];
    if (overlaps === 'lost') throw await lose();
    return overlaps;
  }

  /** Receipts first: a state is there when all of it is. */
  async function receive(state: State, receipts: readonly KeptRun[]): Promise<void> {
    const there = await remote.runs();
    for (const { run, entries } of receipts) {
      if (there.includes(run)) continue;
      await write({ append: await appendAll(run, entries), file: [run] });
    }
    await write({ state });
    stock = { state, pending: undefined };
  }

  /** What fails after the lease was lost fails for that reason. What failed may have come through all the same. */
  async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      stock = undefined;
      check();
      throw error;
    }
  }

  return {
    id,
    holder,
    claim: (account, claims) => whileHeld(() => claim(account, claims)),
    reserve: (expected) => whileHeld(async () => remote.reserve?.(expected)),
    append: (entry) => whileHeld(() => journal.append(entry)),
    note: (entry) => journal.note(entry),
    commit: (state) => whileHeld(() => commit(state)),
    replace: (state, entries) => whileHeld(() => replace(state, entries)),
    receive: (state, receipts) => whileHeld(() => receive(state, receipts)),
    async release() {
      stopBeating();
      // A journal that failed has told so already, to whoever appended.
      await journal.close().catch(() => undefined);
      await beating;
      if (lost !== undefined) return;
      lost = lostLease(location, { why: 'released' });
      try {
        await remote.beat(id, RELEASED_BEAT.trim());
      } catch (error) {
        // What else cannot be given back now is free when its heartbeat has been silent for long enough.
        if (error instanceof StillLocked) throw error;
      }
    },
  };
}
