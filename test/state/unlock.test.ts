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

  test.each<[string, number, string, string]>([
    ['held here', process.pid, thisMachine(), 'running'],
    ['left by a process that is gone', deadPid(), thisMachine(), 'gone'],
    ['held elsewhere', 41, 'elsewhere', 'elsewhere'],
  ])('%s', async (_name, pid, machine, owner) => {
    const { path, store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await lease.release();
    const beat = '2026-03-02T08:31:00.000Z';
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

  test('given back', async () => {
    const { store } = await newStore();
    await (await store.acquire(holder('r1'))).release();
    expect(await store.lock()).toBeUndefined();
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

describe('nothing is unlocked', () => {
  test('by another id, and the holder is named', async () => {
    const { path, store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    const failure = await failureOf(() => openStore(path).unlock('lease-9', BY));
    expect(failure.code).toBe('usage');
    expect(failure.message).toContain('lease lease-9 does not hold the state');
    expect(failure.message).toContain(`apply (run r1) of sam@desk`);
    expect(failure.message).toContain(`under lease ${lease.id}`);
    await appendAll(lease, [began('r1')]);
  });

  test('where nobody holds it', async () => {
    const { store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await lease.release();
    const failure = await failureOf(() => store.unlock(lease.id, BY));
    expect(failure.message).toContain('is not locked');
  });

  test('by the id of one that was unlocked already and taken by another', async () => {
    const { path, store } = await newStore();
    const lease = await store.acquire(holder('r1'));
    await store.unlock(lease.id, BY);
    const next = await openStore(path).acquire(holder('r2'));
    expect((await failureOf(() => store.unlock(lease.id, BY))).message).toContain('run r2');
    await appendAll(next, [began('r2')]);
  });
});
