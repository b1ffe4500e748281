import { randomUUID } from 'node:crypto';
import { fstatSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockedState, lostLease } from './failures.ts';
import { identify, isGone } from './process-identity.ts';
import type { Holder } from './store.ts';
import {
  BEAT_AT,
  formatBeat,
  formatTicket,
  isReleased,
  parseTicket,
  RELEASED_BEAT,
} from './ticket.ts';
import { lastTicket, makeTicket, readTicket, takePlace } from './tickets.ts';

/**
 * The lock is a folder of numbered tickets, and the highest number has the state. It is a fencing
 * token: it only grows.
 *
 *     state.lock/7   held by A ── A's heartbeat stops ──► B finds 7 free, makes 8, removes 7
 *
 * - To take the lock is to make the next number with O_EXCL, so of two takers one wins.
 * - To hold it is: no higher number exists, and the file behind one's own is still there.
 * - Heartbeat and release write through the holder's own open file, never by name. A holder that was
 *   paused and comes back cannot touch the ticket of the one that took over.
 * - A released ticket stays, so that a number is never given twice.
 */
export type Lock = {
  /** The lease's id. */
  readonly id: string;
  /** Throws `CallsheetError('locked')` unless the lock is still held. */
  readonly check: () => void;
  readonly release: () => Promise<void>;
};

export type LockEffects = {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Waits that many milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Acts again and again, without keeping the process alive, until what it returns is called. */
  readonly every: (milliseconds: number, act: () => void) => () => void;
  /** See `thisMachine`. */
  readonly machine: string;
};

const HEARTBEAT_MS = 2_000;
/** A holder that is silent for this long is watched for a while, and is dead if it stays silent: 30 s in all. */
const SILENT_MS = 24_000;
/**
 * Three heartbeats: where clocks jump or differ, watching is all that tells a live holder from a dead one,
 * and a busy one may be late with a beat.
 */
export const WATCH_MS = 6_000;
/** A ticket is made and written in two steps; the second follows within this time. */
const GLANCE_MS = 50;

/** Takes the lock. Throws `CallsheetError('locked')`, naming the holder, when another has it. */
export async function takeLock(
  folder: string,
  location: string,
  holder: Holder,
  effects: LockEffects,
): Promise<Lock> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const last = await lastTicket(folder);
    if (last > 0 && !(await isFree(folder, last, location, effects))) continue;
    const number = last + 1;
    const id = randomUUID();
    const file = await makeTicket(folder, number, () => {
      const owner = identify(holder.pid, effects.machine);
      return formatTicket(formatBeat(effects.now()), id, owner, holder);
    });
    if (file === undefined) continue;
    if (await takePlace(folder, number)) return hold(file, folder, number, id, location, effects);
    await file.close();
  }
}

/**
 * Whether the ticket's holder has ended. Throws when it has not. False when the ticket changed meanwhile
 * and must be looked at again.
 *
 * Clocks differ between machines and jump, so an old heartbeat alone proves nothing: what proves it is
 * that no new one comes while one watches.
 */
async function isFree(
  folder: string,
  number: number,
  location: string,
  effects: LockEffects,
): Promise<boolean> {
  const ticket = await readTicket(folder, number);
  if (ticket === 'gone') return false;
  if (ticket === 'unwritten') return watchUnwritten(folder, number, effects);
  if (isReleased(ticket) || isGone(ticket.owner, effects.machine)) return true;
  const silence = Math.abs(effects.now() - Date.parse(ticket.beat));
  if (silence < SILENT_MS) throw lockedState(location, ticket.holder, ticket.id);
  await effects.sleep(WATCH_MS);
  const later = await readTicket(folder, number);
  if (later === 'gone' || later === 'unwritten') return false;
  if (later.beat === ticket.beat || isReleased(later)) return true;
  throw lockedState(location, later.holder, later.id);
}

async function watchUnwritten(
  folder: string,
  number: number,
  effects: LockEffects,
): Promise<boolean> {
  for (let waited = 0; waited < WATCH_MS; waited += GLANCE_MS) {
    await effects.sleep(GLANCE_MS);
    if ((await readTicket(folder, number)) !== 'unwritten') return false;
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
  const stop = effects.every(HEARTBEAT_MS, () => write(formatBeat(effects.now())));

  return {
    id,
    check() {
      const next = join(folder, String(number + 1));
      // In this order: whoever takes over makes the next ticket before it removes this one, and
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
    return parseTicket(readFileSync(path, 'utf8'))?.holder;
  } catch {
    return undefined;
  }
}
