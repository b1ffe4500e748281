import type { Address } from '../../core/address.ts';
import type { Change, FieldChange, PlanDocument } from '../../core/plan-document.ts';
import { isWritten } from '../../diff/compare.ts';
import { driftOf } from '../../plan/drift.ts';
import { type Healing, healingOf } from '../../plan/heal.ts';
import { comparedCount } from '../../render/wording.ts';
import { attributeDrift, keepHistories } from '../attribute-drift.ts';
import { findOwed } from '../commands/apply.ts';
import type { Context } from '../context.ts';
import { beganOf } from '../find-run.ts';
import { planConfiguration } from '../make-plan.ts';
import { type PlanFlags, planOptions, refreshOf } from '../plan-flags.ts';
import { openSession, type Session } from '../session.ts';

/** What there was to see. */
type Look = Seen | Busy;

/** A run is at work: what it has not written down yet would look like drift. */
type Busy = { readonly type: 'busy'; readonly run: string };

export type Seen = {
  readonly type: 'seen';
  /** Resources that were compared. */
  readonly compared: number;
  /** Changes of the plan by their verdict. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Changes of the configuration that nobody applied yet. */
  readonly pending: number;
  readonly drift: PlanDocument;
  readonly healing: Healing;
  /** Why nothing is healed whatever drifted; undefined where nothing stands against it. */
  readonly unsettled: string | undefined;
};

type Verdict = PlanDocument['changes'][number]['verdict'];

/** Plans a stack as it is now, and takes the drift out of the plan. Writes nothing. */
export async function look(flags: PlanFlags, context: Context): Promise<Look> {
  const session = await openSession(flags, context);
  try {
    const { unfinished } = session;
    if (unfinished !== undefined && unfinished.settlement === undefined)
      return { type: 'busy', run: unfinished.run };
    const { reader, histories } = keepHistories(session.reader);
    const planning = { ...session, reader };
    const refresh = refreshOf(flags, session.endpoints);
    const options = planOptions(flags);
    const { plan } = await planConfiguration(planning, options, context, { refresh });
    const drift = await attributeDrift(driftOf(plan), histories, session, context);
    const drifted = new Set(drift.changes.map(({ address }) => address));
    const marked = markedIn(session);
    return {
      type: 'seen',
      compared: comparedCount(plan),
      verdicts: countVerdicts(plan),
      pending: plan.changes.filter(isPending).length,
      drift,
      healing: healingOf(plan, drifted, (address) => marked.has(address)),
      unsettled: await findUnsettled(session),
    };
  } finally {
    await session.close();
  }
}

/** Addresses that the configuration says may be healed. */
export function markedIn({ stack }: Pick<Session, 'stack'>): ReadonlySet<Address> {
  return new Set(
    stack.resources.flatMap(({ address, lifecycle }) => (lifecycle.heal === true ? address : [])),
  );
}

function countVerdicts({ changes }: PlanDocument): Seen['verdicts'] {
  const count = (wanted: Verdict) => changes.filter(({ verdict }) => verdict === wanted).length;
  return {
    ok: count('ok'),
    held: count('held'),
    refused: count('refused'),
    unsupported: count('unsupported'),
  };
}

/** Whether a plan would do more than take note of a resource, or put it back. */
function isPending({ action, missing_id: missing, fields }: Change): boolean {
  if (action === 'adopt' || (action === 'create' && missing !== null)) return false;
  const isOwn = ({ cause }: FieldChange) => cause !== 'drifted' && isWritten({ cause });
  return action !== 'update' || fields.some(isOwn);
}

/** A run that died is for whoever began it to go on with, unless it was a healing itself. */
async function findUnsettled(session: Session): Promise<string | undefined> {
  const owed = await findOwed(session, false);
  if (owed !== undefined) return `run ${owed} is still to be rolled back`;
  const { unfinished } = session;
  if (unfinished === undefined || beganOf(unfinished.entries)?.purpose === 'heal') return undefined;
  return `run ${unfinished.run} died; the next apply settles it`;
}
