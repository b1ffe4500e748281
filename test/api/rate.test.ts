import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../src/simulator/rate-limit.ts';
import { rush, shareOf } from './rush.ts';

/** Limits of the usual shapes, and the seconds after which the rate is to be settled. */
const LIMITS: readonly (RateLimit & { readonly settled: number })[] = [
  { perSecond: 5, settled: 60 },
  { perSecond: 20, settled: 60 },
  { perSecond: 20, burst: 2, settled: 60 },
  { perSecond: 20, burst: 200, settled: 60 },
  { perSecond: 200, settled: 60 },
  { perSecond: 5, shape: 'fixed', settled: 60 },
  { perSecond: 20, shape: 'fixed', settled: 60 },
  { perSecond: 200, shape: 'fixed', settled: 60 },
  { perSecond: 5, shape: 'sliding', settled: 60 },
  { perSecond: 50, shape: 'sliding', settled: 60 },
  { perSecond: 1, shape: 'fixed', windowSeconds: 60, settled: 300 },
  { perSecond: 10, shape: 'fixed', windowSeconds: 60, settled: 300 },
  { perSecond: 10, shape: 'sliding', windowSeconds: 60, settled: 300 },
];

const rows = LIMITS.flatMap(({ settled, ...limit }) =>
  [0, 20, 100].flatMap((latency) =>
    [true, false].map((retryAfter) => ({ limit: { ...limit, retryAfter }, latency, settled })),
  ),
);

/** Enough in flight for a rate, and eight, which is the default, at least. */
const inFlight = ({ perSecond = 0 }: RateLimit, latency: number) =>
  Math.max(8, Math.ceil((2 * perSecond * latency) / 1000));

describe('a limit that nobody told', () => {
  it.each(rows)('$limit is reached, $latency ms away', ({ limit, latency, settled }) => {
    const concurrency = inFlight(limit, latency);
    const course = rush({ limit, latency, concurrency, seconds: settled * 4 });
    const { perSecond, refused } = shareOf(course, settled, settled * 4);
    expect(perSecond / (limit.perSecond ?? 0)).toBeGreaterThan(0.9);
    expect(refused).toBeLessThan(0.02);
  });
});
