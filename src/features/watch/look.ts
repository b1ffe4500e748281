import type { Context, PlanFlags } from '../../console/context.ts';
import type { Address } from '../../core/address.ts';
import { computeDigest } from '../../core/digest.ts';
import {
  type Attribution,
  type Change,
  type FieldChange,
  findEdit,
  isGone,
  isWritten,
  type PlanDocument,
} from '../../core/plan-document.ts';
import { planSelfHealing, type SelfHealing } from '../../plan/drift.ts';
import { driftPolicy } from '../../plan/guards.ts';
import type { Refresh } from '../../plan/make.ts';
import type { Reader } from '../../plan/reader.ts';
import { comparedCount } from '../../render/wording.ts';
import { findOwed } from '../../run/apply.ts';
import { driftIn, keepHistories } from '../../run/drift.ts';
import { checkNamed, planConfiguration, planOptions } from '../../run/plan.ts';
import { findAtWork } from '../../run/recover.ts';
import { openSession, type Session } from '../../run/session.ts';
import { findBegan } from '../../state/journal.ts';
import type { State } from '../../state/model.ts';

/** A run is at work: what it has not written down yet would look like drift. */
type Busy = { readonly type: 'busy'; readonly run: string };

export type Seen = {
  readonly type: 'seen';
  /** Resources that were compared. */
  readonly compared: number;
  /** Changes of the plan by their verdict. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Changes of the configuration that are not applied yet. */
  readonly pending: number;
  readonly drift: PlanDocument;
  readonly healing: SelfHealing;
  /** Why nothing is healed whatever drifted; undefined where nothing stands against it. */
  readonly unsettled: string | undefined;
  /** The state that it was planned from. */
  readonly state: State;
};

type Verdict = PlanDocument['changes'][number]['verdict'];

/** Plans a stack as it is now, and takes the drift out of the plan. Writes nothing. */
export async function look(
  flags: PlanFlags,
  context: Context,
  { refresh, kept }: { readonly refresh: Refresh; readonly kept: KeptReads },
): Promise<Seen | Busy> {
  const options = planOptions(flags);
  const session = await openSession(flags, context, { check: checkNamed(options) });
  try {
    const run = findAtWork(session);
    if (run !== undefined) return { type: 'busy', run };
    const { reader, histories } = keepHistories(kept.through(session.reader));
    const planning = { ...session, reader };
    const planned = await planConfiguration(planning, options, context, {
      refresh,
      calls: false,
      drift: 'undo',
    });
    const { plan } = planned;
    const drift = await driftIn(planned, histories, session, context);
    const drifted = new Set(drift.changes.map(({ address }) => address));
    const marked = markedIn(session);
    return {
      type: 'seen',
      compared: comparedCount(plan),
      verdicts: countVerdicts(plan),
      pending: plan.changes.filter(isPending).length,
      drift,
      healing: planSelfHealing(
        plan,
        drifted,
        (address) => marked.has(address),
        driftPolicy(session.stack.guards, options),
      ),
      unsettled: await findUnsettled(session),
      state: session.state,
    };
  } finally {
    await session.close();
  }
}

/** The reads of failed passes, kept until a pass gets to its end. */
export type KeptReads = {
  /** A reader that asks for nothing that a failed pass read already. */
  readonly through: (reader: Reader) => Reader;
  /** Drops everything: a pass has got to its end. */
  readonly clear: () => void;
};

/** A large fleet is read again in part: its reads would double the memory of a watch. */
const MOST_KEPT_BYTES = 64_000_000;

/**
 * Keeps what failed passes read, for two intervals: a platform that fails at one of a hundred requests would
 * else never be read to the end. Resources to heal are read again all the same.
 */
export function keepReads(interval: number, now: () => Date): KeptReads {
  const kept = new Map<string, { readonly text: string; readonly at: number }>();
  let bytes = 0;
  return {
    through: (reader) => ({
      ...reader,
      async read(kind, at, facets) {
        const key = JSON.stringify([kind.name, at, [...facets].sort()]);
        const before = kept.get(key);
        if (before !== undefined && now().getTime() - before.at <= 2 * interval)
          return JSON.parse(before.text);
        const live = await reader.read(kind, at, facets);
        const text = live === undefined ? undefined : JSON.stringify(live);
        if (text !== undefined && bytes + text.length <= MOST_KEPT_BYTES) {
          bytes += text.length - (before?.text.length ?? 0);
          kept.set(key, { text, at: now().getTime() });
        }
        return live;
      },
    }),
    clear() {
      kept.clear();
      bytes = 0;
    },
  };
}

/** Addresses that the configuration says may be healed. */
export function markedIn({ stack }: Pick<Session, 'stack'>): ReadonlySet<Address> {
  return new Set(
    stack.resources.flatMap(({ address, lifecycle }) => (lifecycle.heal === true ? address : [])),
  );
}

function countVerdicts({ changes, summary }: PlanDocument): Seen['verdicts'] {
  const { held, refused, unsupported } = summary;
  return { ok: changes.length - held - refused - unsupported, held, refused, unsupported };
}

/**
 * Returns true if a plan would do more than record a resource or put it back. A change that a rollout holds waits for
 * its step.
 */
function isPending(change: Change): boolean {
  const { action, verdict, fields } = change;
  if (action === 'update' && verdict === 'held') return false;
  if (action === 'adopt' || isGone(change)) return false;
  const isOwn = ({ cause }: FieldChange) => cause !== 'drifted' && isWritten({ cause });
  return action !== 'update' || fields.some(isOwn);
}

/** Returns why nothing may be healed. A run that died is left to its author, unless it was a healing itself. */
async function findUnsettled(session: Session): Promise<string | undefined> {
  const owed = await findOwed(session, false);
  if (owed !== undefined) return `run ${owed} is still to be rolled back`;
  const { unfinished } = session;
  if (unfinished === undefined || findBegan(unfinished.entries)?.purpose === 'heal')
    return undefined;
  return `run ${unfinished.run} died; the next apply recovers it`;
}

/** One field that drifted, or a resource that is gone. */
type Finding = {
  readonly address: string;
  /** Null: the resource itself is gone. */
  readonly field: string | null;
  readonly author: Author;
  /** The digest of the live value: another value is another edit. */
  readonly digest: string;
};

/** Findings by their place; all that is remembered of a pass. */
export type Findings = ReadonlyMap<string, Finding>;

/** Returns the drift, field by field. */
export function listFindings({ changes }: PlanDocument): Findings {
  return new Map(
    changes.flatMap((change) => {
      const found = change.fields.map(({ path, after, attribution }) =>
        buildFinding(change, path, computeDigest(after), attribution),
      );
      const all = found.length > 0 ? found : [buildFinding(change, null, '', change.attribution)];
      return all.map((one) => [JSON.stringify([one.address, one.field]), one] as const);
    }),
  );
}

function buildFinding(
  change: Change,
  field: string | null,
  digest: string,
  attribution: Attribution | undefined,
): Finding {
  return { address: change.address, field, author: findAuthor(change, attribution), digest };
}

const NOBODY = { actor: null, source: null, at: null } as const;

function findAuthor({ edits = [] }: Change, attribution: Attribution | undefined): Author {
  if (attribution === undefined) return { certainty: null, because: null, ...NOBODY };
  const { certainty, because } = attribution;
  const edit = findEdit(edits, attribution);
  if (edit === undefined) return { certainty, because, ...NOBODY };
  const { actor, source, at } = edit;
  return { certainty, because, actor, source, at };
}

/** Returns the findings that are new since the pass before, and those that are over. */
export function compareFindings(
  before: Findings,
  now: Findings,
): { readonly found: readonly Finding[]; readonly ended: readonly Finding[] } {
  return {
    found: [...now].flatMap(([place, one]) =>
      before.get(place)?.digest === one.digest ? [] : [one],
    ),
    ended: [...before].flatMap(([place, one]) => (now.has(place) ? [] : [one])),
  };
}

/** Who changed something, as far as history tells. */
export type Author = {
  readonly certainty: 'entry' | 'actor' | 'one_of' | 'unknown' | null;
  readonly because: string | null;
  /** The actor of the newest edit that it may have been. */
  readonly actor: string | null;
  readonly source: string | null;
  readonly at: string | null;
};
