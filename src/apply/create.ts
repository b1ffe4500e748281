import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError, ConflictError } from '../core/errors.ts';
import { isWritten, type PlannedOperation } from '../core/plan-document.ts';
import { Blob, isObject, type Json, type JsonObject, type ValueObject } from '../core/value.ts';
import { rememberLeaf } from '../diff/applied.ts';
import { listLeaves } from '../diff/leaves.ts';
import { mergeDocuments, requestBody } from '../diff/merge.ts';
import type { Begun, Created, Draft, Io, Kind, Scope } from '../kinds/kind.ts';
import { isWhole, nextRequest } from '../kinds/making.ts';
import { dueReason } from '../plan/change.ts';
import { getNaturalKey, getScope } from '../plan/natural-key.ts';
import type { LiveResource } from '../plan/reader.ts';
import { laterFields } from '../plan/references.ts';
import { carryOver } from '../plan/steps.ts';
import { ApiError, NetworkError } from '../platform/errors.ts';
import type { ResourceState } from '../state/model.ts';
import { idIn } from './journal.ts';
import { findCreated, listingAfresh, unlikeWords } from './recover.ts';
import {
  clearedIn,
  ignoredPaths,
  lookUntil,
  type Progress,
  readLive,
  remaining,
  type Work,
} from './work.ts';

/** Creates a resource, or with `again` writes one again that can only be written whole. */
export async function performCreate(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
  again: boolean,
): Promise<Progress> {
  const { kind, desired: configured, world } = work;
  if (configured === undefined) throw new Error(`${work.change.address} has no configuration`);
  const desired = { ...configured, document: createdPart(configured.document, work.change) };
  const leaves = [...listLeaves(kind.schema, desired.document).leaves.values()];
  const secrets = new Set(leaves.filter((leaf) => leaf.facts.unreadable).map((leaf) => leaf.text));
  // A replacement takes along the live value of an ignored field; a new resource has the file's.
  const isReplaced = work.change.action === 'replace';
  const ignore = isReplaced ? ignoredPaths(work) : work.refused.map(({ path }) => path);
  const { document: kept, cleared } = keptFrom(work, progress);
  const intent = { secrets, cleared, ignore };
  const document = mergeDocuments(kind.schema, desired.document, kept, intent, world);
  const fields = again ? Object.keys(desired.document) : operation.fields;
  const body = requestBody(kind.schema, withoutNulls(document), fields);
  const scope = getScope(kind, desired.document);
  const draft: Draft = {
    body,
    scope,
    files: listFiles(desired),
    again,
    begun: begunBefore(work, progress),
    isTaken: work.isTaken,
  };
  const written = new Set(leaves.map(({ text }) => text));
  const remarks = (...more: readonly (string | undefined)[]) => [
    ...progress.remarks,
    ...more.filter((remark) => remark !== undefined),
  ];
  const done = (live: LiveResource, remark?: string): Progress => {
    const asked = kind.unready === undefined ? {} : { askedAt: work.deps.now().toISOString() };
    const older = again ? olderVersion(work, progress.live, live) : undefined;
    return { ...progress, ...asked, live, written, remarks: remarks(remark, older) };
  };
  // Nothing was sent, so nothing counts as written.
  const found = again ? await lookAgain(work, progress) : undefined;
  if (found !== undefined)
    return { ...progress, live: found, remarks: remarks(leftWords(kind, found)) };
  const made = await createOrFind(work, draft, progress);
  if (made.isFound !== true) takeId(work, made);
  const live = await readMade(work, made, scope);
  if (made.isFound !== true) return done(live, made.remark);
  const whole = await untilSettled(work, live);
  if (whole !== undefined && !work.isTaken(made.id)) {
    work.claim(made.id);
    return done(whole, made.remark);
  }
  const io = work.io('again', made.id, { live: null, draft });
  return done(await readMade(work, await kind.create({ ...draft, again: true }, io), scope));
}

/** Names the version before, which stays beside the new one because no endpoint deletes it. */
function olderVersion(
  { kind }: Work,
  before: LiveResource | undefined,
  { id }: LiveResource,
): string | undefined {
  const isBeside = kind.tie === 'newest' && before !== undefined && before.id !== id;
  return isBeside && kind.unready?.(before.record) === undefined
    ? `the version before it (${before.id}) is still there, and both answer: delete that one in the dashboard`
    : undefined;
}

/** A document without the fields that an update writes afterwards: ids in them may not be known yet. */
function createdPart(document: ValueObject, change: Work['change']): ValueObject {
  const later = laterFields(change);
  if (later.size === 0) return document;
  return Object.fromEntries(Object.entries(document).filter(([field]) => !later.has(field)));
}

/** Gives the live fields that a replacement keeps, and those of them that are cleared. */
function keptFrom(work: Work, { found }: Progress) {
  const { kind, change, desired } = work;
  if (change.action !== 'replace' || found === undefined || desired === undefined)
    return { document: {}, cleared: new Set<string>() };
  const { document } = carryOver(kind, desired.document, found.document);
  return { document, cleared: clearedIn(remaining(work, found)) };
}

/** Refuses an id that another address has: a state with two addresses of one id is invalid. */
function takeId({ change, isTaken, claim }: Work, { id }: Created): void {
  if (isTaken(id))
    throw new CallsheetError(
      'api',
      `${change.address}: the platform answered the create with the id ${id}, which another resource of the stack already has`,
      {
        hint: 'Check in the dashboard whether the resource was created. If so, name its id in lifecycle.adopt. Then plan again.',
      },
    );
  claim(id);
}

async function readMade(work: Work, { id }: Created, scope: Scope): Promise<LiveResource> {
  const live = await readLive(work, { id, scope, isUnread: true });
  if (live !== undefined) return live;
  throw new CallsheetError('api', `the platform created ${id} and then did not return it`);
}

/**
 * The resource, where the change has no reason but that the resource was not ready or too old, and that does not hold any
 * more: it became ready, or the platform is at work on it. Where nothing tells and no state knows the resource, somebody
 * else may have only just begun it, so the run waits first.
 */
async function lookAgain(work: Work, { live }: Progress): Promise<LiveResource | undefined> {
  const { kind, change, desired, recorded, deps } = work;
  if (live === undefined || desired === undefined || change.fields.some(isWritten))
    return undefined;
  const now = change.adopted ? await untilSettled(work, live) : live;
  if (now === undefined) return undefined;
  const by = change.adopted ? ('natural_key' as const) : ('state' as const);
  const asking = { now: deps.now(), purpose: 'apply' as const };
  return dueReason({ kind, by, recorded }, now, desired, asking) === undefined ? now : undefined;
}

/** Why a resource was not written although the plan said so. */
function leftWords(kind: Kind, { record }: LiveResource): string {
  const unready = kind.unready?.(record);
  return unready === undefined
    ? 'the resource was complete when it was read again'
    : `it was not written again: ${unready.says}`;
}

/**
 * Waits until the platform says how far a resource is, and gives it where it is ready or worked on. Undefined: the work
 * failed, nothing tells within the time, or the run is stopped.
 */
async function untilSettled(work: Work, first: LiveResource): Promise<LiveResource | undefined> {
  const getPhase = ({ record }: LiveResource) => work.kind.unready?.(record)?.phase;
  const live = await lookUntil(work, first, (now) => getPhase(now) !== 'unknown');
  const phase = getPhase(live);
  return phase === undefined || phase === 'running' ? live : undefined;
}

/** Returns what an earlier run had done of it. If its content has changed since, it is written as a whole. */
function begunBefore({ change, kind, recorded }: Work, { live }: Progress): Begun | undefined {
  const answered = recorded?.unfinished;
  if (answered === undefined || live?.id !== recorded?.id || change.fields.some(isWritten))
    return undefined;
  return live && begunAt(kind, live, answered);
}

/** Tells whether a making goes on with the first of its requests. */
function begins({ making }: Kind, { next }: Begun): boolean {
  return making.some(({ requests: [first] }) => first?.operation === next);
}

/** Undefined where every request of its making was answered. */
function begunAt(
  kind: Kind,
  { id, record }: Pick<LiveResource, 'id' | 'record'>,
  answered: readonly string[],
): Begun | undefined {
  const next = nextRequest(kind, record, answered);
  return next && { id, next: next.operation };
}

/**
 * Creates. Where the answer was lost, the resource may exist all the same: it is read by the id that an earlier answer
 * of its making gave, else looked for (`findCreated`), so that it is not created twice. One match is it; none means
 * that it was not made, and it is sent again as long as a try may help (`BackOff`). What was refused is not looked for:
 * whatever has its name is somebody else's, unless a try before it was lost.
 */
async function createOrFind(work: Work, draft: Draft, progress: Progress): Promise<Created> {
  const { kind, desired, deps } = work;
  const since = deps.now().toISOString();
  const backOff = deps.client.backOff(deps.stop);
  let next = draft;
  let id = progress.live?.id ?? null;
  let isLost = false;
  const answeredSoFar: string[] = [];
  for (;;) {
    const evidence = { live: null, draft };
    const { io, answered, lastId } = listening(
      work.io(next.again ? 'again' : 'create', id, evidence),
    );
    try {
      return await kind.create(next, io);
    } catch (error) {
      const isTaken = error instanceof ConflictError;
      isLost ||= isAnswerLost(error);
      if (isTaken && !isLost) throw await whoHasIt(error, work, draft.scope);
      if (!(isTaken || isAnswerLost(error)) || desired === undefined) throw error;
      const match = await findLost(work, next, since, lastId(), error);
      answeredSoFar.push(...answered);
      if (match !== undefined && isWhole(kind, match.record, answeredSoFar))
        return { id: match.id };
      // It was declared, but not all of the steps that make it were taken.
      const begun = match && begunAt(kind, match, answeredSoFar);
      const isResumed = begun !== undefined && next.begun === undefined;
      if (!isResumed && isTaken) throw await whoHasIt(error, work, draft.scope);
      if (!isResumed && !(await backOff(error))) throw error;
      if (match === undefined) continue;
      next = { ...draft, again: true, begun };
      id = match.id;
    }
  }
}

/** The resource that a creation made whose answer was lost. Undefined: there is none. Throws where that is unclear. */
async function findLost(
  work: Work,
  { scope, begun }: Draft,
  since: string,
  lastId: string | undefined,
  error: unknown,
): Promise<LiveResource | undefined> {
  const { kind, change, desired, deps, isTaken, world } = work;
  const read = (id: string) => readLive(work, { id, scope, isUnread: true });
  if (lastId !== undefined) return isTaken(lastId) ? undefined : read(lastId);
  // Without its first request nothing is made that has another id.
  if (begun !== undefined && !begins(kind, begun)) return read(begun.id);
  const { address } = change;
  const document = desired?.document ?? {};
  const key = getNaturalKey(kind, document);
  const leaves = rememberSent(kind, document, address, world);
  const isNamed = (found: string) => found === key;
  const whose = { isNamed, since, old: change.id, isTaken };
  const found = await findCreated(
    { address, kind, scope, leaves, world, read, ...whose },
    listingAfresh(deps.reader),
  );
  if (found === undefined) throw unknownCreation(address, error);
  const { made, unlike } = found;
  const [live, ...others] = made;
  if (others.length === 0 && (live !== undefined || unlike.length === 0)) return live;
  const ids = made.map(({ id }) => id).join(', ');
  const [what, hint] =
    live === undefined
      ? [
          unlikeWords(kind, unlike),
          'If it is the one that was created, name its id in lifecycle.adopt; otherwise rename or delete it in the dashboard. Then plan again.',
        ]
      : [
          `${made.length} live resources have this name: ${ids}`,
          'Delete the duplicates in the dashboard, or name the id of the right one in lifecycle.adopt. Then plan again.',
        ];
  const message = `${address}: the answer to the create was lost, and ${what}`;
  throw new CallsheetError('api', message, { hint, cause: error });
}

/** The leaves of a document as the state remembers them, but for those that the platform never returns. */
function rememberSent(
  kind: Kind,
  document: DesiredResource['document'],
  address: Address,
  world: Work['world'],
): ResourceState['leaves'] {
  return Object.fromEntries(
    [...listLeaves(kind.schema, document).leaves.values()].flatMap((leaf) => {
      const known = leaf.facts.unreadable ? undefined : rememberLeaf(leaf, address, world);
      return known === undefined ? [] : [[leaf.text, known]];
    }),
  );
}

/** Wraps an `Io`: `answered` are the operations that got an answer, and `lastId` is the last id in one. */
function listening(io: Io): {
  readonly io: Io;
  readonly answered: readonly string[];
  readonly lastId: () => string | undefined;
} {
  const answered: string[] = [];
  let lastId: string | undefined;
  return {
    answered,
    lastId: () => lastId,
    io: {
      call: async (call) => {
        const answer = await io.call(call);
        answered.push(call.operation);
        lastId = idIn(answer) ?? lastId;
        return answer;
      },
      upload: async (url, file) => {
        await io.upload(url, file);
        answered.push('upload');
      },
    },
  };
}

/** A 409: what has the name was made since it was looked for, or no list shows it. It can be taken over by its id. */
async function whoHasIt(
  error: ConflictError,
  { kind, deps }: Work,
  scope: Scope,
): Promise<CallsheetError> {
  const isListed = (await deps.reader.list(kind, scope)) !== undefined;
  const byId = 'Look up its id in the dashboard and name the id in lifecycle.adopt.';
  const hint = isListed
    ? `Nothing was saved. Plan again: the plan names what has this name. If it does not, the list of the platform leaves it out, as it may what is archived. ${byId}`
    : `The platform has no endpoint that finds the existing resource. ${byId}`;
  return new CallsheetError('api', error.message, { hint, cause: error });
}

/** The answer to a creation was lost, and there is no list to look in. */
function unknownCreation(address: Address, error: unknown): CallsheetError {
  const message = `${address}: the answer to the create was lost, and the platform has no list that shows whether the resource exists`;
  const hint =
    'Check in the dashboard. If the resource exists, name its id in lifecycle.adopt. Then plan again.';
  return new CallsheetError('api', message, { hint, cause: error });
}

/** Returns true if the platform may have made it all the same: after all but a plain refusal or an unsent request. */
export function isAnswerLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.isUnsent;
  if (error instanceof ApiError) return error.status >= 500;
  if (error instanceof ConflictError) return false;
  return error instanceof CallsheetError && error.code === 'api';
}

function listFiles({ document }: DesiredResource): Readonly<Record<string, Blob>> {
  return Object.fromEntries(
    Object.entries(document).filter((entry): entry is [string, Blob] => entry[1] instanceof Blob),
  );
}

/** A new resource has nothing to clear, at any depth: an object of nulls alone is left out. */
function withoutNulls(document: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).flatMap(([name, value]): [string, Json][] => {
      if (!isObject(value)) return value === null ? [] : [[name, value]];
      const rest = withoutNulls(value);
      const isEmptied = Object.keys(rest).length === 0 && Object.keys(value).length > 0;
      return isEmptied ? [] : [[name, rest]];
    }),
  );
}
