import { formatPath } from '../core/path.ts';
import type { FieldCause } from '../core/plan-document.ts';
import { namesField } from '../core/schema.ts';
import { type LeafChange, leafChange } from './finding.ts';
import { normalise } from './leaves.ts';
import { type Compared, elementRemoval, isCovered, orphanedElement } from './removed.ts';

/**
 * Leaves that are live where nothing is desired at all: they go, where a resource is to be exactly what is
 * desired. What the platform does not clear is said.
 */
export function surplusLeaves(compared: Compared): readonly LeafChange[] {
  const { root, wanted, found } = compared;
  const surplus = new Map<string, LeafChange>();
  for (const leaf of found.leaves.values()) {
    if (normalise(leaf.schema, leaf.value) === null || leaf.facts.unreadable) continue;
    if (isCovered(wanted, leaf.path) || !namesField(root, leaf.path[0] ?? '')) continue;
    const element = orphanedElement(wanted, found, leaf.path);
    if (element !== undefined) {
      const { path, value, items } = element;
      surplus.set(formatPath(path), elementRemoval(path, value, items, compared));
      continue;
    }
    const cause: FieldCause = leaf.schema['x-clearable'] === false ? 'released' : 'changed';
    surplus.set(leaf.text, leafChange(leaf, leaf.value, undefined, cause));
  }
  return [...surplus.values()];
}
