import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/platform/limiter.ts';
import type { WireAnswer } from '../../src/platform/transport.ts';
import { virtualTime } from './virtual-time.ts';

const answer = (status: number): WireAnswer => ({
  status,
  headers: {},
  requestId: undefined,
  body: null,
  length: 0,
});

const HOST = 'platform.example.test';

/** A limiter in virtual time, and what its requests came to. */
function stage(most = 8) {
  const time = virtualTime();
  const closing = new AbortController();
  const limiter = createLimiter({ most, pause: time.pause, now: time.now, stop: closing.signal });
  const starts: number[] = [];

  /** Sends a request that is answered 20 ms later. */
  const send = (status: () => number, patience = 300_000, { signal: stop } = closing) =>
    limiter.send(HOST, {
      patience,
      stop,
      pauseAfter: () => 1000,
      send: async () => {
        if (stop.aborted) return undefined;
        starts.push(time.now());
        const mine = status();
        await time.after(20);
        return answer(mine);
      },
    });
  return { time, closing, limiter, starts, send };
}

describe('the limiter', () => {
  it.each([200, 503, 404, 500, 401])('holds nothing back after %d', async (status) => {
    const { time, send, starts } = stage();
    await time.until(Promise.all(Array.from({ length: 16 }, () => send(() => status))));
    expect(starts).toEqual([...Array(8).fill(0), ...Array(8).fill(20)]);
  });

  it('sends one alone after 429 and its pause, and the others once that is let in', async () => {
    const { time, send, starts } = stage(4);
    const status = () => (time.now() < 500 ? 429 : 200);
    await time.until(Promise.all(Array.from({ length: 7 }, () => send(status))));
    expect(starts.slice(0, 5)).toEqual([0, 0, 0, 0, 1020]);
    expect(Math.min(...starts.slice(5))).toBeGreaterThanOrEqual(1040);
  });

  it('asks again where the one that asked has no answer', async () => {
    const { time, closing, limiter, send, starts } = stage(1);
    await time.until(send(() => 429));
    const lost = limiter.send(HOST, {
      patience: 300_000,
      stop: closing.signal,
      pauseAfter: () => 0,
      send: () => Promise.reject(new Error('reset')),
    });
    await expect(time.until(lost)).rejects.toThrow('reset');
    await time.until(send(() => 200));
    expect(starts).toEqual([0, 2020]);
  });

  it('lets go of who has no patience left, and says how long it was held', async () => {
    const { time, send } = stage();
    await time.until(send(() => 429));
    const sent = await time.until(send(() => 429, 300));
    expect(sent.held).toBe(300);
  });

  it('does not count waiting for a turn where nothing is refused', async () => {
    const { time, send } = stage(1);
    const all = await time.until(Promise.all([send(() => 200), send(() => 200)]));
    expect(all.map(({ held }) => held)).toEqual([0, 0]);
  });

  it('sends nothing that waits when the client closes', async () => {
    const { time, closing, send, starts } = stage(1);
    await time.until(send(() => 429));
    const waiting = send(() => 200);
    closing.abort();
    expect((await waiting).answer).toBeUndefined();
    expect((await send(() => 200)).answer).toBeUndefined();
    expect(starts).toEqual([0]);
  });

  it('goes on with what others wait for when one of its clients closes', async () => {
    const { time, send, starts } = stage(1);
    await time.until(send(() => 429));
    const other = new AbortController();
    const [gone, stays] = [send(() => 200, 300_000, other), send(() => 200)];
    other.abort();
    expect((await gone).answer).toBeUndefined();
    expect((await time.until(stays)).answer?.status).toBe(200);
    expect(starts).toEqual([0, 1020]);
  });

  it('runs as many tasks at once as were asked for', async () => {
    const { time, limiter } = stage(3);
    let [running, most] = [0, 0];
    const task = async () => {
      running += 1;
      most = Math.max(most, running);
      await time.after(5);
      running -= 1;
    };
    await time.until(Promise.all(Array.from({ length: 9 }, () => limiter.run(task))));
    expect([most, time.now()]).toEqual([3, 15]);
  });
});
