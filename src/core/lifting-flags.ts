import { quoted } from './errors.ts';
import type { Change, PlanDocument, PlanOptions } from './plan-document.ts';

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

/** What a plan was allowed, as it is typed: `--allow-delete`, `--target agent.a agent.b`. */
export function allowanceFlags(options: PlanOptions): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === false || (Array.isArray(value) && value.length === 0)) return [];
    // The document keeps the name that it had before the flag was called what it allows.
    const flag = `--${name === 'force' ? 'delete-used' : name.replaceAll('_', '-')}`;
    return [[flag, ...(value === true ? [] : [value].flat().map(String).map(quoted))].join(' ')];
  });
}
