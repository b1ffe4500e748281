import type { JsonObject } from '../core/value.ts';
import { type Answer, data, GONE } from './answer.ts';
import type { Dialect } from './dialect.ts';

/** Answers a creation whose answer is not shown: the record, or its id alone. */
export function created(dialect: Dialect, record: JsonObject): Answer {
  const shown = dialect.createAnswer === 'record' ? record : { id: record.id ?? null };
  return data(shown, dialect.createdStatus);
}

/** Answers an update whose answer is not shown. */
export function updated({ updateAnswer }: Dialect, answer: Answer): Answer {
  return updateAnswer === 'record' ? answer : { status: 200, body: { success: true } };
}

/** Answers a deletion whose answer is not shown. */
export function deleted({ deletedStatus }: Dialect): Answer {
  return deletedStatus === 204 ? GONE : { status: 200, body: { success: true } };
}
