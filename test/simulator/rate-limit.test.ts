import { expect, test } from 'vitest';
import { createLimiter } from '../../src/simulator/rate-limit.ts';
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

test('a bucket never holds more than its burst', () => {
  const clock = { now: 0 };
  const limiter = createLimiter(() => new Date(clock.now), { perSecond: 10, burst: 1 });
  const refused = () => limiter.refuse() !== undefined;
  expect([refused(), refused()]).toEqual([false, true]);
  clock.now = 10_000;
  expect([refused(), refused()]).toEqual([false, true]);
});
