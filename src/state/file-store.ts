import { randomUUID } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallsheetError } from '../core/errors.ts';
import { type Disk, realDisk } from './disk.ts';
import { worded } from './disk-failures.ts';
import { noSuchLease } from './failures.ts';
import { openLease } from './file-lease.ts';
import { layoutOf } from './layout.ts';
import { type LockEffects, takeLock, WATCH_MS } from './lock.ts';
import type { Place } from './place.ts';
import { identify, isGone, thisMachine } from './process-identity.ts';
import { readRun, summariseRuns } from './receipts.ts';
import type { OpenRun } from './run-files.ts';
import { salvage } from './salvage.ts';
import { readMarkStanding, readStanding, refuseOddPlace } from './standing.ts';
import type { HeldLock, Holder, Lease, StateStore } from './store.ts';
import { formatTicket, isReleased, RELEASED_BEAT } from './ticket.ts';
import { lastTicket, makeTicket, readTicket, takePlace } from './tickets.ts';

/** What the file store asks of the world; tests replace parts of it. */
export type StoreEffects = LockEffects & { readonly disk: Disk };

/**
 * Keeps state in a file, with its lock and its runs beside it (`layout.ts` says what stands where).
 * Nothing is made before the first `acquire`. The folder is for its owner alone, and a `.callsheet`
 * folder that the store makes keeps itself out of Git.
 */
export function openFileStore(path: string, effects: Partial<StoreEffects> = {}): StateStore {
  const world: StoreEffects = { ...realEffects(), ...effects };
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
        const lock = await takeLock(layout.lock, path, holder, world);
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

function realEffects(): StoreEffects {
  return {
    disk: realDisk,
    machine: thisMachine(),
    now: () => Date.now(),
    sleep: (milliseconds) => sleep(milliseconds),
    every(milliseconds, act) {
      const timer = setInterval(act, milliseconds).unref();
      return () => clearInterval(timer);
    },
  };
}

/** Who holds a lock; undefined when nobody does. */
async function seeLock(folder: string, machine: string): Promise<HeldLock | undefined> {
  const ticket = await readTicket(folder, await lastTicket(folder));
  if (typeof ticket === 'string' || isReleased(ticket)) return undefined;
  const { id, holder, beat, owner } = ticket;
  const isHere = owner.machine === machine;
  return {
    lease: id,
    holder,
    beat,
    owner: isHere ? (isGone(owner, machine) ? 'gone' : 'running') : 'elsewhere',
    watch: WATCH_MS,
  };
}

/**
 * Takes a lock from its holder, in the way that the next holder would: a ticket of a higher number, which
 * is given back as it is made. Throws `CallsheetError('usage')` when it is not that lease that holds it.
 */
async function breakLock(
  folder: string,
  location: string,
  lease: string,
  by: Holder,
  { machine }: Pick<LockEffects, 'machine'>,
): Promise<void> {
  const last = await lastTicket(folder);
  const held = await seeLock(folder, machine);
  if (held?.lease !== lease) throw noSuchLease(location, lease, held);
  const file = await makeTicket(folder, last + 1, () =>
    formatTicket(RELEASED_BEAT, randomUUID(), identify(by.pid, machine), by),
  );
  await file?.close();
  if (file === undefined || !(await takePlace(folder, last + 1)))
    throw noSuchLease(location, lease, await seeLock(folder, machine));
}
