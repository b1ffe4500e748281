import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatState } from '../../src/state/state-text.ts';
import { began, ended, failureOf, holder, intent, stateWith } from './sample.ts';
import { appendAll, doRun, newStore, openStore, RUN } from './stores.ts';

/** A stack after two runs, the first of which is kept as a copy. */
async function twoRuns() {
  const { path, store } = await newStore();
  await doRun(store);
  const copy = join(path, '../copy');
  await copyFile(path, copy);
  await doRun(store, [began('r2', 1), ...RUN.slice(1)]);
  return { path, copy, runs: join(path, '../runs') };
}

describe('a state that is whole is refused', () => {
  test('when it is an older copy', async () => {
    const { path, copy } = await twoRuns();
    await copyFile(copy, path);
    const failure = await failureOf(() => openStore(path).load());
    expect(failure.message).toContain(
      'is an older copy: it is at serial 1, and run r2 began from serial 1',
    );
    expect(failure.hint).toContain('callsheet state repair');
  });

  test('when it is an older copy, and the later run began in the same second', async () => {
    const [first, second] = ['20261121t094500z-ffffff', '20261121t094500z-000000'];
    const { path, store } = await newStore();
    await doRun(store, [began(first, 0), ...RUN.slice(1)]);
    const copy = await readFile(path);
    await doRun(store, [began(second, 1), ...RUN.slice(1)]);
    await writeFile(path, copy);
    expect((await failureOf(() => openStore(path).load())).message).toContain(
      `run ${second} began`,
    );
  });

  test('when it is an older copy whose own run is not there', async () => {
    const { path, copy, runs } = await twoRuns();
    await copyFile(copy, path);
    await rm(join(runs, 'r1.jsonl'));
    expect((await failureOf(() => openStore(path).load())).message).toContain('is an older copy');
  });

  test("when it is another stack's", async () => {
    const { path } = await twoRuns();
    await writeFile(
      path,
      await formatState(stateWith({}, { lineage: 'other', last_run: 'r9', serial: 3 })),
    );
    const failure = await failureOf(() => openStore(path).load());
    expect(failure.message).toContain('belongs to another stack: run r9, which wrote it');
    expect(failure.hint).toContain('callsheet state repair');
  });
});

describe('a state that is whole is taken', () => {
  test('without any run beside it', async () => {
    const { path, runs } = await twoRuns();
    await rm(runs, { recursive: true });
    expect((await openStore(path).load()).state?.serial).toBe(2);
  });

  test('when the receipt of its own run is gone', async () => {
    const { path, runs } = await twoRuns();
    await rm(join(runs, 'r2.jsonl'));
    expect((await openStore(path).load()).state?.serial).toBe(2);
  });

  test('when the newest run has an older name, as after a jump of the clock', async () => {
    const { path, store } = await newStore();
    await doRun(store);
    await doRun(store, [began('r0', 1), ...RUN.slice(1)]);
    expect((await openStore(path).load()).state?.last_run).toBe('r0');
  });

  test('when no run wrote it, beside runs of a state that was thrown away', async () => {
    const { path } = await twoRuns();
    await writeFile(path, await formatState(stateWith({}, { lineage: 'new' })));
    expect((await openStore(path).load()).state?.lineage).toBe('new');
  });

  test('beside a run that was filed without a commit', async () => {
    const { path, runs } = await twoRuns();
    const store = openStore(path);
    const lease = await store.acquire(holder('r3'));
    await appendAll(lease, [began('r3', 2), intent(1, 'agent.desk', 'a1')]);
    await lease.release();
    await rename(join(runs, 'r3.open.jsonl'), join(runs, 'r3.jsonl'));
    expect((await openStore(path).load()).state?.serial).toBe(2);
  });

  test('beside a damaged receipt', async () => {
    const { path, runs } = await twoRuns();
    await writeFile(join(runs, 'r3.jsonl'), `${await readFile(join(runs, 'r2.jsonl'))}x\n`);
    expect((await openStore(path).load()).state?.serial).toBe(2);
  });

  test('in the usual case without reading a receipt', async () => {
    const { path } = await twoRuns();
    const read: string[] = [];
    const { realDisk } = await import('../../src/state/file/disk.ts');
    const store = openStore(path, {
      read(file) {
        read.push(file);
        return realDisk.read(file);
      },
      readLines(file, of) {
        read.push(file);
        return realDisk.readLines(file, of);
      },
    });
    await store.load();
    expect(read).toEqual([path]);
    expect(await store.run('r2')).toContainEqual(ended(['agent.desk']));
  });
});
