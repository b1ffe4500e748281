import { mapInside, mapMembers } from '../core/map-members.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { Value, ValueObject } from '../core/value.ts';

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** What became of a document's texts. */
export type Rewritten = {
  readonly document: ValueObject;
  /** Top-level fields whose texts name an id that is another one now, or is going to be. */
  readonly mentioning: readonly string[];
};

/**
 * Puts new ids in the place of old ones in what people wrote: prompts, rules for transfers, contact policies.
 * `idOf` gives null for a resource that has no new id yet, and undefined for an id of nothing that is
 * restored.
 */
export function rewriteTexts(
  root: FieldSchema,
  document: ValueObject,
  idOf: (id: string) => string | null | undefined,
): Rewritten {
  const mentioning = new Set<string>();

  function visit(schema: FieldSchema, value: Value, field: string, isText: boolean): Value {
    if (schema.readOnly) return value;
    const holdsIds = isText || schema['x-prose'] !== undefined || schema['x-ids-inside'] === true;
    if (typeof value === 'string') {
      if (!holdsIds || schema['x-ref'] !== undefined) return value;
      return value.replaceAll(ID, (id) => {
        const now = idOf(id.toLowerCase());
        if (now === undefined || now === id.toLowerCase()) return id;
        mentioning.add(field);
        return now ?? id;
      });
    }
    return mapInside(root, schema, value, (inner, one) => visit(inner, one, field, holdsIds));
  }

  const rewritten = mapMembers(root, root, document, (schema, value, field) =>
    visit(schema, value, field, false),
  );
  return { document: rewritten, mentioning: [...mentioning] };
}
