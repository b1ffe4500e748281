import type { Address } from '../core/address.ts';
import { mapInside, mapMembers } from '../core/map-members.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isList, isObject, Ref, type Value, type ValueObject } from '../core/value.ts';

/** A document whose ids of the run's own resources are references, and the addresses that it refers to. */
export type Relinked = {
  readonly document: ValueObject;
  readonly references: readonly Address[];
};

/**
 * Turns ids that a snapshot holds into references to the resources that had them. What the run deleted
 * comes back under another id, and whatever refers to it has to wait for that (DESIGN §6).
 */
export function relink(
  root: FieldSchema,
  document: ValueObject,
  addressOf: (kind: string, id: string) => Address | undefined,
): Relinked {
  const references = new Set<Address>();

  function visit(schema: FieldSchema, value: Value): Value {
    if (isList(value) || isObject(value)) return mapInside(root, schema, value, visit);
    const kind = schema['x-ref'];
    if (kind === undefined || typeof value !== 'string') return value;
    const address = addressOf(kind, value);
    if (address === undefined) return value;
    references.add(address);
    return new Ref(address);
  }

  const linked = mapMembers(root, root, document, visit);
  return { document: linked, references: [...references] };
}
