import type { FieldSchema } from '../core/schema.ts';

/** The kinds whose ids a kind's documents may hold. */
export function referredKinds(schema: FieldSchema): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (field: FieldSchema): void => {
    if (field['x-ref'] !== undefined) found.add(field['x-ref']);
    for (const member of Object.values(field.properties ?? {})) visit(member);
    for (const definition of Object.values(field.$defs ?? {})) visit(definition);
    if (field.items) visit(field.items);
  };
  visit(schema);
  return found;
}
