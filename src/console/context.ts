/**
 * `console/` is what a command has of a terminal: its flags, how it asks, shows results and failures, and ends;
 * and the commands that work on one stack (validate, plan, apply, drift), which fleets and the `ui` run too.
 *
 * This file: what a command works with.
 */
import type { PlanChoices, PlanDocument } from '../core/plan-document.ts';
import type { Refresh } from '../plan/make.ts';
import type { CallsChoice, EngineFeature, RunContext, StackOptions } from '../run/context.ts';
import type { Telemetry } from './monitor/telemetry.ts';
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
};

type View = (document: PlanDocument) => string | Promise<string>;

/** The context of the engine, and the terminal that shows its events. */
export type Context = Omit<RunContext, 'features'> & {
  readonly features: readonly (EngineFeature & ViewSource)[];
  readonly terminal: Terminal;
  readonly version: string;
  /** Undefined unless the environment names a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
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
