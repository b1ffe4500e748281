import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Disk, realDisk } from '../../src/state/file/disk.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import type { Lease, StateStore } from '../../src/state/store.ts';
import { began, ended, holder, intent, makeFolder, outcome, recorded, resource } from './sample.ts';

/** A store in a folder of its own. */
export async function newStore(name = '.callsheet/state.json', disk: Partial<Disk> = {}) {
  const path = join(await makeFolder(), name);
  return { path, store: openStore(path, disk) };
}

/** Another process's view of the same store. */
export function openStore(path: string, disk: Partial<Disk> = {}): StateStore {
  const store = openFileStore(path, { disk: { ...realDisk, ...disk } });
  onTestFinished(() => store.close());
  return store;
}

export const RUN: readonly JournalEntry[] = [
  began('r1'),
  intent(1, 'agent.desk'),
  outcome(1, 'a1'),
  recorded('agent.desk', resource('a1')),
  ended(['agent.desk']),
];

export async function appendAll(lease: Lease, entries: readonly JournalEntry[]): Promise<void> {
  for (const entry of entries) await lease.append(entry);
}

/** Does a run from its beginning to its commit. */
export async function doRun(store: StateStore, entries = RUN): Promise<void> {
  const [first] = entries;
  const lease = await store.acquire(holder(first?.type === 'began' ? first.run : 'r1'));
  await appendAll(lease, entries);
  const { state } = await store.load();
  const after = replay(state, entries);
  if (after.state === undefined || after.began === undefined) throw new Error('not a run');
  await lease.commit(nextState(after.state, after.began.run));
  await lease.release();
}
