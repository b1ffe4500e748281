import { appendFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nextState } from '../../src/state/replay.ts';
import { formatState } from '../../src/state/state-text.ts';
import type { StateStore } from '../../src/state/store.ts';
import { began, deadPid, ended, failureOf, holder, intent, stateWith } from './sample.ts';
import { appendAll, doRun, newStore, openStore } from './stores.ts';

describe('what does not belong together is refused', () => {
  const died = async (store: StateStore) => {
    await doRun(store);
    const lease = await store.acquire(holder('r2', deadPid()));
    await appendAll(lease, [began('r2', 1), intent(1, 'agent.desk', 'a1')]);
  };

  test.each<[string, (path: string) => unknown, string]>([
    [
      'a state of another lineage',
      async (path) => writeFile(path, await formatState(stateWith({}, { lineage: 'x' }))),
      'belongs to another stack',
    ],
    [
      'a state that moved on without the run',
      async (path) => writeFile(path, await formatState(stateWith({}, { serial: 5 }))),
      'moved on to 5 without it',
    ],
    ['two dead runs', (path) => appendFile(join(path, '../runs/r3.open.jsonl'), ''), ''],
  ])('%s', async (_name, change, words) => {
    const { path, store } = await newStore();
    await died(store);
    await change(path);
    if (words === '') {
      const text = await readFile(join(path, '../runs/r2.open.jsonl'), 'utf8');
      await writeFile(join(path, '../runs/r3.open.jsonl'), text);
      expect((await failureOf(() => store.load())).message).toContain(
        '2 runs that did not finish: r2, r3',
      );
    } else {
      const failure = await failureOf(() => store.load());
      expect(failure.code).toBe('state');
      expect(failure.message).toContain(words);
    }
  });

  test.each([
    ['beside a dead run', true, 'at serial 0, and run r2 began from serial 1'],
    ['beside a finished run', false, 'at serial 0, and run r1 began from serial 0'],
  ])('an older copy of the state %s', async (_name, isPending, words) => {
    const { path, store } = await newStore();
    if (isPending) await died(store);
    else await doRun(store);
    await writeFile(path, await formatState(stateWith({}, { serial: 0, last_run: null })));
    const failure = await failureOf(() => store.load());
    expect(failure.message).toContain('is an older copy');
    expect(failure.message).toContain(words);
    expect(failure.hint).toContain('callsheet state repair');
  });

  test('and a run that asked nothing of the platform stands in nobody’s way', async () => {
    const { path, store } = await newStore();
    await doRun(store);
    const lease = await store.acquire(holder('r2', deadPid()));
    await lease.append(began('r2', 1));
    await writeFile(path, await formatState(stateWith({}, { serial: 5 })));
    const { state, pending } = await store.load();
    expect(pending).toEqual([]);
    const next = await openStore(path).acquire(holder('r3'));
    await appendAll(next, [began('r3', 5), ended()]);
    await next.commit(nextState(state ?? stateWith({}), 'r3'));
    expect((await store.runs()).map(({ run, status }) => `${run} ${status}`).sort()).toEqual([
      'r1 done',
      'r2 unfinished',
      'r3 done',
    ]);
  });
});

test('what was committed but not filed counts as finished', async () => {
  const { path, store } = await newStore();
  await doRun(store);
  await rename(join(path, '../runs/r1.jsonl'), join(path, '../runs/r1.open.jsonl'));
  expect((await store.load()).pending).toEqual([]);
  expect((await store.runs()).map(({ run, status }) => `${run} ${status}`)).toEqual(['r1 done']);
  await doRun(store, [began('r2', 1), ended()]);
  expect((await readdir(join(path, '../runs'))).sort()).toEqual(['r1.jsonl', 'r2.jsonl']);
});
