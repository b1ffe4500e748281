import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realDisk } from '../../src/state/file/disk.ts';
import { nextState } from '../../src/state/replay.ts';
import { began, deadPid, ended, failureOf, holder, intent, stateWith } from './sample.ts';
import { appendAll, newStore, openStore, RUN } from './stores.ts';

describe('a journal', () => {
  test('whose last write was cut off is gone on with', async () => {
    const { path, store } = await newStore();
    await appendAll(await openStore(path).acquire(holder('r1', deadPid())), RUN.slice(0, 2));
    await appendFile(join(path, '../runs/r1.open.jsonl'), '{"sum":"0123');
    expect((await store.load()).pending).toEqual(RUN.slice(0, 2));
    const lease = await store.acquire(holder('r2'));
    await appendAll(lease, RUN.slice(2));
    expect((await store.load()).pending).toEqual(RUN);
  });

  test('keeps the order of appends that were not waited for, and few syncs carry them', async () => {
    let syncs = 0;
    const { store } = await newStore('.callsheet/state.json', {
      async openEnd(path, which) {
        const end = await realDisk.openEnd(path, which);
        return {
          ...end,
          append(text) {
            syncs += 1;
            return end.append(text);
          },
        };
      },
    });
    const lease = await store.acquire(holder('r1'));
    const entries = [
      began('r1'),
      ...Array.from({ length: 200 }, (_, n) => intent(n + 1, 'agent.desk')),
    ];
    await Promise.all(entries.map((entry) => lease.append(entry)));
    expect((await store.load()).pending).toEqual(entries);
    expect(syncs).toBeLessThan(10);
  });

  test('takes nothing more after a write failed, and what it took is there', async () => {
    let full = false;
    const { path, store } = await newStore('.callsheet/state.json', {
      async openEnd(at, which) {
        const end = await realDisk.openEnd(at, which);
        return {
          ...end,
          async append(text) {
            if (!full) return end.append(text);
            await end.append(text.slice(0, 20));
            throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
          },
        };
      },
    });
    const lease = await store.acquire(holder('r1', deadPid()));
    await appendAll(lease, RUN.slice(0, 3));
    full = true;
    const failure = await failureOf(() => lease.append(ended()));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain('the disk is full');
    full = false;
    expect((await failureOf(() => lease.append(ended()))).message).toContain('the disk is full');
    expect((await failureOf(() => lease.commit(nextState(stateWith({}))))).message).toContain(
      'the disk is full',
    );
    expect((await store.load()).pending).toEqual(RUN.slice(0, 3));
    const next = await openStore(path).acquire(holder('r2'));
    await appendAll(next, RUN.slice(3));
    expect((await store.load()).pending).toEqual(RUN);
  });

  test.each([
    ['an entry before its beginning', [ended()], 'no run has begun'],
    ['a run whose id is no name', [began('../r1')], 'not the id of a run'],
  ])('refuses %s', async (_name, entries, words) => {
    const { store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await expect(appendAll(lease, entries)).rejects.toThrow(words);
    await appendAll(lease, [began('r1'), ended()]);
  });

  test('refuses a second beginning', async () => {
    const { store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await lease.append(began('r1'));
    expect((await failureOf(() => lease.append(began('r2')))).message).toContain(
      'r1: it must be recovered',
    );
  });
});
