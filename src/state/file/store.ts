import { basename, join, resolve } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import { unsettledRun } from '../failures.ts';
import { isRunId, type JournalEntry, type RunBegan } from '../journal.ts';
import {
  JOURNAL_HEADER,
  type JournalWriter,
  journalPieces,
  openOnFirst,
  TORN,
  writeJournal,
} from '../journal-text.ts';
import { type LockEffects, realEffects } from '../lock.ts';
import type { State } from '../model.ts';
import { isSound, layoutOf, type OpenRun, type OpenRuns, type Place, runOf } from '../runs.ts';
import { type Base, checkSuccession, piecesOfState } from '../state-text.ts';
import type { Holder, KeptRun, Lease, StateStore } from '../store.ts';
import { type Disk, realDisk, worded } from './disk.ts';
import { acquireLock, breakLock, type Lock, seeLock } from './lock.ts';
import {
  readMarkStanding,
  readOpenRuns,
  readRun,
  readRunFile,
  readStanding,
  refuseOddPlace,
  salvage,
  summariseRuns,
} from './read.ts';

/** What the file store asks of the world; tests replace parts of it. */
export type StoreEffects = LockEffects & { readonly disk: Disk };

/**
 * Keeps state in a file, with its lock and its runs beside it (`layout.ts` says what stands where).
 * Nothing is made before the first `acquire`. The folder is for its owner alone, and a `.callsheet`
 * folder that the store makes keeps itself out of Git.
 */
export function openFileStore(path: string, effects: Partial<StoreEffects> = {}): StateStore {
  const world: StoreEffects = { ...realEffects(), disk: realDisk, ...effects };
  const layout = layoutOf(resolve(path));
  const place: Place = { layout, location: path, disk: world.disk };
  const attempt = <T>(work: () => Promise<T>) => worded(path, work);
  const leases = new Set<Lease>();

  return {
    location: path,
    load: () =>
      attempt(async () => {
        const { state, runs } = await readStanding(place);
        return { state, pending: runs.pending?.entries ?? [] };
      }),
    salvage: () => attempt(() => salvage(place)),
    lock: () => attempt(() => seeLock(layout.lock, world.machine)),
    unlock: (lease, by) => attempt(() => breakLock(layout.lock, path, lease, by, world)),
    acquire: (holder) =>
      attempt(async () => {
        await refuseOddPlace(place);
        await makeHome(place);
        const lock = await acquireLock(layout.lock, path, holder, world);
        try {
          await removeDrafts(place);
        } catch (error) {
          await lock.release();
          throw error;
        }
        const lease = openLease(lock, holder, place);
        leases.add(lease);
        return lease;
      }),
    runs: () =>
      attempt(async () => {
        return summariseRuns(place, await unfiledRuns(place));
      }),
    run: (id) => attempt(() => readRun(place, id)),
    async close() {
      for (const lease of leases) await lease.release();
      leases.clear();
    },
  };
}

/** Runs that committed and were not filed. Beside a damaged state nobody can tell, and none is listed. */
async function unfiledRuns(place: Place): Promise<readonly OpenRun[]> {
  try {
    return (await readMarkStanding(place)).runs.finished;
  } catch (error) {
    if (error instanceof CallsheetError) return [];
    throw error;
  }
}

async function makeHome({ layout, disk }: Place): Promise<void> {
  const made = await disk.makeFolder(layout.folder);
  if (made === undefined || basename(layout.folder) !== '.callsheet') return;
  await disk.writeNew(join(layout.folder, '.gitignore'), '*\n');
}

async function removeDrafts({ layout, disk }: Place): Promise<void> {
  for (const name of await disk.list(layout.folder))
    if (layout.isDraft(name)) await disk.remove(join(layout.folder, name));
}

/**
 * The right to write, for as long as the lock is held. One lease can settle a dead run and then do its
 * own: entries without a `began` go on with the pending run's journal, `commit` files it, and the next
 * `began` opens another.
 */
function openLease(lock: Lock, holder: Holder, place: Place): Lease {
  const { layout, location, disk } = place;
  const journal = openOnFirst(openJournal, location);

  /** Reads how things stand and files what the dead left behind. */
  async function takeStock() {
    lock.check();
    const standing = await readMarkStanding(place);
    // Again: what was read is only sure to be left by the dead if the lock was held throughout.
    lock.check();
    await tidyOpenRuns(place, standing.runs);
    return { state: standing.state, pending: standing.runs.pending };
  }

  async function openJournal(first: JournalEntry): Promise<JournalWriter> {
    lock.check();
    // With nothing open, the usual case, a large state need not be read for it.
    const open = await readOpenRuns(place, 'ends');
    const pending = open?.length === 0 ? undefined : (await takeStock()).pending;
    if (first.type === 'began') {
      if (pending !== undefined) throw unsettledRun(location, pending.run);
      return beginJournal(first.run);
    }
    if (pending === undefined) throw new Error(`no run has begun: ${first.type} entry`);
    return continueJournal(pending);
  }

  async function beginJournal(run: string): Promise<JournalWriter> {
    if (!isRunId(run)) throw new Error(`not the id of a run: ${JSON.stringify(run)}`);
    await disk.makeFolder(layout.runs);
    const file = await disk.openEnd(layout.openRun(run), 'new');
    return writeJournal(run, file, lock.check, JOURNAL_HEADER);
  }

  async function continueJournal({ run, path, torn }: OpenRun): Promise<JournalWriter> {
    const file = await disk.openEnd(path, 'existing');
    return writeJournal(run, file, lock.check, torn ? TORN : '');
  }

  async function commit(state: State): Promise<void> {
    lock.check();
    await journal.close();
    const { state: current, pending } = await takeStock();
    if (pending !== undefined && state.last_run !== pending.run)
      throw unsettledRun(location, pending.run);
    const base: Base | undefined = current ?? pending?.began;
    checkSuccession(state, base, location);
    await commitState(state, pending?.run, place, lock);
  }

  /** What fails after the lease was lost fails for that reason: another run tidied it away, say. */
  function whileHeld<T>(work: () => Promise<T>): Promise<T> {
    return worded(location, async () => {
      try {
        return await work();
      } catch (error) {
        lock.check();
        throw error;
      }
    });
  }

  /** Receipts first: a state is there when all of it is. */
  async function receive(state: State, receipts: readonly KeptRun[]): Promise<void> {
    await disk.makeFolder(layout.runs);
    for (const { run, entries } of receipts) {
      lock.check();
      if (!isRunId(run)) throw new Error(`not the id of a run: ${JSON.stringify(run)}`);
      const path = layout.finishedRun(run);
      if ((await disk.look(path)) === undefined) await disk.writeNew(path, journalPieces(entries));
    }
    await commitState(state, undefined, place, lock);
  }

  return {
    id: lock.id,
    holder,
    append: (entry) => whileHeld(() => journal.append(entry)),
    note: (entry) => journal.note(entry),
    commit: (state) => whileHeld(() => commit(state)),
    replace: (state, entries) => whileHeld(() => replaceState(state, entries, place, lock)),
    receive: (state, receipts) => whileHeld(() => receive(state, receipts)),
    async release() {
      // A journal that failed has told so already, to whoever appended.
      await journal.close().catch(() => undefined);
      await lock.release();
    },
  };
}

/**
 * Replaces the state and files the run's journal.
 *
 *     step                           a crash before it leaves                  what `load` makes of it
 *     1  write and sync the draft    old state, open journal                   old state, run pending
 *     2  rename draft to state       the same, and a draft that is ignored     old state, run pending
 *     3  sync the folder             either of both                            either of both
 *     4  file the journal            new state that names the run as its last  new state, nothing pending
 *     5  done                        new state, journal among the finished     new state, nothing pending
 *
 * Whoever takes the lock next removes drafts first, so that a writer that was paused between 1 and 2
 * while it lost its lease finds nothing left to rename, and cannot undo what came after it.
 */
async function commitState(
  state: State,
  run: string | undefined,
  place: Place,
  lock: Lock,
): Promise<void> {
  const { layout, disk } = place;
  const draft = layout.draft(lock.id);
  try {
    await disk.writeNew(draft, await piecesOfState(state));
    lock.check();
    await disk.rename(draft, layout.state);
  } catch (error) {
    await disk.remove(draft).catch(() => undefined);
    throw error;
  }
  if (run !== undefined) await fileRun(place, run);
}

/**
 * Puts a state in the place of whatever is there, and records the run that does it.
 *
 *     step                                  a crash before it leaves
 *     1  copy the state aside               what was there
 *     2  clear the open journals away       the same; no more than copies were made
 *     3  write the run's journal            the same; runs that died are among the finished
 *     4  commit                             the same, and the journal of a run that wrote nothing
 *
 * Open journals of the same lineage that can be read are filed as runs that did not finish; others get a
 * name under which nobody takes them for a journal. Resolves to the names of what was set aside.
 */
async function replaceState(
  state: State,
  [began, ...rest]: readonly [RunBegan, ...JournalEntry[]],
  place: Place,
  lock: Lock,
): Promise<readonly string[]> {
  const { layout, disk } = place;
  const { run } = began;
  if (!isRunId(run) || state.last_run !== run) throw new Error(`not written by a run: ${run}`);
  const aside = (path: string) => `${path}.before-${run}`;
  const kept: string[] = [];

  lock.check();
  if ((await disk.look(layout.state)) === 'file') {
    await disk.copy(layout.state, aside(layout.state));
    kept.push(aside(layout.state));
  }
  await disk.makeFolder(layout.runs);
  for (const name of await disk.list(layout.runs)) {
    const found = runOf(name);
    if (found?.open !== true) continue;
    const path = layout.openRun(found.run);
    lock.check();
    const read = () => readRunFile(place, found.run, path, 'ends');
    if (await isSound(read, state.lineage)) await fileRun(place, found.run);
    else {
      await disk.rename(path, aside(path));
      kept.push(aside(path));
    }
  }
  lock.check();
  await disk.writeNew(layout.openRun(run), journalPieces([began, ...rest]));
  await commitState(state, run, place, lock);
  return kept.map((path) => basename(path));
}

/** Files what the dead left behind. For the holder of the lock alone. */
async function tidyOpenRuns(place: Place, runs: OpenRuns): Promise<void> {
  for (const { run } of runs.finished) await fileRun(place, run);
  for (const { path } of runs.blank) await place.disk.remove(path);
}

/** Moves a journal among the finished ones. */
function fileRun({ layout, disk }: Place, run: string): Promise<void> {
  return disk.rename(layout.openRun(run), layout.finishedRun(run));
}
