import { UnreadError } from '../core/errors.ts';
import type { Change, PlanDocument, PlanOptions } from '../core/plan-document.ts';
import { kindNamed } from '../kinds/index.ts';
import { type EditsDeps, readEdits } from '../live/reader.ts';
import { attributeChange, findAuthor, getSince, keepDrift } from '../plan/drift.ts';
import type { Planned, Refresh } from '../plan/make.ts';
import type { HistoryEntry, Reader } from '../plan/reader.ts';
import { realPause } from '../platform/rate.ts';
import type { ResourceState } from '../state/model.ts';
import { openCallouts, type RunContext, type StackOptions } from './context.ts';
import { announce, checkNamed, emitUnread, planConfiguration } from './plan.ts';
import { openSession, type Session } from './session.ts';

type DriftOptions = StackOptions & {
  readonly options: PlanOptions;
  readonly refresh?: Refresh;
};

/**
 * Finds what changed on the platform since Callsheet last wrote it, and who changed it. Writes nothing. Everything is
 * read unless `refresh` says otherwise: a state that somebody else wrote would hide an edit from a fast look for
 * good.
 */
export async function driftStack(
  { options, refresh = 'full', ...stack }: DriftOptions,
  context: RunContext,
): Promise<PlanDocument> {
  const session = await openSession(stack, context, { check: checkNamed(options), plans: true });
  try {
    announce(session, context);
    const { reader, histories } = keepHistories(session.reader);
    // An edit that apply keeps is drift all the same.
    const how = { isPreflighted: false, refresh, calls: false, drift: 'undo' as const };
    const planned = await planConfiguration({ ...session, reader }, options, context, how);
    emitUnread(planned, context);
    const { uncompared } = planned;
    if (uncompared !== undefined) context.emit({ type: 'uncompared', message: uncompared });
    return await driftIn(planned, histories, session, context);
  } finally {
    await session.close();
  }
}

/** The drift in a plan that was just made: with who made it, and what features say of it. */
export async function driftIn(
  planned: Planned,
  histories: Histories,
  session: Session,
  context: RunContext,
): Promise<PlanDocument> {
  let drift = keepDrift(planned.plan, await openCallouts(context.features));
  for (const { markDrift } of context.features)
    if (markDrift !== undefined) drift = (await markDrift())(drift, planned, session.stack);
  return attributeDrift(drift, histories, session, context);
}

/** Histories that a plan read, by the id of their resource. */
type Histories = ReadonlyMap<string, readonly HistoryEntry[]>;

/** Wraps a reader so that it keeps the histories it is asked for, and none is requested twice. */
export function keepHistories(reader: Reader): {
  readonly reader: Reader;
  readonly histories: Histories;
} {
  const histories = new Map<string, readonly HistoryEntry[]>();
  const history: Reader['history'] = async (kind, id, limit) => {
    const entries = await reader.history(kind, id, limit);
    histories.set(id, entries);
    return entries;
  };
  return { reader: { ...reader, history }, histories };
}

/** Adds to drift who made it. The digest stays that of what drifted: it does not depend on the actor. */
async function attributeDrift(
  drift: PlanDocument,
  histories: Histories,
  session: Session,
  context: RunContext,
): Promise<PlanDocument> {
  const deps: EditsDeps = {
    reader: session.reader,
    author: findAuthor(session.platform.account_id),
    now: context.now,
    sleep: (milliseconds) => (context.pause ?? realPause).sleep(milliseconds, context.stop),
  };
  const changes = await Promise.all(
    drift.changes.map((change) => attributeOne(change, histories, session, deps)),
  );
  return { ...drift, changes, assumptions: changes.some(isNamed) ? RELIED_ON : [] };
}

/** That every save of recorded settings makes an entry, and that the list of entries has them all. */
const RELIED_ON = ['history.entries', 'history.list-shape'];

function isNamed({ fields }: Change): boolean {
  return fields.some(({ attribution }) => attribution?.because === null);
}

async function attributeOne(
  change: Change,
  histories: Histories,
  { state }: Pick<Session, 'state'>,
  deps: EditsDeps,
): Promise<Change> {
  const kind = kindNamed(change.kind);
  const id = change.id ?? change.missing_id;
  if (kind.history === undefined || id === null) {
    return attributeChange(change, { entries: [], base: null, doubt: 'no_beginning' });
  }
  const recorded = recordedAs(id, change, state.resources);
  const edited = {
    kind,
    id,
    since: getSince(recorded),
    updatedAt: change.pin?.updated_at ?? null,
    history: histories.get(id),
  };
  try {
    return attributeChange(change, await readEdits(edited, deps));
  } catch (error) {
    // The plan's note has the platform's answer.
    if (!(error instanceof UnreadError)) throw error;
    return attributeChange(change, { entries: [], base: null, doubt: 'unreadable' });
  }
}

/** Returns the state's record of the resource, not of another one that had its address before. */
function recordedAs(
  id: string,
  { address, moved_from: prior }: Change,
  resources: Session['state']['resources'],
): ResourceState | undefined {
  return [address, prior ?? address].map((at) => resources[at]).find((one) => one?.id === id);
}
