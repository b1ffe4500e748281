import { expect, test, vi } from 'vitest';
import type { CallsheetError } from '../../../../src/core/errors.ts';
import { nextState } from '../../../../src/state/replay.ts';
import type { Lease } from '../../../../src/state/store.ts';
import { startProcess } from '../../other-process.ts';
import { began, ended, failureOf, holder, stateWith } from '../../sample.ts';
import { appendAll, RUN } from '../../stores.ts';
import { clock } from './clock.ts';
import { type StateFixture, WITHOUT_WAITING } from './fixture.ts';

/** Whose turn it is, and that nobody writes who has lost it. */
export function testHolding(makeFixture: () => Promise<StateFixture>): void {
  test('of many that ask at once one gets the lease', async () => {
    const fixture = await makeFixture();
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => fixture.open().acquire(holder(`r${index}`))),
    );
    const won = asked.filter(({ status }) => status === 'fulfilled');
    const codes = asked.flatMap((one) =>
      one.status === 'rejected' ? (one.reason as CallsheetError).code : [],
    );
    expect(won).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(['locked']));
  });

  test('names who holds it, until it is given back', async () => {
    const fixture = await makeFixture();
    const store = fixture.open();
    const lease = await store.acquire(holder('r1'));
    const failure = await failureOf(() => fixture.open().acquire(holder('r2')));
    expect(failure.code).toBe('locked');
    expect(failure.message).toContain('apply (run r1) of sam@desk');
    expect(failure.hint).toContain(`callsheet state unlock ${lease.id}`);
    const held = await fixture.open().lock();
    expect(held).toMatchObject({ lease: lease.id, holder: holder('r1'), owner: 'running' });
    await lease.release();
    expect(await fixture.open().lock()).toBeUndefined();
    expect((await failureOf(() => lease.append(began('r1')))).code).toBe('locked');
    const next = fixture.open();
    await next.acquire(holder('r2'));
    await next.close();
    await fixture.open().acquire(holder('r3'));
  });

  test('a process that was killed is noticed at once on its machine', async () => {
    const fixture = await makeFixture();
    const other = startProcess();
    const orders = { place: fixture.place, env: fixture.env, holder: holder('r1') };
    expect(await other.tell({ do: 'acquire', ...orders })).toEqual({ done: true });
    expect(await other.tell({ do: 'append', entry: began('r1') })).toEqual({ done: true });
    const failure = await failureOf(() => fixture.open().acquire(holder('r2')));
    expect(failure.code).toBe('locked');
    expect(failure.message).toContain(`apply (run r1) of sam@desk, process ${other.pid}`);
    await other.kill();
    expect(await fixture.open().lock()).toMatchObject({ owner: 'gone' });
    const lease = await fixture.open().acquire(holder('r2'));
    expect((await fixture.open().load()).pending).toEqual([began('r1')]);
    await lease.release();
  });

  test('a process that died elsewhere is noticed within 30 seconds, and not by its clock', async () => {
    const fixture = await makeFixture();
    const there = clock({ machine: 'there', ahead: 3_600_000 });
    const here = clock({ machine: 'here' });
    await fixture.open({ effects: there.effects }).acquire(holder('r1'));
    // It dies: no more heartbeats.
    const lease = await fixture.open({ effects: here.effects }).acquire(holder('r2'));
    expect(here.waited()).toBeLessThanOrEqual(30_000);
    expect(here.waited()).toBeGreaterThanOrEqual(3 * 2_000);
    await lease.append(began('r2'));
  });

  test('one that lives elsewhere is left alone, whatever the clocks say', async () => {
    const fixture = await makeFixture();
    const there = clock({ machine: 'there', ahead: 3_600_000 });
    const store = fixture.open({ effects: there.effects });
    const lease = await store.acquire(holder('r1'));
    const here = clock({
      machine: 'here',
      async whileAsleep() {
        const before = await store.lock();
        there.beat();
        await expect.poll(async () => (await store.lock())?.beat).not.toBe(before?.beat);
      },
    });
    const failure = await failureOf(() =>
      fixture.open({ effects: here.effects }).acquire(holder('r2')),
    );
    expect(failure.code).toBe('locked');
    await lease.append(began('r1'));
  });

  test('one that shows a heartbeat at any step of a takeover is watched anew', async () => {
    for (let at = 1; ; at += 1) {
      const fixture = await makeFixture();
      const there = clock({ machine: 'there', ahead: 3_600_000 });
      const store = fixture.open({ effects: there.effects });
      const lease = await store.acquire(holder('r1'));
      const here = clock({ machine: 'here' });
      let steps = 0;
      let waitedThen: number | undefined;
      const fault = async (): Promise<undefined> => {
        // Before it began to watch, an old heartbeat is one of a clock that is wrong.
        if (here.waited() === 0) return;
        steps += 1;
        if (steps !== at) return;
        const before = await store.lock();
        if (before?.lease !== lease.id) return;
        there.beat();
        const beat = async () => (await store.lock())?.beat;
        // Over HTTP the holder may have no lock at this step: no heartbeat is seen then, and the taker is stopped.
        await expect.poll(beat, { timeout: 1_000 }).not.toBe(before.beat);
        waitedThen = here.waited();
      };
      const taken = await fixture
        .open({ effects: here.effects, fault })
        .acquire(holder('r2'))
        .then(() => true)
        .catch(() => false);
      if (taken && waitedThen !== undefined)
        expect(here.waited() - waitedThen, `at step ${at}`).toBeGreaterThanOrEqual(6_000);
      // Over HTTP its lock may be gone by then, and it stops: nobody has it then, never both.
      const isKept = await lease.append(began('r1')).then(
        () => true,
        () => false,
      );
      expect(taken && isKept).toBe(false);
      await fixture.close();
      if (steps < at) return;
    }
  });

  test('who lost the lease writes nothing more, and is told who has it', async () => {
    for (const prefix of [0, 1, 3, RUN.length]) {
      const fixture = await makeFixture();
      const store = fixture.open();
      const lease = await store.acquire(holder('r1'));
      await appendAll(lease, RUN.slice(0, prefix));
      const other = fixture.open(WITHOUT_WAITING);
      const held = await other.lock();
      await other.unlock(held?.lease ?? '', holder('u'));
      const next = await other.acquire(holder('r2'));
      const entry = RUN[prefix] ?? ended();
      const failures = [
        await failureOf(() => lease.append(entry)),
        await failureOf(() => lease.commit(nextState(stateWith({}, { serial: 0 }), 'r1'))),
        await failureOf(() => lease.replace(nextState(stateWith({}), 'r1'), [began('r1')])),
      ];
      for (const failure of failures) {
        expect(failure.code).toBe('locked');
        expect(failure.message).toMatch(/no longer holds the lock.*(run r2|lock was removed)/);
      }
      expect(await fixture.open().load()).toEqual({
        state: undefined,
        pending: RUN.slice(0, prefix),
      });
      await next.release();
    }
  });

  // What a lease was told before would stop it, so each is the first thing that it does after the loss.
  test.each<[string, (lease: Lease) => Promise<unknown>]>([
    ['an append', (lease) => lease.append(began('r1'))],
    ['a commit', (lease) => lease.commit(nextState(stateWith({}, { serial: 0 })))],
    ['a replacement', (lease) => lease.replace(nextState(stateWith({}), 'r1'), [began('r1')])],
    ['what is received', (lease) => lease.receive(stateWith({}), [{ run: 'r1', entries: RUN }])],
    ['what is received without receipts', (lease) => lease.receive(stateWith({}), [])],
  ])('%s is refused by the store itself once the lease is lost', async (_what, act) => {
    const fixture = await makeFixture();
    const lease = await fixture.open().acquire(holder('r1'));
    await fixture.open(WITHOUT_WAITING).unlock(lease.id, holder('u'));
    const next = await fixture.open().acquire(holder('r2'));
    const failure = await failureOf(() => act(lease));
    expect(failure.code).toBe('locked');
    expect(await fixture.open().load()).toEqual({ state: undefined, pending: [] });
    expect(await fixture.open().runs()).toEqual([]);
    await next.append(began('r2'));
  });

  test('a heartbeat finds out that the lease is lost', async () => {
    const fixture = await makeFixture();
    const there = clock({ machine: 'there' });
    const lease = await fixture.open({ effects: there.effects }).acquire(holder('r1'));
    await fixture.open(WITHOUT_WAITING).unlock(lease.id, holder('u'));
    there.beat();
    await vi.waitFor(
      async () => expect((await failureOf(() => lease.append(began('r1')))).code).toBe('locked'),
      { timeout: 50_000 },
    );
    expect(await fixture.open().lock()).toBeUndefined();
  });

  test('unlocks the lease that is named, and no other', async () => {
    const fixture = await makeFixture();
    const store = fixture.open();
    const refused = await failureOf(() => store.unlock('x', holder('u')));
    expect(refused.code).toBe('usage');
    expect(refused.message).toContain('is not locked');
    const lease = await store.acquire(holder('r1'));
    const failure = await failureOf(() => fixture.open().unlock('x', holder('u')));
    expect(failure.code).toBe('usage');
    expect(failure.message).toContain('lease x does not hold the state');
    expect(failure.message).toContain('apply (run r1) of sam@desk');
    expect(failure.message).toContain(`under lease ${lease.id}`);
    await lease.append(began('r1'));
    await fixture.open(WITHOUT_WAITING).unlock(lease.id, holder('u'));
    expect(await fixture.open().lock()).toBeUndefined();
    const next = await fixture.open().acquire(holder('r2'));
    // Not by the id of one that another has taken over from, either.
    expect((await failureOf(() => store.unlock(lease.id, holder('u')))).message).toContain(
      'run r2',
    );
    await next.append(RUN[1] ?? ended());
  });
}
