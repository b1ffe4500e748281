import { isIdentity, parsePath } from '../core/path.ts';
import type { Change } from '../core/plan-document.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import type { JsonObject } from '../core/value.ts';
import { fieldSchema, leavesOf } from '../diff/leaves.ts';
import type { Kind } from '../kinds/kind.ts';

/** The operations that a change's steps call, by name; those that only read are not among them. */
export function writesOf({ operations }: Change, kind: Kind): readonly string[] {
  return operations.flatMap(({ step, fields }) => {
    if (step === 'facet') {
      return kind.facets.flatMap((facet) => (fields.includes(facet.field) ? facet.operations : []));
    }
    const own = step === 'again' ? kind.operations.create : kind.operations[step];
    return [
      ...own,
      ...fields.flatMap((field) => fieldSchema(kind.schema, field)['x-operations'] ?? []),
    ];
  });
}

/**
 * Paths of what is live in the fields that a change writes and goes back with it: nested objects are sent whole, so
 * that a platform that replaces them loses nothing.
 */
export function carriedPaths(
  { operations }: Change,
  { schema }: Kind,
  live: JsonObject,
): readonly string[] {
  const fields = new Set(
    operations.flatMap(({ step, fields }) => (step === 'update' || step === 'again' ? fields : [])),
  );
  const sent = Object.entries(live).filter(([field]) => fields.has(field));
  return [...leavesOf(schema, Object.fromEntries(sent)).leaves.keys()];
}

/** The assumptions that writing a field rests on: its own, and those of what it is in. */
export function assumptionsAlong(root: FieldSchema, path: string): readonly string[] {
  const found: string[] = [];
  let schema = root;
  for (const segment of parsePath(path) ?? []) {
    schema = isIdentity(segment) ? itemSchema(root, schema) : memberSchema(root, schema, segment);
    if (schema['x-assumption'] !== undefined) found.push(schema['x-assumption']);
  }
  return found;
}
