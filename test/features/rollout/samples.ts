import type { Rollouts } from '../../../src/core/documents.generated.ts';
import type { RolloutRecord } from '../../../src/features/rollout/record.ts';
import { NO_OPTIONS } from '../../render/sample.ts';

/** Rollouts in every state that there is something to see of, as documents. */

/** The moment at which all of them are shown. */
export const NOW = '2026-11-26T17:44:00.000Z';

const HOUR = 3_600_000;
const hoursBefore = (hours: number, at = NOW) =>
  new Date(Date.parse(at) - hours * HOUR).toISOString();

export function documentOf(...rollouts: readonly Rollouts.Rollout[]): Rollouts.Document {
  return { format: 'callsheet-rollouts', version: 1, now: NOW, environment: null, rollouts };
}

/** Busiest first, as `first: volume` chooses them. */
const AGENTS = Array.from({ length: 40 }, (_, at) => `agent.clinic["c${at + 1}"]`);

type Name = Rollouts.Measure['name'];

/** What each measure is like without a change. */
const USUAL: {
  readonly [name in Name]?: Pick<Rollouts.Measure, 'better' | 'margin'> & {
    readonly level: number;
  };
} = {
  resolved: { better: 'higher', margin: 5, level: 71.2 },
  errors: { better: 'lower', margin: 3, level: 5.1 },
  duration: { better: 'lower', margin: 20, level: 132 },
};

/** What a measure comes to: its effect, and half the width of the interval. */
type Found = readonly [effect: number, half: number, verdict: Rollouts.Measure['verdict']];

export function measureOf(name: Name, found: Found | null): Rollouts.Measure {
  const { better = 'lower', margin = 3, level = 10 } = USUAL[name] ?? {};
  const others = { others_before: level * 0.996, others_after: level * 1.001 };
  if (found === null) {
    const why = `The platform gives no figures for ${name}.`;
    const none = { before: null, after: null, others_before: null, others_after: null };
    const nothing = { ...none, effect: null, low: null, high: null };
    return { name, better, margin, ...nothing, verdict: 'no_figures', why };
  }
  const [effect, half, verdict] = found;
  const isMean = name === 'duration';
  const moved = others.others_after - others.others_before + (isMean ? level / 100 : 1) * effect;
  return {
    name,
    better,
    margin,
    before: level,
    after: level + moved,
    ...others,
    effect,
    low: effect - half,
    high: effect + half,
    verdict,
    why: verdict === 'not_enough_calls' ? '138 of at least 200 calls so far.' : null,
  };
}

function lookOf(more: Partial<Rollouts.Look> = {}): Rollouts.Look {
  return {
    at: hoursBefore(4 / 60),
    step: 1,
    verdict: 'not_enough_calls',
    why: null,
    calls: 138,
    agents: 3,
    others: 37,
    measures: [],
    calm: true,
    odd: [],
    broken: [],
    ...more,
  };
}

/** Steps of 3, 4, 20 and 40 agents, of which so many were applied at these moments. */
function stepsOf(
  applied: readonly string[],
  last: 'applied' | 'applying' | 'undone' = 'applied',
): Rollouts.Rollout['steps'] {
  const sizes = [3, 4, 20, 40];
  return sizes.map((agents, index) => {
    const at = applied[index] ?? null;
    const isLast = index === applied.length - 1;
    return {
      number: index + 1,
      agents,
      adds: AGENTS.slice(sizes[index - 1] ?? 0, agents),
      status:
        at === null
          ? 'pending'
          : last === 'undone'
            ? 'undone'
            : isLast
              ? last
              : ('applied' as const),
      at,
      runs: at === null ? [] : [`2026112${index}t100000z-1f3a9c`],
    };
  });
}

const COMMANDS = ['run', 'promote', 'abort'].map(
  (command) => `callsheet rollout ${command} careful`,
);

export function rolloutOf(more: Partial<Rollouts.Rollout> = {}): Rollouts.Rollout {
  return {
    id: '20261126t095800z-1f3a9c',
    name: 'careful',
    status: 'judging',
    why: null,
    overdue: false,
    started_at: hoursBefore(7.8),
    ended_at: null,
    user: 'kim',
    commit: '1f3a9c2d5e6f708192a3b4c5d6e7f8091a2b3c4d',
    plan_digest: `sha256:${'5d'.repeat(32)}`,
    agents: 40,
    step: 1,
    steps: stepsOf([hoursBefore(7.75)]),
    judge: {
      min_calls: 200,
      min_days: 3,
      baseline_weeks: 8,
    },
    guard_rails: { errors: 5, silence: 30 },
    look: null,
    left: [],
    next: 'The next rollout run looks at the calls again. If callers fare no worse, 4 of 40 agents have the change then.',
    commands: COMMANDS,
    ...more,
  };
}

/** It waits: too few calls for a verdict. */
export function waiting(): Rollouts.Rollout {
  const measures = [
    measureOf('resolved', [-1.81, 8.71, 'not_enough_calls']),
    measureOf('duration', [-0.54, 9.3, 'not_enough_calls']),
    measureOf('errors', [0.01, 4.35, 'not_enough_calls']),
  ];
  return rolloutOf({
    look: lookOf({ measures, why: '138 of at least 200 calls so far.' }),
  });
}

/** The platform gives no figures at all. */
export function silent(): Rollouts.Rollout {
  const why = 'The platform gives no figures for resolved.';
  const names = ['resolved', 'errors'] as const;
  const measures = names.map((name) => measureOf(name, null));
  return rolloutOf({
    overdue: true,
    started_at: hoursBefore(200),
    steps: stepsOf([hoursBefore(199.9)]),
    look: lookOf({ verdict: 'no_figures', why, calls: 0, measures }),
    next: 'The next rollout run looks at the calls again.',
  });
}

const WORSE =
  'resolved moved by −7.6 points against the other agents (−10.2 to −5.0); 5 are tolerated.';

/** Callers fare worse, and it was rolled back. */
export function worse(): Rollouts.Rollout {
  const measures = [
    measureOf('resolved', [-7.6, 2.6, 'worse']),
    measureOf('duration', [3.2, 10.4, 'no_worse']),
    measureOf('errors', [1.1, 1.3, 'no_worse']),
  ];
  const end = hoursBefore(31);
  return rolloutOf({
    status: 'rolled_back',
    why: 'callers fare worse by resolved',
    started_at: hoursBefore(83),
    ended_at: hoursBefore(30.9),
    steps: stepsOf([hoursBefore(82.9)], 'undone'),
    look: lookOf({ at: end, verdict: 'worse', why: WORSE, calls: 1021, measures }),
    left: ['agent.clinic["c2"] voice_settings.speed: somebody changed it since'],
    next: 'The values are held: plan and apply refuse to write them again until the configuration changes, or --release-hold is given.',
    commands: [],
  });
}

/** It went through its four steps. */
export function done(): Rollouts.Rollout {
  const end = hoursBefore(12);
  const hours = 78;
  const stepHours = [hours + 1, hours - 25, hours - 51, 0];
  return rolloutOf({
    status: 'done',
    started_at: hoursBefore(hours + 1.2, end),
    ended_at: end,
    step: 4,
    steps: stepsOf(stepHours.map((before) => hoursBefore(before, end))),
    look: lookOf({
      at: end,
      step: 3,
      verdict: 'no_worse',
      calls: 1540,
      agents: 20,
      others: 20,
      measures: [
        measureOf('resolved', [0.6, 1.8, 'no_worse']),
        measureOf('errors', [-1.6, 0.9, 'better']),
      ],
    }),
    next: 'All 40 agents have the change.',
    commands: [],
  });
}

/** A step would do what nobody reviewed. */
export function stale(): Rollouts.Rollout {
  return rolloutOf({
    status: 'held',
    why: 'run 20261126t100000z-1f3a9c did not apply all of it:\nagent.clinic["c4"]: greeting_message was changed on the platform by dana@harbor.example\nagent.clinic["c5"]: not applied',
    step: 1,
    started_at: hoursBefore(30),
    steps: stepsOf([hoursBefore(29.8)]),
    look: lookOf({
      verdict: 'no_worse',
      calls: 412,
      measures: [measureOf('resolved', [0.2, 3.4, 'no_worse'])],
    }),
    next: 'It stays as it is until somebody decides.',
    commands: COMMANDS.slice(1),
  });
}

/** Errors beyond the limit, at once. */
export function broken(): Rollouts.Rollout {
  const [first = '', , third = ''] = AGENTS;
  const errors = '4 of 11 calls of 2 agents have an error; 5 % are tolerated';
  const silence = `${third} got no call since 2026-11-26T11:05:00Z; 34 were expected`;
  return rolloutOf({
    status: 'rolling_back',
    why: errors,
    look: lookOf({
      why: '29 of at least 200 calls so far.',
      calls: 29,
      measures: [measureOf('resolved', [-21.3, 31.5, 'not_enough_calls'])],
      odd: AGENTS.slice(30, 31),
      broken: [
        { rail: 'errors', does: 'rollback', address: first, message: errors },
        { rail: 'silence', does: 'hold', address: third, message: silence },
      ],
    }),
    next: 'It is not rolled back in full. The next rollout run goes on with that.',
    commands: COMMANDS.slice(0, 1),
  });
}

/** More than a week. */
export function long(): Rollouts.Rollout {
  return rolloutOf({
    name: 'night-lines',
    step: 2,
    started_at: hoursBefore(202),
    steps: stepsOf([hoursBefore(201.5), hoursBefore(110)]),
    look: lookOf({
      step: 2,
      verdict: 'no_worse',
      calls: 3961,
      agents: 4,
      others: 36,
      measures: [
        measureOf('resolved', [-1.4, 1.7, 'no_worse']),
        measureOf('duration', [-4.2, 4.6, 'no_worse']),
        measureOf('errors', [-1.9, 0.6, 'better']),
      ],
    }),
    next: 'The next rollout run looks at the calls again. If callers fare no worse, 20 of 40 agents have the change then.',
    commands: ['callsheet rollout promote night-lines', 'callsheet rollout abort night-lines'],
  });
}

/** Each with the name under which it is shown. */
export const ROLLOUTS: { readonly [name: string]: Rollouts.Document } = {
  waiting: documentOf(waiting()),
  silent: documentOf(silent()),
  worse: documentOf(worse()),
  done: documentOf(done()),
  stale: documentOf(stale()),
  broken: documentOf(broken()),
  two: documentOf(worse(), long()),
  long: documentOf(long()),
};

/** A document in which everything that somebody may have written is `text`. */
export function hostile(text: string): Rollouts.Document {
  const rollout = broken();
  const { look, steps } = rollout;
  const one = {
    ...rollout,
    name: text,
    id: text,
    why: text,
    user: text,
    commit: text,
    plan_digest: text,
    started_at: text,
    status: 'held' as const,
    left: [text, text],
    next: text,
    commands: [`callsheet rollout run ${text}`],
    judge: { ...rollout.judge, counted: text },
    steps: steps.map((step) => ({ ...step, adds: [text], runs: [text] })),
    look: look && {
      ...look,
      why: `missing ${text}`,
      broken: look.broken.map((rail) => ({ ...rail, address: text, message: text })),
      measures: look.measures.map((measure) => ({ ...measure, why: text })),
    },
  };
  return { ...documentOf(one), environment: text };
}

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
