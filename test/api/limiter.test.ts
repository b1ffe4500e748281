import { describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/api/limiter.ts';
import type { WireAnswer } from '../../src/api/transport.ts';

const answer = (status: number): WireAnswer => ({
  status,
  headers: {},
  contentType: '',
  retryAfter: undefined,
  requestId: undefined,
  location: undefined,
  body: null,
  length: 0,
});

/** Sends requests one after the other, each answered with the next status. */
async function hear(limiter: Limiter, ...statuses: readonly number[]): Promise<void> {
  for (const status of statuses) await limiter.learn(async () => answer(status));
}

/** Sends requests that are all in flight before the first is answered. */
async function hearAtOnce(limiter: Limiter, ...statuses: readonly number[]): Promise<void> {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sent = statuses.map((status) => limiter.learn(() => gate.then(() => answer(status))));
  release();
  await Promise.all(sent);
}

/** How many of twenty requests are sent before any of them is answered. */
async function width(limiter: Limiter): Promise<number> {
  let running = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sent = Array.from({ length: 20 }, () =>
    limiter.learn(async () => {
      running += 1;
      await gate;
      return undefined;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  const most = running;
  release();
  await Promise.all(sent);
  return most;
}

const ok = (count: number) => Array.from({ length: count }, () => 200);

describe('the limiter', () => {
  it.each([
    { after: 'nothing', hears: [], runs: 8 },
    { after: 'good answers', hears: ok(50), runs: 8 },
    { after: 'other refusals', hears: [503, 404, 500, 401], runs: 8 },
    { after: 'one 429', hears: [429], runs: 4 },
    { after: 'two', hears: [429, 429], runs: 2 },
    { after: 'many', hears: [429, 429, 429, 429, 429, 429], runs: 1 },
    { after: 'not quite enough good answers', hears: [429, ...ok(3)], runs: 4 },
    { after: 'as many good answers as run at once', hears: [429, ...ok(4)], runs: 5 },
    { after: 'a full recovery', hears: [429, ...ok(4 + 5 + 6 + 7)], runs: 8 },
    { after: 'more than that', hears: [429, ...ok(100)], runs: 8 },
    { after: 'a relapse', hears: [429, ...ok(4), 429], runs: 2 },
  ])('runs $runs at once after $after', async ({ hears, runs }) => {
    const limiter = createLimiter(8);
    await hear(limiter, ...hears);
    expect(await width(limiter)).toBe(runs);
  });

  it('takes the refusals of requests that were in flight together for one', async () => {
    const limiter = createLimiter(8);
    await hearAtOnce(limiter, 429, 429, 429, 429, 429, 429, 429, 429);
    expect(await width(limiter)).toBe(4);
  });

  it('learns nothing from a request without an answer', async () => {
    const limiter = createLimiter(8);
    const lost = limiter.learn(() => Promise.reject(new Error('reset')));
    await expect(lost).rejects.toThrow('reset');
    expect(await width(limiter)).toBe(8);
  });
});
