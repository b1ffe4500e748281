import { formatPath, identitySegment, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { holdsTelling } from '../core/telling.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';

/** Whether a value is compared as one. */
function isWhole(schema: FieldSchema, value: Json): boolean {
  return schema['x-whole'] === true || (isList(value) && schema['x-identity'] === undefined);
}

/**
 * A document without what the platform owns and without sensitive values, and the paths of the latter.
 * `secrets` are paths of values that are secret although no schema says so: see `knownSecrets`. What is compared as one
 * value is withheld as one, where a member of it is named like a secret.
 */
export function withholdSensitive(
  root: FieldSchema,
  document: JsonObject,
  secrets: ReadonlySet<string> = new Set(),
): { readonly document: JsonObject; readonly withheld: readonly string[] } {
  const withheld: string[] = [];
  // Hardly any document has one.
  const isNamed = (path: Path) => secrets.size > 0 && secrets.has(formatPath(path));

  function keep(schema: FieldSchema, value: Json, path: Path, above: boolean): Json | undefined {
    if (schema.readOnly) return undefined;
    const isSensitive = above || schema['x-sensitive'] === true || schema['x-secret'] === true;
    if (!isSensitive && isWhole(schema, value) && holdsTelling({ [path.at(-1) ?? '']: value })) {
      withheld.push(formatPath(path));
      return undefined;
    }
    if (isObject(value)) return keepMembers(schema, value, path, isSensitive);
    if (isList(value)) {
      const items = itemSchema(root, schema);
      return value.flatMap((item, index) => {
        const name = isObject(item) ? item[schema['x-identity'] ?? ''] : undefined;
        const segment = identitySegment(String(name ?? index));
        const kept = keep(items, item, [...path, segment], isSensitive);
        return kept === undefined ? [] : [kept];
      });
    }
    if (value === null || !(isSensitive || isNamed(path))) return value;
    withheld.push(formatPath(path));
    return undefined;
  }

  function keepMembers(
    schema: FieldSchema,
    value: JsonObject,
    path: Path,
    above: boolean,
  ): JsonObject {
    const kept: Record<string, Json> = {};
    for (const [key, member] of Object.entries(value)) {
      const one = keep(memberSchema(root, schema, key), member, [...path, key], above);
      if (one !== undefined) kept[key] = one;
    }
    return kept;
  }

  return { document: keepMembers(root, document, [], false), withheld };
}
