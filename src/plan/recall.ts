import { ownOf } from '../core/own.ts';
import { startsWith } from '../core/path.ts';
import { Blob, type ValueObject } from '../core/value.ts';
import { matchesApplied } from '../diff/applied.ts';
import { type LeafChange, leafChange } from '../diff/finding.ts';
import { type Leaf, leavesOf, normalise } from '../diff/leaves.ts';
import { resolveLeaf, Unknown } from '../diff/resolve.ts';
import type { Sides, World } from '../diff/world.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LiveResource } from './reader.ts';

/** Whether what was read tells anything of a top-level field. */
export function isTold({ extent, document }: LiveResource, field: string): boolean {
  return extent === 'whole' || (extent === 'listed' && Object.hasOwn(document, field));
}

/** The part of a document that what was read tells of, and the part that it does not. */
export function partTold(
  document: ValueObject,
  live: LiveResource,
): { readonly told: ValueObject; readonly untold: ValueObject } {
  if (live.extent === 'whole') return { told: document, untold: {} };
  const members = Object.entries(document);
  return {
    told: Object.fromEntries(members.filter(([field]) => isTold(live, field))),
    untold: Object.fromEntries(members.filter(([field]) => !isTold(live, field))),
  };
}

/**
 * What differs from what was last written, for fields that cannot be read: nobody knows what is live, so
 * what was written is taken to be there still.
 */
export function recall(
  kind: Kind,
  document: ValueObject,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  return [...leavesOf(kind.schema, document).leaves.values()]
    .filter(({ path }) => !sides.ignore.some((prefix) => startsWith(path, prefix)))
    .filter((leaf) => differs(leaf, sides, world))
    .map((leaf) => leafChange(leaf, undefined, leaf.value, 'changed'));
}

function differs(leaf: Leaf, { address, applied }: Sides, world: World): boolean {
  const last = ownOf(applied, leaf.text);
  const value = resolveLeaf(leaf, world);
  if (value === undefined) return false;
  if (last === undefined || value instanceof Unknown) return leaf.value !== null;
  if (leaf.value instanceof Blob) return !('digest' in last) || last.digest !== value;
  return (
    matchesApplied(last, normalise(leaf.schema, value), address, leaf.text, world) === 'different'
  );
}
