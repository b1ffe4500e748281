import type { Change, PlanDocument } from './plan-document.ts';

type Lift = NonNullable<Change['lifted_by']>;

/** A flag of a command, and what it does about a refusal. */
type LiftingFlag = { readonly flag: string; readonly does: string };

const LIFTING: {
  readonly [purpose in PlanDocument['purpose']]?: { readonly [option in Lift]?: LiftingFlag };
} = {
  restore: {
    accept_conflicts: { flag: '--over', does: 'restores what was edited since as well' },
  },
  rollback: {
    accept_conflicts: {
      flag: '--undo-edited',
      does: 'undoes the changes of the run in them as well',
    },
    force: { flag: '--delete-used', does: 'also deletes resources that are used since' },
  },
};

/** The flags of a command that lift one of these refusals. Where a reason names its flag itself, none is given. */
export function liftingFlags(
  struck: readonly Change[],
  purpose: PlanDocument['purpose'],
): readonly LiftingFlag[] {
  const lifts = new Set(struck.flatMap(({ lifted_by: lift }) => lift ?? []));
  return [...lifts].flatMap((lift) => LIFTING[purpose]?.[lift] ?? []);
}
