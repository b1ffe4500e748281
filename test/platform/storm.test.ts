import { describe, expect, it } from 'vitest';
import { longRows } from '../long.ts';
import { passCallsheet, passPlain, type Storm } from './storm.ts';

const [FEW, MANY] = [400, 1000];

const storms = [0, 0.05, 0.15, 0.25].flatMap((refused) =>
  [undefined, 0, 1].flatMap((retryAfter) =>
    [FEW, MANY].flatMap((requests) =>
      [20, 100].map((latency) => ({ refused, failed: 0.07, retryAfter, requests, latency })),
    ),
  ),
);

/** Storms of one kind that are drawn anew: the longest wait of a single request decides how long one of them takes. */
const SEEDS = Array.from({ length: 12 }, (_, at) => at + 11);

const secondsOf = async (
  pass: typeof passCallsheet,
  storm: Omit<Storm, 'seed'>,
): Promise<number> => {
  const passages = await Promise.all(SEEDS.map((seed) => pass({ ...storm, seed })));
  for (const { done } of passages) expect(done).toBe(storm.requests);
  const seconds = passages.map((one) => one.seconds).sort((a, b) => a - b);
  return seconds[Math.floor(seconds.length / 2)] ?? 0;
};

describe('refusals that come however slowly one asks', () => {
  const short = longRows(storms, ({ requests, latency }) => requests === FEW && latency === 20);
  it.each(short)(
    '$refused refused, Retry-After $retryAfter, $failed failed: $requests are done, $latency ms away',
    async ({ retryAfter, ...row }) => {
      const storm = { ...row, ...(retryAfter !== undefined && { retryAfter }) };
      const plain = await secondsOf(passPlain, storm);
      expect(await secondsOf(passCallsheet, storm)).toBeLessThan(3 * plain);
    },
  );
});

it('Retry-After: 0 ten times is over within seconds', async () => {
  const storm = { refused: 1, failed: 0, retryAfter: 0, requests: 1, latency: 20, seed: 11 };
  const { done, sent, seconds } = await passCallsheet({ ...storm, calmAfter: 9 });
  expect([done, sent]).toEqual([1, 10]);
  expect(seconds).toBeLessThan(10);
});
