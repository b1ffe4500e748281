import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Change, PlanDocument } from '../../core/plan-document.ts';

/** What a person agreed to have written over: addresses with the resource and how it stood. */
export type Agreement = ReadonlyMap<Address, string>;

export function agreementOn({ changes }: PlanDocument): Agreement {
  return new Map(changes.filter(isOverwriting).map((change) => [change.address, standing(change)]));
}

/** Throws `CallsheetError('stale')` where a plan would write over what moved since, or what nobody was shown. */
export function checkAgreed({ changes }: PlanDocument, agreement: Agreement): void {
  const moved = changes.find(
    (change) => isOverwriting(change) && agreement.get(change.address) !== standing(change),
  );
  if (moved === undefined) return;
  throw new CallsheetError(
    'stale',
    `${moved.address} is no longer as it was when the restoration was agreed to`,
    { hint: 'Run the same command again: it shows what is there now, and goes on from here.' },
  );
}

function isOverwriting({ verdict, operations, pin }: Change): boolean {
  return verdict === 'ok' && operations.length > 0 && pin !== null;
}

function standing({ id, pin, action }: Change): string {
  return `${action} ${id} ${pin?.digest}`;
}
