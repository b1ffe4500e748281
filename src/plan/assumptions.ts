import { isIdentity, parsePath } from '../core/path.ts';
import type { Change } from '../core/plan-document.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';

/** Ids of the assumptions that carrying out the changes relies on (DESIGN §9), sorted. */
export function assumptionsOf(
  changes: readonly Change[],
  assumptionOf: (operation: string) => string | undefined,
): readonly string[] {
  const found = new Set<string>();
  for (const change of changes) {
    const kind = kindNamed(change.kind);
    for (const operation of operationsOf(change, kind)) {
      const assumption = assumptionOf(operation);
      if (assumption !== undefined) found.add(assumption);
    }
    for (const { path } of change.fields) {
      for (const assumption of assumptionsAlong(kind.schema, path)) found.add(assumption);
    }
  }
  return [...found].sort();
}

function operationsOf({ operations }: Change, kind: Kind): readonly string[] {
  const steps = operations.flatMap(({ step, fields }) => {
    if (step === 'again') return kind.operations.create;
    if (step !== 'facet') return kind.operations[step];
    return kind.facets.flatMap((facet) => (fields.includes(facet.field) ? facet.operations : []));
  });
  return [...kind.operations.read, ...steps];
}

function assumptionsAlong(root: FieldSchema, path: string): readonly string[] {
  const found: string[] = [];
  let schema = root;
  for (const segment of parsePath(path) ?? []) {
    schema = isIdentity(segment) ? itemSchema(root, schema) : memberSchema(root, schema, segment);
    if (schema['x-assumption'] !== undefined) found.push(schema['x-assumption']);
  }
  return found;
}
