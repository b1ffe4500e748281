import { describe, expect, test } from 'vitest';
import { nextState } from '../../../../src/state/replay.ts';
import type { Lease, StateStore } from '../../../../src/state/store.ts';
import { longRows } from '../../../long.ts';
import { began, failureOf, holder, intent, stateWith } from '../../sample.ts';
import { appendAll, RUN } from '../../stores.ts';
import { clock } from './clock.ts';
import { type Fault, type StateFixture, WITHOUT_WAITING } from './fixture.ts';
import { LIFE } from './runs.ts';

type Open = { readonly store: StateStore; readonly lease: Lease };

/** What a run asks of its store, after the entries that it has written by then. */
type Request = {
  readonly written: number;
  readonly act: (open: Open) => Promise<unknown>;
};

const REQUESTS: { readonly [name: string]: Request } = {
  'a load': { written: 2, act: ({ store }) => store.load() },
  'a list of runs': { written: 2, act: ({ store }) => store.runs() },
  'a look at the lock': { written: 2, act: ({ store }) => store.lock() },
  'the first entry': { written: 0, act: ({ lease }) => lease.append(began('r1')) },
  'an entry': { written: 1, act: ({ lease }) => lease.append(intent(1, 'agent.desk')) },
  'a commit': {
    written: RUN.length,
    act: ({ lease }) => lease.commit(LIFE.states[1] ?? stateWith({})),
  },
  'a replacement': {
    written: 0,
    act: ({ lease }) => lease.replace(nextState(stateWith({}), 'r1'), [began('r1')]),
  },
  'what is received': {
    written: 0,
    act: ({ lease }) => lease.receive(stateWith({}), [{ run: 'r1', entries: RUN }]),
  },
  'a lease that is given back, and the next one': {
    written: 0,
    act: async ({ lease, store }) => {
      await lease.release();
      await store.acquire(holder('r2'));
    },
  },
};
const WRITES = ['the first entry', 'an entry', 'a commit', 'a replacement', 'what is received'];

/** Longer than every restart, and than the 30 s for which a store is asked. */
const GONE = 600_000;

/** A store that is away for a while of a clock which only waiting moves. */
export function testAway(makeFixture: () => Promise<StateFixture>, loss: () => Error): void {
  /** A store that can be away, by its own clock. */
  async function awayFor(milliseconds: number, done = false) {
    const fixture = await makeFixture();
    const here = clock({ machine: 'here' });
    const now = here.effects.now ?? Date.now;
    let until = 0;
    const fault = (): Fault => (now() < until ? { error: loss, done } : undefined);
    const store = fixture.open({ effects: here.effects, fault });
    const leave = () => {
      until = now() + milliseconds;
    };
    return { fixture, here, store, leave };
  }

  async function kept(fixture: StateFixture) {
    const store = fixture.open();
    return {
      ...(await store.load()),
      runs: await store.runs(),
      lock: (await store.lock())?.holder,
    };
  }

  async function doneIn(
    fixture: StateFixture,
    store: StateStore,
    { written, act }: Request,
    leave = () => {},
  ) {
    const lease = await store.acquire(holder('r1'));
    await appendAll(lease, RUN.slice(0, written));
    leave();
    await act({ store, lease });
    return kept(fixture);
  }

  // Who waits for long waits for a while, too.
  const times = longRows([3_000, 25_000], (away) => away === 25_000);
  describe.each(times)('a store that is away for %d ms', (away) => {
    // In short: one that only reads, and one of each way to write.
    const short = [
      'a load',
      'an entry',
      'a commit',
      'a lease that is given back, and the next one',
    ];
    const asked = longRows(Object.entries(REQUESTS), ([name]) => short.includes(name));
    test.each(asked)('is waited for: %s', async (_name, request) => {
      const calm = await makeFixture();
      const expected = await doneIn(calm, calm.open(), request);
      for (const done of [false, true]) {
        const { fixture, store, here, leave } = await awayFor(away, done);
        expect(await doneIn(fixture, store, request, leave), `done: ${done}`).toEqual(expected);
        // The longest pause, and what a lease waits for by itself.
        expect(here.waited()).toBeLessThanOrEqual(away + 2_500);
        await fixture.close();
      }
    });
  });

  test.each(WRITES)('one that stays away is given up after 30 s: %s', async (name) => {
    const { fixture, store, here, leave } = await awayFor(GONE);
    const request = REQUESTS[name];
    const failure = await failureOf(() => request && doneIn(fixture, store, request, leave));
    expect(failure.code).toBe('state');
    expect(failure.message).toMatch(/^cannot (read|write) the state .*: the connection was lost$/);
    expect(here.waited()).toBeGreaterThanOrEqual(30_000);
    // To give back what is lost already does not take the same time again.
    await store.close();
    expect(here.waited()).toBeLessThanOrEqual(33_000);
    await fixture.close();
  });

  test.each(['load', 'runs', 'lock'] as const)(
    'one that never answered is given up within seconds: %s',
    async (what) => {
      const { fixture, store, here, leave } = await awayFor(GONE);
      leave();
      expect((await failureOf(() => store[what]())).code).toBe('state');
      expect(here.waited()).toBeLessThanOrEqual(7_000);
      await fixture.close();
    },
  );

  test.each(WRITES)('what is taken by another meanwhile is not written: %s', async (name) => {
    const fixture = await makeFixture();
    let isAway = false;
    let taken: Lease | undefined;
    const here = clock({
      machine: 'here',
      async whileAsleep() {
        if (taken !== undefined) return;
        const other = fixture.open(WITHOUT_WAITING);
        await other.unlock((await other.lock())?.lease ?? '', holder('u'));
        taken = await other.acquire(holder('r2'));
        isAway = false;
      },
    });
    const fault = (): Fault => (isAway ? { error: loss, done: false } : undefined);
    const store = fixture.open({ effects: here.effects, fault });
    const lease = await store.acquire(holder('r1'));
    const { written = 0, act = () => Promise.reject(new Error(name)) } = REQUESTS[name] ?? {};
    await appendAll(lease, RUN.slice(0, written));
    isAway = true;
    const failure = await failureOf(() => act({ store, lease }));
    expect(failure.code).toBe('locked');
    expect(failure.message).toMatch(/no longer holds the lock.*run r2/);
    expect(await fixture.open().load()).toEqual({
      state: undefined,
      pending: RUN.slice(0, written),
    });
    expect((await fixture.open().lock())?.lease).toBe(taken?.id);
  });

  test.each([10_000, GONE])('heartbeats go on after %d ms without the store', async (away) => {
    const { fixture, store, here, leave } = await awayFor(away);
    const lease = await store.acquire(holder('r1'));
    const other = fixture.open();
    const beat = async () => (await other.lock())?.beat;
    const before = await beat();
    leave();
    here.beat();
    await expect.poll(() => here.waited()).toBeGreaterThanOrEqual(Math.min(away - 2_000, 30_000));
    await here.effects.sleep?.(away);
    await expect
      .poll(() => {
        here.beat();
        return beat();
      })
      .not.toBe(before);
    await lease.append(began('r1'));
    expect((await other.load()).pending).toEqual([began('r1')]);
  });
}
