import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openFileStore } from '../../src/state/file/store.ts';
import { formatEntry, JOURNAL_HEADER } from '../../src/state/journal-text.ts';
import type { StateStore } from '../../src/state/store.ts';
import { isTorture } from '../long.ts';
import { Death, dyingDisk, steppedDisk } from './breaking.ts';
import {
  began,
  deadPid,
  ended,
  failureOf,
  holder,
  intent,
  recorded,
  resource,
  stateWith,
} from './sample.ts';
import { doRun, newStore, openStore } from './stores.ts';

/** In short at every third step. */
const PACE = isTorture ? 1 : 3;

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const REBUILT = stateWith({ 'agent.new': resource('a9') }, { serial: 4, last_run: 'r9' });
const JOURNAL = [{ ...began('r9', 3), purpose: 'state repair' }, ended()] as const;
const DAMAGE = 'no state';

/** A stack whose state is damaged, with a run that died, one of another stack, and one that is damaged. */
async function makeStack(): Promise<string> {
  const { path, store } = await newStore();
  await doRun(store);
  await writeFile(path, DAMAGE);
  const open = (run: string, text: string) =>
    writeFile(join(path, `../runs/${run}.open.jsonl`), JOURNAL_HEADER + text);
  const died = [began('r2', 1), intent(1, 'agent.line'), recorded('agent.line', resource('a2'))];
  await open('r2', died.map((entry) => formatEntry(entry)).join(''));
  await open('r3', formatEntry(began('r3', 1, 'other')));
  await open('r4', 'x\n');
  return path;
}

async function replace(store: StateStore): Promise<readonly string[]> {
  const lease = await store.acquire(holder('r9', deadPid()));
  const kept = await lease.replace(REBUILT, JOURNAL);
  await lease.release();
  return kept;
}

/** Everything in the folder but what is the lock's, by name. */
async function contents(path: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(path, '..');
  const names = [
    ...(await readdir(folder)).filter((name) => name.startsWith('state.json')),
    ...(await readdir(join(folder, 'runs'))).map((name) => join('runs', name)),
  ];
  const texts = names.map(
    async (name) => [name, await readFile(join(folder, name), 'utf8')] as const,
  );
  return new Map(await Promise.all(texts));
}

test('a replaced state stands, and what was there is kept under other names', async () => {
  const path = await makeStack();
  const before = await contents(path);
  const kept = await replace(openStore(path));
  expect(kept).toEqual([
    'state.json.before-r9',
    'r3.open.jsonl.before-r9',
    'r4.open.jsonl.before-r9',
  ]);
  const store = openStore(path);
  expect(await store.load()).toEqual({ state: REBUILT, pending: [] });
  expect(
    (await store.runs()).map(({ run, purpose, status }) => `${run} ${purpose} ${status}`),
  ).toEqual(['r9 state repair done', 'r2 apply unfinished', 'r1 apply done']);
  const after = await contents(path);
  expect(after.get('state.json.before-r9')).toBe(DAMAGE);
  for (const name of ['runs/r3.open.jsonl', 'runs/r4.open.jsonl'])
    expect(after.get(`${name}.before-r9`)).toBe(before.get(name));
});

async function dieAt(step: number, within: boolean): Promise<boolean> {
  const path = await makeStack();
  const before = await contents(path);
  const dying = dyingDisk(step, within);
  const store = openFileStore(path, { disk: dying.disk });
  try {
    await replace(store);
  } catch (error) {
    if (!(error instanceof Death)) throw error;
  }
  const after = await contents(path);
  for (const [name, text] of before) {
    const copies = [...after.values()].filter((other) => other === text);
    expect(copies, `${name} after step ${step}`).not.toEqual([]);
  }
  // Whatever it came to, the next one gets through, and then the state is sound.
  const next = openStore(path);
  const lease = await next.acquire(holder('r10'));
  const rebuilt = { ...REBUILT, serial: 9, last_run: 'r10' };
  await lease.replace(rebuilt, [{ ...began('r10', 8), purpose: 'state repair' }, ended()]);
  expect(await next.load()).toEqual({ state: rebuilt, pending: [] });
  await store.close();
  return dying.died;
}

test.each([
  ['before', false],
  ['within', true],
])('a process that dies %s any step of it loses nothing', async (_where, within) => {
  let step = 1;
  while (await dieAt(step, within)) step += PACE;
  // If this falls, steps are no longer seen.
  expect(step).toBeGreaterThan(12);
});

test('a run that lost its lease at any step of it stops, and does not undo the next one', async () => {
  const ends: string[] = [];
  for (let step = 1; ; step += PACE) {
    const path = await makeStack();
    const other = openStore(path);
    let left = Number.POSITIVE_INFINITY;
    const disk = steppedDisk(async () => {
      left -= 1;
      if (left !== 0) return;
      const lease = await other.acquire(holder('r5'));
      const own = { ...REBUILT, serial: 20, last_run: 'r5' };
      await lease.replace(own, [{ ...began('r5', 19), purpose: 'state push' }, ended()]);
    });
    const store = openFileStore(path, { disk });
    const lease = await store.acquire(holder('r9', deadPid()));
    left = step;
    const failure = await failureOf(() => lease.replace(REBUILT, JOURNAL)).catch(() => undefined);
    if (left > 0) break;
    ends.push(`${failure?.code} ${(await other.load()).state?.last_run}`);
    await store.close();
    await other.close();
  }
  expect(new Set(ends)).toEqual(new Set(['locked r5']));
  expect(ends.length * PACE).toBeGreaterThan(10);
});
