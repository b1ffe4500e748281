import type { Diagnostic } from '../core/diagnostics.ts';
import type { Run } from '../core/documents.generated.ts';
import {
  CallsheetError,
  EXIT,
  explainSystemError,
  getExitCode,
  RunFailure,
} from '../core/errors.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';
import type { Failure } from '../render/diagnostics.ts';

// The types of the library lead here, and not to `context.ts`: what that leads to needs packages that a user of the
// library may not have.

/** The result of a run, for programs. Its run is null if nothing was carried out. */
export type RunDocument = Run.Run;

export type Revert = NonNullable<RunDocument['revert']>;

/** A failure as data, for `--format json`. */
export function toFailure(thrown: unknown): Failure {
  const error = explainSystemError(thrown);
  const message = describeApiError(error);
  if (!(error instanceof CallsheetError)) {
    const hint = 'This is a bug in Callsheet. Please report it with the output on standard error.';
    return { kind: 'internal', exit: EXIT.error, message, hint, diagnostics: [], request: null };
  }
  const isApi = error instanceof ApiError;
  const ran = error instanceof RunFailure ? { run: error.run, ledger: error.ledger } : {};
  return {
    kind: error.code,
    exit: getExitCode(error.code),
    message,
    hint: error.hint ?? null,
    diagnostics: error.diagnostics,
    request: isApi
      ? {
          method: error.method,
          url: error.url,
          status: error.status,
          request_id: error.requestId ?? null,
        }
      : null,
    ...ran,
  };
}

/** Events while the engine works, to be shown. None of them is a result. */
export type Event =
  /** The files of the stack are read; of a large one that takes a second. */
  | { readonly type: 'loading' }
  | { readonly type: 'loaded' }
  | { readonly type: 'warnings'; readonly diagnostics: readonly Diagnostic[] }
  /** A message of the state's store. */
  | { readonly type: 'notice'; readonly text: string }
  /** So many secrets are compared by a slow fingerprint. */
  | { readonly type: 'comparing_secrets'; readonly secrets: number }
  /** Another run holds the state. */
  | { readonly type: 'waiting'; readonly message: string }
  /** So many of `expected` resources were read. Sent again with each; facets count, too. */
  | { readonly type: 'reading'; readonly read: number; readonly expected: number }
  | { readonly type: 'read' }
  | { readonly type: 'run_at_work'; readonly run: string }
  /** A fast refresh did not read so many of all resources. */
  | { readonly type: 'unread'; readonly unread: number; readonly all: number }
  /** Secrets that were not compared, in a sentence. */
  | { readonly type: 'uncompared'; readonly message: string }
  /** Other stacks manage the same, a line each. */
  | { readonly type: 'overlaps'; readonly lines: readonly string[] }
  /** There is no state at the place: a first run, or another place than the one before. */
  | { readonly type: 'no_state'; readonly location: string }
  /** The state is not sealed, as there is no key. */
  | { readonly type: 'not_sealed' }
  /** The state moved while this waited. */
  | { readonly type: 'planning_again'; readonly message: string }
  /** An interrupted run was recovered. */
  | { readonly type: 'recovered'; readonly run: string }
  /** Addresses with paths that the state had in clear, and now has fingerprints of. */
  /** An interrupt was heard. */
  | { readonly type: 'stopping' }
  /** A run that was to be undone should it fail, did or died, and is not undone. */
  | { readonly type: 'rollback_owed'; readonly run: string }
  | { readonly type: 'rolling_back'; readonly run: string }
  | { readonly type: 'rollback_failed'; readonly error: unknown }
  | { readonly type: 'rollback_resumed'; readonly run: string };
