import type { Address } from '../../core/address.ts';
import { digestOf } from '../../core/digest.ts';
import type { Guards } from '../../core/guards.ts';
import type { Change, PlanDocument } from '../../core/plan-document.ts';
import { leavesOf } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import { summarise } from '../../plan/document.ts';
import { guardChanges } from '../../plan/guard.ts';
import { distinctNotes } from '../../plan/preflight.ts';
import type { Collision, RestorationSummary } from '../../render/restoration.ts';
import type { Rebuilt } from '../../restore/rebuild.ts';
import { collisionsIn, isRecording } from './refusals.ts';
import type { Round } from './round.ts';

/** What is known of a round once all its parts are planned, without the documents. */
export type Overview = Omit<Rebuilt, 'desired'> & {
  readonly plan: PlanDocument;
  readonly collisions: readonly Collision[];
  readonly found: Round['found'];
  /** What limits of the whole refuse of a part, and why: a part alone does not know. */
  readonly struck: ReadonlyMap<Address, string>;
  /** What was read back and is as the snapshot has it; of no use while something is still to be done. */
  readonly proof: NonNullable<RestorationSummary['proof']>;
};

/** What a round tells of what it is there for: what that refers to is told by the part that it belongs to. */
export function overviewOf(round: Round, own: ReadonlySet<Address>): Overview {
  const { planned, rebuilt, found } = round;
  const isOwn = ({ address }: { readonly address: Address | null }) =>
    address === null || own.has(address);
  const desired = rebuilt.desired.filter(isOwn);
  const { plan } = planned;
  const changes = plan.changes.filter(isOwn);
  return {
    plan: {
      ...plan,
      changes,
      notes: plan.notes.filter(isOwn),
      summary: summarise(changes, desired.length - changes.length),
    },
    exceptions: rebuilt.exceptions.filter(isOwn),
    needs: rebuilt.needs.filter(isOwn),
    mentions: new Map([...rebuilt.mentions].filter(([address]) => own.has(address))),
    collisions: collisionsIn(round).filter(isOwn),
    found,
    struck: new Map(),
    proof: { resources: desired.length, values: isRecording(planned) ? 0 : valuesOf(desired) },
  };
}

function valuesOf(desired: Rebuilt['desired']): number {
  return desired.reduce((sum, { kind, document }) => {
    const { leaves } = leavesOf(kindNamed(kind).schema, document);
    return sum + [...leaves.values()].filter(({ facts }) => !facts.unreadable).length;
  }, 0);
}

/** More of what is to be made is listed without its values: the snapshot has them all (`snapshot show`). */
export const MOST_WHOLE = 30;

/** Without the values of what is equal already, and of what is made where that is not shown whole. */
export function withoutValues(overview: Overview): Overview {
  const { plan } = overview;
  const isMany = plan.summary.create > MOST_WHOLE;
  const changes = plan.changes.map((change): Change => {
    if (change.action === 'create' && isMany)
      return { ...change, before: null, after: null, fields: [] };
    return change.action === 'adopt' ? { ...change, before: null, after: null } : change;
  });
  return { ...overview, plan: { ...plan, changes } };
}

/** Parts as the one plan that a person agrees to; limits of the whole are judged here. */
export function together(
  parts: readonly [Overview, ...(readonly Overview[])],
  guards: Guards,
): Overview {
  const [first, ...others] = parts;
  if (others.length === 0) return first;
  const plans = parts.map(({ plan }) => plan);
  const found = new Set(parts.flatMap((part) => [...part.found]));
  const planned = plans.flatMap((plan) => plan.changes);
  const changes = guardChanges(planned, {
    purpose: first.plan.purpose,
    options: first.plan.options,
    guards,
    // Each part was asked that.
    isProtected: () => false,
    existing: found.size,
    isConfigurationEmpty: false,
  });
  const allowed = new Set(
    planned.filter(({ verdict }) => verdict === 'ok').map(({ address }) => address),
  );
  const struck = changes.filter(
    ({ verdict, address }) => verdict === 'refused' && allowed.has(address),
  );
  const sum = (of: (plan: PlanDocument) => number) =>
    plans.reduce((all, plan) => all + of(plan), 0);
  const refusals = new Map(
    plans.flatMap((plan) => plan.refusals ?? []).map((one) => [`${one.guard} ${one.message}`, one]),
  );
  return {
    plan: {
      ...first.plan,
      digest: digestOf(plans.map(({ digest }) => digest)),
      changes,
      summary: summarise(
        changes,
        sum(({ summary }) => summary.no_op),
      ),
      requests: {
        reads: sum(({ requests }) => requests.reads),
        writes: sum(({ requests }) => requests.writes),
        seconds: sum(({ requests }) => requests.seconds),
      },
      assumptions: [...new Set(plans.flatMap(({ assumptions }) => assumptions))].sort(),
      notes: distinctNotes(plans.flatMap(({ notes }) => notes)),
      ...(refusals.size === 0 ? {} : { refusals: [...refusals.values()] }),
    },
    exceptions: parts.flatMap(({ exceptions }) => exceptions),
    needs: parts.flatMap(({ needs }) => needs),
    mentions: new Map(parts.flatMap(({ mentions }) => [...mentions])),
    collisions: parts.flatMap(({ collisions }) => collisions),
    found,
    struck: new Map(struck.map(({ address, reason }) => [address, reason])),
    proof: {
      resources: parts.reduce((all, { proof }) => all + proof.resources, 0),
      values: parts.reduce((all, { proof }) => all + proof.values, 0),
    },
  };
}
