import { type OperationId, operations } from '../api/operations.generated.ts';

/** What an option accepts. */
export type Option<Value> = {
  readonly fallback: Value;
  /** For messages: `deep or shallow`. */
  readonly accepts: string;
  readonly meaning: string;
  readonly isValue: (value: unknown) => value is Value;
};

/** One of some values; the first is the fallback. */
export function oneOf<const Value extends string | number | boolean>(
  values: readonly [Value, ...Value[]],
  meaning: string,
): Option<Value> {
  return {
    fallback: values[0],
    accepts: values.join(' or '),
    meaning,
    isValue: (value): value is Value => values.some((one) => one === value),
  };
}

/** A whole number from 0, the fallback. */
export function wholeNumber(meaning: string): Option<number> {
  return { fallback: 0, accepts: 'a whole number', meaning, isValue: isWhole };
}

/** A whole number above 0, or null, the fallback. */
export function wholeNumberOrNone(meaning: string): Option<number | null> {
  return {
    fallback: null,
    accepts: 'a whole number above 0 or null',
    meaning,
    isValue: (value): value is number | null => value === null || (isWhole(value) && value > 0),
  };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Names of operations; none is the fallback. */
export function operationIds(meaning: string): Option<readonly OperationId[]> {
  return {
    fallback: [],
    accepts: 'names of operations',
    meaning,
    isValue: (value): value is readonly OperationId[] =>
      Array.isArray(value) && value.every((name) => Object.hasOwn(operations, String(name))),
  };
}
