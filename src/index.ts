/** The library: stacks planned, applied and undone; and the platform's operations with their types, errors and answers. */

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
export {
  planStack,
  runPlan,
  type StackChoice,
  type UndoChoices,
  undo,
} from './run/library.ts';
