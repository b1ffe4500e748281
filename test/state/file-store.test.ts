import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Unanswered } from '../../src/state/failures.ts';
import { realDisk } from '../../src/state/file/disk.ts';
import { nextState } from '../../src/state/replay.ts';
import { readReceipt } from '../../src/state/runs.ts';
import { withReason } from '../long.ts';
import { began, ended, failureOf, holder, stateWith } from './sample.ts';
import { appendAll, doRun, newStore } from './stores.ts';

describe('a store', () => {
  test('begins with nothing and makes nothing by reading', async () => {
    const { path, store } = await newStore();
    expect(await store.load()).toEqual({ state: undefined, pending: [] });
    expect(await store.runs()).toEqual([]);
    expect(await store.run('r1')).toBeUndefined();
    await expect(stat(join(path, '..'))).rejects.toThrow('ENOENT');
  });

  test.each([
    ['.callsheet/state.json', ['.gitignore', 'runs', 'state.json', 'state.lock'], 'runs'],
    ['here/state.json', ['runs', 'state.json', 'state.lock'], 'runs'],
    ['here/prod.json', ['prod.json', 'prod.json.lock', 'prod.json.runs'], 'prod.json.runs'],
    ['deep/down/here/prod', ['prod', 'prod.lock', 'prod.runs'], 'prod.runs'],
  ])('keeps everything beside %s, for its owner alone', async (name, names, runs) => {
    const { path, store } = await newStore(name);
    await doRun(store);
    const folder = join(path, '..');
    expect((await readdir(folder)).sort()).toEqual(names);
    expect(await readdir(join(folder, runs))).toEqual(['r1.jsonl']);
    const mode = async (file: string) => (await stat(file)).mode & 0o777;
    expect(await mode(folder)).toBe(0o700);
    expect(await mode(path)).toBe(0o600);
    expect(await mode(join(folder, runs))).toBe(0o700);
    expect(await mode(join(folder, runs, 'r1.jsonl'))).toBe(0o600);
  });

  test('keeps a folder that it makes out of Git, and leaves one that it finds as it is', async () => {
    const { path, store } = await newStore();
    await doRun(store);
    expect(await readFile(join(path, '../.gitignore'), 'utf8')).toBe('*\n');
    await rm(join(path, '../.gitignore'));
    await doRun(store, [began('r2', 1), ended()]);
    expect(await readdir(join(path, '..'))).not.toContain('.gitignore');
  });

  test('lists runs newest first, also damaged ones: by their ids, or before all others', async () => {
    const { path, store } = await newStore();
    const ids = ['20260301t000000z-a', '20260302t000000z-b', '20260303t000000z-c', 'odd'];
    const [first = '', second = '', third = '', odd = ''] = ids;
    for (const [index, run] of [first, odd, second, third].entries())
      await doRun(store, [
        { ...began(run, index), at: `2026-03-0${index}T00:00:00.900Z` },
        ended(),
      ]);
    for (const run of [second, odd]) {
      const damaged = join(path, `../runs/${run}.jsonl`);
      await appendFile(damaged, 'x\n');
      await utimes(damaged, 0, 0);
    }
    await writeFile(join(path, '../runs/notes.txt'), 'mine');
    expect((await store.runs()).map(({ run, status, at }) => [run, status, at])).toEqual([
      [odd, 'unreadable', ''],
      [third, 'done', '2026-03-03T00:00:00.900Z'],
      [second, 'unreadable', '2026-03-02T00:00:00.000Z'],
      [first, 'done', '2026-03-00T00:00:00.900Z'],
    ]);
    expect((await failureOf(() => store.run(odd))).message).toContain('is damaged in line 4');
  });

  test('lists no run as damaged because the store does not answer', async () => {
    const lost = new (class extends Unanswered {})('state', 'it broke off');
    await expect(readReceipt('r1', () => Promise.reject(lost))).rejects.toBe(lost);
  });

  test('lists runs in the order of the states that they began from, whatever the clock said', async () => {
    const { store } = await newStore();
    // The clock was set back, and two runs began in one second: their ids sort the other way.
    const at = ['2026-03-05T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
    for (const [serial, run] of ['r1', 'r3', 'r2'].entries())
      await doRun(store, [{ ...began(run, serial), at: at[serial] ?? '' }, ended()]);
    expect((await store.runs()).map(({ run }) => run)).toEqual(['r2', 'r3', 'r1']);
  });
});

describe('what the file system refuses is said in words', () => {
  test.each<[string, (path: string) => Promise<unknown>, string]>([
    [
      'a folder in place of the state',
      async (path) => mkdir(path, { recursive: true }),
      'is a folder',
    ],
    [
      'a file in place of the folder',
      async (path) => writeFile(join(path, '..'), ''),
      'not a folder',
    ],
  ])('%s', async (_name, prepare, words) => {
    const { path, store } = await newStore('there/state.json');
    await prepare(path);
    const failure = await failureOf(() => store.load());
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(words);
  });

  const isOrdinary = process.getuid?.() !== 0;
  const reason = 'the superuser may write everywhere';
  test.runIf(isOrdinary)(withReason('a read-only folder', isOrdinary, reason), async () => {
    const { path, store } = await newStore('there/state.json');
    await mkdir(join(path, '..'));
    await chmod(join(path, '..'), 0o500);
    const failure = await failureOf(() => store.acquire(holder('r1')));
    expect(failure.message).toContain('permission denied');
  });

  test.each([
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
  ])('%s while the state is replaced keeps the old one and the journal', async (code, words) => {
    let refuse = false;
    const { path, store } = await newStore('.callsheet/state.json', {
      async writeNew(at, text) {
        if (!refuse) return realDisk.writeNew(at, text);
        await writeFile(at, [...text].join('').slice(0, 10));
        throw Object.assign(new Error(code), { code, syscall: 'write', path: at });
      },
    });
    await doRun(store);
    const { state } = await store.load();
    const lease = await store.acquire(holder('r2'));
    await appendAll(lease, [began('r2', 1), ended()]);
    refuse = true;
    const failure = await failureOf(() => lease.commit(nextState(state ?? stateWith({}), 'r2')));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(words);
    expect(await store.load()).toEqual({ state, pending: [began('r2', 1), ended()] });
    expect((await readdir(join(path, '..'))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    refuse = false;
    await lease.commit(nextState(state ?? stateWith({}), 'r2'));
    expect((await store.load()).state?.last_run).toBe('r2');
  });
});
