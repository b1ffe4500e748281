import type { Diagnostic } from '../core/diagnostics.ts';
import type { FailureCode } from '../core/errors.ts';
import { jsonText } from './untrusted.ts';

/** How a command failed, for programs. */
export type Failure = {
  /** `internal` is a bug in Callsheet. */
  readonly kind: FailureCode | 'internal';
  /** The exit code. */
  readonly exit: number;
  readonly message: string;
  /** What to do now; null where nothing in particular helps. */
  readonly hint: string | null;
  /** Problems of the configuration, each with its place. */
  readonly diagnostics: readonly Diagnostic[];
  /** The request that the platform refused; null where it was none. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly status: number;
    readonly request_id: string | null;
  } | null;
};

/** A failure as a document: `schemas/error.schema.json`. */
export type FailureDocument = {
  readonly format: 'callsheet-error';
  readonly version: 1;
  readonly error: Failure;
};

export function failureDocument(error: Failure): FailureDocument {
  return { format: 'callsheet-error', version: 1, error };
}

/** A failure as JSON. Ends in a line break. */
export function renderFailureJson(error: Failure): string {
  return `${jsonText(failureDocument(error))}\n`;
}
