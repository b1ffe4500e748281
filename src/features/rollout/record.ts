import type { Address } from '../../core/address.ts';
import type { SourcePosition } from '../../core/diagnostics.ts';
import type { Rollouts } from '../../core/documents.generated.ts';
import { CallsheetError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { PlanOptions } from '../../core/plan-document.ts';
import type { StepSize } from '../../stack/formats.ts';
import type { Stack } from '../../stack/load.ts';
import type { KeptEntry, State } from '../../state/model.ts';
import schema from './record.json' with { type: 'json' };

/** The measures that calls are judged by. */
export const MEASURES = ['resolved', 'duration', 'errors'] as const;
type MeasureName = (typeof MEASURES)[number];

/** One measure, and how much worse is tolerated. */
export type Measure = {
  readonly name: MeasureName;
  /**
   * In percentage points of a share, in percent of a duration before; above 0. A change that is worse by
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

/** How many of the selected agents have the change after each step, counted from the first. No step is more than all. */
export function stepCounts(steps: readonly StepSize[], agents: number): readonly number[] {
  return steps.map((step) => {
    if ('agents' in step) return Math.min(step.agents, agents);
    // 1.1 % of 3,000 is 33.000000000000004 in binary fractions.
    return Math.ceil(Number(((agents * step.percent) / 100).toFixed(6)));
  });
}

/** The ways to go on if callers fare worse. */
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
  readonly position: SourcePosition;
};

/** A rollout as it is remembered while it is under way; the last one of its name. */
export type RolloutRecord = {
  readonly id: string;
  readonly name: string;
  readonly status: Rollouts.Rollout['status'];
  /** Why it is held, or was rolled back; null where it is neither. */
  readonly why: string | null;
  /** By the clock of the platform, ISO 8601, as all its times. */
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly user: string | null;
  readonly commit: string | null;
  readonly plan_digest: string;
  /** Each step is allowed the same as the reviewed plan, and no more. */
  readonly allowed: PlanOptions;
  /** If callsheet.yaml has others by now, the rollout is held until somebody promotes it. */
  readonly settings: Omit<RolloutSettings, 'agents' | 'steps' | 'first' | 'position'>;
  /** In the order in which they get the change. */
  readonly agents: readonly RolloutAgent[];
  /** `agents`: how many have the change after it; `at`: when it was applied in full. */
  readonly steps: readonly {
    readonly agents: number;
    readonly at: string | null;
    readonly runs: readonly string[];
  }[];
  /** The index of the step that it is at. */
  readonly step: number;
  /** The index of the first step whose calls are judged: a person overruled earlier ones. */
  readonly judged_from: number;
  readonly look: Rollouts.Look | null;
  readonly logs: LoggedCalls | null;
  /** Everything that rolling it back left as it is, in words. */
  readonly left: readonly string[];
};

/**
 * `change`: the digest of what the reviewed plan changes of it. `secrets`: fingerprints of the secrets in that change, by
 * path. `changed_at`: when it was last changed before the rollout.
 */
export type RolloutAgent = {
  readonly address: Address;
  readonly id: string;
  readonly change: string;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly changed_at?: string | null;
};

/** The calls of the weeks before a rollout, counted in the logs of some agents, by the id of the agent. */
export type LoggedCalls = { readonly [id: string]: LoggedBefore };

/** Calls, those with an error, days with calls, and those of them that were bad. */
export type LoggedBefore = {
  readonly [count in 'calls' | 'errors' | 'days' | 'badDays']: number;
};

/** Agents that may have the change: those of every step that was begun. */
export function agentsReached(record: Pick<RolloutRecord, 'agents' | 'steps'>) {
  const { agents, steps } = record;
  return agents.slice(0, steps.findLast(({ runs }) => runs.length > 0)?.agents ?? 0);
}

/** A rollout that is under way has its agents for its own: others leave them alone. */
export function isUnderWay({ status }: Pick<RolloutRecord, 'status'>): boolean {
  return status !== 'done' && status !== 'rolled_back';
}

/** The rollouts of a state that are under way, but for the one of a name. */
export function listUnderWay(state: Pick<State, 'kept'>, but?: string): readonly RolloutRecord[] {
  return recordsIn(state).filter((one) => isUnderWay(one) && one.name !== but);
}

/** The section of the state. */
export const FEATURE = 'rollout';

/** Returns all rollouts of a state by their names. One whose end is in doubt is held for a person. */
export function recordsIn({ kept = {} }: Pick<State, 'kept'>): readonly RolloutRecord[] {
  const all = Object.entries(kept[FEATURE] ?? {}).map(([name, { status, why, doubt, data }]) => {
    const record = { ...data, name, status, why } as unknown as RolloutRecord;
    return doubt === undefined ? record : { ...record, status: 'held' as const, why: doubt };
  });
  return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

let validator: ReturnType<typeof compileSchema> | undefined;

async function compileSchema() {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  return new Ajv2020({ strictRequired: false }).compile(schema);
}

/** Throws `CallsheetError('state')` for a section that no rollout wrote: the state may be anybody's word. */
export async function checkRecords({ kept = {} }: Pick<State, 'kept'>): Promise<void> {
  const entries = Object.entries(kept[FEATURE] ?? {});
  if (entries.length === 0) return;
  validator ??= compileSchema();
  const validate = await validator;
  for (const [name, { data }] of entries) {
    if (validate(data) && data.name === name) continue;
    const [problem] = validate.errors ?? [];
    const what = problem === undefined ? '' : `: ${problem.instancePath} ${problem.message}`;
    throw new CallsheetError('state', `the rollout ${name} of the state cannot be read${what}`, {
      hint: 'Restore the state from a copy, or rebuild it: `callsheet state repair`',
    });
  }
}

/** A rollout as a state keeps it. */
export function toEntry({ status, why, ...data }: RolloutRecord): KeptEntry {
  const runs = data.steps.flatMap((step) => step.runs);
  return { status, why, open: isUnderWay({ status }), runs, data: { ...data } };
}

/** The rollouts that callsheet.yaml has. */
export function getRollouts({ sections }: Pick<Stack, 'sections'>): readonly RolloutSettings[] {
  return (sections.rollouts ?? []) as readonly RolloutSettings[];
}

/** The rollout of that name in callsheet.yaml, or the only one. Throws where none is meant, or more than one. */
export function rolloutNamed(
  name: string | undefined,
  rollouts: readonly RolloutSettings[],
): RolloutSettings {
  const found = name === undefined ? rollouts : rollouts.filter((one) => one.name === name);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = rollouts.map((one) => one.name);
  if (rollouts.length === 0)
    throw new CallsheetError('usage', 'callsheet.yaml has no rollouts', {
      hint: '`callsheet help rollouts` shows how to write one.',
    });
  if (name === undefined)
    throw new CallsheetError('usage', `there are several rollouts: ${names.join(', ')}`, {
      hint: 'Name one.',
    });
  throw new CallsheetError('usage', `callsheet.yaml has no rollout ${name}`, {
    hint: didYouMean(name, names, `It has ${names.join(', ')}.`),
  });
}
