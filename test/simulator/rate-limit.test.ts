import { describe, expect, test } from 'vitest';
import { createLimiter, type RateLimit } from '../../src/simulator/rate-limit.ts';
import { createWorld, IDS, type Reply, SEED, type World } from './world.ts';

const frozen = { now: () => new Date('2026-01-01T00:00:00Z'), seed: SEED };

/** Statuses of some requests, one after another. */
async function statuses({ call }: World, count: number): Promise<readonly number[]> {
  const replies: Reply[] = [];
  for (let one = 0; one < count; one += 1) replies.push(await call('getMe'));
  return replies.map(({ status }) => status);
}

test('a burst passes, what comes above it is told to wait, and waiting helps', async () => {
  await using world = await createWorld({ ...frozen, rateLimit: { perSecond: 2, burst: 4 } });
  // The token that is minted first counts as a request.
  expect(await statuses(world, 4)).toEqual([200, 200, 200, 429]);
  world.sim.advance(500);
  expect(await statuses(world, 2)).toEqual([200, 429]);
  world.sim.advance(60_000);
  expect(await statuses(world, 5)).toEqual([200, 200, 200, 200, 429]);
});

test.each([
  { retryAfter: true, header: '2' },
  { retryAfter: false, header: null },
])('Retry-After is $header where it is $retryAfter', async ({ retryAfter, header }) => {
  const rateLimit = { perSecond: 0.5, retryAfter };
  await using world = await createWorld({ ...frozen, rateLimit });
  await world.call('createToken', { body: {} });
  const { status, body, headers } = await world.call('createToken', { body: {} });
  expect([status, headers.get('retry-after')]).toEqual([429, header]);
  expect(body).toMatchObject({ error: 'rate_limited' });
});

test('a refused request does nothing, spends no fault, and is logged', async () => {
  await using world = await createWorld(frozen);
  await world.call('getMe');
  world.sim.limiter.set({ perSecond: 1 });
  world.sim.faults.add({ operation: 'updateAgent', status: 500 });
  const request = { path: { agentId: IDS.desk }, body: { description: 'x' } };
  await world.call('getMe');
  expect((await world.call('updateAgent', request)).status).toBe(429);
  expect(world.sim.faults.pending()).toBe(1);
  expect(world.sim.requests.at(-1)).toMatchObject({ operation: 'updateAgent', status: 429 });
  world.sim.limiter.set(undefined);
  expect((await world.call('updateAgent', request)).status).toBe(500);
});

describe('what is let in of requests at these times', () => {
  test.each<{ limit: RateLimit; times: readonly number[]; letIn: readonly number[] }>([
    // Only its burst, however long nothing came.
    { limit: { perSecond: 10, burst: 1 }, times: [0, 0, 9000, 9000], letIn: [0, 9000] },
    { limit: { perSecond: 2 }, times: [0, 0, 0, 400, 500, 600], letIn: [0, 0, 500] },
    {
      limit: { perSecond: 2, shape: 'fixed' },
      times: [900, 950, 990, 1000, 1100, 1200, 2000],
      letIn: [900, 950, 1000, 1100, 2000],
    },
    {
      limit: { perSecond: 2, shape: 'sliding' },
      times: [900, 950, 990, 1000, 1900, 1949, 1950],
      letIn: [900, 950, 1900, 1950],
    },
    {
      limit: { perSecond: 0.05, shape: 'fixed', windowSeconds: 60 },
      times: [0, 1, 2, 3, 59_999, 60_000],
      letIn: [0, 1, 2, 60_000],
    },
    { limit: { inFlight: 2 }, times: [0, 0, 0, 5000], letIn: [0, 0] },
  ])('$limit', ({ limit, times, letIn }) => {
    const clock = { now: 0 };
    const limiter = createLimiter(() => new Date(clock.now), limit);
    const taken = times.filter((time) => {
      clock.now = time;
      return limiter.enter().refused === undefined;
    });
    expect(taken).toEqual(letIn);
  });

  test.each<{ limit: RateLimit; header: string }>([
    { limit: { perSecond: 0.1 }, header: '10' },
    { limit: { perSecond: 0.1, shape: 'fixed', windowSeconds: 10 }, header: '6' },
    { limit: { perSecond: 0.1, shape: 'sliding', windowSeconds: 10 }, header: '10' },
    { limit: { inFlight: 1 }, header: '1' },
  ])('$limit: Retry-After $header', ({ limit, header }) => {
    const limiter = createLimiter(() => new Date(4000), limit);
    limiter.enter();
    expect(limiter.enter().refused).toEqual({ 'retry-after': header });
  });

  test('who leaves makes room for another', () => {
    const limiter = createLimiter(() => new Date(0), { inFlight: 1 });
    const first = limiter.enter();
    if (first.refused === undefined) first.leave();
    expect(limiter.enter().refused).toBeUndefined();
  });
});

test('requests under way at once are counted until they are answered', async () => {
  await using world = await createWorld({ ...frozen, rateLimit: { inFlight: 2 }, latencyMs: 200 });
  await world.call('getMe');
  const replies = await Promise.all([1, 2, 3, 4].map(() => world.call('getMe')));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429]);
  expect((await world.call('getMe')).status).toBe(200);
});
