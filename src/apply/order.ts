import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Change } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { Kind } from '../kinds/kind.ts';

/**
 * Which changes each change waits for. What a document refers to comes first. A delete comes last: after
 * every change of a kind that could still refer to what goes, deleted ones included.
 */
export function dependenciesOf(
  changes: readonly Change[],
  desired: ReadonlyMap<Address, DesiredResource>,
  kinds: readonly Kind[],
): ReadonlyMap<Address, readonly Address[]> {
  const referring = new Map(kinds.map((kind) => [kind.name, referredKinds(kind.schema)]));
  return new Map(
    changes.map((change) => [
      change.address,
      change.action === 'delete'
        ? changes
            .filter((other) => referring.get(other.kind)?.has(change.kind) === true)
            .map(({ address }) => address)
        : (desired.get(change.address)?.references ?? []),
    ]),
  );
}

/** The kinds whose ids a kind's documents may hold. */
function referredKinds(schema: FieldSchema): ReadonlySet<string> {
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
