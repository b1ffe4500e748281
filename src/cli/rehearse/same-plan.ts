import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { changesApart } from '../../rehearse/steps.ts';

/**
 * A plan file is only worth rehearsing while the platform is what it was planned from. Throws
 * `CallsheetError('stale')` that names what moved.
 */
export function checkSame(given: PlanDocument, now: PlanDocument): void {
  const pinned = new Map(now.changes.map(({ address, pin }) => [address, pin]));
  const moved = given.changes.flatMap(({ address, pin, verdict }) => {
    const other = pinned.get(address);
    const isSame = pin?.digest === other?.digest && pin?.updated_at === other?.updated_at;
    return isSame || verdict !== 'ok' || other === undefined
      ? []
      : [`${address} was changed on the platform since the plan`];
  });
  const apart = moved.length > 0 ? moved : changesApart(given, now, 'in the plan', 'now');
  if (apart.length === 0) return;
  throw new CallsheetError('stale', apart.join('\n'), {
    hint: 'Nothing was rehearsed. Plan again, review, and rehearse the new plan.',
  });
}
