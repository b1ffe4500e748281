import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { matchesApplied, rememberLeaf } from '../diff/applied.ts';
import { leavesOf, normalise } from '../diff/leaves.ts';
import { resolveLeaf, Unknown } from '../diff/resolve.ts';
import type { World } from '../diff/world.ts';
import type { Kind } from '../kinds/kind.ts';
import type { AppliedLeaf, ResourceState } from '../state/model.ts';

/**
 * What the state remembers of a resource, for the address that it was moved to. Fingerprints are bound to an
 * address: one that fits what the configuration has is made anew, one that does not is left out, so that the
 * leaf is written. Of one that cannot be read (another key), and of a secret that is not at hand or no longer configured,
 * only remains that there was one.
 */
export function rebind(
  kind: Kind,
  desired: DesiredResource,
  recorded: ResourceState,
  from: Address,
  world: World,
): ResourceState {
  const { leaves: wanted } = leavesOf(kind.schema, desired.document);
  const leaves = Object.entries(recorded.leaves).flatMap(
    ([path, applied]): [string, AppliedLeaf][] => {
      if (!('fingerprint' in applied)) return [[path, applied]];
      const leaf = wanted.get(path);
      if (leaf === undefined) return [[path, { unknown: true }]];
      const value = resolveLeaf(leaf, world);
      // Not at hand, so that nobody can bind it to the new address.
      if (value === undefined) return [[path, { unknown: true }]];
      if (value instanceof Unknown) return [];
      const match = matchesApplied(applied, normalise(leaf.schema, value), from, path, world);
      if (match === 'unknown') return [[path, { unknown: true }]];
      const bound = match === 'equal' ? rememberLeaf(leaf, desired.address, world) : undefined;
      return bound === undefined ? [] : [[path, bound]];
    },
  );
  return { ...recorded, leaves: Object.fromEntries(leaves) };
}
