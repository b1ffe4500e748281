import type { ErrorObject } from 'ajv';
import type { FieldSchema } from '../core/schema.ts';
import type { Problem } from './problems.ts';

/** The one member that an element must have to be counted, as in "at most four `during_call` webhooks". */
function countedBy(
  error: ErrorObject,
): { readonly key: string; readonly value: unknown } | undefined {
  const schema: unknown = error.schema;
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return undefined;
  const [entry] = Object.entries(schema.properties ?? {});
  const wanted: unknown = entry?.[1];
  if (entry === undefined || typeof wanted !== 'object' || wanted === null) return undefined;
  return 'const' in wanted ? { key: entry[0], value: wanted.const } : undefined;
}

/** The elements of a list that a broken `contains` limit counts, by index. */
function countedElements(error: ErrorObject): readonly number[] {
  const by = countedBy(error);
  if (by === undefined || !Array.isArray(error.data)) return [];
  const elements: readonly unknown[] = error.data;
  const counts = (element: unknown) =>
    typeof element === 'object' &&
    element !== null &&
    Object.entries(element).some(([key, value]) => key === by.key && value === by.value);
  return elements.flatMap((element, index) => (counts(element) ? [index] : []));
}

/** What elements are called: `webhooks` where their `type` is always `webhook`. */
function nounOf(item: FieldSchema): string {
  const type = item.properties?.type?.const;
  return typeof type === 'string' ? `${type}s` : 'entries';
}

/** Index of the first element beyond a `contains` limit: the one to look at. */
export function firstTooMany(error: ErrorObject): number | undefined {
  return countedElements(error)[Number(error.params.maxContains)];
}

/** The words for a broken `contains` limit; they begin with a verb. */
export function countWords(
  error: ErrorObject,
  item: FieldSchema,
): Pick<Problem, 'rule' | 'message' | 'hint'> {
  const count = countedElements(error).length;
  const value = String(countedBy(error)?.value ?? '');
  return {
    rule: 'schema/limit',
    message: `has ${count} ${value} ${nounOf(item)}; the platform allows ${error.params.maxContains}`,
    hint: 'Remove the ones too many, or give them another condition',
  };
}
