import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Measure } from '../../src/core/rollout.ts';
import {
  type AgentCalls,
  type Cohort,
  findErrors,
  findSilence,
  judge,
  type Seen,
} from '../../src/rollout/judge.ts';
import { runs } from '../long.ts';
import { ORDINARY, playRollout } from './callers.ts';

const RESOLVED: Measure = { name: 'resolved', margin: 5, better: 'higher' };
/** A share of which less is better. */
const FEWER: Measure = { name: 'resolved', margin: 5, better: 'lower' };
const DURATION: Measure = { name: 'duration', margin: 20, better: 'lower' };
const TERMS = { confidence: 95, minCalls: 200, minHours: 24, hours: 48 };

type Span = readonly [calls: number, sum: number];

const agent = (before: Span, after: Span, name = 'some'): AgentCalls => ({
  address: `agent.${name}`,
  before: { calls: before[0], sum: before[1] },
  after: { calls: after[0], sum: after[1] },
});
const alike = (count: number, before: Span, after: Span) =>
  Array.from({ length: count }, () => agent(before, after));

/** Agents of 1,000 calls before and 500 after, of whom each moved by other points. */
const scattered = (...points: readonly number[]) =>
  points.map((one) => agent([1000, 700], [500, 350 + 5 * one]));
const STEADY = alike(30, [1000, 700], [500, 350]);

const judgeOne = (measure: Measure, cohorts: readonly Cohort[], terms = TERMS) => {
  const judged = judge([{ measure, cohorts }], terms);
  const [one] = judged.measures;
  if (one === undefined) throw new Error('there is no measure');
  return { ...one, step: judged };
};
const widthOf = ({ low, high }: { readonly low: number | null; readonly high: number | null }) =>
  low === null || high === null ? Number.POSITIVE_INFINITY : high - low;

describe('a measure', () => {
  const verdicts = [
    [RESOLVED, 800, 'better'],
    [RESOLVED, 700, 'no_worse'],
    [RESOLVED, 690, 'no_worse'],
    [RESOLVED, 675, 'not_enough_calls'],
    [RESOLVED, 600, 'worse'],
    [FEWER, 600, 'better'],
    [FEWER, 710, 'no_worse'],
    [FEWER, 725, 'not_enough_calls'],
    [FEWER, 800, 'worse'],
  ] as const;
  test.each(verdicts)('%j, of 70 %% now %i of 1,000: %s', (measure, sum, verdict) => {
    const changed = alike(4, [1000, 700], [1000, sum]);
    const { effect, low, high, ...judged } = judgeOne(measure, [{ changed, others: STEADY }]);
    expect(judged.verdict).toBe(verdict);
    expect(effect).toBeCloseTo((sum - 700) / 10);
    expect(((low ?? Number.NaN) + (high ?? Number.NaN)) / 2).toBeCloseTo(effect ?? 0);
    expect(judged.others_before).toBeCloseTo(70);
    expect(judged.others_after).toBeCloseTo(70);
    expect(judged.before).toBeCloseTo(70);
    expect(judged.after).toBeCloseTo(sum / 10);
  });

  test('of means counts in percent of what it was', () => {
    const others = Array.from({ length: 12 }, (_, one) =>
      agent([1000, 200_000], [500, 100_000 + 1000 * (one % 3)]),
    );
    const changed = alike(4, [1000, 100_000], [1000, 150_000]);
    const { effect, verdict, before, after } = judgeOne(DURATION, [{ changed, others }]);
    expect(effect).toBeCloseTo(49);
    expect([before, after].map((one) => Math.round(one ?? 0))).toEqual([100, 150]);
    expect(verdict).toBe('worse');
  });

  test('does not move with what moves all', () => {
    const others = alike(30, [1000, 700], [500, 300]);
    const changed = alike(4, [1000, 700], [1000, 600]);
    const judged = judgeOne(RESOLVED, [{ changed, others }]);
    expect(judged).toMatchObject({ verdict: 'no_worse', why: null });
    expect(judged.effect).toBeCloseTo(0);
  });

  test('has no verdict before its calls, and before its hours none that goes on', () => {
    const cohorts = [{ changed: alike(4, [1000, 700], [45, 9]), others: STEADY }];
    expect(judgeOne(RESOLVED, cohorts)).toMatchObject({
      verdict: 'not_enough_calls',
      why: '180 of at least 200 calls so far.',
    });
    const later = { ...TERMS, minCalls: 180 };
    expect(judgeOne(RESOLVED, cohorts, later).verdict).toBe('worse');
    // Nobody waits for the end of a day to stop what callers suffer from.
    expect(judgeOne(RESOLVED, cohorts, { ...later, hours: 3 }).verdict).toBe('worse');
    const steady = [{ changed: alike(4, [1000, 700], [1000, 700]), others: STEADY }];
    expect(judgeOne(RESOLVED, steady).verdict).toBe('no_worse');
    expect(judgeOne(RESOLVED, steady, { ...TERMS, hours: 23.9 })).toMatchObject({
      verdict: 'not_enough_calls',
      why: '23 of at least 24 hours have passed since the step.',
    });
  });

  test('has no verdict with fewer than 8 agents to compare with', () => {
    const changed = alike(4, [1000, 700], [1000, 400]);
    const with7 = [{ changed, others: [...STEADY.slice(0, 7), agent([1000, 700], [0, 0])] }];
    expect(judgeOne(RESOLVED, with7)).toMatchObject({
      verdict: 'not_enough_calls',
      why: '7 other agents can be compared with; at least 8 are needed.',
      low: null,
      high: null,
    });
    const with8 = [{ changed, others: STEADY.slice(0, 8) }];
    expect(judgeOne(RESOLVED, with8).verdict).toBe('worse');
  });

  test('is not compared with agents that hardly have calls', () => {
    const changed = alike(4, [1000, 700], [1000, 700]);
    const others = [...STEADY.slice(0, 7), ...alike(20, [20, 14], [10, 7])];
    expect(judgeOne(RESOLVED, [{ changed, others }]).why).toBe(
      '7 other agents can be compared with; at least 8 are needed.',
    );
  });

  test('pays for few agents to compare with by a wider interval', () => {
    const changed = alike(4, [100_000, 70_000], [1000, 700]);
    const width = (count: number) =>
      widthOf(
        judgeOne(RESOLVED, [
          { changed, others: alike(count, [100_000, 70_000], [100_000, 70_000]) },
        ]),
      );
    expect(width(8) / width(4000)).toBeGreaterThan(1.3);
    expect(width(8) / width(4000)).toBeLessThan(1.5);
    // With very many it is the normal mixture's, by its own formula.
    const variance = (2100 / 4000) * 1.01;
    const g = 50 / variance;
    const half = Math.sqrt(variance * (1 + 1 / g) * (Math.log(1 + g) + 2 * Math.log(20)));
    expect(width(4000) / 2 / half).toBeCloseTo(1, 2);
  });

  test('shares the error with others', () => {
    const cohorts = [{ changed: alike(4, [1000, 700], [1000, 700]), others: STEADY }];
    const seen: Seen = { measure: RESOLVED, cohorts };
    const [alone] = judge([seen], TERMS).measures;
    const [shared] = judge([seen, seen, seen, seen], TERMS).measures;
    const [surer] = judge([seen], { ...TERMS, confidence: 98.75 }).measures;
    expect(shared?.low).toBeCloseTo(surer?.low ?? Number.NaN, 9);
    expect((shared?.low ?? 0) < (alone?.low ?? 0)).toBe(true);
  });

  test('is not judged by agents without calls in one of the spans', () => {
    const changed = alike(4, [1000, 700], [1000, 620]);
    const idle = [agent([0, 0], [9, 0]), agent([4, 0], [0, 0]), agent([0, 0], [0, 0])];
    const plain = judgeOne(RESOLVED, [{ changed, others: STEADY }]);
    const padded = judgeOne(RESOLVED, [
      { changed: [...changed, ...idle], others: [...STEADY, ...idle] },
    ]);
    expect(padded.effect).toBeCloseTo(plain.effect ?? Number.NaN, 6);
    expect(padded.low).toBeCloseTo(plain.low ?? Number.NaN, 1);
  });

  test('says where nothing can be compared', () => {
    const nothing =
      'No agent with the change has calls both before the rollout and since its step.';
    const fresh = [{ changed: alike(3, [0, 0], [100, 70]), others: STEADY }];
    expect(judgeOne(RESOLVED, fresh)).toMatchObject({ effect: null, why: nothing });
    expect(judgeOne(RESOLVED, [{ changed: [], others: [] }], { ...TERMS, minCalls: 0 }).why).toBe(
      nothing,
    );
    const alone = [{ changed: alike(3, [1000, 700], [100, 70]), others: [] }];
    expect(judgeOne(RESOLVED, alone).why).toBe(
      '0 other agents can be compared with; at least 8 are needed.',
    );
    const constant = alike(20, [100, 18_000], [100, 18_000]);
    expect(judgeOne(DURATION, [{ changed: constant.slice(0, 4), others: constant }]).why).toBe(
      'The figures of the other agents do not vary at all, so they cannot be measurements.',
    );
  });

  test('weighs agents by their calls where these are what it is uncertain by', () => {
    const changed = [agent([10_000, 7000], [10_000, 7000]), agent([1000, 700], [50, 25])];
    const { effect } = judgeOne(RESOLVED, [{ changed, others: STEADY }]);
    expect(effect).toBeGreaterThan(-1);
    expect(effect).toBeLessThan(0);
  });

  test('is as uncertain as it has become, not as it was before', () => {
    const changed = alike(4, [100_000, 0], [100, 30]);
    const others = alike(30, [100_000, 0], [100_000, 0]);
    const errors: Measure = { name: 'errors', margin: 5, better: 'lower' };
    expect(widthOf(judgeOne(errors, [{ changed, others }]))).toBeGreaterThan(8);
  });

  test('that never happened is still not certain', () => {
    const cohorts = (errors: number) => [
      {
        changed: [agent([400, 0], [200, errors]), agent([400, 0], [200, 0])],
        others: alike(20, [400, 0], [200, 0]),
      },
    ];
    const errors: Measure = { name: 'errors', margin: 1, better: 'lower' };
    expect(widthOf(judgeOne(errors, cohorts(0)))).toBeGreaterThan(0.5);
    expect(judgeOne(errors, cohorts(1)).verdict).not.toBe('worse');
    expect(judgeOne(errors, cohorts(60)).verdict).toBe('worse');
  });
});

describe('the interval', () => {
  const changed = alike(4, [1000, 700], [1000, 700]);

  test('is wider where agents vary by themselves, and more calls do not help', () => {
    const points = Array.from({ length: 30 }, (_, one) => (one % 2 === 0 ? 8 : -8));
    const calm = judgeOne(RESOLVED, [{ changed, others: STEADY }]);
    const wild = judgeOne(RESOLVED, [{ changed, others: scattered(...points) }]);
    expect(widthOf(wild)).toBeGreaterThan(2 * widthOf(calm));
    expect(wild.why).toMatch(
      /^The interval after 4000 calls \(−\d+\.\d to \+\d+\.\d points\) is too wide for the margin of 5\. 4 agents vary too much for it by themselves/,
    );
    const more = alike(4, [1_000_000, 700_000], [1_000_000, 700_000]);
    const still = judgeOne(RESOLVED, [{ changed: more, others: scattered(...points) }]);
    expect(widthOf(still)).toBeGreaterThan(0.8 * widthOf(wild));
    expect(still.verdict).toBe('not_enough_calls');
    // More agents do.
    const agents = alike(60, [1000, 700], [1000, 700]);
    const many = scattered(...points, ...points, ...points, ...points);
    expect(judgeOne(RESOLVED, [{ changed: agents, others: many }]).verdict).toBe('no_worse');
  });

  test('is the widest of those by which agents or calls scatter, where little tells which do', () => {
    const others = Array.from({ length: 30 }, (_, one) => {
      const calls = 500 + 10 * (one % 3);
      return agent([1000, 700], [calls, calls * (one % 2 === 0 ? 0.62 : 0.78)]);
    });
    const width = (times: number) =>
      widthOf(
        judgeOne({ ...RESOLVED, margin: 20 }, [
          {
            changed: alike(4, [1000 * times, 700 * times], [500 * times, 350 * times]),
            others,
          },
        ]),
      );
    expect(width(100) / width(1)).toBeGreaterThan(0.9);
    expect(width(0.2) / width(1)).toBeGreaterThan(1.5);
  });

  test('does not shrink by the calls of one agent among several', () => {
    const points = Array.from({ length: 30 }, (_, one) => (one % 2 === 0 ? 8 : -8));
    const others = scattered(...points);
    const dominated = [
      agent([100_000, 70_000], [100_000, 70_000]),
      ...alike(3, [100, 70], [100, 70]),
    ];
    const even = alike(4, [25_000, 17_500], [25_000, 17_500]);
    const width = (agents: readonly AgentCalls[]) =>
      widthOf(judgeOne(RESOLVED, [{ changed: agents, others }]));
    expect(width(dominated)).toBeGreaterThan(width(even));
  });

  test('names how many calls are missing, and they suffice', () => {
    const cohorts = (calls: number) => [
      {
        changed: alike(4, [10_000, 7000], [calls / 4, 0.175 * calls]),
        others: alike(30, [10_000, 7000], [calls / 4, 0.175 * calls]),
      },
    ];
    const early = judgeOne(RESOLVED, cohorts(400));
    expect(early.verdict).toBe('not_enough_calls');
    const found = /About (?<more>\d+) more calls are needed\.$/.exec(early.why ?? '');
    const more = Number(found?.groups?.more);
    expect(more).toBeGreaterThan(100);
    expect(judgeOne(RESOLVED, cohorts(400 + more / 2)).verdict).toBe('not_enough_calls');
    expect(judgeOne(RESOLVED, cohorts(400 + more + 20)).verdict).toBe('no_worse');
  });

  test('names how many calls are missing until it is worse, where that comes first', () => {
    const cohorts = (calls: number) => [
      {
        changed: alike(4, [10_000, 7000], [calls / 4, 0.155 * calls]),
        others: alike(30, [10_000, 7000], [calls / 4, 0.175 * calls]),
      },
    ];
    const early = judgeOne(RESOLVED, cohorts(200));
    expect(early.effect).toBeCloseTo(-8);
    const more = Number(/About (?<more>\d+) more/.exec(early.why ?? '')?.groups?.more);
    expect(judgeOne(RESOLVED, cohorts(200 + more / 2)).verdict).toBe('not_enough_calls');
    expect(judgeOne(RESOLVED, cohorts(200 + more + 20)).verdict).toBe('worse');
  });

  test('says that the weeks before were too short', () => {
    const short = [{ changed: alike(4, [20, 14], [2000, 1400]), others: STEADY }];
    expect(judgeOne(RESOLVED, short).why).toMatch(/The weeks before have too few calls for it\./);
  });

  test('of two cohorts counts the agents that both are compared with once', () => {
    const half = changed.slice(0, 2);
    const one = judgeOne(RESOLVED, [{ changed, others: STEADY }]);
    const two = judgeOne(RESOLVED, [
      { changed: half, others: STEADY },
      { changed: half, others: STEADY },
    ]);
    expect(two.effect).toBeCloseTo(one.effect ?? Number.NaN, 9);
    expect(widthOf(two)).toBeCloseTo(widthOf(one), 1);
    expect(widthOf(two)).toBeGreaterThanOrEqual(widthOf(one) - 1e-9);
  });

  test('of two cohorts weighs them by precision', () => {
    const { effect } = judgeOne(RESOLVED, [
      { changed: alike(4, [1000, 700], [10_000, 7000]), others: STEADY },
      { changed: alike(1, [1000, 700], [50, 25]), others: STEADY },
    ]);
    expect(effect).toBeGreaterThan(-2);
    expect(effect).toBeLessThan(0);
  });
});

describe('a promotion', () => {
  const good = alike(4, [1000, 700], [1000, 700]);
  const silent = agent([1000, 700], [0, 0], 'silent');
  const doubts: readonly (readonly [string, readonly Cohort[], RegExp])[] = [
    [
      'no agent of the newest step has a call',
      [
        { changed: good, others: STEADY },
        { changed: alike(1, [100, 70], [0, 0]), others: alike(30, [1000, 700], [5, 3]) },
      ],
      /^The agents of the newest step have had 0 of at least 5 calls\.$/,
    ],
    [
      'an agent with the change is silent',
      [{ changed: [...good, silent], others: STEADY }],
      /^agent\.silent had no call where about 500 were expected\.$/,
    ],
    [
      'the others are silent too',
      [{ changed: good, others: [...STEADY, ...Array.from({ length: 7 }, () => silent)] }],
      /figures seem to be incomplete\.$/,
    ],
    [
      'calls of agents with the change are missing',
      [
        {
          changed: alike(4, [4000, 2800], [800, 560]),
          others: alike(30, [4000, 2800], [3600, 2520]),
        },
      ],
      /^The agents with the change had 3200 calls where about 14400 were expected/,
    ],
    [
      'calls of the others are missing',
      [{ changed: good, others: alike(30, [1000, 700], [100, 70]) }],
      /had 4000 calls where about 400 were expected/,
    ],
    [
      'the others collapse',
      [{ changed: alike(4, [1000, 700], [1000, 600]), others: alike(30, [1000, 700], [500, 200]) }],
      /^The other agents have moved by −30\.0 points themselves/,
    ],
    [
      'the agents of the newest step are new',
      [
        { changed: good, others: STEADY },
        { changed: alike(1, [0, 0], [90, 63]), others: STEADY },
      ],
      /^No agent of the newest step had calls before the rollout/,
    ],
    [
      'one agent of many does badly',
      [
        {
          changed: [...alike(19, [1000, 700], [500, 350]), agent([1000, 700], [500, 250], 'bad')],
          others: STEADY,
        },
      ],
      /^agent\.bad is worse by itself: it moved by −20\.0 points against the other agents\.$/,
    ],
  ];
  test.each(doubts)('waits where %s', (_, cohorts, why) => {
    const judged = judgeOne(RESOLVED, cohorts);
    expect(judged.verdict).toBe('not_enough_calls');
    expect(judged.why).toMatch(why);
    expect(judged.step).toMatchObject({ verdict: 'not_enough_calls', why: judged.why });
  });

  test('alone waits: agents that do badly are found with the same doubts', () => {
    const bad = alike(4, [1000, 700], [1000, 450]);
    for (const [, cohorts] of doubts.slice(0, 3)) {
      const worse = cohorts.map((cohort, index) =>
        index > 0 ? cohort : { ...cohort, changed: [...bad, ...cohort.changed.slice(4)] },
      );
      expect(judgeOne(RESOLVED, worse).verdict).toBe('worse');
    }
  });

  test('does not wait for little', () => {
    // One agent of twenty that does badly by chance, and one that is worse by less than is tolerated.
    const odd = [...alike(19, [1000, 700], [500, 350]), agent([1000, 700], [500, 302])];
    expect(judgeOne(RESOLVED, [{ changed: odd, others: STEADY }]).verdict).toBe('no_worse');
    const big = (sum: number) => agent([100_000, 70_000], [100_000, sum]);
    const slight = [big(70_000), big(70_000), big(70_000), big(68_000)];
    const steady = alike(30, [100_000, 70_000], [100_000, 70_000]);
    expect(judgeOne(RESOLVED, [{ changed: slight, others: steady }]).verdict).toBe('no_worse');
    // The others move by some points, which is much only next to a small margin.
    const moved = alike(30, [100_000, 70_000], [100_000, 65_000]);
    const strict = { ...RESOLVED, margin: 1 };
    const along = alike(4, [100_000, 70_000], [100_000, 65_000]);
    expect(judgeOne(strict, [{ changed: along, others: moved }]).verdict).toBe('no_worse');
    // A few calls more or less than expected.
    const few = [
      { changed: alike(2, [40, 28], [13, 9]), others: alike(30, [1000, 700], [100, 70]) },
    ];
    const lax = { ...RESOLVED, margin: 90 };
    expect(judgeOne(lax, few, { ...TERMS, minCalls: 20 }).verdict).toBe('no_worse');
  });

  test('does not come of a few others that collapse', () => {
    const others = [...STEADY.slice(0, 24), ...alike(6, [1000, 700], [500, 0])];
    const changed = alike(3, [1000, 700], [1000, 640]);
    expect(judgeOne(RESOLVED, [{ changed, others }]).verdict).toBe('not_enough_calls');
  });
});

describe('a step', () => {
  const cohorts = (sum: number): readonly Cohort[] => [
    { changed: alike(4, [1000, 700], [1000, sum]), others: STEADY },
  ];
  const seen = { better: 900, no_worse: 700, worse: 550, not_enough_calls: 675 };
  type Kind = keyof typeof seen | 'no_figures';
  const rows: readonly (readonly [readonly Kind[], Kind])[] = [
    [['better', 'better'], 'better'],
    [['better', 'no_worse'], 'no_worse'],
    [['no_worse', 'not_enough_calls'], 'not_enough_calls'],
    [['not_enough_calls', 'no_figures'], 'no_figures'],
    [['better', 'no_figures'], 'no_figures'],
    [['no_figures', 'worse'], 'worse'],
    [['not_enough_calls', 'worse', 'better'], 'worse'],
    [[], 'no_figures'],
  ];
  test.each(rows)('of %j is %s', (kinds, verdict) => {
    const all = kinds.map(
      (kind): Seen => ({
        measure: RESOLVED,
        cohorts: kind === 'no_figures' ? null : cohorts(seen[kind]),
      }),
    );
    const judged = judge(all, TERMS);
    expect(judged.measures.map((one) => one.verdict)).toEqual(kinds);
    expect(judged.verdict).toBe(verdict);
    expect(judged.why === null).toBe(verdict === 'better' || verdict === 'no_worse');
  });

  test('has a measure without figures where the platform gives none', () => {
    expect(judge([{ measure: { ...FEWER, name: 'errors' }, cohorts: null }], TERMS)).toMatchObject({
      verdict: 'no_figures',
      why: 'The platform gives no figures for errors.',
      measures: [{ name: 'errors', effect: null, low: null, verdict: 'no_figures' }],
    });
  });

  test('that is worse says by how much', () => {
    expect(judge([{ measure: RESOLVED, cohorts: cohorts(550) }], TERMS).why).toMatch(
      /^resolved moved by −15\.0 points against the other agents \(−1\d\.\d to −1\d\.\d\); 5 are tolerated\.$/,
    );
  });
});

describe('whatever the figures are', () => {
  const tally = fc
    .tuple(fc.integer({ min: 0, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([calls, share]) => ({ calls, sum: Math.round(calls * share) }));
  const agents = (minLength: number) =>
    fc.array(fc.record({ address: fc.constant('agent.some'), before: tally, after: tally }), {
      minLength,
      maxLength: 14,
    });
  const cohort = fc.record({ changed: agents(0), others: agents(0) });
  const cohorts = fc.array(cohort, { maxLength: 3 });
  const measure = fc.constantFrom(RESOLVED, FEWER, DURATION);
  const terms = { ...TERMS, minCalls: 50 };

  test('numbers are finite, and the verdict follows from the interval', () => {
    fc.assert(
      fc.property(measure, cohorts, (measure, cohorts) => {
        const { effect, low, high, verdict, why } = judgeOne(measure, cohorts, terms);
        for (const one of [effect, low, high])
          expect(one === null || Number.isFinite(one)).toBe(true);
        expect(why === null).toBe(verdict !== 'not_enough_calls');
        const calls = cohorts.flatMap(({ changed }) => changed).map(({ after }) => after.calls);
        if (verdict === 'not_enough_calls') return;
        expect(calls.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(50);
        if (effect === null || low === null || high === null) throw new Error('no interval');
        expect(low <= effect && effect <= high).toBe(true);
        const [worst, best] = measure.better === 'higher' ? [low, high] : [-high, -low];
        const follows =
          worst > 0
            ? 'better'
            : worst > -measure.margin
              ? 'no_worse'
              : best < 0
                ? 'worse'
                : 'not_enough_calls';
        expect(verdict).toBe(follows);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('order does not matter, nor whether a share is told by what it is not', () => {
    const turned = (list: readonly AgentCalls[]) =>
      list.map(({ before, after }) =>
        agent([before.calls, before.calls - before.sum], [after.calls, after.calls - after.sum]),
      );
    fc.assert(
      fc.property(cohorts, (cohorts) => {
        const plain = judgeOne(RESOLVED, cohorts, terms);
        const reversed = cohorts.map(({ changed, others }) => ({
          changed: changed.toReversed(),
          others: others.toReversed(),
        }));
        const mirrored = cohorts.map(({ changed, others }) => ({
          changed: turned(changed),
          others: turned(others),
        }));
        const close = (one: number | null, two: number | null, sign = 1) =>
          expect(one ?? 0).toBeCloseTo(sign * (two ?? 0), 6);
        const other = judgeOne(RESOLVED, reversed, terms);
        close(other.effect, plain.effect);
        close(other.low, plain.low);
        const mirror = judgeOne(FEWER, mirrored, terms);
        close(mirror.effect, plain.effect, -1);
        close(mirror.low, plain.high, -1);
        expect([other.verdict, mirror.verdict]).toEqual([plain.verdict, plain.verdict]);
      }),
      { numRuns: runs(500) },
    );
  });

  test('more calls with the same shares narrow the interval', () => {
    const share = fc.integer({ min: 1, max: 9 });
    const agentOf = (share: number, times: number) =>
      agent([1000, 100 * share], [10 * times, share * times]);
    fc.assert(
      fc.property(
        fc.array(share, { minLength: 1, maxLength: 5 }),
        fc.array(share, { minLength: 10, maxLength: 20 }),
        fc.integer({ min: 5, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        (changed, others, times, more) => {
          const width = (times: number) =>
            widthOf(
              judgeOne(RESOLVED, [
                {
                  changed: changed.map((one) => agentOf(one, times)),
                  others: others.map((one) => agentOf(one, times)),
                },
              ]),
            );
          expect(width(times + more)).toBeLessThan(width(times));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe('silence', () => {
  const others = alike(20, [1000, 0], [100, 0]);

  test('is that of agents whose calls before and the others let expect some', () => {
    const changed = [
      agent([1000, 0], [0, 0], 'busy'),
      agent([299, 0], [0, 0], 'quiet'),
      agent([300, 0], [0, 0], 'fair'),
      agent([1000, 0], [1, 0], 'heard'),
    ];
    expect(findSilence({ changed, others }, 30)).toEqual({
      isTelling: true,
      silent: [
        { address: 'agent.busy', expected: 100 },
        { address: 'agent.fair', expected: 30 },
      ],
    });
  });

  test('tells nothing where others are silent too, or nobody is there', () => {
    const changed = [agent([1000, 0], [0, 0])];
    const quiet = (count: number) => alike(count, [1000, 0], [0, 0]);
    const isTelling = (all: readonly AgentCalls[]) =>
      findSilence({ changed, others: all }, 30).isTelling;
    expect(isTelling([...others, ...quiet(3)])).toBe(true);
    expect(isTelling([...others, ...quiet(4)])).toBe(false);
    expect(isTelling([...others, ...alike(9, [10, 0], [0, 0])])).toBe(true);
    expect(isTelling(quiet(20))).toBe(false);
    expect(isTelling([])).toBe(false);
  });
});

describe('errors', () => {
  const others = alike(10, [400, 0], [40, 0]);
  const rows: readonly (readonly [string, readonly AgentCalls[], number | null])[] = [
    ['none', alike(3, [400, 4], [40, 0]), null],
    ['one in two calls', [agent([400, 4], [2, 1])], null],
    ['two in two calls', [agent([400, 4], [2, 2])], null],
    ['five in five calls', [agent([400, 4], [5, 5])], 1],
    ['a few more than are allowed', [agent([400, 4], [100, 7])], null],
    ['three times what is allowed', [agent([400, 4], [200, 30])], 1],
    ['one agent of many', [...alike(19, [400, 4], [40, 0]), agent([400, 4], [40, 14])], 1],
    ['all a little', alike(20, [400, 4], [40, 5]), 20],
    ['as many as before', [agent([400, 80], [200, 40])], null],
    ['no calls', [agent([400, 4], [0, 0])], null],
  ];
  test.each(rows)('%s', (_, changed, agents) => {
    const found = findErrors({ changed, others }, 5, 95);
    expect(found?.addresses.length ?? null).toBe(agents);
    if (found !== null) expect(found.least).toBeGreaterThan(found.allowed);
  });

  test('count by a bound that is exact', () => {
    const five = agent([400, 4], [5, 5]);
    // The mixture gives five of five 1·3·5·7·9 / (2·4·6·8·10).
    const bound = (error: number) => 100 * ((945 / 3840) * error) ** (1 / 5);
    expect(findErrors({ changed: [five], others }, 5, 95)?.least).toBeCloseTo(bound(0.025), 6);
    const two = [five, agent([400, 4], [40, 0])];
    expect(findErrors({ changed: two, others }, 5, 95)?.least).toBeCloseTo(bound(0.0125), 6);
  });

  test('of an outage, which the others have too, stop nothing', () => {
    const changed = alike(3, [400, 4], [40, 20]);
    expect(findErrors({ changed, others }, 5, 95)).toMatchObject({ allowed: 5 });
    expect(findErrors({ changed, others: alike(10, [400, 4], [40, 20]) }, 5, 95)).toBeNull();
  });
});

test('a hundred rollouts, looked at every four hours: harmless ones go on, careless ones are stopped', () => {
  const play = (cost: number) =>
    Array.from({ length: 50 }, (_, seed) =>
      playRollout({ ...ORDINARY, cost, steps: [8, 20, 40], every: 4 }, seed),
    );
  const harmless = play(0);
  expect(harmless.filter(({ end }) => end === 'stopped').length).toBeLessThanOrEqual(2);
  expect(harmless.filter(({ end }) => end === 'finished').length).toBeGreaterThanOrEqual(45);
  const careless = play(0.1);
  expect(
    careless.filter(({ end, agents }) => end === 'stopped' && agents < 20).length,
  ).toBeGreaterThanOrEqual(45);
});
