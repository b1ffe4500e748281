import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openFileStore } from '../../src/state/file/store.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import { steppedDisk } from './breaking.ts';
import {
  began,
  ended,
  holder,
  intent,
  makeFolder,
  outcome,
  recorded,
  resource,
  stateWith,
} from './sample.ts';
import { appendAll, doRun, openStore } from './stores.ts';

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const run = (id: string, serial: number) => [
  began(id, serial),
  intent(1, 'agent.desk'),
  outcome(1, 'a1'),
  recorded('agent.desk', resource('a1', { name: id })),
  ended(['agent.desk']),
];

// What a reader that takes no lock may see: what stood before the writer's move or what stood after it.
test.each([
  ['commits the run that is under way', ['r2'], true, 'r1 5'],
  ['commits a run', ['r2'], false, 'r1 0'],
  ['commits two runs', ['r2', 'r3'], false, 'r1 0'],
])(
  'a reader is not misled by a writer that %s, at any step of the reading',
  async (_name, ids, underWay, before) => {
    const seen: string[] = [];
    for (let wrote = true, step = 1; wrote; step += 1) {
      const path = join(await makeFolder(), '.callsheet/state.json');
      const writer = openStore(path);
      await doRun(writer, run('r1', 0));
      const { state: first = stateWith({}) } = await writer.load();
      const lease = await writer.acquire(holder('w'));
      if (underWay) await appendAll(lease, run('r2', 1));

      wrote = false;
      const disk = steppedDisk(async ({ number }) => {
        if (number !== step) return;
        wrote = true;
        let state = first;
        for (const id of ids) {
          const entries = run(id, state.serial);
          if (!underWay) await appendAll(lease, entries);
          state = nextState(replay(state, entries).state ?? state, id);
          await lease.commit(state);
        }
        await appendAll(lease, [began('r4', state.serial), intent(1, 'agent.desk', 'a1')]);
      });
      const { state, pending } = await openFileStore(path, { disk }).load();
      expect(state?.resources['agent.desk']?.name).toBe(state?.last_run);
      seen.push(`${state?.last_run} ${pending.length}`);
      await writer.close();
    }
    // The last round had no such step, so nothing moved.
    expect(seen.pop()).toBe(before);
    expect(seen.length).toBeGreaterThan(1);
    expect([before, `${ids.at(-1)} 2`]).toEqual(expect.arrayContaining(seen));
  },
);

test('a reader may look at every step of a writer', async () => {
  const path = join(await makeFolder(), '.callsheet/state.json');
  const reader = openStore(path);
  const seen: string[] = [];
  const disk = steppedDisk(async () => {
    const { state, pending } = await reader.load();
    seen.push(`${state?.serial ?? 0}:${pending.length}`);
  });
  const writer = openFileStore(path, { disk });
  await doRun(writer, run('r1', 0));
  await doRun(writer, run('r2', 1));
  await writer.close();
  expect([...new Set(seen)]).toEqual([
    '0:0',
    '0:1',
    '0:2',
    '0:3',
    '0:4',
    '0:5',
    '1:0',
    '1:1',
    '1:2',
    '1:3',
    '1:4',
    '1:5',
    '2:0',
  ]);
});
