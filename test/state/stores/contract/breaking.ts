import { expect, test } from 'vitest';
import { CallsheetError } from '../../../../src/core/errors.ts';
import type { JournalEntry } from '../../../../src/state/journal.ts';
import { nextState, replay } from '../../../../src/state/replay.ts';
import type { StateStore } from '../../../../src/state/store.ts';
import { Death } from '../../breaking.ts';
import { began, deadPid, ended, failureOf, holder, stateWith } from '../../sample.ts';
import { appendAll, RUN } from '../../stores.ts';
import { clock } from './clock.ts';
import { RUNS, STATES } from './runs.ts';
import type { Fault, Loss, Spot } from './spot.ts';

/** `npm run torture` breaks the stores at every step. */
const EVERY_STEP = process.env.CALLSHEET_EVERY_STEP === '1';

/** Breaks a store at every step, or at each `stride` steps where that takes long. */
export function testBreaking(makeSpot: () => Promise<Spot>, loss: Loss, stride: number): void {
  const pace = EVERY_STEP ? 1 : stride;

  test.each([
    ['before', false],
    ['right after', true],
  ])('a process that dies %s any step loses nothing that it was promised', async (_where, done) => {
    let step = 1;
    while (await dieAt(step, done)) step += pace;
    // Every append and two commits: if this falls, steps are no longer seen.
    expect(step).toBeGreaterThan(18);
  });

  // A file has no connection that could be lost.
  if (loss === undefined) return;

  test.each([
    ['before', false],
    ['after', true],
  ])(
    'a connection that is lost %s any step is got over or stops the run, and loses nothing',
    async (_where, done) => {
      let step = 1;
      while (await cutAt(step, done)) step += pace;
      expect(step).toBeGreaterThan(18);
    },
  );

  test('a connection that stays lost stops the run before its next write', async () => {
    const spot = await makeSpot();
    let isCut = false;
    const error = loss;
    const store = spot.open({
      fault: () => (isCut ? { error, done: false } : undefined),
      effects: clock({ machine: 'here' }).effects,
    });
    const lease = await store.acquire(holder('r1'));
    await appendAll(lease, RUN.slice(0, 2));
    isCut = true;
    const failure = await failureOf(() => lease.append(RUN[2] ?? ended()));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(store.location);
    expect(failure.message).toMatch(/cannot \w+ the state .*: the connection was lost/);
    await failureOf(() => lease.append(RUN[3] ?? ended()));
    isCut = false;
    expect((await spot.open().load()).pending).toEqual(RUN.slice(0, 2));
  });

  async function dieAt(at: number, done: boolean): Promise<boolean> {
    const spot = await makeSpot();
    let died = false;
    const fault = (step: number): Fault => {
      if (died) return { error: () => new Death(), done: false };
      if (step !== at) return undefined;
      died = true;
      return { error: () => new Death(), done };
    };
    const promised: Promised = { entries: [], commits: 0 };
    const store = spot.open({ fault });
    await live(store, promised, deadPid()).catch((error: unknown) => {
      if (!(error instanceof Death)) throw error;
    });
    await checkPromises(spot, promised);
    await recover(spot);
    await spot.close();
    return died;
  }

  async function cutAt(at: number, done: boolean): Promise<boolean> {
    const spot = await makeSpot();
    let wasCut = false;
    const fault = (step: number): Fault => {
      if (step !== at) return undefined;
      wasCut = true;
      return { error: loss ?? (() => new Error()), done };
    };
    const promised: Promised = { entries: [], commits: 0 };
    const store = spot.open({ fault, effects: { sleep: async () => {} } });
    await live(store, promised, process.pid).catch((error: unknown) => {
      if (!(error instanceof CallsheetError) || error.code !== 'state') throw error;
    });
    await store.close();
    await checkPromises(spot, promised);
    // It gave back what it could; what it could not belongs to a process that runs.
    const held = await spot.open().lock();
    if (held !== undefined) await spot.open().unlock(held.lease, holder('u'));
    await recover(spot);
    await spot.close();
    return wasCut;
  }
}

/** What the process was told is durable. */
type Promised = { entries: JournalEntry[]; commits: number };

async function live(store: StateStore, promised: Promised, pid: number): Promise<void> {
  const lease = await store.acquire(holder('r1', pid));
  for (const [index, entries] of RUNS.entries()) {
    for (const entry of entries) {
      await lease.append(entry);
      promised.entries.push(entry);
    }
    await lease.commit(STATES[index + 1] ?? stateWith({}));
    promised.entries = [];
    promised.commits += 1;
  }
  await lease.release();
}

async function checkPromises(spot: Spot, promised: Promised): Promise<void> {
  const { state, pending } = await spot.open().load();
  const committed = state?.serial ?? 0;
  expect(state).toEqual(STATES[committed]);
  if (committed > promised.commits) {
    // The commit that was under way came through, though nobody was told.
    expect(committed).toBe(promised.commits + 1);
    expect(promised.entries).toEqual(RUNS[promised.commits]);
    expect(pending).toEqual([]);
    return;
  }
  expect(committed).toBe(promised.commits);
  // At most what was being written comes on top of what was promised.
  expect(pending.slice(0, promised.entries.length)).toEqual(promised.entries);
  expect(pending).toEqual((RUNS[committed] ?? []).slice(0, pending.length));
  expect(pending.length).toBeLessThanOrEqual(promised.entries.length + 1);
}

/** Settles what is pending, as the next command does. */
async function recover(spot: Spot): Promise<void> {
  const store = spot.open({ effects: { sleep: async () => {} } });
  const lease = await store.acquire(holder('next'));
  const { state, pending } = await store.load();
  const { state: replayed, began: run } = replay(state, pending);
  if (replayed !== undefined && run !== undefined) {
    const { at } = run;
    await lease.append({ type: 'ended', at, status: 'settled', verified: true, ledger: [] });
    await lease.commit(nextState(replayed, run.run));
  }
  const settled = await spot.open().load();
  expect(settled.pending).toEqual([]);
  expect(settled.state?.resources).toEqual(replayed?.resources ?? state?.resources);
  expect(await spot.open().runs()).toHaveLength(settled.state?.serial ?? 0);
  await lease.append(began('r9', settled.state?.serial ?? 0));
  await lease.release();
}
