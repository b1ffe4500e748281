import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSilence, judgeErrors } from '../../../src/features/rollout/assess.ts';
import { type AgentCalls, type Cohort, judge } from '../../../src/features/rollout/judge.ts';
import type { Measure } from '../../../src/features/rollout/record.ts';
import { runs } from '../../long.ts';

const RESOLVED: Measure = { name: 'resolved', margin: 5, better: 'higher' };
const ERRORS: Measure = { name: 'errors', margin: 5, better: 'lower' };
const DURATION: Measure = { name: 'duration', margin: 20, better: 'lower' };
const TERMS = { minCalls: 200, minDays: 3, days: 4, rails: 0 };

type Span = readonly [calls: number, sum: number];

const agent = (before: Span, after: Span, address = 'agent.some'): AgentCalls => ({
  address,
  weeks: 8,
  before: { calls: before[0], sum: before[1] },
  after: { calls: after[0], sum: after[1] },
});
const alike = (count: number, before: Span, after: Span) =>
  Array.from({ length: count }, () => agent(before, after));
/** Agents of 1,000 calls before and 500 after, each of which moved by other points. */
const scattered = (count: number, by = 2, moved = 0) =>
  Array.from({ length: count }, (_, at) =>
    agent([1000, 700], [500, 350 + 5 * (moved + ((at % 3) - 1) * by)], `agent.o${at}`),
  );
const OTHERS = scattered(30);

const judgeOne = (
  measure: Measure,
  cohorts: readonly Cohort[] | null,
  {
    recent = [] as readonly Cohort[],
    ...terms
  }: Partial<typeof TERMS & { recent: readonly Cohort[] }> = {},
) => {
  const judged = judge([{ measure, cohorts, recent }], { ...TERMS, ...terms });
  const [one] = judged.measures;
  if (one === undefined) throw new Error('there is no measure');
  return { ...judged, ...one };
};

describe('a measure', () => {
  test.each([
    [RESOLVED, 800, 'better'],
    [RESOLVED, 700, 'no_worse'],
    [RESOLVED, 600, 'worse'],
    [ERRORS, 600, 'better'],
    [ERRORS, 700, 'no_worse'],
    [ERRORS, 800, 'worse'],
  ] as const)('%j, of 70 %% now %i of 1,000: %s', (measure, sum, verdict) => {
    const changed = alike(6, [1000, 700], [1000, sum]);
    const judged = judgeOne(measure, [{ changed, others: OTHERS }]);
    expect(judged.verdict).toBe(verdict);
    expect(judged.effect).toBeCloseTo((sum - 700) / 10, 0);
    expect(judged.before).toBeCloseTo(70);
    expect(judged.after).toBeCloseTo(sum / 10);
    expect(judged.others_after).toBeCloseTo(70);
  });

  test('of means counts in percent of what it was', () => {
    const others = Array.from({ length: 12 }, (_, at) =>
      agent([1000, 200_000], [500, 100_000 + 1000 * (at % 3)]),
    );
    const changed = alike(4, [1000, 100_000], [1000, 150_000]);
    const judged = judgeOne(DURATION, [{ changed, others }]);
    expect(judged).toMatchObject({ verdict: 'worse', before: 100, after: 150 });
    expect(judged.effect).toBeCloseTo(48.5, 0);
  });

  test('does not move with what moves all; far from ordinary, nothing is promoted and a stop holds', () => {
    const moved = (points: number) => ({
      changed: alike(6, [1000, 700], [1000, 700 + 10 * points]),
      others: scattered(30, 2, points),
    });
    expect(judgeOne(RESOLVED, [moved(-4)])).toMatchObject({ verdict: 'no_worse', calm: true });
    const far = judgeOne(RESOLVED, [moved(-20)]);
    expect(far).toMatchObject({ verdict: 'not_enough_calls', calm: false });
    expect(far.why).toContain('The other agents moved by −19.9');
    const changed = alike(6, [1000, 700], [1000, 200]);
    expect(judgeOne(RESOLVED, [{ ...moved(-20), changed }])).toMatchObject({
      verdict: 'worse',
      calm: false,
    });
  });

  test('is worse without a minimum of calls or days, and is promoted with both', () => {
    const few = [{ changed: alike(6, [1000, 700], [10, 1]), others: OTHERS }];
    expect(judgeOne(RESOLVED, few, { days: 0.1 }).verdict).toBe('worse');
    const steady = (calls: number) => [
      { changed: alike(6, [1000, 700], [calls, 0.7 * calls]), others: OTHERS },
    ];
    expect(judgeOne(RESOLVED, steady(30))).toMatchObject({
      verdict: 'not_enough_calls',
      why: '180 of at least 200 calls so far.',
    });
    expect(judgeOne(RESOLVED, steady(500), { days: 2.9 }).why).toBe(
      '2 of at least 3 days have passed.',
    );
    expect(judgeOne(RESOLVED, steady(500)).verdict).toBe('no_worse');
    const wild = [{ ...steady(500)[0], others: scattered(30, 15) }] as readonly Cohort[];
    expect(judgeOne(RESOLVED, wild).why).toBe('The interval is too wide for the margin of 5.');
  });

  test('is worse where the last days alone are, and waits where they look so', () => {
    const cohort = (sum: number) => ({
      changed: alike(6, [1000, 700], [500, sum]),
      others: OTHERS,
    });
    const recent = (sum: number) => ({ recent: [cohort(sum)] });
    expect(judgeOne(RESOLVED, [cohort(350)], recent(250))).toMatchObject({
      verdict: 'worse',
      why: expect.stringContaining('in the last three days'),
    });
    expect(judgeOne(RESOLVED, [cohort(350)], recent(320)).why).toContain('last three days');
    expect(judgeOne(RESOLVED, [cohort(350)], recent(350)).verdict).toBe('no_worse');
  });

  test('has no verdict with fewer than 8 agents to compare with, or with none of its own', () => {
    const changed = alike(6, [1000, 700], [1000, 400]);
    const others = OTHERS.slice(0, 7);
    expect(judgeOne(RESOLVED, [{ changed, others }])).toMatchObject({
      verdict: 'not_enough_calls',
      low: null,
      why: '7 other agents can be compared with; 8 are needed.',
    });
    const unheard = alike(6, [19, 10], [1000, 400]);
    expect(judgeOne(RESOLVED, [{ changed: unheard, others: OTHERS }]).why).toBe(
      'No agent with the change can be compared.',
    );
    expect(judgeOne(RESOLVED, null).verdict).toBe('no_figures');
  });

  test('draws in an odd one among the others, and names it', () => {
    const changed = alike(6, [1000, 700], [1000, 600]);
    const odd = agent([1000, 700], [500, 20], 'agent.odd');
    const plain = judgeOne(RESOLVED, [{ changed, others: OTHERS }]);
    const judged = judgeOne(RESOLVED, [{ changed, others: [...OTHERS, odd] }]);
    expect(judged).toMatchObject({ verdict: 'worse', odd: ['agent.odd'] });
    expect((judged.high ?? 0) - (judged.low ?? 0)).toBeLessThan(
      2 * ((plain.high ?? 0) - (plain.low ?? 0)),
    );
  });

  test('shares its error with others, and has a wider interval by fewer others', () => {
    const cohort = (others: number) => ({
      changed: alike(6, [1000, 700], [1000, 690]),
      others: OTHERS.slice(0, others),
    });
    const width = (others: number, rails = 0) => {
      const { low, high } = judgeOne(RESOLVED, [cohort(others)], { rails });
      return (high ?? 0) - (low ?? 0);
    };
    expect(width(30, 1)).toBeGreaterThan(width(30));
    expect(width(9)).toBeGreaterThan(width(30));
  });
});

test('of several measures the worst decides', () => {
  const cohort = (sum: number): Cohort => ({
    changed: alike(6, [1000, 700], [1000, sum]),
    others: OTHERS,
  });
  const seen = (sum: number, measure = RESOLVED) => ({
    measure,
    cohorts: [cohort(sum)],
    recent: [],
  });
  const verdict = (...all: Parameters<typeof judge>[0][number][]) => judge(all, TERMS).verdict;
  expect(verdict(seen(700), seen(500))).toBe('worse');
  expect(verdict(seen(700), { ...seen(700), cohorts: null })).toBe('no_figures');
  expect(verdict(seen(500), { ...seen(700), cohorts: null })).toBe('worse');
  expect(verdict(seen(900), seen(700))).toBe('no_worse');
});

test('whatever the figures are, numbers are finite, and order does not matter', () => {
  const span = fc.nat(2000).chain((calls) => fc.tuple(fc.constant(calls), fc.nat(calls)));
  const agents = fc.array(
    fc.tuple(span, span).map(([before, after]) => agent(before, after)),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(
      agents,
      agents,
      fc.constantFrom(RESOLVED, ERRORS, DURATION),
      (changed, others, measure) => {
        const judged = judgeOne(measure, [{ changed, others }]);
        for (const one of [judged.effect, judged.low, judged.high, judged.before, judged.after])
          expect(one === null || Number.isFinite(one)).toBe(true);
        const turned = judgeOne(measure, [
          { changed: changed.toReversed(), others: others.toReversed() },
        ]);
        expect(turned.verdict).toBe(judged.verdict);
        expect(turned.effect ?? 0).toBeCloseTo(judged.effect ?? 0, 6);
      },
    ),
    { numRuns: runs(500) },
  );
});

describe('silence', () => {
  const quiet = (address: string, ...weeks: readonly number[]) => ({ address, calls: 0, weeks });
  const heard = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      address: `agent.h${at}`,
      calls: 40,
      weeks: [40, 40, 40, 40],
    }));
  test.each([
    ['of one agent holds', [quiet('agent.a', 40, 40, 40, 40), ...heard(3)], 'hold'],
    [
      'is none where a week had no calls either',
      [quiet('agent.a', 90, 0, 90, 90), ...heard(3)],
      null,
    ],
    ['is none where few are expected', [quiet('agent.a', 3, 2, 4, 3), ...heard(3)], null],
    [
      'of half a step rolls back',
      [quiet('agent.a', 20, 20, 20, 20), quiet('agent.b', 20, 20, 20, 20), ...heard(2)],
      'rollback',
    ],
  ] as const)('%s', (_, changed, does) => {
    const { agents, ...found } = findSilence(changed, heard(10), 30);
    expect(agents.length === 0 ? null : found.does).toBe(does);
    // Figures are missing where others are silent, too.
    const others = [...heard(8), quiet('agent.x', 9, 9, 9, 9), quiet('agent.y', 9, 9, 9, 9)];
    expect(findSilence(changed, others, 30).agents).toEqual([]);
    expect(findSilence(changed, [], 30).agents).toEqual([]);
  });
});

describe('errors', () => {
  const days = (bad: number, good: number, errors = 20) => [
    ...Array.from({ length: bad }, () => ({ calls: 40, errors })),
    ...Array.from({ length: good }, () => ({ calls: 40, errors: 1 })),
  ];
  const usual = { days: 1000, bad: 5 };
  test.each([
    ['in all calls roll back', days(8, 0), 'rollback'],
    ['on few days hold', days(6, 30), 'hold'],
    ['on one day are ordinary', days(1, 30), null],
    ['twice a day are no bad day', days(8, 0, 2), null],
  ] as const)('%s', (_, found, does) => {
    expect(judgeErrors(found, usual, 5, 0.025)).toBe(does);
    // An outage, which the others have too, is no fault of the change.
    expect(judgeErrors(found, { days: 300, bad: 299 }, 5, 0.025)).toBeNull();
  });
});
