import type { Address } from '../core/address.ts';
import type { Change, FieldChange, PlanDocument } from '../core/plan-document.ts';
import { planDigest, summarise } from './document.ts';

/**
 * The drift in a plan: what differs because the platform moved, not because the configuration did.
 * `before` is what Callsheet last wrote, `after` is what is live.
 */
export function driftOf(plan: PlanDocument): PlanDocument {
  const changes = plan.changes.flatMap((change) => {
    const fields = change.fields.filter((field) => isDrift(field, change)).map(turnRound);
    const isMissing = change.action === 'create' && change.missing_id !== null;
    if (fields.length === 0 && !isMissing) return [];
    const { before, after, secrets: _, ...rest } = change;
    // Whether apply would put it back is what a plan says.
    const verdict = 'ok' as const;
    return [{ ...rest, verdict, before: after, after: before, fields, operations: [] }];
  });
  // Nothing stands against looking.
  const { digest: _, refusals: __, ...rest } = plan;
  const undigested = {
    ...rest,
    purpose: 'drift' as const,
    changes,
    summary: summarise(changes, plan.changes.length + plan.summary.no_op - changes.length),
    requests: { reads: 0, writes: 0, seconds: 0 },
    assumptions: [],
  };
  return { ...undigested, digest: planDigest(undigested) };
}

/** The drift that is left once some of it was put back. */
export function withoutHealed(drift: PlanDocument, healed: ReadonlySet<Address>): PlanDocument {
  const changes = drift.changes.filter(({ address }) => !healed.has(address));
  if (changes.length === drift.changes.length) return drift;
  const compared = drift.changes.length + drift.summary.no_op;
  const { digest: _, ...rest } = drift;
  const undigested = { ...rest, changes, summary: summarise(changes, compared - changes.length) };
  return { ...undigested, digest: planDigest(undigested) };
}

/** Without state nothing says which side moved: then whatever differs from the configuration counts. */
function isDrift({ cause }: FieldChange, { adopted }: Change): boolean {
  return cause === 'drifted' || cause === 'conflict' || (adopted && cause === 'changed');
}

function turnRound(field: FieldChange): FieldChange {
  return { ...field, before: field.after, after: field.before };
}
