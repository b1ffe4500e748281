/**
 * `console/` is what a command has of a terminal: its flags, how it asks, shows results and failures, and ends;
 * and the commands that work on one stack (validate, plan, apply, drift), which fleets and the `ui` run too.
 *
 * This file: what a command works with.
 */
import type { RunEvent } from '../apply/journal.ts';
import type { ExitCode } from '../core/errors.ts';
import type { PlanChoices, PlanDocument } from '../core/plan-document.ts';
import type { Refresh } from '../plan/make.ts';
import type { Report } from '../render/diagnostics.ts';
import type {
  Attributes,
  CallsChoice,
  EngineFeature,
  RunContext,
  StackOptions,
} from '../run/context.ts';
import type { Collect } from './monitor/metrics.ts';
import type { Terminal } from './terminal.ts';

/** Flags that every command takes. */
export type CommonFlags = Omit<StackOptions, 'concurrency'> & {
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly traceHttp?: string;
  readonly allowExec?: boolean;
};

/** The ways in which a feature shows documents. */
export type ViewSource = {
  /** Its formats of plans and drift, as `--format` takes them. Each loads what renders it. */
  readonly views?: { readonly [format: string]: () => Promise<View> };
  /** The same for the diagnostics of `validate`. */
  readonly reports?: { readonly [format: string]: ReportView };
  /** Loads the work of `drift --accept`. */
  readonly accept?: () => Promise<Accept>;
};

type View = (document: PlanDocument) => string | Promise<string>;

/** Carries out `drift --accept`: writes live values into the configuration. */
type Accept = (
  addresses: readonly string[],
  flags: CommonFlags & { readonly format: 'text' | 'json' },
  context: Context,
) => Promise<ExitCode>;

/** A format of diagnostics. It is empty where the format says nothing when there is no problem. */
type ReportView = {
  /** Another program reads it from a file, so that the log of a job is to say what is wrong beside it. */
  readonly isFile: boolean;
  readonly load: () => Promise<(report: Report) => string>;
};

/** Follows what commands do. The core has one where a feature gives it. */
export type Telemetry = {
  /** Does something that has a trace, or a part of one, of its own. Of one without a stage or request nothing is sent. */
  readonly task: <T>(name: string, work: () => Promise<T>, how?: TaskOptions<T>) => Promise<T>;
  /** Does a part of a task. */
  readonly stage: <T>(name: string, work: () => Promise<T>, attributes?: Attributes) => Promise<T>;
  /** Says more of the task that is being done. */
  readonly describe: (attributes: Attributes) => void;
  /** Returns an observer of one run's events: its spans lie under the stage in which the run starts. */
  readonly changes: () => (event: RunEvent) => void;
  /** Wraps the transport of `wire`: each request to it has a span. */
  readonly through: (wire: RunContext['wire']) => NonNullable<RunContext['wire']>;
  /** Sends figures every so often, and once more at the end. */
  readonly measure: (collect: Collect) => void;
  /** Sends what is left, for as long as that may take. */
  readonly close: () => Promise<void>;
};

export type TelemetryDeps = Pick<RunContext, 'env'> & {
  readonly version: string;
  /** Says something beside the results. */
  readonly tell: (text: string) => void;
};

type TaskOptions<T> = {
  /** True if it begins a trace of its own inside another task: a service runs for days. */
  readonly isRoot?: boolean;
  /** In a word, how a task failed that ended without an error. */
  readonly failure?: (result: T) => string | undefined;
};

/** The context of the engine, and the terminal that shows its events. */
export type Context = Omit<RunContext, 'features'> & {
  readonly features: readonly (EngineFeature & ViewSource)[];
  readonly terminal: Terminal;
  readonly version: string;
  /** Undefined unless a feature observes what is done. */
  readonly telemetry?: Telemetry | undefined;
};

/** Flags of commands that plan. */
export type PlanFlags = CommonFlags &
  CallsChoice &
  PlanChoices & {
    readonly concurrency?: number;
    readonly refresh?: Refresh;
  };

/** Picks the flags that say which stack is read, and how. */
export function stackOptions(flags: CommonFlags & { readonly concurrency?: number }): StackOptions {
  const { dir, env, var: variables, varFile, allowEnv, concurrency } = flags;
  return { dir, env, var: variables, varFile, allowEnv, concurrency };
}

/**
 * A plan has calls (unless `--no-calls` is given) if a person sees it before anything is written. Otherwise only a
 * team rule may need them.
 */
export function chooseCalls(
  { calls, format, autoApprove }: CallsChoice & Approval,
  isDecidedOn = format === 'text' && autoApprove !== true,
): boolean | undefined {
  return isDecidedOn || calls === false ? calls : undefined;
}

/** How a command shows its plan, and if it asks for approval. */
type Approval = { readonly format?: string; readonly autoApprove?: boolean };
