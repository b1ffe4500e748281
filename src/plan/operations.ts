import { isIdentity, parsePath } from '../core/path.ts';
import type { Change } from '../core/plan-document.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { fieldSchema } from '../diff/leaves.ts';
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
