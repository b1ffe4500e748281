import type { RunEvent } from '../apply/journal.ts';
import type { Address } from '../core/address.ts';
import type { FindCallouts, PlanDocument } from '../core/plan-document.ts';
import type { Claim } from '../plan/guards.ts';
import type { Planned } from '../plan/make.ts';
import type { Credentials } from '../platform/auth.ts';
import type { Connection, ConnectionOptions } from '../platform/client.ts';
import type { Timeouts } from '../platform/limits.ts';
import type { TraceEntry } from '../platform/operation.ts';
import type { Pause } from '../platform/rate.ts';
import type { Transport } from '../platform/transport.ts';
import type { RunCommand } from '../stack/index.ts';
import type { OpenJudge, Stack } from '../stack/load.ts';
import type { SettingsSection } from '../stack/settings.ts';
import type { Disk } from '../state/file/disk.ts';
import type { State } from '../state/model.ts';
import type { StoreScheme } from '../state/open.ts';
import type { StateStore } from '../state/store.ts';
import type { Event } from './document.ts';

/**
 * `run/` owns the engine: it opens a stack with its state and its platform, plans, carries plans out under the lease,
 * recovers what an interrupted run left, and undoes runs. It returns outcomes and emits events, and knows neither a
 * terminal nor a format: the command line, fleets, rehearsals, watches and the library all call it.
 */

/** Which stack, and with what it is read. */
export type StackOptions = {
  /** Its folder. */
  readonly dir: string;
  /** The environment of callsheet.yaml to use. */
  readonly env?: string | undefined;
  /** Variables, `name=value` each. */
  readonly var?: readonly string[] | undefined;
  readonly varFile?: readonly string[] | undefined;
  /** Environment variables that variables of the stack may read beside those with the prefix. */
  readonly allowEnv?: readonly string[] | undefined;
  /** Requests in flight at once; 8 unless given. */
  readonly concurrency?: number | undefined;
};

/** Says if a plan has the calls of changed agents. */
export type CallsChoice = {
  /** `true`: it has them, `false`: it has none. Unless given it has them if a team rule reads them. */
  readonly calls?: boolean | undefined;
};

/** The outside world, passed in to the engine. */
export type RunContext = {
  /** The features that there are. */
  readonly features: readonly EngineFeature[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  /** Aborted by the first interrupt. */
  readonly stop: AbortSignal;
  readonly emit: (event: Event) => void;
  /** Asks a person for a yes; absent where no person can answer. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** The file store's disk operations, if it is not to do them itself: tests stop it at each step. */
  readonly disk?: Disk;
  /** The same for what is sent to the platform. */
  readonly wire?: (transport: Transport) => Transport;
  /** The same for what is asked of the store of a state. */
  readonly timed?: (store: StateStore) => StateStore;
  /** How pauses between tries are spent; with the clock of the machine unless given. */
  readonly pause?: Pause;
  /** How long answers are waited for; as `platform/limits.ts` says unless given. */
  readonly timeouts?: Partial<Timeouts>;
  /** A rehearsal goes here instead of to the platform and the state of the stack. */
  readonly sandbox?: {
    readonly baseUrl: string;
    readonly credentials: Credentials;
    readonly stateFile: string;
  };
  /** Runs what `exec:` secrets name, in a folder; absent where they may not run. */
  readonly runSecret?: ((dir: string) => RunCommand) | undefined;
  /** Counts what is sent to the platform once more, for the display of a run. */
  readonly traffic?: { retries: number };
  /** Clients of one account share this if many stacks are worked on in one process. */
  readonly connections?:
    | { readonly at: (baseUrl: string, options: ConnectionOptions) => Connection }
    | undefined;
  /** Traces what is done, where the environment names a collector. */
  readonly telemetry?: Stages | undefined;
  /** Receives every request to the platform. */
  readonly trace?: ((entry: TraceEntry) => void) | undefined;
};

/** A feature as the engine sees it. */
export type EngineFeature = {
  /** The name of its folder, and of its section of the state. */
  readonly name: string;
  readonly settings?: SettingsSection;
  readonly judge?: () => Promise<OpenJudge>;
  /** Loads what finds in two texts the changes that a careful reviewer wants to know. */
  readonly callouts?: () => Promise<FindCallouts>;
  /** Resources that are its own for now. Throws `CallsheetError` where its section of the state cannot be read. */
  readonly claims?: (state: State, place: StackPlace) => Promise<readonly Claim[]>;
  /** Says of drift what the feature can make of it. The digest, which is made before, does not cover that. */
  readonly markDrift?: () => Promise<
    (drift: PlanDocument, planned: Planned, stack: Stack) => PlanDocument
  >;
  readonly strategy?: StrategyHook;
  readonly gauges?: () => Promise<OpenGauges>;
  /** Places beside files that it keeps states in. */
  readonly stores?: readonly StoreScheme[];
};

/** How a stack is named in a command. */
export type StackPlace = Pick<StackOptions, 'dir' | 'env'>;

/** A way of carrying plans out that is not `apply`. A plan is made for it, and names it. */
type StrategyHook = {
  /** Throws `CallsheetError` where the stack has none of that name, or several and no name is given. */
  readonly find: (name: string | undefined, stack: Pick<Stack, 'sections'>) => StrategyScope;
  /** Loads what says line by line what it will take, once the plan is made. */
  readonly forecast: () => Promise<
    (plan: PlanDocument, options: StackOptions, context: RunContext) => Promise<readonly string[]>
  >;
};

/** The scope and the pace of a plan for a strategy. */
export type StrategyScope = {
  /** The resources that it is about. */
  readonly target: readonly Address[];
  /** Most changes that are carried out before somebody judges them. */
  readonly atOnce: number;
  /** How it goes about it, which a reviewed plan is held against. */
  readonly settings: unknown;
  /** Said beside the plan. */
  readonly note: string;
};

/** Opens gauges of what a feature keeps in states. The function shows those of one stack, whose state was read. */
export type OpenGauges = (
  gauge: <L extends string>(name: string, help: string, labels: readonly L[]) => Gauge<L>,
) => (stack: string, state: State) => void;

export type Gauge<L extends string> = {
  readonly set: (labels: Readonly<Record<L, string>>, value: number) => void;
  readonly reset: () => void;
};

/** The part of telemetry that the engine uses. */
type Stages = {
  readonly stage: <T>(name: string, work: () => Promise<T>, attributes?: Attributes) => Promise<T>;
  readonly describe: (attributes: Attributes) => void;
};

/** The attributes of a span. They contain no value of a field, no query, and no id of the platform. */
export type Attributes = Readonly<Record<string, string | number>>;

/** Who follows a run that is carried out. Opened right before its first write. */
type Observer = {
  readonly onEvent: (event: RunEvent) => void;
  /** The run ended, whichever way. */
  readonly stop: () => void;
  readonly close: () => Promise<void>;
};

/** Opens one for a plan. What it throws stops the run before it begins. */
export type Observe = (plan: PlanDocument) => Promise<Observer>;

/** Opens what finds the call-outs of texts: what features find, which without any is nothing. */
export async function openCallouts(features: readonly EngineFeature[]): Promise<FindCallouts> {
  const finders = await Promise.all(features.map(({ callouts }) => callouts?.()));
  return (before, after) => finders.flatMap((find) => find?.(before, after) ?? []);
}

/** Does a part of a task, which telemetry, where there is any, sees as one. */
export function stage<T>(
  { telemetry }: Pick<RunContext, 'telemetry'>,
  name: string,
  work: () => Promise<T>,
  attributes?: Attributes,
): Promise<T> {
  return telemetry === undefined ? work() : telemetry.stage(name, work, attributes);
}
