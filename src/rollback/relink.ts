import type { Address } from '../core/address.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
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
    if (isList(value)) return value.map((item) => visit(itemSchema(root, schema), item));
    if (isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [
          key,
          visit(memberSchema(root, schema, key), member),
        ]),
      );
    }
    const kind = schema['x-ref'];
    if (kind === undefined || typeof value !== 'string') return value;
    const address = addressOf(kind, value);
    if (address === undefined) return value;
    references.add(address);
    return new Ref(address);
  }

  const linked = Object.entries(document).map(
    ([key, member]) => [key, visit(memberSchema(root, root, key), member)] as const,
  );
  return { document: Object.fromEntries(linked), references: [...references] };
}
