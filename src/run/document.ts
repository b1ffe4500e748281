import type { RunStatus } from '../apply/events.ts';
import { CallsheetError, EXIT, exitOf } from '../core/errors.ts';
import type { Refusal } from '../core/plan-document.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';
import type { Failure, FailureDocument } from '../render/failure.ts';
import type { Difference, LedgerLine, NotUndone } from '../state/journal.ts';

/** What came of holding a rollback's result against what was wanted. */
export type Verification = {
  readonly differs: readonly Difference[];
  /** How many resources are as they were. */
  readonly equal: number;
  /** Why it could not be read; null: it was. */
  readonly problem: string | null;
  /** What was not put back, and is known not to be. */
  readonly left: readonly NotUndone[];
};

/** What came of a run, for programs: `schemas/run.schema.json`. */
export type RunDocument = {
  readonly format: 'callsheet-run';
  readonly version: 1;
  /** Null where nothing was carried out. */
  readonly run: string | null;
  readonly plan_digest: string | null;
  readonly status: RunStatus | 'refused';
  /** The run that was to be undone, where it had changed nothing. */
  readonly undoes?: string;
  readonly refusals?: readonly Refusal[];
  readonly verification?: Verification;
  readonly ledger: readonly LedgerLine[];
  /** What came of undoing it, with `--rollback-on-failure`. */
  readonly rollback?: RunDocument | FailureDocument;
};

/** A failure as data, for `--format json`. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof CallsheetError)) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = 'This is a bug in Callsheet. Please report it with what stands on standard error.';
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
