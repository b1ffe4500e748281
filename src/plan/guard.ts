import type { Guards } from '../core/guards.ts';
import type { Change, PlanDocument, PlanOptions } from '../core/plan-document.ts';

/** Below this many existing resources a percentage says nothing, unless the stack sets it otherwise. */
const MIN_RESOURCES = 10;

/** How less is planned at a time: a restoration has no `--target`. */
const narrower = (purpose: GuardInput['purpose']): string =>
  purpose === 'restore' ? 'restore a part with --organization' : 'plan a part with --target';

export type GuardInput = {
  readonly purpose: PlanDocument['purpose'];
  readonly options: PlanOptions;
  readonly guards: Guards;
  /** Addresses that must not be deleted: protected now, or when last written. */
  readonly isProtected: (address: string) => boolean;
  /** Managed resources that exist live, whether they were chosen or not. */
  readonly existing: number;
  readonly isConfigurationEmpty: boolean;
};

/**
 * Gives each change its verdict where a guard objects (DESIGN §4.8). A change that is already refused or
 * unsupported stays so.
 */
export function guardChanges(changes: readonly Change[], input: GuardInput): readonly Change[] {
  const guarded = changes.map((change) => (isDelete(change) ? guardDelete(change, input) : change));
  return guardThresholds(guarded, input);
}

/** Whether a change takes a live resource away, for good or to make it anew. */
export function isDelete({ operations }: Change): boolean {
  return operations.some(({ step }) => step === 'delete');
}

function guardDelete(change: Change, input: GuardInput): Change {
  if (change.verdict !== 'ok') return change;
  if (input.isProtected(change.address)) {
    // What is no longer configured has no block left to take it out of.
    const first = change.action === 'delete' ? 'put it back without' : 'take out';
    return refuse(
      change,
      `${change.reason}; it is protected: ${first} lifecycle.protect and apply, before it can be deleted`,
    );
  }
  if (!input.options.allow_delete) {
    const reason = `${change.reason}; held until it is planned with --allow-delete`;
    return { ...change, verdict: 'held', reason };
  }
  const isNamed = input.options.target.includes(change.address);
  if (input.isConfigurationEmpty && !isNamed) {
    return refuse(
      change,
      'the configuration has no resources at all, which never means "delete everything"; name what is to go with --target',
    );
  }
  return change;
}

function guardThresholds(changes: readonly Change[], input: GuardInput): readonly Change[] {
  const { max_delete: most, max_change_percent: percent } = input.guards;
  const { min_resources: floor = MIN_RESOURCES } = input.guards;
  const leaving = changes.filter((change) => isDelete(change) && change.verdict === 'ok');
  const touched = changes.filter(
    ({ action, verdict }) =>
      verdict === 'ok' && (action === 'update' || action === 'replace' || action === 'delete'),
  );
  const share = input.existing === 0 ? 0 : (touched.length / input.existing) * 100;
  const refusals = new Map<string, string>();
  if (percent !== undefined && input.existing >= floor && share > percent) {
    const reason = `the plan touches ${touched.length} of ${input.existing} resources (${shown(share)} %), more than guards.max_change_percent: ${percent} allows; raise it or ${narrower(input.purpose)}`;
    for (const { address } of touched) refusals.set(address, reason);
  }
  if (most !== undefined && leaving.length > most) {
    const reason = `the plan deletes ${leaving.length} resource${leaving.length === 1 ? '' : 's'}, more than guards.max_delete: ${most} allows; raise it or ${narrower(input.purpose)}`;
    for (const { address } of leaving) refusals.set(address, reason);
  }
  return changes.map((change) => {
    const reason = refusals.get(change.address);
    return reason === undefined ? change : refuse(change, reason);
  });
}

/** One decimal, so that a share that is over the limit does not look like the limit. */
function shown(share: number): number {
  return Math.ceil(share * 10) / 10;
}

/** The change with the verdict that stops the plan. */
export function refuse(change: Change, reason: string): Change {
  return { ...change, verdict: 'refused', reason };
}
