import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatBeat, formatLockRecord, identify, thisMachine } from '../../src/state/lock.ts';
import type { Holder } from '../../src/state/store.ts';
import { began, deadPid, failureOf, holder, intent, outcome } from './sample.ts';
import { appendAll, newStore, openStore } from './stores.ts';

const BY: Holder = { ...holder(''), command: 'state unlock', user: 'kim' };

describe('a lock is seen', () => {
  test('where there is none, and nothing is made by looking', async () => {
    const { path, store } = await newStore();
    expect(await store.lock()).toBeUndefined();
    await expect(readdir(join(path, '..'))).rejects.toThrow('ENOENT');
  });

  const silent = '2026-03-02T08:31:00.000Z';
  test.each<[string, number, string, string, string?]>([
    ['held here', process.pid, thisMachine(), 'running', new Date().toISOString()],
    ['held here by a paused process', process.pid, thisMachine(), 'silent'],
    ['left by a process that is gone', deadPid(), thisMachine(), 'gone'],
    ['held elsewhere', 41, 'elsewhere', 'elsewhere'],
  ])('%s', async (_name, pid, machine, owner, beat = silent) => {
    const { path, store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await lease.release();
    await writeFile(
      join(path, '../state.lock/1'),
      formatLockRecord({
        beat: formatBeat(Date.parse(beat)),
        id: 'lease-1',
        owner: identify(pid, machine),
        holder: holder('r1', pid),
      }),
    );
    expect(await store.lock()).toEqual({
      lease: 'lease-1',
      holder: holder('r1', pid),
      beat,
      owner,
      watch: 6_000,
    });
  });
});

describe('an unlocked run', () => {
  test('stops before its next write, is told by whom, and the next one takes over', async () => {
    const { path, store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await appendAll(lease, [began('r1'), intent(1, 'agent.desk')]);
    await openStore(path).unlock(lease.id, BY);

    for (const work of [
      () => lease.append(outcome(1, 'a1')),
      () => lease.append(intent(2, 'agent.line')),
    ]) {
      const failure = await failureOf(work);
      expect(failure.code).toBe('locked');
      expect(failure.message).toContain('no longer holds the lock');
      expect(failure.message).toContain(`state unlock of kim@desk, process ${process.pid}, since`);
    }
    await lease.release();
    const next = openStore(path);
    await next.acquire(holder('r2'));
    expect((await next.load()).pending).toEqual([began('r1'), intent(1, 'agent.desk')]);
    expect((await next.lock())?.holder.run).toBe('r2');
  });

  test('leaves one ticket, of a higher number', async () => {
    const { path, store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await openStore(path).unlock(lease.id, BY);
    expect(await readdir(join(path, '../state.lock'))).toEqual(['2']);
    expect(await store.lock()).toBeUndefined();
  });
});
