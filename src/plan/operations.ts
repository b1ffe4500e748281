import type { Change } from '../core/plan-document.ts';
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
