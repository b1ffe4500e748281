import type { Address } from './address.ts';
import type { SourcePosition } from './diagnostics.ts';
import type { Rollouts, State } from './documents.generated.ts';
import type { PlanOptions } from './plan-document.ts';

/** What calls are judged by. */
export const MEASURES = ['resolved', 'duration', 'errors'] as const;
type MeasureName = (typeof MEASURES)[number];

/** One measure, and how much worse is tolerated. */
export type Measure = {
  readonly name: MeasureName;
  /**
   * Of shares in percentage points, of `duration` in percent of what it was before; above 0. A change that is worse by
   * less counts as no worse.
   */
  readonly margin: number;
  readonly better: 'higher' | 'lower';
};

/** How a change is judged after each step. */
export type Judging = {
  readonly measures: readonly Measure[];
  /** Calls since the step, and its whole days, that a promotion needs. */
  readonly minCalls: number;
  readonly minDays: number;
  /** Most whole weeks before the rollout that agents are compared with. */
  readonly baselineWeeks: number;
};

/** Guard rails, which stop a rollout without a verdict. */
export type GuardRails = {
  /** Percent of calls with an error; absent: errors are not looked for. */
  readonly errors?: number;
  /** Words that tell an error in the system entries of a transcript. */
  readonly errorWords: readonly string[];
  /** Calls that were expected of an agent that got none. */
  readonly silence: number;
};

/** How agents are put in order: in turn over the organizations, or busiest first. */
export type Order = 'spread' | 'volume';

/** A part of the selected agents, of which a share is rounded up. */
export type StepSize = { readonly agents: number } | { readonly percent: number };

/** How many of the selected agents have the change after each step, counted from the first. No step is more than all. */
export function stepCounts(steps: readonly StepSize[], agents: number): readonly number[] {
  return steps.map((step) => {
    if ('agents' in step) return Math.min(step.agents, agents);
    // 1.1 % of 3,000 is 33.000000000000004 in binary fractions.
    return Math.ceil(Number(((agents * step.percent) / 100).toFixed(6)));
  });
}

/** What is done where callers fare worse. */
export type OnWorse = 'rollback' | 'hold' | 'ask';

/** `rollouts.<name>` of callsheet.yaml. */
export type RolloutSettings = {
  readonly name: string;
  /** Selected agents, by address. */
  readonly agents: readonly Address[];
  /** Each is larger than the one before; the last is all. */
  readonly steps: readonly StepSize[];
  readonly first: Order;
  readonly judge: Judging;
  readonly guardRails: GuardRails;
  readonly onWorse: OnWorse;
  /** Milliseconds after which a step is overdue. */
  readonly overdueAfter: number;
  /** Where it stands. */
  readonly position: SourcePosition;
};

/**
 * What is remembered of a rollout while it is under way, and of the last one of its name. The schema of the state
 * leaves open what is given a type here.
 */
export type RolloutRecord = Omit<
  State.Rollouts[string],
  'allowed' | 'settings' | 'look' | 'logs'
> & {
  /** Each step is allowed the same, and no more. */
  readonly allowed: PlanOptions;
  /** Where callsheet.yaml has others by now, the rollout is held until somebody promotes it. */
  readonly settings: Omit<RolloutSettings, 'agents' | 'steps' | 'first' | 'position'>;
  readonly look: Rollouts.Look | null;
  readonly logs: LoggedCalls | null;
};

export type RolloutStatus = Rollouts.Rollout['status'];

export type RolloutAgent = RolloutRecord['agents'][number];

/** The calls of the weeks before a rollout, as the logs of some agents told them, by the id of the agent. */
export type LoggedCalls = { readonly [id: string]: LoggedBefore };

/** Calls, those with an error, days with calls, and those of them that were bad. */
export type LoggedBefore = {
  readonly [count in 'calls' | 'errors' | 'days' | 'badDays']: number;
};

/** Rollouts by name. */
export type RolloutRecords = { readonly [name: string]: RolloutRecord };

/** Agents that may have the change: those of every step that was begun. */
export function agentsReached(record: Pick<RolloutRecord, 'agents' | 'steps'>) {
  const { agents, steps } = record;
  return agents.slice(0, steps.findLast(({ runs }) => runs.length > 0)?.agents ?? 0);
}

/** Whether a rollout is under way: then others leave its agents alone. */
export function isUnderWay({ status }: Pick<RolloutRecord, 'status'>): boolean {
  return status !== 'done' && status !== 'rolled_back';
}

/** The rollouts of a state that are under way, but for the one of a name. */
export function listUnderWay(
  { rollouts = {} }: { readonly rollouts?: RolloutRecords },
  but?: string,
): readonly RolloutRecord[] {
  return Object.values(rollouts).filter((one) => isUnderWay(one) && one.name !== but);
}
