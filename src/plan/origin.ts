import type { Address } from '../core/address.ts';
import type { Change, FieldChange, Note, PlanDocument, Refusal } from '../core/plan-document.ts';
import { isSameJson } from '../core/value.ts';
import { withDigest } from './document.ts';
import { extended } from './held-texts.ts';
import type { Planned } from './make.ts';

/**
 * Tells what a branch brings from what its base has already. Both are planned from the same reads and the same state, so
 * a change that the base has, too, is in both plans:
 *
 * | in the plan of the base                            | origin of the change              |
 * |----------------------------------------------------|-----------------------------------|
 * | nothing at this address, or another action         | `branch`                          |
 * | the same action, of an equal block of the files    | `base`                            |
 * | the same action, and each field with the same value | `base`                            |
 * | the same action, and some of the fields             | `branch`; those fields are `base` |
 *
 * Reviewers read it, and the check of a pull request is red for what the branch brings. Apply acts on none of it.
 *
 * @param other the plan of the base, of the addresses that `planned` changes; undefined where it cannot be planned
 */
export function markOrigins(
  planned: Pick<Planned, 'plan' | 'found'>,
  other: Pick<Planned, 'plan' | 'found'> | undefined,
  base: NonNullable<PlanDocument['base']>,
  notes: readonly Note[],
): PlanDocument {
  const { plan } = planned;
  const others = new Map(other?.plan.changes.map((change) => [change.address, change]));
  const changes = plan.changes.map((change) => {
    const { address, moved_from: from = address } = change;
    const before = others.get(address) ?? others.get(from);
    if (before === undefined) return { ...change, origin: 'branch' as const };
    const isSameValue = compareLeaves(planned.found.get(address), other?.found.get(before.address));
    return markChange(change, before, isSameValue);
  });
  const refused = other?.plan.refusals ?? [];
  const refusals = plan.refusals?.map((refusal): Refusal => {
    const isBoth = refused.some(
      ({ guard, message }) => guard === refusal.guard && message === refusal.message,
    );
    return isBoth ? { ...refusal, origin: 'base' } : refusal;
  });
  return withDigest({
    ...plan,
    base,
    changes,
    ...(refusals && { refusals }),
    notes: [...notes.map((note) => ({ ...note, varies: true as const })), ...plan.notes],
  });
}

function markChange(
  change: Change,
  other: Change,
  isSameValue: (path: string) => boolean | undefined,
): Change {
  const isAlike = ALIKE.every((member) => change[member] === other[member]);
  const isSameBlock =
    isAlike && change.basis !== undefined && change.basis.configured === other.basis?.configured;
  const fieldsThere = new Map(other.fields.map((field) => [field.path, field]));
  const isThere = (field: FieldChange) => {
    const there = fieldsThere.get(field.path);
    if (there === undefined || there.cause !== field.cause) return false;
    // Masked values look alike, so the values themselves are compared.
    return isSameValue(field.path) ?? (!field.secret && isSameJson(there.after, field.after));
  };
  const known = new Set(isSameBlock ? change.fields : change.fields.filter(isThere));
  const isBase = isAlike && known.size === change.fields.length;
  const isPart = !isBase && known.size > 0;
  return {
    ...change,
    origin: isBase ? 'base' : 'branch',
    ...(isPart && {
      fields: change.fields.map((field) =>
        known.has(field) ? extended(field, { origin: 'base' }) : field,
      ),
    }),
    ...(isRefusedThere(change, other, known) && { refused_on_base: true as const }),
  };
}

/** Members without which two changes are not the same. */
const ALIKE = ['action', 'adopted', 'missing_id', 'moved_from'] as const;

/**
 * True if the base is refused for the same reason: a conflict of fields that are all in conflict there, or a refusal in
 * the same words. A limit counts what both would do, so the branch's addition to it is the branch's.
 */
function isRefusedThere(
  { verdict, reason, lifted_by: lift, fields }: Change,
  other: Change,
  known: ReadonlySet<FieldChange>,
): boolean {
  if (verdict !== 'refused' || other.verdict !== 'refused' || lift !== other.lifted_by)
    return false;
  const isKnown = known.size === fields.length;
  if (lift === 'override_limits') return isKnown;
  if (lift !== 'accept_conflicts') return reason === other.reason;
  return fields.every((field) => field.cause !== 'conflict' || known.has(field));
}

/** Compares values of both sides that never leave this process; undefined where one was not compared with what is live. */
function compareLeaves(own: LeavesOf, other: LeavesOf): (path: string) => boolean | undefined {
  const others = new Map(other?.map((leaf) => [leaf.text, leaf]));
  const byPath = new Map(own?.map((leaf) => [leaf.text, leaf]));
  return (path) => {
    const [one, two] = [byPath.get(path), others.get(path)];
    return one && two && isSameJson(one.after, two.after);
  };
}

type LeavesOf = ReturnType<Planned['found']['get']>;

/** Addresses of a plan, those included that changes were moved from: all that its base is planned for. */
export function addressesIn({ changes }: Pick<PlanDocument, 'changes'>): ReadonlySet<Address> {
  return new Set(changes.flatMap(({ address, moved_from: from }) => [address, from ?? address]));
}
