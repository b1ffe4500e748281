import { ApiError, describeApiError } from '../../api/errors.ts';
import type { Diagnostic } from '../../core/diagnostics.ts';
import { CallsheetError, type FailureCode } from '../../core/errors.ts';
import type { WatchEvent } from './events.ts';

/** Why a pass failed, as it is told. */
type PassFailure = {
  readonly kind: FailureCode | 'internal';
  readonly message: string;
  readonly hint: string | null;
  readonly problems: readonly string[];
};

/** Passes of a stack that failed one after the other. */
export type Streak = {
  readonly passes: number;
  readonly since: string;
  /** What the last of them was told as: the same again is not told again. */
  readonly told: string;
  readonly kind: PassFailure['kind'];
};

/** Problems of a configuration that are listed; `callsheet validate` shows them all. */
const MOST_PROBLEMS = 20;

/** What went wrong, in words. */
export function failureWords(error: unknown): PassFailure {
  if (!(error instanceof CallsheetError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const hint = 'This is a bug in Callsheet. Please report it.';
    return { kind: 'internal', message, hint, problems: [] };
  }
  const { code: kind, diagnostics, hint = null } = error;
  const message = error instanceof ApiError ? describeApiError(error) : error.message;
  const wrong = diagnostics.filter(({ severity }) => severity === 'error');
  const more = wrong.length - MOST_PROBLEMS;
  const problems = [
    ...wrong.slice(0, MOST_PROBLEMS).map(problemWords),
    ...(more > 0 ? [`and ${more} more: callsheet validate`] : []),
  ];
  return { kind, message, hint, problems };
}

function problemWords({ position, rule, message }: Diagnostic): string {
  const where = position === undefined ? '' : `${position.file}:${position.line}: `;
  return `${where}${message} (${rule})`;
}

/** The streak with one more failure, and what is to be told of it: nothing where it is the same again. */
export function continueStreak(
  before: Streak | undefined,
  failure: PassFailure,
  { stack, now, error }: { readonly stack: string; readonly now: Date; readonly error: unknown },
): { readonly streak: Streak; readonly event: WatchEvent | undefined } {
  const told = sameness(failure, error);
  const { passes = 0, since = now.toISOString() } = before ?? {};
  const streak = { passes: passes + 1, since, told, kind: failure.kind };
  const event = { event: 'pass_failed', stack, ...failure } as const;
  return { streak, event: before?.told === told ? undefined : event };
}

/** A platform that is down fails at another request each time, which is no news. */
function sameness({ kind, message, problems }: PassFailure, error: unknown): string {
  if (kind === 'network') return kind;
  if (error instanceof ApiError) return `${kind} ${error.status}`;
  return JSON.stringify([kind, message, problems]);
}

/** Failures that pass by themselves, and that asking more often would only make worse. */
export function isPassing({ kind }: Pick<Streak, 'kind'>): boolean {
  return kind === 'api' || kind === 'network';
}
