import type { PlannedOperation } from '../core/plan-document.ts';
import type { ValueObject } from '../core/value.ts';
import { fieldSchema } from '../diff/leaves.ts';
import type { Kind } from '../kinds/kind.ts';

/**
 * The steps that write the given top-level fields of an existing resource, in their order: a revert to
 * `version` for what a history revert restores, one update for the rest, and one step per facet.
 *
 * What a revert restores is a fact in the schema (`x-revert`). It only decides whether a revert is worth
 * making: the executor looks at what the revert really did and updates whatever is left.
 */
export function updateSteps(
  kind: Kind,
  fields: readonly string[],
  version: number | undefined,
): readonly PlannedOperation[] {
  const own = fields.filter((field) => !isFacet(kind, field));
  const reverted =
    kind.history && version !== undefined
      ? own.filter((field) => fieldSchema(kind.schema, field)['x-revert'] !== false)
      : [];
  const rest = own.filter((field) => !reverted.includes(field));
  return [
    ...(reverted.length > 0 && version !== undefined
      ? [{ step: 'revert' as const, fields: reverted, version }]
      : []),
    ...(rest.length > 0
      ? [{ step: kind.update ? ('update' as const) : ('again' as const), fields: rest }]
      : []),
    ...facetSteps(kind, fields),
  ];
}

/** The steps that make a resource. */
export function createSteps(kind: Kind, fields: readonly string[]): readonly PlannedOperation[] {
  const own = fields.filter((field) => !isFacet(kind, field));
  return [{ step: 'create', fields: own }, ...facetSteps(kind, fields)];
}

/** The top-level fields of a document that the resource's own endpoint writes. */
export function ownFields(kind: Kind, document: ValueObject): readonly string[] {
  return Object.keys(document).filter((field) => !isFacet(kind, field));
}

/** In the kind's order, so that the order of keys in the configuration decides nothing. */
function facetSteps({ facets }: Kind, fields: readonly string[]): readonly PlannedOperation[] {
  return facets
    .filter(({ field }) => fields.includes(field))
    .map(({ field }) => ({ step: 'facet' as const, fields: [field] }));
}

function isFacet(kind: Kind, field: string): boolean {
  return kind.facets.some((facet) => facet.field === field);
}
