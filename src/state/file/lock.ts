import { randomUUID } from 'node:crypto';
import { fstatSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../core/errors.ts';
import { lostLease, noSuchLease } from '../failures.ts';
import {
  BEAT_AT,
  formatBeat,
  formatLockRecord,
  heldBy,
  identify,
  isFree,
  type LockEffects,
  type LockRecord,
  parseLockRecord,
  RELEASED_BEAT,
  TIMING,
} from '../lock.ts';
import type { HeldLock, Holder } from '../store.ts';

/**
 * The lock is a folder of numbered lock records, and the highest number has the state. It is a fencing
 * token: it only grows.
 *
 *     state.lock/7   held by A ── A's heartbeat stops ──► B finds 7 free, makes 8, removes 7
 *
 * - To take the lock is to make the next number with O_EXCL, so of two takers one wins.
 * - To hold it is: no higher number exists, and the file behind one's own is still there.
 * - Heartbeat and release write through the holder's own open file, never by name. A holder that was
 *   paused and comes back cannot touch the record of the one that took over.
 * - A released record stays, so that a number is never given twice.
 */
export type Lock = {
  /** The lease's id. */
  readonly id: string;
  /** Throws `CallsheetError('locked')` unless the lock is still held. */
  readonly check: () => void;
  readonly release: () => Promise<void>;
};

/** A record is made and written in two steps; the second follows within this time. */
const GLANCE_MS = 50;

/** Takes the lock. Throws `CallsheetError('locked')`, naming the holder, when another has it. */
export async function acquireLock(
  folder: string,
  location: string,
  holder: Holder,
  effects: LockEffects,
): Promise<Lock> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const last = await lastNumber(folder);
    if (last > 0 && !(await isFreeRecord(folder, last, location, effects))) continue;
    const number = last + 1;
    const id = randomUUID();
    const file = await makeRecord(folder, number, () => {
      const owner = identify(holder.pid, effects.machine);
      return formatLockRecord(formatBeat(effects.now()), id, owner, holder);
    });
    if (file === undefined) continue;
    if (await takePlace(folder, number)) return hold(file, folder, number, id, location, effects);
    await file.close();
  }
}

/** As `isFree` of every lock, for a record that may not have been written yet. */
async function isFreeRecord(
  folder: string,
  number: number,
  location: string,
  effects: LockEffects,
): Promise<boolean> {
  const record = await readRecord(folder, number);
  if (record === 'gone') return false;
  if (record === 'unwritten') return watchUnwritten(folder, number, effects);
  const look = async () => written(await readRecord(folder, number));
  return isFree(record, look, location, TIMING, effects);
}

async function watchUnwritten(
  folder: string,
  number: number,
  effects: LockEffects,
): Promise<boolean> {
  for (let waited = 0; waited < TIMING.watch; waited += GLANCE_MS) {
    await effects.sleep(GLANCE_MS);
    if ((await readRecord(folder, number)) !== 'unwritten') return false;
  }
  return true;
}

function hold(
  file: FileHandle,
  folder: string,
  number: number,
  id: string,
  location: string,
  effects: LockEffects,
): Lock {
  let released = false;
  let writing: Promise<unknown> = Promise.resolve();
  // A heartbeat that cannot be written is a missed one; `check` tells whether it mattered.
  const write = (beat: string) => {
    writing = writing.then(() => file.write(beat, BEAT_AT)).catch(() => undefined);
  };
  const stop = effects.every(TIMING.beat, () => write(formatBeat(effects.now())));

  return {
    id,
    check() {
      const next = join(folder, String(number + 1));
      // In this order: whoever takes over makes the next record before it removes this one, and
      // whoever takes over from there removes this one before the next.
      if (released) throw lostLease(location, { why: 'released' });
      if (statSync(next, { throwIfNoEntry: false }) !== undefined)
        throw lostLease(location, { why: 'taken', by: holderOf(next) });
      if (fstatSync(file.fd).nlink === 0) throw lostLease(location, { why: 'removed' });
    },
    async release() {
      if (released) return;
      released = true;
      stop();
      write(RELEASED_BEAT);
      await writing;
      await file.close();
    },
  };
}

function holderOf(path: string): Holder | undefined {
  try {
    return parseLockRecord(readFileSync(path, 'utf8'))?.holder;
  } catch {
    return undefined;
  }
}

/** Who holds a lock; undefined when nobody does. */
export async function seeLock(folder: string, machine: string): Promise<HeldLock | undefined> {
  const record = written(await readRecord(folder, await lastNumber(folder)));
  return heldBy(record, TIMING, machine);
}

/**
 * Takes a lock from its holder, in the way that the next holder would: a record of a higher number, which
 * is given back as it is made. Throws `CallsheetError('usage')` when it is not that lease that holds it.
 */
export async function breakLock(
  folder: string,
  location: string,
  lease: string,
  by: Holder,
  { machine }: Pick<LockEffects, 'machine'>,
): Promise<void> {
  const last = await lastNumber(folder);
  const held = await seeLock(folder, machine);
  if (held?.lease !== lease) throw noSuchLease(location, lease, held);
  const file = await makeRecord(folder, last + 1, () =>
    formatLockRecord(RELEASED_BEAT, randomUUID(), identify(by.pid, machine), by),
  );
  await file?.close();
  if (file === undefined || !(await takePlace(folder, last + 1)))
    throw noSuchLease(location, lease, await seeLock(folder, machine));
}

/** The lock's folder of numbered lock records; `lock.ts` says what they mean. */

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
  text: () => string,
): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(join(folder, String(number)), 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  try {
    await file.writeFile(text());
  } catch (error) {
    await file.close();
    await removeRecord(folder, number);
    throw error;
  }
  return file;
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

function written(record: Awaited<ReturnType<typeof readRecord>>): LockRecord | undefined {
  return typeof record === 'string' ? undefined : record;
}
