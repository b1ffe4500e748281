import { CallsheetError } from '../core/errors.ts';
import { isObject, type Json, type JsonObject } from '../core/value.ts';

/** `data` of an answer, which must be an object: single records come wrapped so (Resources, Conventions). */
export function dataOf(answer: Json): JsonObject {
  const data = isObject(answer) ? answer.data : undefined;
  if (isObject(data)) return data;
  throw new CallsheetError('api', 'the platform answered without a `data` object', {
    hint: 'Check that base_url is the address of the Voice Agent Platform.',
  });
}

/** What an answer says of one thing, under `data` or not: where a wrapper is not shown, either may hold. */
export function recordIn(answer: Json): JsonObject {
  if (!isObject(answer)) return {};
  return isObject(answer.data) ? answer.data : answer;
}

/** A member of an object that must be a text, such as an id. */
export function textOf(record: JsonObject, member: string): string {
  const value = record[member];
  if (typeof value === 'string' && value !== '') return value;
  throw new CallsheetError('api', `the platform answered without \`${member}\``);
}
