import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/platform/limiter.ts';
import { createSender, type Sender } from '../../src/platform/send.ts';
import type { WireAnswer, WireRequest } from '../../src/platform/transport.ts';
import { type VirtualTime, virtualTime } from './virtual-time.ts';

/** Milliseconds that every answer takes. */
const LATENCY = 20;

type Told = { readonly status: number; readonly retryAfter?: string };

const answer = ({ status, retryAfter }: Told): WireAnswer => ({
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  requestId: undefined,
  body: null,
  length: 0,
});

type Sent = { readonly at: number; readonly name: string; readonly status: number };

/** A client's sender before a platform that answers by the time and the number of the request. */
function stage(platform: (at: number, count: number) => Told, most = 4, time = virtualTime()) {
  const sent: Sent[] = [];
  const stop = new AbortController().signal;
  const limiter = createLimiter({ most, pause: time.pause, now: time.now, stop });
  const sender = createSender({
    transport: {
      send: async ({ url }: WireRequest) => {
        const at = time.now();
        const told = platform(at, sent.length);
        sent.push({ at, name: url, status: told.status });
        await time.after(LATENCY);
        return answer(told);
      },
      close: async () => {},
    },
    limiter,
    pause: time.pause,
    now: time.now,
    stop,
    trace: undefined,
  });
  return { sent, sender, limiter, time };
}

function ask(sender: Sender, name: string, host = 'platform.example.test') {
  const request = { method: 'GET', url: name, headers: {}, attempt: 1 } as const;
  return sender.send(host, () => request, true);
}

/** Asks for something later. */
async function askAt(time: VirtualTime, at: number, begin: () => Promise<WireAnswer>) {
  await time.after(at);
  return begin();
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);
const ok: Told = { status: 200 };

describe('a 429 speaks to everything that goes to its host', () => {
  it.each([
    { told: { status: 429, retryAfter: '10' }, begun: 100, sent: 10_020 },
    { told: { status: 429, retryAfter: '10' }, begun: 12_000, sent: 12_000 },
    { told: { status: 429 }, begun: 100, sent: 270 },
    { told: { status: 429, retryAfter: '0.1' }, begun: 100, sent: 270 },
    { told: { status: 503, retryAfter: '10' }, begun: 100, sent: 100 },
    { told: { status: 429, retryAfter: '400' }, begun: 100, sent: 100 },
  ])('$told: what is begun at $begun is sent at $sent', async ({ told, begun, sent: expected }) => {
    const { sender, sent, time } = stage((_, count) => (count === 0 ? told : ok));
    const both = [ask(sender, 'first'), askAt(time, begun, () => ask(sender, 'second'))];
    await time.until(Promise.all(both));
    expect(sent.find(({ name }) => name === 'second')?.at).toBe(expected);
  });

  it('and to no other host', async () => {
    const told = { status: 429, retryAfter: '10' };
    const { sender, sent, time } = stage((_, count) => (count === 0 ? told : ok));
    const upload = askAt(time, 100, () => ask(sender, 'upload', 'storage.example.test'));
    await time.until(Promise.all([ask(sender, 'first'), upload]));
    expect(sent.find(({ name }) => name === 'upload')?.at).toBe(100);
  });

  it('the longest of several counts', async () => {
    const waits = ['2', '9', '4', '1'];
    const { sender, sent, time } = stage((_, count) => {
      const retryAfter = waits[count];
      return retryAfter === undefined ? ok : { status: 429, retryAfter };
    });
    await time.until(Promise.all(names(4).map((name) => ask(sender, name))));
    const [first, ...others] = sent.slice(4).map(({ at }) => at);
    expect(first).toBe(9020);
    expect(Math.min(...others)).toBeGreaterThanOrEqual(9040);
    expect(Math.max(...others)).toBeLessThan(9500);
  });
});

describe('a storm', () => {
  it.each([
    { most: 16, retryAfter: true },
    { most: 16, retryAfter: false },
    { most: 4, retryAfter: false },
    { most: 64, retryAfter: true },
  ])('of 400 requests, $most at once, is got over: Retry-After $retryAfter', async (row) => {
    const perSecond = 50;
    let [tokens, last] = [perSecond, 0];
    const draws = virtualTime(() => 0.5);
    const { sender, sent, limiter, time } = stage(
      (at) => {
        tokens = Math.min(perSecond, tokens + ((at - last) * perSecond) / 1000);
        last = at;
        if (tokens < 1) return { status: 429, ...(row.retryAfter ? { retryAfter: '1' } : {}) };
        tokens -= 1;
        return ok;
      },
      row.most,
      draws,
    );
    const all = names(400).map((name) => limiter.run(() => ask(sender, name)));
    const answers = await time.until(Promise.all(all));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    // 350 beyond the burst take 7 s at the least.
    expect(time.now()).toBeLessThan(14_000);
    expect(sent.filter(({ status }) => status === 429).length).toBeLessThan(200);
  });
});

describe('the budget of one request', () => {
  it('counts what it waits for the sake of others', async () => {
    const { sender, sent, time } = stage((at) =>
      at < 200_000 ? { status: 429, retryAfter: '200' } : { status: 429, retryAfter: '140' },
    );
    const second = askAt(time, 1000, () => ask(sender, 'second'));
    const ended = await time.until(Promise.all([ask(sender, 'first'), second]));
    expect(ended.map(({ status }) => status)).toEqual([429, 429]);
    expect(sent.filter(({ name }) => name === 'second')).toHaveLength(1);
    expect(time.now()).toBeLessThan(300_000);
  });

  it('ends after ten tries however short the waits are', async () => {
    const { sender, sent, time } = stage(
      () => ({ status: 429 }),
      4,
      virtualTime(() => 0),
    );
    await time.until(ask(sender, 'only'));
    expect(sent).toHaveLength(10);
  });
});
