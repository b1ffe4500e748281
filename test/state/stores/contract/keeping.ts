import { expect, test } from 'vitest';
import type { State } from '../../../../src/state/model.ts';
import { nextState, replay } from '../../../../src/state/replay.ts';
import {
  began,
  deadPid,
  ended,
  failureOf,
  holder,
  recorded,
  resource,
  stateWith,
} from '../../sample.ts';
import { appendAll, doRun, RUN } from '../../stores.ts';
import type { StateFixture } from './fixture.ts';
import { SECOND } from './runs.ts';

/** What a store keeps, and what it refuses to keep. */
export function testKeeping(makeFixture: () => Promise<StateFixture>): void {
  test('begins with nothing', async () => {
    const store = (await makeFixture()).open();
    expect(await store.load()).toEqual({ state: undefined, pending: [] });
    expect(await store.runs()).toEqual([]);
    expect(await store.run('r1')).toBeUndefined();
    expect(await store.lock()).toBeUndefined();
    expect(await store.salvage()).toMatchObject({ problem: undefined, read: 'nothing' });
  });

  test('remembers a run, and those before it', async () => {
    const fixture = await makeFixture();
    const store = fixture.open();
    await doRun(store);
    await doRun(store, SECOND);
    const again = fixture.open();
    const { state, pending } = await again.load();
    expect(pending).toEqual([]);
    expect(state).toMatchObject({ serial: 2, last_run: 'r2', account_id: 'account-1' });
    expect(state?.resources).toEqual({
      'agent.desk': resource('a1', { name: 'Grüße “von hier”\n' }),
      'agent.line': resource('a2'),
    });
    const first = {
      run: 'r1',
      at: '2026-03-02T08:30:00.000Z',
      purpose: 'apply',
      status: 'done',
      changes: 1,
      user: 'sam',
      commit: null,
      ended: '2026-03-02T08:30:00.000Z',
      outcomes: [{ kind: 'agent', action: 'update', status: 'done', count: 1, name: 'agent.desk' }],
    };
    const outcomes = [{ kind: 'agent', action: 'update', status: 'done', count: 2, name: null }];
    expect(await again.runs()).toEqual([{ ...first, run: 'r2', changes: 2, outcomes }, first]);
    expect(await again.run('r1')).toEqual(RUN);
    expect(await again.run('r2')).toEqual(SECOND);
    for (const id of ['../state', '../r1', '..', '', 'r1.open', 'a/b', 'r9', "r1' OR 1=1"])
      expect(await again.run(id), id).toBeUndefined();
  });

  test('forgets what a state no longer has', async () => {
    const fixture = await makeFixture();
    await doRun(fixture.open());
    await doRun(fixture.open(), SECOND);
    await doRun(fixture.open(), [began('r3', 2), recorded('agent.desk', null), ended()]);
    expect((await fixture.open().load()).state?.resources).toEqual({
      'agent.line': resource('a2'),
    });
  });

  const unreadable = { 'agent.x': { ...resource('x'), kind: 'y' } };
  test.each<[string, (state: State) => State, string, string]>([
    ['of another serial', (one) => ({ ...one, serial: 3 }), 'stale', 'is at serial 1, not 2'],
    ['of the serial there', (one) => ({ ...one, serial: 1 }), 'stale', 'is at serial 1, not 0'],
    ['of another stack', (one) => ({ ...one, lineage: 'x' }), 'state', 'belongs to another stack'],
    ['of another account', (one) => ({ ...one, account_id: 'x' }), 'state', 'account-1, not to x'],
    ['of no account', ({ account_id: _, ...one }) => one, 'state', 'account-1, not to none'],
    ['that nobody could read', (one) => ({ ...one, resources: unreadable }), 'state', 'kind y'],
  ])('refuses a state %s', async (_name, change, code, words) => {
    const fixture = await makeFixture();
    const store = fixture.open();
    await doRun(store);
    const { state: before } = await store.load();
    if (before === undefined) throw new Error('no state');
    const lease = await store.acquire(holder('r2'));
    await lease.append(began('r2', 1));
    const failure = await failureOf(() => lease.commit(change(nextState(before, 'r2'))));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(words);
    expect(await fixture.open().load()).toEqual({ state: before, pending: [began('r2', 1)] });
    await lease.commit(nextState(before, 'r2'));
  });

  test('keeps what is noted with what is appended next, and in that order', async () => {
    const fixture = await makeFixture();
    const lease = await fixture.open().acquire(holder('r1', deadPid()));
    await lease.append(RUN[0] ?? ended());
    for (const entry of RUN.slice(1, 3)) lease.note(entry);
    await lease.append(RUN[3] ?? ended());
    expect((await fixture.open().load()).pending).toEqual(RUN.slice(0, 4));
    lease.note(RUN[4] ?? ended());
    await lease.release();
    expect((await fixture.open().load()).pending).toEqual(RUN.slice(0, 5));
  });

  test('keeps what a run appended before it died, and takes no other run before that is settled', async () => {
    const fixture = await makeFixture();
    const dead = fixture.open();
    const first = await dead.acquire(holder('r1', deadPid()));
    await appendAll(first, RUN.slice(0, 3));
    const store = fixture.open();
    expect(await store.load()).toEqual({ state: undefined, pending: RUN.slice(0, 3) });
    expect(await store.runs()).toEqual([]);
    expect(await store.run('r1')).toEqual(RUN.slice(0, 3));
    const lease = await store.acquire(holder('r2'));
    expect((await failureOf(() => lease.append(began('r2')))).message).toContain(
      'must be recovered',
    );
    await appendAll(lease, RUN.slice(3));
    const settled = replay(undefined, RUN).state ?? stateWith({});
    expect((await failureOf(() => lease.commit(nextState(settled, 'r2')))).message).toContain(
      'r1: it must be recovered',
    );
    await lease.commit(nextState(settled, 'r1'));
    await lease.append(began('r2', 1));
    expect(await fixture.open().load()).toMatchObject({
      state: { serial: 1 },
      pending: [began('r2', 1)],
    });
    await lease.append(ended());
    await lease.commit(nextState(nextState(settled, 'r1'), 'r2'));
    expect(await fixture.open().run('r1')).toEqual(RUN);
    expect((await fixture.open().runs()).map(({ run }) => run)).toEqual(['r2', 'r1']);
    expect((await fixture.open().load()).state).toMatchObject({ serial: 2, last_run: 'r2' });
  });
}
