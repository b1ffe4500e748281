/** The library: the platform's operations with their types, errors and answers. */
export type { EndpointOverride } from './api/endpoints.ts';
export { ApiError, describeApiError, isNotFound } from './api/errors.ts';
export { type Client, type ClientOptions, createClient } from './api/library.ts';
export type { AnswerOf, CallOf, ItemOf, ListCallOf, ListId } from './api/library-calls.ts';
export type { LocalFile } from './api/local-file.ts';
export { NetworkError } from './api/network-error.ts';
export type { OperationId } from './api/operations.generated.ts';
export type { Timeouts } from './api/timeouts.ts';
export type { TraceEntry } from './api/trace-entry.ts';
export type * from './api/types.generated.ts';
export { CallsheetError, type FailureCode } from './core/errors.ts';
