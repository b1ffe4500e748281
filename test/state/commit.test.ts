import { appendFile, readFile, rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { nextState } from '../../src/state/replay.ts';
import { began, failureOf, holder, resource, stateWith } from './sample.ts';
import { doRun, newStore } from './stores.ts';

describe('commit', () => {
  test('needs no run', async () => {
    const { store } = await newStore();
    await doRun(store);
    const { state } = await store.load();
    const lease = await store.acquire(holder('mv'));
    await lease.commit(
      nextState(state ?? stateWith({}), undefined, { 'agent.front': resource('a1') }),
    );
    expect((await store.load()).state).toMatchObject({ serial: 2, last_run: 'r1' });
  });

  test('goes on where the run began when the state was deleted meanwhile', async () => {
    const { path, store } = await newStore();
    await doRun(store);
    const { state } = await store.load();
    const lease = await store.acquire(holder('r2'));
    await lease.append(began('r2', 1));
    await rm(path);
    await lease.commit(nextState(state ?? stateWith({}), 'r2'));
    expect((await store.load()).state?.serial).toBe(2);
  });

  test('refuses to replace a damaged state', async () => {
    const { path, store } = await newStore();
    await doRun(store);
    const { state } = await store.load();
    const lease = await store.acquire(holder('r2'));
    await appendFile(path, '}');
    expect((await failureOf(() => lease.commit(nextState(state ?? stateWith({}))))).code).toBe(
      'state',
    );
    expect((await readFile(path, 'utf8')).endsWith('}\n}')).toBe(true);
  });
});
