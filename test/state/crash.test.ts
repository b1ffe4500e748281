import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openFileStore } from '../../src/state/file/store.ts';
import type { State } from '../../src/state/model.ts';
import { replay } from '../../src/state/replay.ts';
import { isTorture } from '../long.ts';
import { Death, dyingDisk } from './breaking.ts';
import { checkPromises, lifeOf, live, type Promised, settle } from './promises.ts';
import {
  began,
  deadPid,
  ended,
  holder,
  intent,
  makeFolder,
  outcome,
  recorded,
  resource,
} from './sample.ts';
import { openStore } from './stores.ts';

/** In short at every third step. */
const PACE = isTorture ? 1 : 3;

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

/** Two runs: the first makes two resources at once, the second changes one and deletes the other. */
const LIFE = lifeOf([
  [
    began('r1', 0),
    intent(1, 'agent.desk'),
    intent(2, 'agent.line'),
    outcome(1, 'a1'),
    recorded('agent.desk', resource('a1')),
    outcome(2, 'a2'),
    recorded('agent.line', resource('a2')),
    ended(['agent.desk', 'agent.line']),
  ],
  [
    began('r2', 1),
    intent(1, 'agent.desk', 'a1'),
    outcome(1, 'a1'),
    recorded('agent.desk', resource('a1', { name: 'New desk' })),
    intent(2, 'agent.line', 'a2'),
    recorded('agent.line', null),
    ended(['agent.desk', 'agent.line']),
  ],
]);

/** Settles what is pending, as the next command does, and gives the state that stands then. */
async function recover(path: string): Promise<State | undefined> {
  const store = openStore(path);
  const lease = await store.acquire(holder('next'));
  await settle(store, lease);
  const { state: settled } = await store.load();
  // A run of its own, so that whatever was left behind is filed.
  await lease.append(began('r9', settled?.serial ?? 0));
  await lease.release();
  return settled;
}

async function dieAt(at: number, within: boolean): Promise<boolean> {
  const path = join(await makeFolder(), '.callsheet/state.json');
  const dying = dyingDisk(at, within);
  const promised: Promised = { entries: [], commits: 0 };
  const store = openFileStore(path, { disk: dying.disk });
  try {
    await live(LIFE, store, promised, deadPid());
  } catch (error) {
    if (!(error instanceof Death)) throw error;
  }

  const loaded = await openStore(path).load();
  checkPromises(LIFE, loaded, promised);
  const settled = await recover(path);
  expect(settled?.resources).toEqual(replay(loaded.state, loaded.pending).state?.resources);
  expect(await openStore(path).runs()).toHaveLength(settled?.serial ?? 0);
  const folder = await readdir(join(path, '..'));
  expect(folder.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  const runs = await readdir(join(path, '../runs'));
  expect(runs.filter((name) => name.endsWith('.open.jsonl'))).toEqual(['r9.open.jsonl']);
  await store.close();
  return dying.died;
}

test.each([
  ['before', false],
  ['within', true],
])(
  'a process that dies %s any step on the disk loses nothing that it was promised',
  async (_where, within) => {
    let step = 1;
    while (await dieAt(step, within)) step += PACE;
    // Every append, and what begins and commits two runs: if this falls, steps are no longer seen.
    expect(step).toBeGreaterThan(20);
  },
);

/** What a migration brings: receipts, of which one is there already, and the state. */
const GIVEN = [
  { run: 'r1', entries: LIFE.runs[0] ?? [] },
  { run: 'r2', entries: LIFE.runs[1] ?? [] },
];

async function dieReceiving(step: number, within: boolean): Promise<boolean> {
  const path = join(await makeFolder(), '.callsheet/state.json');
  const dying = dyingDisk(step, within);
  const state = LIFE.states[2];
  if (state === undefined) throw new Error('the runs made no state');
  const store = openFileStore(path, { disk: dying.disk });
  try {
    const lease = await store.acquire(holder('m1', deadPid()));
    await lease.receive(state, GIVEN);
  } catch (error) {
    if (!(error instanceof Death)) throw error;
  }
  // The same command goes on where it was.
  const next = openStore(path);
  const { state: there } = await next.load();
  if (there === undefined) await (await next.acquire(holder('m2'))).receive(state, GIVEN);
  expect(await next.load()).toEqual({ state, pending: [] });
  for (const { run, entries } of GIVEN) expect(await next.run(run), run).toEqual(entries);
  await store.close();
  return dying.died;
}

test.each([
  ['before', false],
  ['within', true],
])('a migration that dies %s any step of it is gone on with', async (_where, within) => {
  let step = 1;
  while (await dieReceiving(step, within)) step += 1;
  expect(step).toBeGreaterThan(8);
});
