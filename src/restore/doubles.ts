import { formatPath, identitySegment, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';

/**
 * Paths of elements that a list has more than once, such as two headers of one name. Elements are told apart by what
 * names them, so that one of them alone comes back.
 */
export function doublesIn(root: FieldSchema, document: JsonObject): readonly string[] {
  const found = new Set<string>();

  function visit(schema: FieldSchema, value: Json, path: Path): void {
    if (schema.readOnly || schema['x-whole']) return;
    const identity = schema['x-identity'];
    if (isList(value) && identity !== undefined) {
      const seen = new Set<string>();
      for (const item of value) {
        const name = identitySegment(String((isObject(item) ? item[identity] : undefined) ?? ''));
        const at = [...path, name];
        if (seen.has(name)) found.add(formatPath(at));
        seen.add(name);
        visit(itemSchema(root, schema), item, at);
      }
    } else if (isObject(value)) {
      for (const [key, member] of Object.entries<Json>(value))
        visit(memberSchema(root, schema, key), member, [...path, key]);
    }
  }

  visit(root, document, []);
  return [...found];
}
