import { kinds } from '../kinds/index.ts';
import type { Planned } from '../plan/make.ts';
import { type Claim, lineOf, overlapping } from '../state/claim.ts';
import type { Lease } from '../state/store.ts';
import type { Context } from './context.ts';
import type { Session } from './session.ts';

/** Kinds whose resources can be changed or deleted. What cannot be, several stacks may have in common. */
const FOUGHT_OVER = new Set(
  kinds.filter((kind) => kind.update ?? kind.delete).map(({ name }) => name),
);

/** What a run of a plan writes or remembers as its own, of all that is live already. */
function claimsOf({ plan, refresh }: Pick<Planned, 'plan' | 'refresh'>): readonly Claim[] {
  const changed = plan.changes.flatMap(({ address, kind, id, action, verdict }) =>
    id === null || action === 'forget' || verdict !== 'ok' ? [] : [{ address, kind, id }],
  );
  const remembered = [...refresh].map(([address, { kind, id }]) => ({ address, kind, id }));
  const byAddress = new Map([...remembered, ...changed].map((one) => [one.address, one]));
  return contested([...byAddress.values()]);
}

function contested(claims: readonly Claim[]): readonly Claim[] {
  return claims.filter(({ kind }) => FOUGHT_OVER.has(kind));
}

/**
 * Claims what a run is going to write, before its first write. Throws `CallsheetError('refused')` where another
 * stack in the same store manages some of it.
 */
export async function claimForRun(
  lease: Lease,
  what: Pick<Planned, 'plan' | 'refresh'> | readonly Claim[],
  { store, platform }: Pick<Session, 'store' | 'platform'>,
): Promise<void> {
  const claims = 'plan' in what ? claimsOf(what) : contested(what);
  const overlaps = (await lease.claim?.(platform.account_id, claims)) ?? [];
  if (overlaps.length > 0) throw overlapping(store.location, overlaps);
}

/** Whether apply would refuse because another stack manages something; says what that is. */
export async function tellOverlaps(
  planned: Pick<Planned, 'plan' | 'refresh'>,
  { store, platform }: Pick<Session, 'store' | 'platform'>,
  { terminal }: Pick<Context, 'terminal'>,
): Promise<boolean> {
  const claims = claimsOf(planned);
  const overlaps = (await store.overlaps?.(platform.account_id, claims)) ?? [];
  if (overlaps.length === 0) return false;
  const lines = overlaps.map((overlap) => `  ${lineOf(overlap)}`);
  terminal.err(`Another stack manages the same, so apply will refuse:\n${lines.join('\n')}`);
  return true;
}
