/** The library: stacks planned, applied and undone; and the platform's operations with their types, errors and answers. */

import type { PlanChoices, PlanDocument } from './core/plan-document.ts';
import { features } from './features/index.ts';
import type { FailureDocument } from './render/diagnostics.ts';
import type { RunContext, StackOptions } from './run/context.ts';
import type { Event, RunDocument } from './run/document.ts';

export { CallsheetError, type FailureCode } from './core/errors.ts';
export type { PlanChoices, PlanDocument } from './core/plan-document.ts';
export type { EndpointOverride } from './platform/endpoints.ts';
export { ApiError, describeApiError, isNotFound, NetworkError } from './platform/errors.ts';
export type {
  AnswerOf,
  CallOf,
  ItemOf,
  ListCallOf,
  ListId,
} from './platform/library.ts';
export { type Client, type ClientOptions, createClient } from './platform/library.ts';
export type { Timeouts } from './platform/limits.ts';
export type { LocalFile, TraceEntry } from './platform/operation.ts';
export type { OperationId } from './platform/operations.generated.ts';
export type * from './platform/types.generated.ts';
export type { FailureDocument } from './render/diagnostics.ts';
export type { Event, RunDocument } from './run/document.ts';

/** Which stack, and with what it is read. */
export type StackChoice = {
  /** Its folder. */
  readonly dir: string;
  /** The environment of callsheet.yaml to use. */
  readonly environment?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Credentials, secrets and settings, by their names in the environment; the process's own unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Requests in flight at once; 8 unless given. */
  readonly concurrency?: number;
  /** Told what happens meanwhile. None of it is a result. */
  readonly onEvent?: (event: Event) => void;
};

export type UndoChoices = Pick<
  PlanChoices,
  'target' | 'exclude' | 'skipRefused' | 'overrideFreeze'
> & {
  /** Undo what somebody edited since, too. */
  readonly undoEdited?: boolean;
  readonly deleteUsed?: boolean;
  /** The run to undo; the last one unless given. */
  readonly run?: string;
};

/**
 * Plans, and returns what `callsheet plan --format json` prints. Nothing is written. Throws `CallsheetError` with
 * `diagnostics` for a configuration with errors, before anything is sent. Without `calls: false` it says how many calls
 * the changed agents take.
 */
export async function planStack({
  calls = true,
  ...given
}: StackChoice & PlanChoices & { readonly calls?: boolean }): Promise<PlanDocument> {
  const { planOptions, planStack } = await import('./run/plan.ts');
  const { stack, choices } = apart(given);
  const wanted = { ...toStackOptions(stack), options: planOptions(choices), calls };
  return (await planStack(wanted, toRunContext(stack))).plan;
}

/**
 * Carries out exactly this plan, as `callsheet apply PLANFILE` does: nobody is asked. Throws `CallsheetError('stale')`
 * where the plan was changed, or where the stack, its state or the platform is no longer what it was planned from,
 * before anything is written.
 */
export async function runPlan(
  plan: PlanDocument,
  stack: StackChoice & { readonly rollbackOnFailure?: boolean },
): Promise<RunDocument | FailureDocument> {
  const { applyDocument, applyStack } = await import('./run/apply.ts');
  const { parsePlan } = await import('./plan/document.ts');
  // It may have been kept anywhere in between: only its digest says that it is the one that was reviewed.
  const reviewed = parsePlan(JSON.stringify(plan), 'the plan');
  const { rollbackOnFailure } = stack;
  const wanted = {
    ...toStackOptions(stack),
    plan: reviewed,
    options: reviewed.options,
    rollbackOnFailure,
  };
  const document = applyDocument(await applyStack(wanted, toRunContext(stack)));
  if (document === undefined) throw new Error('nobody was asked, and yet somebody declined');
  return document;
}

/** Undoes a run through the platform's own history, as `callsheet rollback` does: nobody is asked. */
export async function undo(given: StackChoice & UndoChoices): Promise<RunDocument> {
  const { stack, choices } = apart(given);
  const { runDocument, undo } = await import('./run/undo.ts');
  const outcome = await undo({ ...toStackOptions(stack), ...choices }, toRunContext(stack));
  if (outcome.type === 'planned' || outcome.type === 'declined')
    throw new Error('nobody was asked, and yet somebody declined');
  return runDocument(outcome);
}

/** Which stack, and what is to be done with it. */
function apart<Choices extends object>({
  dir,
  environment,
  variables,
  env,
  concurrency,
  onEvent,
  ...choices
}: StackChoice & Choices) {
  return { stack: { dir, environment, variables, env, concurrency, onEvent }, choices };
}

type Given = { readonly [name in keyof StackChoice]: StackChoice[name] | undefined };

function toStackOptions({
  dir = '.',
  environment,
  variables = {},
  concurrency,
}: Given): StackOptions {
  return {
    dir,
    env: environment,
    var: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    concurrency,
  };
}

function toRunContext({ env = process.env, onEvent = () => undefined }: Given): RunContext {
  return {
    env,
    features,
    now: () => new Date(),
    stop: new AbortController().signal,
    emit: onEvent,
  };
}
