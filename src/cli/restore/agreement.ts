import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Change, PlanDocument } from '../../core/plan-document.ts';
import { planDigest, summarise } from '../../plan/document.ts';
import { refuse } from '../../plan/guard.ts';
import type { Overview } from './overview.ts';

/** What a person agreed to have written over: addresses with the resource and how it stood. */
export type Agreement = ReadonlyMap<Address, string>;

export function agreementOn({ changes }: PlanDocument): Agreement {
  return new Map(changes.filter(isOverwriting).map((change) => [change.address, standing(change)]));
}

/** What a plan would write over although it moved since, or although nobody was shown it. */
export function beyondAgreement(
  { changes }: PlanDocument,
  agreement: Agreement,
): CallsheetError | undefined {
  const moved = changes.find(
    (change) => isOverwriting(change) && agreement.get(change.address) !== standing(change),
  );
  if (moved === undefined) return undefined;
  return new CallsheetError(
    'stale',
    `${moved.address} is no longer as it was when the restoration was agreed to`,
    { hint: 'Run the same command again: it shows what is there now, and goes on from here.' },
  );
}

/** The plan of a part without what limits of the whole refuse. */
export function strike(plan: PlanDocument, struck: Overview['struck']): PlanDocument {
  if (plan.changes.every(({ address }) => !struck.has(address))) return plan;
  const changes = plan.changes.map((change) => {
    const reason = struck.get(change.address);
    return reason === undefined || change.verdict !== 'ok' ? change : refuse(change, reason);
  });
  const stricken = { ...plan, changes, summary: summarise(changes, plan.summary.no_op) };
  return { ...stricken, digest: planDigest(stricken) };
}

function isOverwriting({ verdict, operations, pin }: Change): boolean {
  return verdict === 'ok' && operations.length > 0 && pin !== null;
}

function standing({ id, pin, action }: Change): string {
  return `${action} ${id} ${pin?.digest}`;
}
