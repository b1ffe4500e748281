import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import type { JournalEntry, RunBegan } from '../journal.ts';
import { journalPieces } from '../journal-text.ts';
import { openLeasedStore, type StoreDriver } from '../leased-store.ts';
import { type LockEffects, realEffects } from '../lock.ts';
import type { State } from '../model.ts';
import { isSound, layoutOf, type OpenRun, type Place, runOf } from '../runs.ts';
import { piecesOfState } from '../state-text.ts';
import type { StateStore } from '../store.ts';
import { type Disk, realDisk, worded } from './disk.ts';
import { openFileLock } from './lock.ts';
import {
  filedRuns,
  readOpenRuns,
  readRun,
  readRunFile,
  readStored,
  readStoredMark,
  refuseOddPlace,
  salvage,
} from './read.ts';

/** What the file store asks of the world; tests replace parts of it. */
export type StoreEffects = LockEffects & { readonly disk: Disk };

/**
 * Keeps state in a file, with its lock and its runs beside it (`layoutOf` says what stands where).
 * Nothing is made before the first `acquire`. The folder is for its owner alone, and a `.callsheet`
 * folder that the store makes keeps itself out of Git.
 */
export function openFileStore(path: string, effects: Partial<StoreEffects> = {}): StateStore {
  const world: StoreEffects = { ...realEffects(), disk: realDisk, ...effects };
  return openLeasedStore(fileDriver(path, world), world);
}

function fileDriver(location: string, { disk, sleep }: StoreEffects): StoreDriver {
  const layout = layoutOf(resolve(location));
  const place: Place = { layout, location, disk };
  const lock = openFileLock(layout.lock, location, { sleep });

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
  async function commit(lease: string, state: State, run: string | undefined): Promise<void> {
    const draft = layout.draft(lease);
    try {
      await disk.writeNew(draft, await piecesOfState(state));
      lock.check(lease);
      await disk.rename(draft, layout.state);
    } catch (error) {
      await disk.remove(draft).catch(() => undefined);
      throw error;
    }
    if (run !== undefined) await fileRun(run);
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
  async function replace(
    lease: string,
    state: State,
    [began, ...rest]: readonly [RunBegan, ...JournalEntry[]],
  ): Promise<readonly string[]> {
    const { run } = began;
    const aside = (path: string) => `${path}.before-${run}`;
    const kept: string[] = [];

    if ((await disk.look(layout.state)) === 'file') {
      await disk.copy(layout.state, aside(layout.state));
      kept.push(aside(layout.state));
    }
    await disk.makeFolder(layout.runs);
    for (const name of await disk.list(layout.runs)) {
      const found = runOf(name);
      if (found?.open !== true) continue;
      const path = layout.openRun(found.run);
      lock.check(lease);
      const read = () => readRunFile(place, found.run, path, 'ends');
      if (await isSound(read, state.lineage)) await fileRun(found.run);
      else {
        await disk.rename(path, aside(path));
        kept.push(aside(path));
      }
    }
    lock.check(lease);
    await disk.writeNew(layout.openRun(run), journalPieces([began, ...rest]));
    await commit(lease, state, run);
    return kept.map((path) => basename(path));
  }

  /** Moves a journal among the finished ones. */
  function fileRun(run: string): Promise<void> {
    return disk.rename(layout.openRun(run), layout.finishedRun(run));
  }

  return {
    ...lock,
    isFenced: false,
    worded: (work) => worded(location, work),
    async prepare() {
      await refuseOddPlace(place);
      const made = await disk.makeFolder(layout.folder);
      if (made === undefined || basename(layout.folder) !== '.callsheet') return;
      await disk.writeNew(join(layout.folder, '.gitignore'), '*\n');
    },
    async removeDrafts() {
      for (const name of await disk.list(layout.folder))
        if (layout.isDraft(name)) await disk.remove(join(layout.folder, name));
    },
    load: () => readStored(place),
    loadMark: () => readStoredMark(place),
    hasNoOpenRuns: async () => (await readOpenRuns(place, 'ends'))?.length === 0,
    async tidy(_, { finished, blank }) {
      for (const { run } of finished) await fileRun(run);
      for (const { path } of blank) await disk.remove(path);
    },
    async openEnd(_, run, which) {
      if (which === 'new') await disk.makeFolder(layout.runs);
      return disk.openEnd(layout.openRun(run), which);
    },
    commit,
    replace,
    async receive(lease, state, receipts) {
      await disk.makeFolder(layout.runs);
      for (const { run, entries } of receipts) {
        lock.check(lease);
        const path = layout.finishedRun(run);
        if ((await disk.look(path)) === undefined)
          await disk.writeNew(path, journalPieces(entries));
      }
      await commit(lease, state, undefined);
    },
    salvage: () => salvage(place),
    filedRuns: () => filedRuns(place),
    unfiledRuns: () => unfiledRuns(place),
    run: (run, wanted) => readRun(place, run, wanted),
    changedAt: async (run) => (await stat(layout.finishedRun(run))).mtime.toISOString(),
    async close() {},
  };
}

/** Runs that committed and were not filed. Beside a damaged state nobody can tell, and none is listed. */
async function unfiledRuns(place: Place): Promise<readonly OpenRun[]> {
  try {
    return (await readStoredMark(place)).runs.finished;
  } catch (error) {
    if (error instanceof CallsheetError) return [];
    throw error;
  }
}
