import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Disk, realDisk } from './disk.ts';
import { worded } from './failures.ts';
import { openLease } from './file-lease.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type LockEffects, takeLock } from './lock.ts';
import { thisMachine } from './process-identity.ts';
import { readRun, summariseRuns } from './receipts.ts';
import { readStanding } from './standing.ts';
import type { Lease, StateStore } from './store.ts';

/** What the file store asks of the world; tests replace parts of it. */
export type StoreEffects = LockEffects & { readonly disk: Disk };

/**
 * Keeps state in a file, with its lock and its runs beside it (`layout.ts` says what stands where).
 * Nothing is made before the first `acquire`. The folder is for its owner alone, and a `.callsheet`
 * folder that the store makes keeps itself out of Git.
 */
export function openFileStore(path: string, effects: Partial<StoreEffects> = {}): StateStore {
  const location = path;
  const layout = layoutOf(resolve(path));
  const world: StoreEffects = { ...realEffects(), ...effects };
  const leases = new Set<Lease>();

  return {
    location,
    load: () =>
      worded(location, async () => {
        const { state, runs } = await readStanding(layout, location);
        return { state, pending: runs.pending?.entries ?? [] };
      }),
    acquire: (holder) =>
      worded(location, async () => {
        await makeHome(layout, world.disk);
        const lock = await takeLock(layout.lock, location, holder, world);
        try {
          await removeDrafts(layout, world.disk);
        } catch (error) {
          await lock.release();
          throw error;
        }
        const lease = openLease(lock, holder, { layout, location, disk: world.disk });
        leases.add(lease);
        return lease;
      }),
    runs: () =>
      worded(location, async () => {
        const { runs } = await readStanding(layout, location);
        return summariseRuns(layout, runs.finished);
      }),
    run: (id) => worded(location, () => readRun(layout, id)),
    async close() {
      for (const lease of leases) await lease.release();
      leases.clear();
    },
  };
}

async function makeHome(layout: Layout, disk: Disk): Promise<void> {
  const made = await disk.makeFolder(layout.folder);
  if (made === undefined || basename(layout.folder) !== '.callsheet') return;
  await disk.writeNew(join(layout.folder, '.gitignore'), '*\n');
}

async function removeDrafts(layout: Layout, disk: Disk): Promise<void> {
  for (const name of await readdir(layout.folder))
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
