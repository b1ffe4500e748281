import type { Address } from '../../core/address.ts';
import type { Change } from '../../core/plan-document.ts';
import type { Planned } from '../../plan/make.ts';
import type { LedgerLine } from '../../state/journal.ts';
import type { ResourceState, State } from '../../state/model.ts';
import { editLine } from './edit.ts';

/**
 * What became of one address in a repair:
 *
 * | finding   | the readable rest names it | the platform has it      | the new state        |
 * |-----------|----------------------------|--------------------------|----------------------|
 * | `kept`    | yes                        | under that id            | remembers it         |
 * | `found`   | no, or under another id    | by name, as configured   | remembers it         |
 * | `differs` | no, or under another id    | by name, but otherwise   | is left to the plan  |
 * | `lost`    | yes                        | no                       | forgets it           |
 * | `absent`  | no                         | no                       | is left to the plan  |
 */
export type Finding = {
  readonly address: Address;
  readonly finding: 'kept' | 'found' | 'differs' | 'lost' | 'absent';
  readonly id: string | null;
};

type Rebuilt = {
  readonly resources: State['resources'];
  readonly findings: readonly Finding[];
  /** What the new state knows otherwise than the readable rest. */
  readonly ledger: readonly LedgerLine[];
};

/** The resources of the new state, from the readable rest and a plan that was made over it. */
export function rebuild(known: State, { plan, ids, refresh }: Planned): Rebuilt {
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const liveId = (address: Address) =>
    ids.get(address) ?? changes.get(address)?.id ?? refresh.get(address)?.id;
  const kept = Object.entries(known.resources).filter(
    ([address, { id }]) => liveId(address) === id && changes.get(address)?.action !== 'forget',
  );
  const resources = Object.fromEntries([...kept, ...refresh]);
  const addresses = new Set([
    ...Object.keys(known.resources),
    ...refresh.keys(),
    ...changes.keys(),
  ]);
  const findings = [...addresses].sort().map((address): Finding => {
    const recorded = known.resources[address];
    const id = liveId(address) ?? null;
    if (recorded !== undefined && resources[address]?.id === recorded.id)
      return { address, finding: 'kept', id: recorded.id };
    if (resources[address] !== undefined) return { address, finding: 'found', id };
    if (isPresent(changes.get(address))) return { address, finding: 'differs', id };
    return recorded === undefined
      ? { address, finding: 'absent', id: null }
      : { address, finding: 'lost', id: recorded.id };
  });
  return { resources, findings, ledger: findings.flatMap((one) => ledgerOf(one, known)) };
}

function isPresent(change: Change | undefined): boolean {
  return change !== undefined && change.id !== null && change.action !== 'forget';
}

function ledgerOf({ address, finding, id }: Finding, known: State): readonly LedgerLine[] {
  const recorded: ResourceState | undefined = known.resources[address];
  if (finding === 'found') return [editLine(address, 'adopt', id ?? '')];
  if (recorded === undefined || finding === 'kept') return [];
  return [editLine(address, 'forget', recorded.id, 'it is gone from the platform')];
}
