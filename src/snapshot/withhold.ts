import { MASK } from '../core/mask.ts';
import { formatPath, identitySegment, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { maskRecord } from '../render/read/masked.ts';

export type Withheld = { readonly record: JsonObject; readonly withheld: readonly string[] };

/**
 * A record without its sensitive values, and their paths: for a snapshot that is not encrypted. What
 * `callsheet get` would mask is left out, so that the two never disagree on what is sensitive.
 */
export function withhold(root: FieldSchema, record: JsonObject): Withheld {
  const withheld: string[] = [];

  function keep(schema: FieldSchema, value: Json, shown: Json, path: Path): Json | undefined {
    if (isList(value) && isList(shown)) {
      const items = itemSchema(root, schema);
      return value.flatMap((item, index) => {
        const name = isObject(item) ? item[schema['x-identity'] ?? ''] : undefined;
        const segment = identitySegment(String(name ?? index));
        const kept = keep(items, item, shown[index] ?? null, [...path, segment]);
        return kept === undefined ? [] : [kept];
      });
    }
    if (isObject(value) && isObject(shown)) return keepMembers(schema, value, shown, path);
    if (shown !== MASK) return value;
    withheld.push(formatPath(path));
    return undefined;
  }

  function keepMembers(
    schema: FieldSchema,
    value: JsonObject,
    shown: JsonObject,
    path: Path,
  ): JsonObject {
    const kept: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value)) {
      const below = memberSchema(root, schema, key);
      const one = keep(below, member, shown[key] ?? null, [...path, key]);
      if (one !== undefined) kept[key] = one;
    }
    return kept;
  }

  return { record: keepMembers(root, record, maskRecord(root, record), []), withheld };
}
