import type { Rollouts } from '../../../src/core/documents.generated.ts';
import type { RolloutRecord } from '../../../src/features/rollout/record.ts';
import { NO_OPTIONS } from '../../render/sample.ts';

/** Rollouts in every state that there is something to see of, as documents. */

const NOW = '2026-11-26T17:44:00.000Z';

const before = (hours: number) => new Date(Date.parse(NOW) - hours * 3_600_000).toISOString();

export function documentOf(...rollouts: readonly Rollouts.Rollout[]): Rollouts.Document {
  return { format: 'callsheet-rollouts', version: 1, now: NOW, environment: null, rollouts };
}

const AGENTS = Array.from({ length: 40 }, (_, at) => `agent.clinic["c${at + 1}"]`);

/** A measure that comes to an effect, give or take half of an interval. */
function measureOf(
  name: Rollouts.Measure['name'],
  [effect, half]: readonly [number, number],
  verdict: Rollouts.Measure['verdict'],
): Rollouts.Measure {
  const better = name === 'resolved' ? 'higher' : 'lower';
  const margin = name === 'resolved' ? 5 : 20;
  const levels = { before: 71.2, after: 71.6 + effect, others_before: 70.9, others_after: 71.3 };
  const interval = { effect, low: effect - half, high: effect + half };
  const why = verdict === 'not_enough_calls' ? '138 of at least 200 calls so far.' : null;
  return { name, better, margin, ...levels, ...interval, verdict, why };
}

function lookOf(
  measures: readonly Rollouts.Measure[],
  more: Partial<Rollouts.Look> = {},
): Rollouts.Look {
  const { verdict = 'no_figures', why = null } = measures[0] ?? {};
  const counts = { at: before(4 / 60), step: 1, calls: 1138, agents: 3, others: 37 };
  return { ...counts, verdict, why, measures, calm: true, odd: [], broken: [], ...more };
}

/** Steps of 3, 4, 20 and 40 agents, of which the first have these outcomes. */
export function stepsOf(...outcomes: readonly Rollouts.Step['status'][]): readonly Rollouts.Step[] {
  const sizes = [3, 4, 20, 40];
  return sizes.map((agents, index) => {
    const status = outcomes[index] ?? 'pending';
    const isBegun = status !== 'pending';
    return {
      number: index + 1,
      agents,
      adds: AGENTS.slice(sizes[index - 1] ?? 0, agents),
      status,
      at: isBegun && status !== 'applying' ? before(100 - 24 * index) : null,
      runs: isBegun ? [`2026112${index}t100000z-1f3a9c`] : [],
    };
  });
}

/** One that waits at its first step, and was not looked at yet. */
export function rolloutOf(more: Partial<Rollouts.Rollout> = {}): Rollouts.Rollout {
  return {
    id: '20261126t095800z-1f3a9c',
    name: 'careful',
    status: 'judging',
    why: null,
    overdue: false,
    started_at: before(100.2),
    ended_at: null,
    user: 'kim',
    commit: '1f3a9c2d5e6f708192a3b4c5d6e7f8091a2b3c4d',
    plan_digest: `sha256:${'5d'.repeat(32)}`,
    agents: 40,
    step: 1,
    steps: stepsOf('applied'),
    judge: { min_calls: 200, min_days: 3, baseline_weeks: 8 },
    guard_rails: { errors: 5, silence: 30 },
    look: null,
    left: [],
    next: 'The next rollout run looks at the calls again. If callers fare no worse, 4 of 40 agents have the change then.',
    commands: ['run', 'promote', 'abort'].map((command) => `callsheet rollout ${command} careful`),
    ...more,
  };
}

const noFigures: Rollouts.Measure = {
  ...measureOf('resolved', [0, 0], 'no_figures'),
  ...{ before: null, after: null, others_before: null, others_after: null },
  ...{ effect: null, low: null, high: null, why: 'The platform gives no figures for resolved.' },
};
const errors = '4 of 11 calls of 2 agents have an error; 5 % are tolerated';
const silence = 'agent.clinic["c3"] got no call since 2026-11-26T11:05:00Z; 34 were expected';

export const ROLLOUTS = {
  waiting: rolloutOf({
    look: lookOf(
      [
        measureOf('resolved', [-1.81, 8.71], 'not_enough_calls'),
        measureOf('duration', [1234.5, 9.3], 'not_enough_calls'),
        measureOf('errors', [-0.04, 4.35], 'not_enough_calls'),
      ],
      { odd: AGENTS.slice(30, 31) },
    ),
  }),
  silent: rolloutOf({ overdue: true, look: lookOf([noFigures]) }),
  worse: rolloutOf({
    status: 'rolled_back',
    why: 'resolved moved by −7.6 points against the other agents (−10.2 to −5.0); 5 are tolerated.',
    ended_at: before(30.9),
    steps: stepsOf('undone'),
    look: lookOf([
      measureOf('resolved', [-7.6, 2.6], 'worse'),
      measureOf('duration', [3.2, 10.4], 'no_worse'),
    ]),
    left: ['agent.clinic["c2"] voice_settings.speed: somebody changed it since'],
    next: 'The values are held until the configuration changes.',
    commands: [],
  }),
  done: rolloutOf({
    status: 'done',
    ended_at: before(12),
    step: 4,
    steps: stepsOf('applied', 'applied', 'applied', 'applied'),
    look: lookOf([measureOf('errors', [-1.6, 0.9], 'better')], { step: 3 }),
    next: 'All 40 agents have the change.',
    commands: [],
  }),
  held: rolloutOf({
    status: 'held',
    step: 2,
    steps: stepsOf('applied', 'applying'),
    why: 'run 20261121t100000z-1f3a9c did not apply all of it:\nagent.clinic["c4"]: greeting_message was changed on the platform by dana@harbor.example',
    look: lookOf([measureOf('resolved', [0.2, 3.4], 'no_worse')]),
    next: 'It stays as it is until somebody decides.',
  }),
  broken: rolloutOf({
    status: 'rolling_back',
    why: errors,
    look: lookOf([{ ...measureOf('resolved', [-21.3, 31.5], 'not_enough_calls'), low: null }], {
      broken: [
        { rail: 'errors', does: 'rollback', address: 'agent.clinic["c1"]', message: errors },
        { rail: 'silence', does: 'hold', address: 'agent.clinic["c3"]', message: silence },
      ],
    }),
    next: 'It is not rolled back in full. The next rollout run goes on with that.',
    commands: ['callsheet rollout run careful'],
  }),
};

/** A rollout that waits for calls at its first step. */
export function recordOf(more: Partial<RolloutRecord>): RolloutRecord {
  return {
    id: '20260302t083000z-000000',
    name: 'careful',
    status: 'judging',
    why: null,
    started_at: new Date(0).toISOString(),
    ended_at: null,
    user: null,
    commit: null,
    plan_digest: `sha256:${'0'.repeat(64)}`,
    allowed: NO_OPTIONS,
    settings: {
      name: 'careful',
      judge: {
        measures: [],
        minCalls: 200,
        minDays: 3,
        baselineWeeks: 8,
      },
      guardRails: { errorWords: [], silence: 30 },
      onWorse: 'hold',
      overdueAfter: 7 * 24 * 3_600_000,
    },
    agents: [],
    steps: [],
    step: 0,
    judged_from: 0,
    look: null,
    logs: null,
    left: [],
    ...more,
  };
}
