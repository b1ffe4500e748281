import { COUNTED_FROM_BYTES, checkSize, countText } from '../../../core/bounds.ts';
import {
  createStateMeter,
  MOST_JOURNAL_BYTES,
  MOST_PART_BYTES,
  MOST_STATE_BYTES,
  within,
} from '../../../state/bounds.ts';
import type { JournalEntry, RunBegan } from '../../../state/journal.ts';
import { journalPieces, linesIn } from '../../../state/journal-text.ts';
import { NotHeld, openLeasedStore, type StoreDriver } from '../../../state/leased-store.ts';
import { formatBeat, type LockEffects, type LockPlace } from '../../../state/lock.ts';
import type { State } from '../../../state/model.ts';
import {
  isAsLate,
  isDamage,
  isSound,
  type OpenRun,
  readOpenRun,
  refuseOlder,
  type Stored,
  sortOpenRuns,
  type Wanted,
} from '../../../state/runs.ts';
import { type JournalSource, salvageJournal } from '../../../state/salvage.ts';
import type { Seals } from '../../../state/seal.ts';
import { parseState, readState } from '../../../state/state-text.ts';
import type { Claim, Overlap, StateStore } from '../../../state/store.ts';
import { tooLargeJournal } from './failures.ts';

/**
 * State where other machines reach it, in a store that keeps texts and does each change in one step that only the
 * holder of the lease can take: a holder that was paused for long cannot write after its successor.
 */
export type Remote = LockPlace & {
  readonly seals: Seals;
  /**
   * State and open journals as they are at one moment. `known`: the mark of a state that the reader has, whose text is
   * not read again where the store still keeps it.
   */
  readonly read: (wanting: Wanting, known?: string) => Promise<Kept>;
  /** Does a change as a whole, and durably, or not at all. False: the lease does not hold the state any more. */
  readonly write: (lease: string, change: Change) => Promise<boolean>;
  readonly keeps: StoreDriver['keeps'];
  readonly overlaps?: NonNullable<StoreDriver['overlaps']>;
  /** `lost`: the lease does not hold the state any more. */
  readonly claim?: (
    lease: string,
    account: string,
    claims: readonly Claim[],
  ) => Promise<readonly Overlap[] | 'lost'>;
  readonly reserve?: NonNullable<StoreDriver['reserve']>;
  /** True if a heartbeat goes with the write of a journal at no price. */
  readonly writesBeat?: boolean;
  readonly gathers?: number;
  readonly traffic?: NonNullable<StoreDriver['traffic']>;
  readonly estimate?: NonNullable<StoreDriver['estimate']>;
  /** Milliseconds for which the next entries of a journal are to gather, so that one write takes more of them. */
  readonly pause?: () => number;
  /** As `StateStore.mostRuns` says. */
  readonly mostRuns?: number | undefined;
  /** The runs whose journals were filed, in no order. */
  readonly runs: () => Promise<readonly string[]>;
  /** As `StoreDriver.ends` says. */
  readonly ends: StoreDriver['ends'];
  /** The journal of a run, filed or open, in pieces. */
  readonly journal: (run: string, wanting: Wanting) => Promise<readonly string[] | undefined>;
  readonly close: () => Promise<void>;
};

/** `all` refuses a store that names what Callsheet gave no name; `remains` takes what is left without it. */
export type Wanting = 'all' | 'remains';

export type Kept = {
  /** The text of the state, in pieces; `known`: it is the one whose mark was given. */
  readonly state: readonly string[] | 'known' | undefined;
  /** Names this text of the state: no other has the same; undefined where a store cannot tell. */
  readonly mark?: string | undefined;
  readonly open: readonly OpenJournal[];
  /** The filed run whose name is the latest. */
  readonly newest?: string | undefined;
};

/** A piece of the journal of a run. */
type OpenText = {
  readonly run: string;
  readonly text: string;
  /** True if a bounded store must have room left for the run's recovery and commit. */
  readonly leavesRoom?: boolean;
  /** Takes the place of what a filed journal of that run has. */
  readonly isWhole?: boolean;
};

/** The journal of a run in the pieces in which it is kept: all of it may be more than fits into one string. */
export type OpenJournal = { readonly run: string; readonly pieces: readonly string[] };

type Aside = { readonly name: string; readonly pieces: readonly string[] };

export type Change = {
  /** Goes behind what the journal of that run has. */
  readonly append?: OpenText;
  /** A heartbeat that goes with it, for a store that `writesBeat`. */
  readonly beat?: string;
  readonly state?: State;
  /** Open journals that are filed among those of finished runs; after `append`. */
  readonly file?: readonly string[];
  /** Open journals that are forgotten. */
  readonly drop?: readonly string[];
  /** The same of filed ones. */
  readonly forget?: readonly string[];
  readonly aside?: readonly Aside[];
};

/** Characters of a journal that are written at once: as bytes they are at most a part. */
const MOST_AT_ONCE = MOST_PART_BYTES / 4;

/** Throws `BeyondBounds` where a state is too large, or holds too much. */
function checkPieces(pieces: readonly string[], location: string): void {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const meter = createStateMeter();
  within(`the state ${location}`, () => {
    checkSize(size, MOST_STATE_BYTES, 'a size');
    if (size >= COUNTED_FROM_BYTES) for (const piece of pieces) countText(piece, meter);
  });
}

/** A store over what keeps the texts somewhere else. */
export function openRemoteStore(remote: Remote, effects: LockEffects): StateStore {
  return openLeasedStore(remoteDriver(remote, effects), effects);
}

function remoteDriver(remote: Remote, effects: LockEffects): StoreDriver {
  const { location, seals } = remote;
  const formatPlace = (run: string) => `of run ${run} in ${location}`;

  async function write(lease: string, change: Change): Promise<void> {
    // The run that writes a state has it already.
    if (change.state !== undefined) last = undefined;
    if (!(await remote.write(lease, change))) throw new NotHeld();
  }

  /** The state that was read last, so that the same is not read again: a large one is most of what a run reads. */
  let last: { readonly mark: string; readonly state: State } | undefined;

  async function load(): Promise<Stored> {
    const { state: pieces, open, newest, mark } = await remote.read('all', last?.mark);
    const state = pieces === 'known' ? last?.state : await parsePieces(pieces);
    last = state && mark !== undefined ? { mark, state } : undefined;
    const runs: OpenRun[] = [];
    for (const { run, pieces } of open)
      runs.push(await readOpenRun(linesIn(pieces), run, formatPlace(run), 'all', seals));
    const sorted = sortOpenRuns(state, runs, location);
    if (state !== undefined && newest !== undefined) await checkNewest(state, newest);
    return { state, runs: sorted };
  }

  async function parsePieces(pieces: readonly string[] | undefined): Promise<State | undefined> {
    if (pieces === undefined) return undefined;
    checkPieces(pieces, location);
    return (
      (await readState(linesIn(pieces), { location, seals })) ??
      (await parseState(pieces.join(''), location, seals))
    );
  }

  /** Reads the rest of a state that may be damaged, in pieces. */
  async function remains(): Promise<Kept & { readonly state: readonly string[] | undefined }> {
    const { state, ...kept } = await remote.read('remains');
    return { ...kept, state: state === 'known' ? undefined : state };
  }

  /** In the usual case the newest run wrote the state, and nothing more is read. */
  async function checkNewest(state: State, newest: string): Promise<void> {
    const { last_run: last } = state;
    if (newest === last || (last !== null && !isAsLate(newest, last))) return;
    const ends = await readRun(newest, 'ends').catch((error: unknown) => {
      if (isDamage(error)) return undefined;
      throw error;
    });
    if (ends !== undefined) refuseOlder(state, ends, location);
  }

  async function readRun(run: string, wanted: Wanted): Promise<OpenRun | undefined> {
    const pieces = await remote.journal(run, 'all');
    return pieces && readOpenRun(linesIn(pieces), run, formatPlace(run), wanted, seals);
  }

  /** One step, so there is nothing in between to die in. */
  async function replace(
    lease: string,
    state: State,
    entries: readonly [RunBegan, ...JournalEntry[]],
  ): Promise<readonly string[]> {
    const { run } = entries[0];
    const kept = await remains();
    const aside: Aside[] =
      kept.state === undefined ? [] : [{ name: `state.before-${run}`, pieces: kept.state }];
    const sound: string[] = [];
    const drop: string[] = [];
    for (const open of kept.open) {
      const read = () => readOpenRun(linesIn(open.pieces), open.run, '', 'ends', seals);
      if (await isSound(read, state.lineage)) sound.push(open.run);
      else {
        drop.push(open.run);
        aside.push({ name: `${open.run}.before-${run}`, pieces: open.pieces });
      }
    }
    const append = await appendAll(lease, run, entries);
    await write(lease, { append, state, file: [...sound, run], drop, aside });
    return aside.map(({ name }) => name);
  }

  /** Appends a journal but for its last piece, which is returned: all of it, unless it is too large for one text. */
  async function appendAll(
    lease: string,
    run: string,
    entries: readonly JournalEntry[],
    isWhole = false,
  ): Promise<OpenText> {
    let text = '';
    let isFirst = isWhole;
    for (const piece of journalPieces(entries, seals.lines(run))) {
      if (text.length + piece.length > MOST_AT_ONCE) {
        await write(lease, { append: { run, text, isWhole: isFirst } });
        text = '';
        isFirst = false;
      }
      text += piece;
    }
    return { run, text, isWhole: isFirst };
  }

  async function journals(): Promise<readonly JournalSource[]> {
    const openSource = (run: string, open?: readonly string[]): JournalSource => {
      const path = formatPlace(run);
      const pieces = async () => open ?? (await remote.journal(run, 'remains')) ?? [];
      const read = async () => salvageJournal(linesIn(await pieces()), path, seals.lines(run));
      return { run, path, finished: open === undefined, read };
    };
    const { open } = await remote.read('remains');
    return [
      ...open.map(({ run, pieces }) => openSource(run, pieces)),
      ...(await remote.runs()).map((run) => openSource(run)),
    ];
  }

  return {
    ...remote,
    isFenced: true,
    load,
    loadMark: load,
    async tidy(lease, { finished, blank }) {
      const file = finished.map(({ run }) => run);
      const drop = blank.map(({ run }) => run);
      if (file.length + drop.length > 0) await write(lease, { file, drop });
    },
    openEnd: async (lease, run, which) => {
      const isNew = which === 'new';
      let [beatAt, isBeat] = [0, false];
      let size = 0;
      return {
        async ready() {
          const pause = remote.pause?.() ?? 0;
          if (pause > 0) await effects.sleep(pause);
        },
        async append(text) {
          size += Buffer.byteLength(text);
          if (isNew && size > MOST_JOURNAL_BYTES) throw tooLargeJournal(location, run, size);
          const now = effects.now();
          // `state unlock` has to catch a moment without a new one.
          isBeat = remote.writesBeat === true && now - beatAt >= remote.timing.beat / 2;
          const beat = isBeat ? { beat: formatBeat(now) } : {};
          await write(lease, { append: { run, text, leavesRoom: isNew }, ...beat });
          if (isBeat) beatAt = now;
        },
        wasHeartbeat: () => isBeat,
        async close() {},
      };
    },
    commit: (lease, state, run) => write(lease, { state, file: run === undefined ? [] : [run] }),
    replace,
    async receive(lease, state, receipts) {
      const there = await remote.runs();
      for (const { run, entries } of receipts) {
        if (there.includes(run)) continue;
        await write(lease, { append: await appendAll(lease, run, entries), file: [run] });
      }
      await write(lease, { state });
    },
    async refile(lease, { run, entries }) {
      await write(lease, { append: await appendAll(lease, run, entries, true), file: [run] });
    },
    forget: (lease, runs) => write(lease, { forget: runs }),
    async stateLines() {
      const { state } = await remains();
      return state && linesIn(state);
    },
    stateText: async () => (await remains()).state?.join(''),
    journals,
    filedRuns: remote.runs,
    run: readRun,
    async claim(lease, account, claims) {
      const overlaps = (await remote.claim?.(lease, account, claims)) ?? [];
      if (overlaps === 'lost') throw new NotHeld();
      return overlaps;
    },
  };
}
