import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openFileStore } from '../../src/state/file/store.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { State } from '../../src/state/model.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import type { StateStore } from '../../src/state/store.ts';
import { isTorture } from '../long.ts';
import { Death, dyingDisk } from './breaking.ts';
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
  stateWith,
} from './sample.ts';
import { openStore } from './stores.ts';

/** In short at every third step. */
const PACE = isTorture ? 1 : 3;

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

/** Two runs: the first makes two resources at once, the second changes one and deletes the other. */
const RUNS: readonly (readonly JournalEntry[])[] = [
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
];
/** The states that they commit, after none. */
const STATES: (State | undefined)[] = [undefined];
for (const entries of RUNS) {
  const { state, began: run } = replay(STATES.at(-1), entries);
  if (state !== undefined && run !== undefined) STATES.push(nextState(state, run.run));
}

/** What the process was told is durable. */
type Promised = { entries: JournalEntry[]; commits: number };

async function live(store: StateStore, promised: Promised): Promise<void> {
  const lease = await store.acquire(holder('r1', deadPid()));
  for (const [index, entries] of RUNS.entries()) {
    for (const entry of entries) {
      await lease.append(entry);
      promised.entries.push(entry);
    }
    await lease.commit(STATES[index + 1] ?? stateWith({}));
    promised.entries = [];
    promised.commits += 1;
  }
  await lease.release();
}

/** Settles what is pending, as the next command does, and gives the state that stands then. */
async function recover(path: string): Promise<State | undefined> {
  const store = openStore(path);
  const lease = await store.acquire(holder('next'));
  const { state, pending } = await store.load();
  const { state: replayed, began: run } = replay(state, pending);
  if (replayed !== undefined && run !== undefined) {
    await lease.append({
      type: 'ended',
      at: run.at,
      status: 'settled',
      verified: true,
      ledger: [],
    });
    await lease.commit(nextState(replayed, run.run));
  }
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
    await live(store, promised);
  } catch (error) {
    if (!(error instanceof Death)) throw error;
  }

  const { state, pending } = await openStore(path).load();
  const committed = state?.serial ?? 0;
  expect(state).toEqual(STATES[committed]);
  if (committed > promised.commits) {
    // The commit that was under way came through, though nobody was told.
    expect(committed).toBe(promised.commits + 1);
    expect(promised.entries).toEqual(RUNS[promised.commits]);
    expect(pending).toEqual([]);
  } else {
    expect(committed).toBe(promised.commits);
    // At most what was being written comes on top of what was promised.
    expect(pending.slice(0, promised.entries.length)).toEqual(promised.entries);
    expect(pending).toEqual((RUNS[committed] ?? []).slice(0, pending.length));
    expect(pending.length).toBeLessThanOrEqual(promised.entries.length + 1);
  }

  const settled = await recover(path);
  expect(settled?.resources).toEqual(replay(state, pending).state?.resources);
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
