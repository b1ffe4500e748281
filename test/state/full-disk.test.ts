import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Disk } from '../../src/state/file/disk.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import { steppedDisk } from './breaking.ts';
import { began, holder, intent, makeFolder, outcome, recorded, resource } from './sample.ts';
import { doRun, openStore } from './stores.ts';

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const ENTRIES: readonly JournalEntry[] = [
  began('r2', 1),
  intent(1, 'agent.line'),
  outcome(1, 'a2'),
  recorded('agent.line', resource('a2')),
];

/** What needs room. A rename, a removal and a look do not. */
const NEEDS_ROOM = new Set(['append', 'writeNew', 'makeFolder', 'copy', 'openEnd']);

/** A disk that has no room from its n-th step on that needs some, until it is given some. */
function fillingDisk(at: number): { readonly disk: Disk; isFull: boolean; wasFull: boolean } {
  let left = at;
  const filling = {
    isFull: false,
    wasFull: false,
    disk: steppedDisk(async ({ name }, part) => {
      if (!NEEDS_ROOM.has(name)) return;
      left -= 1;
      if (left === 0) {
        filling.isFull = true;
        filling.wasFull = true;
        await part();
      }
      if (!filling.isFull) return;
      const code = 'ENOSPC';
      throw Object.assign(new Error(code), { code, syscall: 'write' });
    }),
  };
  return filling;
}

test.each([
  ['and stays full', false],
  ['and has room again for what comes after', true],
])('a disk that fills up at any step of a run %s loses nothing', async (_name, hasRoom) => {
  for (let step = 1; ; step += 1) {
    const path = join(await makeFolder(), '.callsheet/state.json');
    await doRun(openStore(path));
    const { state: before } = await openStore(path).load();
    const filling = fillingDisk(step);
    const store = openFileStore(path, { disk: filling.disk });
    const promised: JournalEntry[] = [];
    let failures = 0;

    const lease = await store.acquire(holder('r2')).catch(() => undefined);
    for (const entry of lease === undefined ? [] : ENTRIES) {
      const failure: unknown = await lease?.append(entry).catch((error: unknown) => error);
      if (failure === undefined) {
        // After the first failure nothing is promised any more, whether there is room again or not.
        expect(failures).toBe(0);
        promised.push(entry);
      } else {
        expect(failure).toMatchObject({
          code: 'state',
          message: expect.stringContaining('the disk is full'),
        });
        failures += 1;
        filling.isFull = !hasRoom;
        // A run that could not begin ends.
        if (entry.type === 'began') break;
      }
    }
    if (lease !== undefined && failures === 0 && before !== undefined) {
      const after = replay(before, ENTRIES).state ?? before;
      await lease.commit(nextState(after, 'r2')).catch(() => undefined);
    }
    await store.close();

    const { state, pending } = await openStore(path).load();
    if (state?.serial === 1) {
      expect(state).toEqual(before);
      expect(pending.slice(0, promised.length)).toEqual(promised);
    }
    // With room again the next one settles what is open, and goes on.
    const next = openStore(path);
    const { state: known = before, began: run } = replay(state, pending);
    const other = await next.acquire(holder('r3'));
    if (run !== undefined && known !== undefined) await other.commit(nextState(known, run.run));
    await other.append(began('r3', (await next.load()).state?.serial));
    if (promised.length === ENTRIES.length) {
      const { state: settled } = await next.load();
      expect(settled?.resources['agent.line']).toEqual(resource('a2'));
    }
    if (!filling.wasFull) {
      // If this falls, steps are no longer seen.
      expect(step).toBeGreaterThan(6);
      break;
    }
  }
});
