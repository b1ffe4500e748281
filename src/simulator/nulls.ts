import type { FieldSchema } from '../core/schema.ts';
import type { Json, JsonObject } from '../core/value.ts';
import { namesNull } from './agent-fields.ts';
import { isRecord } from './json.ts';
import type { Platform } from './platform.ts';
import { type Violation, violation } from './violations.ts';

/** Nulls that the `rejected` dialect refuses: those that the specification does not name as values. */
export function refusedNulls(
  { dialect }: Platform,
  body: JsonObject,
  schemaOf: (name: string) => FieldSchema,
): readonly Violation[] {
  if (dialect.nulls === 'clears') return [];
  return Object.entries(body).flatMap(([name, value]) =>
    value === null
      ? namesNull(schemaOf(name))
        ? []
        : [violation(name, 'null is not allowed')]
      : nestedNulls(value, name),
  );
}

function nestedNulls(value: Json, path: string): readonly Violation[] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    member === null
      ? [violation(`${path}.${key}`, 'null is not allowed')]
      : nestedNulls(member, `${path}.${key}`),
  );
}
