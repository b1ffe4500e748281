import type { Address } from '../core/address.ts';
import type { Change, FieldCause, PlanDocument } from '../core/plan-document.ts';
import { isWritten } from '../diff/compare.ts';

/**
 * What `callsheet watch --heal` may put back by itself: changes that do nothing but write what Callsheet wrote
 * before, where somebody else changed it since.
 *
 * | the plan would                              | is it healed?                                      |
 * |---------------------------------------------|----------------------------------------------------|
 * | write drifted fields alone                  | yes                                                |
 * | write a change of the configuration as well | no: nobody applied that yet                        |
 * | settle a conflict                           | no: both sides changed                             |
 * | write a secret                              | no: nobody can see whether somebody else changed it |
 * | make, replace, delete or adopt it           | no: that is for a person                           |
 */

/** Drift that is marked to be healed and is left alone, and why. */
export type LeftAlone = { readonly address: Address; readonly why: string };

export type Healing = {
  readonly heal: readonly Address[];
  readonly left: readonly LeftAlone[];
};

/** Which of the drifted resources are healed. `isMarked`: whether the configuration says `heal: true` of one. */
export function healingOf(
  plan: PlanDocument,
  drifted: ReadonlySet<Address>,

  isMarked: (address: Address) => boolean,
): Healing {
  const marked = plan.changes.filter(({ address }) => drifted.has(address) && isMarked(address));
  const judged = marked.map((change) => ({ address: change.address, why: whyLeft(change) }));
  return {
    heal: judged.flatMap(({ address, why }) => (why === undefined ? [address] : [])),
    left: judged.flatMap(({ address, why }) => (why === undefined ? [] : [{ address, why }])),
  };
}

/** The operations that write fields of a resource that stays. */
const WRITING_STEPS: ReadonlySet<string> = new Set(['update', 'facet']);

/** What stands against healing a change, whatever guards say of it; undefined where nothing does. */
export function whyLeft({ action, missing_id: missing, fields, operations }: Change) {
  if (action === 'create' && missing !== null)
    return 'it is gone: whether it is made anew is for a person to say';
  if (action !== 'update') return `it would take to ${action} it`;
  if (operations.some(({ step }) => !WRITING_STEPS.has(step)))
    return 'more than its fields would be written';
  const beside = fields.map(({ cause }) => cause).find((cause) => !isHealed(cause));
  return beside === undefined ? undefined : (WHY[beside] ?? UNAPPLIED);
}

function isHealed(cause: FieldCause): boolean {
  // What is not written is neither here nor there, unless the configuration let go of it since.
  return cause === 'drifted' || (!isWritten({ cause }) && cause !== 'released');
}

const UNAPPLIED = 'its configuration has changes that nobody applied yet';

const WHY: { readonly [cause in FieldCause]?: string } = {
  conflict: 'the configuration changed too',
  secret_changed: 'a secret of it changed and was not applied yet',
  secret_resent: 'a secret of it would be written again',
};
