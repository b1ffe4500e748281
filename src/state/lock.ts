import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockedState, neverFree, noSuchLease } from './failures.ts';
import { isRecord } from './model.ts';
import { parseJson } from './shape.ts';
import type { HeldLock, Holder } from './store.ts';

/**
 * Who holds a state, and when a holder is dead: the same for every store. What is kept of it is a lock record;
 * how one takes the place of another is the store's own affair (`LockPlace`).
 */
export type LockRecord = {
  /** The last heartbeat, ISO 8601; `released` when the holder gave it back. */
  readonly beat: string;
  /** The lease's id. */
  readonly id: string;
  readonly owner: ProcessIdentity;
  readonly holder: Holder;
};

/**
 * The heartbeat has a fixed length and a fixed place, so that it is rewritten by one short write that
 * no reader can catch half-way.
 */
export const BEAT_AT = '{"beat":"'.length;
const BEAT_LENGTH = 24;
/** In place of the heartbeat of a holder that gave the state back. */
export const RELEASED = 'released';

export function formatBeat(now: number): string {
  return new Date(now).toISOString().padEnd(BEAT_LENGTH);
}

export const RELEASED_BEAT = RELEASED.padEnd(BEAT_LENGTH);

/** The text of a lock record. `beat` is made by `formatBeat`, or says that it was given back. */
export function formatLockRecord({ beat, id, owner, holder }: LockRecord): string {
  return `${JSON.stringify({ beat, id, owner, holder })}\n`;
}

/** Undefined for a text that is not, or not yet, a whole record. */
export function parseLockRecord(text: string): LockRecord | undefined {
  const record = parseJson(text);
  return isLockRecord(record) ? { ...record, beat: record.beat.trim() } : undefined;
}

export function isReleased(record: LockRecord): boolean {
  return record.beat === RELEASED;
}

function isLockRecord(value: unknown): value is LockRecord {
  return (
    has(value, { beat: 'string', id: 'string', owner: 'object', holder: 'object' }) &&
    has(value.owner, { machine: 'string', pid: 'number' }) &&
    has(value.holder, {
      run: 'string',
      command: 'string',
      host: 'string',
      pid: 'number',
      since: 'string',
    })
  );
}

function has(
  value: unknown,
  members: { readonly [name: string]: 'string' | 'number' | 'object' },
): value is { readonly [name: string]: unknown } {
  return (
    isRecord(value) && Object.entries(members).every(([name, type]) => typeof value[name] === type)
  );
}

/** The lock's outside world; tests replace it. */
export type LockEffects = {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock that stands still while the machine is suspended. */
  readonly steady: () => number;
  /** Waits that many milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Acts again and again, without keeping the process alive, until what it returns is called. */
  readonly every: (milliseconds: number, act: () => void) => () => void;
  /** See `thisMachine`. */
  readonly machine: string;
};

export function realEffects(): LockEffects {
  return {
    machine: thisMachine(),
    now: () => Date.now(),
    steady: () => performance.now(),
    sleep: (milliseconds) => sleep(milliseconds),
    every(milliseconds, act) {
      const timer = setInterval(act, milliseconds).unref();
      return () => clearInterval(timer);
    },
  };
}

/**
 * When a silent holder is dead: one whose last heartbeat is `silent` ms old is watched for `watch` ms, in which
 * a live one has several heartbeats. Both together are at most 30 s.
 */
export type Timing = {
  readonly beat: number;
  readonly silent: number;
  readonly watch: number;
};

/**
 * The times of a store whose heartbeat is one small write. Three of them fit into `watch`: where clocks jump or
 * differ, watching is all that tells a live holder from a dead one, and a busy one may be late with a beat.
 */
export const TIMING: Timing = { beat: 2_000, silent: 24_000, watch: 6_000 };

/**
 * Milliseconds after its last confirmed heartbeat from which a holder sends nothing: half of those after which another
 * one may take over.
 */
export function longestSilence({ silent, watch }: Timing): number {
  return (silent + watch) / 2;
}

/** A moment by both clocks: one is set now and then, the other stands still while the machine is suspended. */
export type Moment = { readonly steady: number; readonly wall: number };

type Clocks = Pick<LockEffects, 'now' | 'steady'>;

export function currentMoment({ now, steady }: Clocks): Moment {
  return { steady: steady(), wall: now() };
}

/** Milliseconds since a moment, by the clock that says more. */
export function elapsedSince({ steady, wall }: Moment, clocks: Clocks): number {
  return Math.max(clocks.steady() - steady, clocks.now() - wall);
}

/** The place of a state's lock record. */
export type LockPlace = {
  /** Names the store in messages: without credentials. */
  readonly location: string;
  readonly timing: Timing;
  /** Returns who holds the state, or held it last; undefined if it was never locked. */
  readonly lockRecord: () => Promise<LockRecord | undefined>;
  /** Puts a lock record in the place of the one that was seen. False: somebody else was faster. */
  readonly acquire: (seen: LockRecord | undefined, own: LockRecord) => Promise<boolean>;
  /** Writes the heartbeat of a lease, or `RELEASED`. False: it does not hold the state any more. */
  readonly beat: (lease: string, beat: string) => Promise<boolean>;
  /**
   * Takes the lock anew for a lease that was silent for so long that somebody may be about to take it: from then on nobody
   * can who saw it silent. False: somebody did. Undefined where the store itself refuses what is written under a lost
   * lease, so that a late heartbeat is as good as any.
   */
  readonly renew?: (lease: string, beat: string) => Promise<boolean>;
};

/**
 * Acquires the lease, whose first heartbeat is of the returned moment. Throws `CallsheetError('locked')`, naming the
 * holder, when another has it. The id of a lease is its fencing token: the store takes nothing under another one than
 * that of its lock record.
 */
export async function acquireLease(
  place: LockPlace,
  holder: Holder,
  effects: LockEffects,
): Promise<{ readonly id: string; readonly since: Moment }> {
  let watched = 0;
  for (let tries = 1; ; tries += 1) {
    const seen = await place.lockRecord();
    const isChanged = seen !== undefined && !(await isFree(seen, place, effects));
    if (isChanged) watched += 1;
    else {
      const since = currentMoment(effects);
      const own = newRecord(holder, effects);
      if (await place.acquire(seen, own)) return { id: own.id, since };
    }
    if (tries === MOST_TRIES || watched === MOST_WATCHED) throw neverFree(place.location, tries);
    if (tries > 1) await effects.sleep(Math.random() * tries * PAUSE_MS);
  }
}

/** Each try gives the state to one of the runs that want it at once. */
const MOST_TRIES = 8;
/** Times that a silent holder is watched, and turns out to be another one. Each takes `watch`. */
const MOST_WATCHED = 3;
/** The most that is waited after the second try is twice this, and more after each other. */
const PAUSE_MS = 50;

function newRecord(holder: Holder, { now, machine }: Pick<LockEffects, 'now' | 'machine'>) {
  const beat = formatBeat(now());
  return { beat, id: randomUUID(), owner: identify(holder.pid, machine), holder };
}

/**
 * Returns true if a holder has ended. Throws `CallsheetError('locked')` if it has not. False if the record changed
 * meanwhile and must be looked at again.
 *
 * Clocks differ between machines and jump, so an old heartbeat alone proves nothing: the proof is that no new one
 * comes while one watches.
 */
async function isFree(
  seen: LockRecord,
  { location, timing, lockRecord }: LockPlace,
  effects: LockEffects,
): Promise<boolean> {
  if (isReleased(seen) || isGone(seen.owner, effects.machine)) return true;
  const silence = Math.abs(effects.now() - Date.parse(seen.beat));
  if (silence < timing.silent) throw lockedState(location, seen.holder, seen.id);
  await effects.sleep(timing.watch);
  const later = await lockRecord();
  if (later === undefined || later.id !== seen.id) return false;
  if (later.beat === seen.beat || isReleased(later)) return true;
  throw lockedState(location, later.holder, later.id);
}

/** Returns the state's holder; undefined when it is free. */
export async function readHolder(
  { lockRecord, timing: { silent, watch } }: LockPlace,
  { machine, now }: Pick<LockEffects, 'machine' | 'now'>,
): Promise<HeldLock | undefined> {
  const record = await lockRecord();
  if (record === undefined || isReleased(record)) return undefined;
  const { id, holder, beat, owner } = record;
  const seen = { lease: id, holder, beat, watch };
  if (owner.machine !== machine) return { ...seen, owner: 'elsewhere' };
  if (isGone(owner, machine)) return { ...seen, owner: 'gone' };
  const isSilent = Math.abs(now() - Date.parse(beat)) >= silent;
  return { ...seen, owner: isSilent ? 'silent' : 'running' };
}

/**
 * Takes the lease of that id from its holder, as `StateStore.unlock` says. `isSeenAtOnce`: the holder sees so itself
 * before each request. Another one sends on until its next heartbeat, or until it has had none for too long: the lock is
 * free after that.
 */
export async function breakLease(
  place: LockPlace,
  lease: string,
  by: Holder,
  effects: LockEffects,
  isSeenAtOnce: boolean,
): Promise<void> {
  const seen = await place.lockRecord();
  const refuse = async () => noSuchLease(place.location, lease, await readHolder(place, effects));
  if (seen === undefined || isReleased(seen) || seen.id !== lease) throw await refuse();
  const own = newRecord(by, effects);
  if (!(await place.acquire(seen, own))) throw await refuse();
  if (!isSeenAtOnce && !isGone(seen.owner, effects.machine))
    await effects.sleep(longestSilence(place.timing));
  await place.beat(own.id, RELEASED);
}

/** A process, so that another one can tell later whether it still runs. */
type ProcessIdentity = {
  /** The scope of its number: host, boot and process namespace. */
  readonly machine: string;
  readonly pid: number;
  /** When it started, in the system's own count; null where the system does not say. A number is used again, a start is not. */
  readonly started: string | null;
};

/** Identifies the running machine. Two containers of one host name differ by their process namespace. */
export function thisMachine(): string {
  const parts = [
    hostname(),
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

export function identify(pid: number, machine: string): ProcessIdentity {
  return { machine, pid, started: readStat(pid)?.started ?? null };
}

/** Returns true if a process is certainly gone. False if that cannot be known, as on another machine. */
export function isGone(process_: ProcessIdentity, machine: string): boolean {
  if (process_.machine !== machine || process_.pid <= 0) return false;
  try {
    process.kill(process_.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
  const now = readStat(process_.pid);
  if (now === undefined || process_.started === null) return false;
  return now.started !== process_.started || ENDED.has(now.state);
}

/** Zombie and dead: ended, though the parent has not looked yet. */
const ENDED = new Set(['Z', 'X']);

/** From proc(5): the state is the 3rd field, the start time the 22nd. The 2nd may hold blanks and brackets. */
function readStat(pid: number): { readonly state: string; readonly started: string } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields?.[0], fields?.[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
