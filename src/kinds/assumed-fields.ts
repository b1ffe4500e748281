import { dereference, type FieldSchema } from '../core/schema.ts';
import { kinds } from './index.ts';

/** The fields whose writing rests on an assumption, such as `agent.extensions.mcp_servers`, by its id. */
export function assumedFields(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, schema: root } of kinds) {
    const visit = (field: FieldSchema, path: string): void => {
      const schema = dereference(root, field);
      const id = schema['x-assumption'];
      if (id !== undefined) found.set(id, [...(found.get(id) ?? []), path]);
      for (const [key, member] of Object.entries(schema.properties ?? {})) {
        visit(member, `${path}.${key}`);
      }
      if (schema.items !== undefined) visit(schema.items, `${path}[]`);
    };
    visit(root, name);
  }
  return found;
}
