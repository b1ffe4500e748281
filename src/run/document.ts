import type { Run } from '../core/documents.generated.ts';
import { CallsheetError, EXIT, exitOf } from '../core/errors.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';
import type { Failure } from '../render/diagnostics.ts';

/** What came of a run, for programs. Its run is null where nothing was carried out. */
export type RunDocument = Run.Run;

/** What came of holding a rollback's result against what was wanted. */
export type Verification = NonNullable<RunDocument['verification']>;

/** A failure as data, for `--format json`. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof CallsheetError)) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = 'This is a bug in Callsheet. Please report it with the output on standard error.';
    return { kind: 'internal', exit: EXIT.error, message, hint, diagnostics: [], request: null };
  }
  const isApi = error instanceof ApiError;
  return {
    kind: error.code,
    exit: exitOf(error.code),
    message: isApi ? describeApiError(error) : error.message,
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
  };
}
