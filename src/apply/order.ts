import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Change } from '../core/plan-document.ts';
import type { Kind } from '../kinds/kind.ts';
import { referredKinds } from '../plan/referred-kinds.ts';

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
