import { describe, expect, it } from 'vitest';
import {
  computeRate,
  NEW_RATE,
  type Observation,
  observe,
  takeTurn,
} from '../../src/platform/rate.ts';
import type { RateLimit } from '../../src/simulator/rate-limit.ts';
import { longRows, longTest } from '../long.ts';
import { type Rush, rush, shareOf } from './rush.ts';

/** Limits of the usual shapes, and the seconds after which the rate is to be settled. */
const LIMITS: readonly (RateLimit & { readonly settled: number })[] = [
  { perSecond: 5, settled: 60 },
  { perSecond: 20, settled: 60 },
  { perSecond: 50, settled: 60 },
  { perSecond: 20, burst: 2, settled: 60 },
  { perSecond: 20, burst: 200, settled: 60 },
  { perSecond: 20, shape: 'fixed', settled: 60 },
  { perSecond: 20, shape: 'sliding', settled: 60 },
  { perSecond: 2, shape: 'fixed', windowSeconds: 60, settled: 300 },
  { perSecond: 10, shape: 'fixed', windowSeconds: 60, settled: 300 },
  { perSecond: 10, shape: 'sliding', windowSeconds: 60, settled: 300 },
];

const rows = LIMITS.flatMap(({ settled, ...limit }) =>
  [0, 20, 100].flatMap((latency) =>
    [true, false].map((retryAfter) => {
      const name = JSON.stringify({ ...limit, retryAfter }).replaceAll('"', '');
      return { name, limit: { ...limit, retryAfter }, latency, settled };
    }),
  ),
);

describe('a rate that nobody told', () => {
  // Each latency, and each way to refuse, with each shape.
  const taken = longRows(rows, (_, at) => [0, 3, 4].includes(at % 6));
  it.each(taken)('$name is reached, $latency ms away', ({ limit, latency, settled }) => {
    const course = rush({ limit, latency, concurrency: 8, seconds: settled * 4 });
    const { perSecond, refused } = shareOf(course, settled, settled * 4);
    // A bucket keeps what came in while a refusal was waited for; a window is over by then.
    const [least, most] =
      limit.shape === undefined && limit.burst !== 2 ? [0.9, 0.03] : [0.75, 0.06];
    expect(perSecond / (limit.perSecond ?? 0)).toBeGreaterThan(least);
    expect(refused).toBeLessThan(most);
  });

  const counts = [
    { shape: 'bucket', retryAfter: true },
    { shape: 'bucket', retryAfter: false },
    { shape: 'fixed', retryAfter: true },
    { shape: 'sliding', retryAfter: false },
  ] as const;
  const shares = [
    { clients: 2, perSecond: 5 },
    { clients: 2, perSecond: 20 },
    { clients: 2, perSecond: 50 },
    { clients: 4, perSecond: 50 },
    // Half a request a second each is below what anybody slows down to.
    { clients: 4, perSecond: 2, least: 0.6, most: 0.6 },
  ].flatMap((row) =>
    counts.map((one) => {
      const [least, most] = one.shape === 'bucket' ? [0.9, 0.03] : [0.8, 0.1];
      return { least, most, ...row, ...one };
    }),
  );

  it.each(shares)(
    '$perSecond a second are shared by $clients who do not know of each other: $shape $retryAfter',
    ({ clients, perSecond, least, most, ...limit }) => {
      const rate = { perSecond, ...limit };
      const course = rush({ limit: rate, latency: 20, concurrency: 8, seconds: 600, clients });
      const share = shareOf(course, 60, 600);
      expect(share.perSecond / perSecond).toBeGreaterThan(least);
      expect(share.refused).toBeLessThan(most);
      // Of an equal share.
      expect(share.least * clients).toBeGreaterThan(0.4);
    },
  );
});

describe('a refusal at the beginning', () => {
  // Hundreds of requests are what a plan or an apply of a common fleet sends.
  it.each([
    { limit: { perSecond: 200, burst: 5 }, latency: 0, seconds: 10, least: 500 },
    { limit: { perSecond: 200, burst: 5 }, latency: 20, seconds: 10, least: 500 },
    { limit: { perSecond: 50, burst: 2, retryAfter: false }, latency: 20, seconds: 10, least: 250 },
    { limit: { perSecond: 20, burst: 5 }, latency: 20, seconds: 10, least: 90 },
  ])('says little of $limit.perSecond a second, $latency ms away', ({ seconds, least, ...row }) => {
    const { perSecond } = shareOf(rush({ ...row, concurrency: 8, seconds }), 0, seconds);
    expect(perSecond * seconds).toBeGreaterThan(least);
  });

  it.each([20, 100])(
    'costs hardly more than its pause where it is the only one, %d ms away',
    (latency) => {
      // The last of the second eight is refused, and nothing after it.
      const limit = { perSecond: 1, burst: 15 };
      const then = { after: (2 * latency) / 1000, limit: undefined };
      const course = rush({ limit, latency, concurrency: 8, seconds: 5, then });
      expect(course.refused).toHaveLength(1);
      const asMany = shareOf(
        rush({ limit: undefined, latency, concurrency: 8, seconds: 4 }),
        0,
        3.5,
      );
      expect(shareOf(course, 0, 5).perSecond * 5).toBeGreaterThan(asMany.perSecond * 3.7);
    },
  );

  it('is soon forgotten by a host that has no limit', () => {
    const then = { after: 2, limit: undefined };
    const limit = { perSecond: 1, burst: 3 };
    const course = rush({ limit, latency: 20, concurrency: 8, seconds: 8, then });
    expect(shareOf(course, 5, 8).perSecond).toBeGreaterThan(60);
  });
});

describe('requests under way that are limited', () => {
  // The host works unequally long on them: where each took as long as the others, any rate that it takes would do.
  it.each([
    { inFlight: 1, work: { least: 5, most: 95 }, concurrency: 8 },
    { inFlight: 2, work: { least: 10, most: 50 }, concurrency: 8 },
    { inFlight: 4, work: { least: 20, most: 200 }, concurrency: 64 },
    { inFlight: 10, work: { least: 5, most: 35 }, concurrency: 16 },
  ])(
    '$inFlight of $concurrency are used to two fifths at least, with few refusals',
    ({ inFlight, work, concurrency }) => {
      const latency = 2;
      const course = rush({ limit: { inFlight }, latency, work, concurrency, seconds: 240 });
      const { perSecond, refused } = shareOf(course, 60, 240);
      const each = latency + (work.least + work.most) / 2;
      expect(perSecond / ((inFlight * 1000) / each)).toBeGreaterThan(0.4);
      expect(refused).toBeLessThan(0.05);
    },
  );
});

describe('a limit that changes', () => {
  const change = (limit: RateLimit, then: Rush['then']) =>
    rush({ limit, latency: 20, concurrency: 32, seconds: 400, ...(then && { then }) });

  it('is found again where it falls', () => {
    const course = change({ perSecond: 100 }, { after: 100, limit: { perSecond: 10 } });
    const { perSecond, refused } = shareOf(course, 160, 400);
    expect(perSecond).toBeGreaterThan(9);
    expect(refused).toBeLessThan(0.02);
  });

  it('is found again where it rises', () => {
    const course = change({ perSecond: 10 }, { after: 100, limit: { perSecond: 100 } });
    expect(shareOf(course, 250, 400).perSecond).toBeGreaterThan(90);
  });

  longTest('is forgotten where it is lifted', () => {
    const course = change({ perSecond: 50 }, { after: 60, limit: undefined });
    // 32 in flight, 20 ms away, are 1600 a second.
    expect(shareOf(course, 300, 310).perSecond).toBeGreaterThan(0.95 * 1600);
  });
});

it.each([0, 20, 100])('nothing is held back where nothing is refused, %d ms away', (latency) => {
  const course = rush({ limit: undefined, latency, concurrency: 8, seconds: 2 });
  const [times = []] = course.letIn;
  // As many as there is time for between the first and the last: each takes as long as its way.
  const each = Math.max(0.2, latency);
  expect(times.length).toBeGreaterThanOrEqual(8 * Math.floor(2000 / each - 1));
  expect(course.busiest).toBe(8);
});

describe('the course', () => {
  const told = (...heard: readonly Observation[]) => heard.reduce(observe, NEW_RATE);
  const ok = (at: number): Observation => ({ sentAt: at - 10, at });

  it('is plain data that JSON keeps', () => {
    const course = told(...[10, 20, 30].map(ok), { sentAt: 30, at: 40, pause: 500 }, ok(600));
    expect(JSON.parse(JSON.stringify(course))).toEqual(course);
  });

  it('lets nothing through before a pause is over, and then one to ask', () => {
    const course = told(ok(10), { sentAt: 10, at: 20, pause: 500 });
    expect(takeTurn(course, 100).wait).toBe(420);
    const probe = takeTurn(course, 520);
    expect(probe.wait).toBe(0);
    expect(takeTurn(probe.state, 520).wait).toBe(1000);
  });

  it('takes what was under way at a refusal for no news', () => {
    const one = told(ok(10), { sentAt: 10, at: 20, pause: 500 });
    const four = [21, 22, 23].reduce(
      (course, at) => observe(course, { sentAt: 10, at, pause: 1 }),
      one,
    );
    expect(four).toEqual({ ...one, until: 520 });
  });

  it('says no rate before a refusal', () => {
    const all = Array.from({ length: 100 }, (_, at) => ok(at + 10));
    expect(computeRate(told(...all))).toBeNull();
  });

  it('spaces requests by the rate, and makes up for a timer that is late', () => {
    const course = { ...NEW_RATE, ceiling: 50, progress: 13, next: 1000 };
    const first = takeTurn(course, 1000).state;
    expect(takeTurn(first, 1005).wait).toBe(15);
    const late = takeTurn(first, 1025);
    expect([late.wait, late.state.next]).toEqual([0, 1040]);
  });
});
