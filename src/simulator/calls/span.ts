import type { OperationId } from '../../api/operations.generated.ts';
import { rulesOf } from '../contract.ts';
import type { Input } from '../platform.ts';
import { invalid, violation } from '../violations.ts';
import { DAY } from './calendar.ts';
import type { Call, CallBook } from './call.ts';

/** From `from` up to, but not including, `until`, in milliseconds since the epoch. */
export type Span = { readonly from: number; readonly until: number };

/**
 * The span that a report is about, both ends included: a day as its end is that whole day in UTC. Ends in reverse
 * have nothing between them. 400 in the operation's shape where an end is no time.
 */
export function readSpan(
  operation: OperationId,
  { query }: Input,
  [start, end]: readonly [start: string, end: string],
): Span {
  const [first, last] = [String(query[start]), String(query[end])];
  const from = Date.parse(first);
  const until = Date.parse(last) + (/^[\d-]+$/.test(last) ? DAY : 1);
  const problems = [
    ...(Number.isNaN(from) ? [violation(start, 'is not a time')] : []),
    ...(Number.isNaN(until) ? [violation(end, 'is not a time')] : []),
  ];
  if (problems.length > 0) throw invalid(rulesOf(operation).invalid, problems);
  return { from, until };
}

/** Calls that began within a span. */
export function callsWithin({ calls }: CallBook, { from, until }: Span): readonly Call[] {
  return calls.filter(({ startedAt }) => startedAt >= from && startedAt < until);
}
