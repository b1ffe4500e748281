import { fstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CallsheetError, errorCode } from '../../core/errors.ts';
import { type LossOfLease, lostLease } from '../failures.ts';
import type { JournalEntry, RunBegan } from '../journal.ts';
import { journalPieces } from '../journal-text.ts';
import { openLeasedStore, type StoreDriver } from '../leased-store.ts';
import {
  BEAT_AT,
  formatLockRecord,
  type LockEffects,
  type LockPlace,
  type LockRecord,
  parseLockRecord,
  RELEASED,
  RELEASED_BEAT,
  realEffects,
  TIMING,
} from '../lock.ts';
import type { State } from '../model.ts';
import { getLayout, isSound, type OpenRun, type Place, parseRunFile } from '../runs.ts';
import { openSeals, type Seals } from '../seal.ts';
import { isAtLeast, piecesOfState, readHead } from '../state-text.ts';
import type { Holder, StateStore } from '../store.ts';
import { type Disk, realDisk, worded } from './disk.ts';
import {
  filedRuns,
  journalSources,
  readAllEnds,
  readOpenRuns,
  readRun,
  readRunFile,
  readStateLines,
  readStateText,
  readStored,
  readStoredMark,
  refuseLinkedFolders,
  refuseOddPlace,
} from './read.ts';

/** The file store's outside world; tests replace parts of it. */
export type StoreEffects = LockEffects & { readonly disk: Disk; readonly seals: Seals };

/**
 * Keeps state in a file, with its lock and its runs beside it (`getLayout` says what stands where).
 * Nothing is made before the first `acquire`. The folder is for its owner alone, and a `.callsheet`
 * folder that the store makes keeps itself out of Git.
 */
export function openFileStore(path: string, effects: Partial<StoreEffects> = {}): StateStore {
  const world: StoreEffects = {
    ...realEffects(),
    disk: realDisk,
    seals: openSeals({ place: '' }),
    ...effects,
  };
  return openLeasedStore(fileDriver(path, world), world);
}

function fileDriver(location: string, { disk, seals, sleep }: StoreEffects): StoreDriver {
  const layout = getLayout(resolve(location));
  const place: Place = { layout, location, disk, seals };
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
   * The next holder of the lock removes drafts first, so that a writer that was paused between 1 and 2
   * while it lost its lease finds nothing left to rename, and cannot undo what came after it.
   */
  async function commit(lease: string, state: State, run: string | undefined): Promise<void> {
    await put(layout.state, await piecesOfState(state, seals), lease);
    if (run !== undefined) await fileRun(run);
  }

  /** Writes a file that is there whole, or as it was before. */
  async function put(path: string, pieces: Iterable<string>, lease: string): Promise<void> {
    const draft = layout.draft(lease);
    try {
      await disk.writeNew(draft, pieces);
      lock.check(lease);
      await disk.rename(draft, path);
    } catch (error) {
      await disk.remove(draft).catch(() => undefined);
      throw error;
    }
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
   * name that is not a journal's. Resolves to the names of what was set aside.
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
      const found = parseRunFile(name);
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
    await disk.writeNew(layout.openRun(run), journalPieces([began, ...rest], seals.lines(run)));
    await commit(lease, state, run);
    return kept.map((path) => basename(path));
  }

  /** Moves a journal among the finished ones. */
  function fileRun(run: string): Promise<void> {
    return disk.rename(layout.openRun(run), layout.finishedRun(run));
  }

  return {
    ...lock,
    seals,
    isFenced: false,
    worded: (work) => worded(location, work),
    async prepare() {
      await refuseOddPlace(place);
      await refuseLinkedFolders(place);
      await makeStateFolder(layout.folder, disk);
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
        // A migration that is gone on with takes what is there for whole.
        if ((await disk.look(path)) === undefined)
          await put(path, journalPieces(entries, seals.lines(run)), lease);
      }
      await commit(lease, state, undefined);
    },
    async refile(lease, { run, entries }) {
      await disk.makeFolder(layout.runs);
      await put(layout.finishedRun(run), journalPieces(entries, seals.lines(run)), lease);
    },
    async forget(lease, runs) {
      for (const run of runs) {
        lock.check(lease);
        await disk.remove(layout.finishedRun(run));
      }
    },
    async keeps(written) {
      const lines = await readStateLines(place);
      return lines !== undefined && isAtLeast(await readHead(lines), written);
    },
    stateLines: () => readStateLines(place),
    stateText: () => readStateText(place),
    journals: () => journalSources(place),
    filedRuns: () => filedRuns(place),
    unfiledRuns: () => unfiledRuns(place),
    ends: (runs) => readAllEnds(place, runs),
    run: (run, wanted) => readRun(place, run, wanted),
    async close() {},
  };
}

/** Makes a folder for states, where there is none, for its owner alone; a `.callsheet` folder keeps itself out of Git. */
async function makeStateFolder(folder: string, disk: Disk): Promise<void> {
  const made = await disk.makeFolder(folder);
  if (made === undefined || basename(folder) !== '.callsheet') return;
  await disk.writeNew(join(folder, '.gitignore'), '*\n');
}

/** Writes a state as a file of its own, without a lock, from which `state push` takes it. Throws where it is there. */
export async function writeStateCopy(
  path: string,
  state: State,
  { disk = realDisk, seals }: { readonly disk?: Disk | undefined; readonly seals: Seals },
): Promise<void> {
  await worded(path, async () => {
    await makeStateFolder(dirname(path), disk);
    await disk.writeNew(path, await piecesOfState(state, seals));
  });
}

/** Lists runs that committed and were not filed. Beside a damaged state they are unknown, and none is listed. */
async function unfiledRuns(place: Place): Promise<readonly OpenRun[]> {
  try {
    return (await readStoredMark(place)).runs.finished;
  } catch (error) {
    if (error instanceof CallsheetError) return [];
    throw error;
  }
}

/**
 * The lock is a folder of numbered lock records, and the highest number has the state. It is a fencing
 * token: it only grows.
 *
 *     state.lock/7   held by A ── A's heartbeat stops ──► B finds 7 free, makes 8, removes 7
 *
 * - To take the lock is to make the next number with O_EXCL, so of two takers one wins.
 * - To hold it is: no higher number exists, and the file behind one's own is still there.
 * - A holder that was silent for long takes the next number itself: a taker that saw it silent is late then.
 * - Heartbeat and release write through the holder's own open file, never by name. A holder that was
 *   paused and comes back cannot touch the record of the one that took over.
 * - A released record stays, so that a number is never given twice.
 */
type FileLock = LockPlace & {
  /** Throws `CallsheetError('locked')` unless the lease still holds the lock. */
  readonly check: (lease: string) => void;
};

/** A record is made and written in two steps; the second follows within this time. */
const GLANCE_MS = 50;

/** The lock in a folder, which is made when it is first taken. */
export function openFileLock(
  folder: string,
  location: string,
  effects: Pick<LockEffects, 'sleep'>,
): FileLock {
  const numbers = new WeakMap<LockRecord, number>();
  const held = new Map<string, Held>();

  /** Returns true if a record that was begun still is not there after a while: its maker died. */
  async function isLeftUnwritten(number: number): Promise<boolean> {
    for (let waited = 0; waited < TIMING.watch; waited += GLANCE_MS) {
      await effects.sleep(GLANCE_MS);
      if ((await readRecord(folder, number)) !== 'unwritten') return false;
    }
    return true;
  }

  /** The number that nothing holds any more; undefined where something was written since. */
  async function freeNumber(seen: LockRecord | undefined): Promise<number | undefined> {
    if (seen !== undefined) return numbers.get(seen);
    const last = await lastNumber(folder);
    if (last === 0) return last;
    const isUnwritten = (await readRecord(folder, last)) === 'unwritten';
    return isUnwritten && (await isLeftUnwritten(last)) ? last : undefined;
  }

  return {
    location,
    timing: TIMING,
    async lockRecord() {
      const number = await lastNumber(folder);
      const record = await readRecord(folder, number);
      if (typeof record === 'string') return undefined;
      numbers.set(record, number);
      return record;
    },
    async acquire(seen, own) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const last = await freeNumber(seen);
      if (last === undefined) return false;
      const number = last + 1;
      const file = await makeRecord(folder, number, formatLockRecord(own));
      if (file === undefined) return false;
      if (await takePlace(folder, number)) {
        held.set(own.id, { number, file, record: own });
        return true;
      }
      await file.close();
      return false;
    },
    async beat(lease, beat) {
      const own = held.get(lease);
      if (own === undefined) return false;
      if (beat !== RELEASED) {
        await own.file.write(beat, BEAT_AT);
        return true;
      }
      held.delete(lease);
      // One that cannot be written is free when its heartbeat has been silent for long enough.
      await own.file.write(RELEASED_BEAT, BEAT_AT).catch(() => undefined);
      await own.file.close();
      return true;
    },
    async renew(lease, beat) {
      const own = held.get(lease);
      if (own === undefined || findLoss(own) !== undefined) return false;
      const { record } = own;
      const number = own.number + 1;
      const path = join(folder, String(number));
      // Not to be interrupted: whoever asks meanwhile must not take this record for that of another one.
      if (!makeRecordAtOnce(path, formatLockRecord({ ...record, beat }))) return false;
      held.set(lease, { ...own, number });
      const file = await open(path, 'r+');
      held.set(lease, { number, file, record });
      await own.file.close();
      return takePlace(folder, number);
    },
    check(lease) {
      const own = held.get(lease);
      const loss = own === undefined ? ({ why: 'released' } as const) : findLoss(own);
      if (loss !== undefined) throw lostLease(location, loss);
    },
  };

  function findLoss({ number, file }: Held): LossOfLease | undefined {
    const next = join(folder, String(number + 1));
    // In this order: a takeover makes the next record before it removes this one, and
    // the takeover after it removes this one before the next.
    if (statSync(next, { throwIfNoEntry: false }) !== undefined)
      return { why: 'taken', by: readHolder(next) };
    return fstatSync(file.fd).nlink === 0 ? { why: 'removed' } : undefined;
  }
}

/** A lease that has the lock: its number, and the open file of its record. */
type Held = { readonly number: number; readonly file: FileHandle; readonly record: LockRecord };

function readHolder(path: string): Holder | undefined {
  try {
    return parseLockRecord(readFileSync(path, 'utf8'))?.holder;
  } catch {
    return undefined;
  }
}

/** The numbers that are there, in no order. */
async function recordNumbers(folder: string): Promise<readonly number[]> {
  return (await readdir(folder)).filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
}

/** 0 when there is no record, and no folder of them. */
async function lastNumber(folder: string): Promise<number> {
  try {
    return Math.max(0, ...(await recordNumbers(folder)));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** Makes the record of a number. Undefined when somebody else was faster. */
async function makeRecord(
  folder: string,
  number: number,
  text: string,
): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(join(folder, String(number)), 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  try {
    await file.writeFile(text);
  } catch (error) {
    await file.close();
    await removeRecord(folder, number);
    throw error;
  }
  return file;
}

/** Makes a record before anything else happens here. False when somebody else was faster. */
function makeRecordAtOnce(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Removes every record before that of a number, which was just made. False, with that one removed
 * instead, when it came so late that later ones exist.
 */
async function takePlace(folder: string, number: number): Promise<boolean> {
  const others = (await recordNumbers(folder)).filter((other) => other !== number);
  const isLate = others.some((other) => other > number);
  const past = isLate ? [number] : [...others].sort((a, b) => a - b);
  for (const other of past) await removeRecord(folder, other);
  return !isLate;
}

function removeRecord(folder: string, number: number): Promise<void> {
  return rm(join(folder, String(number)), { force: true });
}

/** `unwritten`: its maker died before it could write, or is about to. */
async function readRecord(
  folder: string,
  number: number,
): Promise<LockRecord | 'gone' | 'unwritten'> {
  try {
    return parseLockRecord(await readFile(join(folder, String(number)), 'utf8')) ?? 'unwritten';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
}
