import { expect, test } from 'vitest';
import { CallsheetError } from '../../../../src/core/errors.ts';
import { Death } from '../../breaking.ts';
import { checkPromises, live, type Promised, settle } from '../../promises.ts';
import { began, deadPid, ended, failureOf, holder } from '../../sample.ts';
import { appendAll, RUN } from '../../stores.ts';
import { clock } from './clock.ts';
import { type Fault, type Loss, type StateFixture, WITHOUT_WAITING } from './fixture.ts';
import { LIFE } from './runs.ts';

/** `npm run torture` breaks the stores at every step. */
const EVERY_STEP = process.env.CALLSHEET_EVERY_STEP === '1';

/** Breaks a store at every step, or at each `stride` steps where that takes long. */
export function testBreaking(
  makeFixture: () => Promise<StateFixture>,
  loss: Loss,
  stride: number,
): void {
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
    const fixture = await makeFixture();
    let isCut = false;
    const error = loss;
    const store = fixture.open({
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
    expect((await fixture.open().load()).pending).toEqual(RUN.slice(0, 2));
  });

  async function dieAt(at: number, done: boolean): Promise<boolean> {
    const fixture = await makeFixture();
    let died = false;
    const fault = (step: number): Fault => {
      if (died) return { error: () => new Death(), done: false };
      if (step !== at) return undefined;
      died = true;
      return { error: () => new Death(), done };
    };
    const promised: Promised = { entries: [], commits: 0 };
    const store = fixture.open({ fault });
    await live(LIFE, store, promised, deadPid()).catch((error: unknown) => {
      if (!(error instanceof Death)) throw error;
    });
    checkPromises(LIFE, await fixture.open().load(), promised);
    await recover(fixture);
    await fixture.close();
    return died;
  }

  async function cutAt(at: number, done: boolean): Promise<boolean> {
    const fixture = await makeFixture();
    let wasCut = false;
    const fault = (step: number): Fault => {
      if (step !== at) return undefined;
      wasCut = true;
      return { error: loss ?? (() => new Error()), done };
    };
    const promised: Promised = { entries: [], commits: 0 };
    const store = fixture.open({ fault, effects: { sleep: async () => {} } });
    await live(LIFE, store, promised, process.pid).catch((error: unknown) => {
      if (!(error instanceof CallsheetError) || error.code !== 'state') throw error;
    });
    await store.close();
    checkPromises(LIFE, await fixture.open().load(), promised);
    // It gave back what it could; what it could not belongs to a process that runs.
    const held = await fixture.open().lock();
    if (held !== undefined) await fixture.open(WITHOUT_WAITING).unlock(held.lease, holder('u'));
    await recover(fixture);
    await fixture.close();
    return wasCut;
  }
}

/** Settles what is pending, as the next command does. */
async function recover(fixture: StateFixture): Promise<void> {
  const store = fixture.open({ effects: { sleep: async () => {} } });
  const lease = await store.acquire(holder('next'));
  const state = await settle(store, lease);
  const settled = await fixture.open().load();
  expect(settled.pending).toEqual([]);
  expect(settled.state?.resources).toEqual(state?.resources);
  expect(await fixture.open().runs()).toHaveLength(settled.state?.serial ?? 0);
  await lease.append(began('r9', settled.state?.serial ?? 0));
  await lease.release();
}
