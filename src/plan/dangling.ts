import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Change } from '../core/plan-document.ts';
import { isObject, type Json } from '../core/value.ts';

/**
 * Refuses changes that would write the id of a resource which neither exists nor comes to exist by this
 * plan: it is left out with `--target`, or refused itself. Where it is unsupported, so is what refers to
 * it. Changes stand in an order in which what is referred to comes first.
 */
export function refuseDangling(
  changes: readonly Change[],
  desired: readonly DesiredResource[],
  ids: ReadonlyMap<Address, string>,
): readonly Change[] {
  const references = new Map(desired.map((one) => [one.address, one.references]));
  const born = new Set(ids.keys());
  const unsupported = new Set<Address>();
  const refused = new Set<Address>();
  return changes.map((change) => {
    if (change.verdict === 'unsupported') unsupported.add(change.address);
    if (change.verdict === 'refused') refused.add(change.address);
    const dangling = (references.get(change.address) ?? []).find(
      (address) => !born.has(address) && isWritten(change, address),
    );
    const isOk = change.verdict === 'ok';
    if (isOk && dangling === undefined && isMade(change)) born.add(change.address);
    if (!isOk || dangling === undefined) return change;
    const why = refused.has(dangling) ? 'is refused itself' : 'which this plan does not make';
    const reason = `${change.reason}; it refers to ${dangling}, which does not exist and ${why}`;
    if (!unsupported.has(dangling)) {
      refused.add(change.address);
      return { ...change, verdict: 'refused', reason };
    }
    unsupported.add(change.address);
    return { ...change, verdict: 'unsupported', reason, operations: [] };
  });
}

function isMade({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

function isWritten({ fields, operations }: Change, address: Address): boolean {
  return operations.length > 0 && fields.some(({ after }) => refersTo(after, address));
}

/** Whether a value as a plan shows it is a reference to an address. */
function refersTo(value: Json, address: Address): boolean {
  return isObject(value) && value.$ref === address;
}
