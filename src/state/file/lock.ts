import { fstatSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../core/errors.ts';
import { lostLease } from '../failures.ts';
import {
  BEAT_AT,
  formatLockRecord,
  type LockEffects,
  type LockPlace,
  type LockRecord,
  parseLockRecord,
  RELEASED,
  RELEASED_BEAT,
  TIMING,
} from '../lock.ts';
import type { Holder } from '../store.ts';

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
export type FileLock = LockPlace & {
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
  const held = new Map<string, { readonly number: number; readonly file: FileHandle }>();

  /** Whether what somebody began to write still is not there after a while: its maker died. */
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
      const { beat, id, owner, holder } = own;
      const file = await makeRecord(folder, number, formatLockRecord(beat, id, owner, holder));
      if (file === undefined) return false;
      if (await takePlace(folder, number)) {
        held.set(id, { number, file });
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
    check(lease) {
      const own = held.get(lease);
      if (own === undefined) throw lostLease(location, { why: 'released' });
      const next = join(folder, String(own.number + 1));
      // In this order: whoever takes over makes the next record before it removes this one, and
      // whoever takes over from there removes this one before the next.
      if (statSync(next, { throwIfNoEntry: false }) !== undefined)
        throw lostLease(location, { why: 'taken', by: holderOf(next) });
      if (fstatSync(own.file.fd).nlink === 0) throw lostLease(location, { why: 'removed' });
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
