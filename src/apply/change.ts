import type { Address } from '../core/address.ts';
import { isAlike } from '../core/alike.ts';
import { quoted } from '../core/command-line.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError, joinRemarks, UnreadError } from '../core/errors.ts';
import { fieldIn, formatPath, toPath } from '../core/path.ts';
import { type Change, isKept, type Pin, type PlannedOperation } from '../core/plan-document.ts';
import { withhold } from '../core/redact.ts';
import { type FieldSchema, isEchoed, namesField } from '../core/schema.ts';
import { isObject, isSameJson, type JsonObject } from '../core/value.ts';
import { isRecorded, listFollowers, pickLeaves, valueAt } from '../core/walk.ts';
import { knownSecrets } from '../diff/applied.ts';
import {
  compareWhole,
  isSent,
  isUnclearable,
  isWritten,
  type LeafChange,
  leafChange,
  liveKey,
  storedMark,
  UNCLEARABLE,
  writtenLeaves,
} from '../diff/compare.ts';
import { isSpecial, listLeaves, normalise } from '../diff/leaves.ts';
import { facetBody, mergeDocuments, requestBody } from '../diff/merge.ts';
import { judgeLeaf, type Outcome } from '../diff/outcome.ts';
import type { Draft } from '../kinds/kind.ts';
import { isPartlyUnread } from '../plan/basis.ts';
import { fieldChange, isResent } from '../plan/change.ts';
import { findAuthor } from '../plan/drift.ts';
import { shorten } from '../plan/messages.ts';
import { getNaturalKey, getScope } from '../plan/natural-key.ts';
import {
  type HistoryEntry,
  historyIfShown,
  type LiveResource,
  requireRead,
} from '../plan/reader.ts';
import { laterFields } from '../plan/references.ts';
import { buildPin, isSamePin, livePin } from '../plan/refresh.ts';
import { sendsLeaf } from '../plan/secrets.ts';
import { rememberResource } from '../plan/state-entry.ts';
import { ApiError, describeApiError, isNotFound, isRefusal } from '../platform/errors.ts';
import {
  type Intended,
  type JournalEntry,
  type LedgerLine,
  namedLine,
  type SnapshotTaken,
} from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import { isAnswerLost, performCreate } from './create.ts';
import {
  ENTRIES_AFTER,
  editedFields,
  findUndone,
  historyAfter,
  interleavedMessage,
  isSigned,
} from './history.ts';
import { type createJournalIo, record, restoredBy } from './journal.ts';
import { checkPin, StaleError } from './pins.ts';
import { isMakingStep, journalledKey, recoverFailedChange } from './recover.ts';
import {
  explainRefusal,
  isClear,
  narrow,
  refusedClears,
  skippedFacet,
  skippedLeaves,
} from './refusal.ts';
import { type Carried, checkBody, checkFile, judgeCarried } from './verify.ts';
import {
  clearedIn,
  findFacet,
  ignoredPaths,
  keptPaths,
  lookUntil,
  type Progress,
  readLive,
  remaining,
  required,
  reread,
  type SkippedLeaf,
  storedPaths,
  type Work,
} from './work.ts';

type ChangeWork = Omit<Work, 'change' | 'io' | 'refused'> & {
  readonly journalIo: ReturnType<typeof createJournalIo>;
  /** The run is broken off: it writes nothing more, neither to the platform nor to its state. */
  readonly isBrokenOff: () => boolean;
  /**
   * Tells the others the id of what was just made, and waits for those that the fields refer to which an update writes
   * after the create. Gives the one that they wait for in vain.
   */
  readonly waitForLater: (id: string) => Promise<Address | undefined>;
};

type ChangeOutcome = {
  readonly line: LedgerLine;
  readonly id: string | null;
  /** The state's new record; null: forgotten; undefined: as it was before. */
  readonly resource: ResourceState | null | undefined;
  /** The old one of a replacement that failed half-way, under an address of its own. */
  readonly leftBehind?: ReadonlyMap<Address, ResourceState> | undefined;
  readonly isStale: boolean;
};

/** Carries one change out: pin, snapshot, steps, proof, memory. */
export async function applyChange(change: Change, given: ChangeWork): Promise<ChangeOutcome> {
  // Leaves that are let go of, or only mentioned, are no change: a rollback has nothing to undo there.
  const fields = [...new Set(change.fields.filter(isWritten).map(({ path }) => path))];
  let tries = 0;
  const entries: JournalEntry[] = [];
  const watch = {
    onTry: () => {
      tries += 1;
    },
    onEntry: (entry: JournalEntry) => {
      entries.push(entry);
      // While it is being made no other change may take it for something that was there.
      if (entry.type === 'outcome' && entry.id !== null) given.claim(entry.id);
    },
  };
  const refused = refusedIn(change);
  let found: LiveResource | undefined;
  const carried = new Map<string, Carried>();
  const work: Work = {
    ...given,
    change,
    refused,
    io: (step, id, evidence = { live: null }) => {
      const io = given.journalIo({ address: change.address, id, step, fields }, watch);
      const reviewed = { ...given, change, before: found?.document };
      return {
        call: async (call) => {
          const testimony = checkBody(call, evidence, reviewed);
          const answer = await io.call(call);
          for (const text of testimony.shown) carried.delete(text);
          for (const [text, leaf] of testimony.carried) carried.set(text, leaf);
          return answer;
        },
        upload: async (url, file) => {
          checkFile(file, reviewed);
          await io.upload(url, file);
        },
      };
    },
  };
  const base = { ...namedLine(change), fields };
  let progress: Progress = {
    live: undefined,
    written: new Set(),
    remarks: [],
    left: refused,
  };
  let before: Pin | null = null;
  try {
    // A change without requests needs no reading and no copy: there is nothing to recover or undo. A rollback
    // compares its result with what it found, though.
    const isWriting = change.operations.length > 0 || work.deps.restored !== undefined;
    const live = isWriting ? await checkPin(work) : undefined;
    before = live ? await pinNow(work, live) : null;
    found = live;
    if (isWriting) entries.push(takeSnapshot(work, live, before));
    const isWhole =
      live?.unread === undefined && !(change.basis !== undefined && isPartlyUnread(change.basis));
    const isMoved = before !== null && before.digest !== change.pin?.digest && isWhole;
    progress = { ...progress, live, found, remarks: isMoved ? [MOVED_ELSEWHERE] : [] };
    const goneWith = await readGoingHistory(work, live);
    const later = laterFields(change);
    for (const operation of change.operations) {
      const isLater = operation.step === 'update' && later.size > 0;
      const blocker = isLater ? await given.waitForLater(required(progress).id) : undefined;
      if (blocker !== undefined) throw lacksOther(operation.fields, blocker);
      progress = await performStep(operation, work, progress);
    }
    const after = progress.live ? livePin(work.kind, progress.live) : null;
    const look = async () => {
      const pins = { before, after, readAt: found?.readAt };
      const history = await historyAfter(work, progress.live, pins, tries).catch(
        (error: unknown) => {
          if (!(error instanceof UnreadError)) throw error;
          const remark = `${error.message}; Callsheet cannot tell whether somebody else edited it during the run`;
          progress = { ...progress, remarks: [...progress.remarks, remark] };
          return undefined;
        },
      );
      progress = { ...progress, history };
    };
    const isAsked = isWriting && (await isHistoryAsked(work, progress.live, carried));
    if (isAsked) await look();
    let proof: Proof;
    try {
      proof = prove(work, progress, carried, live?.document);
    } catch (error) {
      // Somebody else may have written as well.
      if (!isAsked) await look();
      throw error;
    }
    if (proof.stored.length > 0 && !isAsked) {
      await look();
      proof = prove(work, progress, carried, live?.document);
    }
    const { kept, stored } = proof;
    // A fast plan does not read what is certain, and what the platform changed beyond the usual is said by each plan.
    const isNear = stored.every(isNearlySent);
    const isAsWanted = kept.length === 0 && isNear && progress.left.length === 0;
    const isProven = isAsWanted && !change.fields.some(isKept);
    const marks = new Map(stored.map((leaf) => [leaf.text, storedMark(leaf, change, work.world)]));
    const resource = await record(work, progress, after, { isProven, found, stored: marks });
    return {
      line: {
        ...base,
        status: isPutBackAs(work, stored) && isDone(work, progress) ? 'done' : 'failed',
        id: progress.live?.id ?? change.id,
        ...priorId(work),
        message: formatRemarks(work, progress, proof),
        ...(stored.length === 0 ? {} : { stored: stored.map((leaf) => storedValue(work, leaf)) }),
        ...seenIn(progress),
        ...undoneBy(work, before, goneWith ?? progress.history?.entries),
      },
      id: progress.live?.id ?? null,
      resource,
      isStale: false,
    };
  } catch (error) {
    const left = await recoverUnlessBrokenOff(work, entries, given.isBrokenOff);
    const isAttempted = tries > 0 || !given.isBrokenOff();
    const id = left?.id ?? progress.live?.id ?? change.id;
    const why = await explainRefusal(error, work, progress.live);
    const lost = left?.message ?? lostWords(error, entries, isAttempted);
    const failure = [
      ...(why === undefined ? [] : [why]),
      lost === undefined ? withHint(error) : describeLost(error),
    ].join('. ');
    return {
      line: {
        ...base,
        status: isAttempted ? 'failed' : 'not_attempted',
        id,
        message: joinRemarks([failure, lost, othersIn(change.address, progress)]),
        ...seenIn(progress),
      },
      id,
      resource: left?.resource,
      leftBehind: left?.leftBehind,
      isStale: error instanceof StaleError,
    };
  }
}

/** Says of a resource that it was made without the fields that refer to another one, as that one was not made. */
function lacksOther(fields: readonly string[], other: Address): CallsheetError {
  return new CallsheetError('api', `${fields.join(', ')} waits for ${other}`, {
    hint: 'The next apply writes it.',
  });
}

/** The pin of what was found: that of the plan, unless something moved that the change does not rest on. */
async function pinNow({ change, kind, deps }: Work, live: LiveResource): Promise<Pin | null> {
  const now = buildPin(kind, live);
  const { pin } = change;
  if (pin === null || isSamePin(now, pin)) return pin;
  if (pin.history_id === null) return now;
  const [newest] = (await historyIfShown(deps.reader, kind, live.id, 1)).entries;
  return { ...now, history_id: newest?.id ?? null };
}

const MOVED_ELSEWHERE = 'since the plan it was changed in fields that this change does not rest on';

/** A run that is broken off leaves its journal to the next command, which finds out what it made. */
async function recoverUnlessBrokenOff(
  work: Work,
  entries: readonly JournalEntry[],
  isBrokenOff: () => boolean,
) {
  if (isBrokenOff()) return undefined;
  try {
    return await recoverFailedChange(work, entries);
  } catch (failure) {
    if (isBrokenOff()) return undefined;
    throw failure;
  }
}

/**
 * Describes an update or a delete whose answer did not come: it is unknown whether it was carried out. A lost
 * creation was looked for, unless the run was broken off.
 */
function lostWords(
  error: unknown,
  entries: readonly JournalEntry[],
  isAttempted: boolean,
): string | undefined {
  const last = entries.at(-1);
  const request = entries.findLast((entry) => entry.type === 'intent');
  const isOpen = last?.type === 'intent' && isAttempted;
  const isLost = last?.type === 'outcome' && !last.ok && isAnswerLost(error);
  const isLookedFor = last?.type === 'outcome' && request !== undefined && isMakingStep(request);
  return isOpen || (isLost && !isLookedFor)
    ? 'it may have been written all the same: the next plan reads it'
    : undefined;
}

/**
 * Returns true if the history is to be read after a change: the plan read it, carried values may have overwritten an
 * edit, or the write could not be found later by its time (decision 10). A rollback reads it for each plan, and need not
 * again after a write of nothing that history records.
 */
async function isHistoryAsked(
  { kind, change, deps }: Work,
  live: LiveResource | undefined,
  carried: ReadonlyMap<string, Carried>,
): Promise<boolean> {
  if (kind.history === undefined || live === undefined) return false;
  const isWrittenDown = change.fields.some(
    (field) => isSent(field) && isRecorded(kind.schema, toPath(field.path)),
  );
  const isTold = deps.restored === undefined || isWrittenDown;
  if ((change.pin?.history_id != null && isTold) || carried.size > 0) return true;
  return (await deps.reader.isHistoryDated(kind, live.id)) !== true;
}

/** Carries out one step and says where the resource is then. Throws what the platform refuses. */
async function performStep(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  switch (operation.step) {
    case 'create':
      return performCreate(operation, work, progress, false);
    case 'again':
      return performCreate(operation, work, progress, true);
    case 'update':
      return performUpdate(work, progress);
    case 'revert':
      return performRevert(operation, work, progress);
    case 'facet':
      return performFacet(operation, work, progress);
    case 'delete':
      return performDelete(work, progress);
  }
}

async function performFacet(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  const { kind, desired, world } = work;
  const live = required(progress);
  const field = operation.fields[0] ?? '';
  const facet = findFacet(kind, field);
  if (facet === undefined || desired === undefined) return progress;
  requireRead(live, field);
  const changes = remaining(work, live).filter(
    (change) => change.path[0] === field && !isUnclearable(change),
  );
  if (changes.length === 0) return progress;
  if (live.document[field] === undefined) throw new CallsheetError('refused', facet.absent);
  // A value that is read beside the declared ones may be a default: sent back, it would become the agent's own.
  const asRead = [...keptPaths(work.change), ...storedPaths(work, live)];
  const intent = {
    secrets: new Set<string>(),
    cleared: clearedIn(changes),
    ignore: [...ignoredPaths(work), ...asRead],
  };
  const edits = pickLeaves(kind.schema, live.document, asRead);
  const document = mergeDocuments(kind.schema, desired.document, edits, intent, world);
  const value = document[field];
  const body = facetBody(kind.schema, field, isObject(value) ? value : {});
  const evidence = { live: live.document, facet: field };
  try {
    await work.io('facet', live.id, evidence).call(facet.write(live.id, body));
  } catch (error) {
    const left = skippedLeaves(error, changes, work) ?? skippedFacet(error, changes, work);
    if (left === undefined) throw error;
    return { ...progress, left: [...progress.left, ...left] };
  }
  const isDone = (now: LiveResource) => !remaining(work, now).some(({ path }) => path[0] === field);
  const first = await reread(work, live);
  const after = facet.isAsynchronous === true ? await lookUntil(work, first, isDone) : first;
  requireRead(after, field);
  return { ...progress, live: after };
}

async function performDelete(work: Work, progress: Progress): Promise<Progress> {
  const { kind, change } = work;
  // In a replacement the new resource may exist by now: it is the old one that goes.
  const id = change.id ?? progress.live?.id;
  if (kind.delete === undefined || id === undefined) return progress;
  try {
    await kind.delete(id, work.io('delete', id));
  } catch (error) {
    // A platform without the endpoint answers as if the resource were gone.
    const scope = progress.live?.scope ?? work.recorded?.scope ?? {};
    if (!isNotFound(error) || (await readLive(work, { id, scope })) !== undefined) throw error;
  }
  return progress.live?.id === id ? { ...progress, live: undefined } : progress;
}

function takeSnapshot(work: Work, live: LiveResource | undefined, pin: Pin | null): SnapshotTaken {
  const { change, kind, deps, recorded, desired } = work;
  const secrets = knownSecrets(kind.schema, desired?.document, recorded?.leaves);
  const { document, withheld } = live
    ? withhold(kind.schema, live.document, secrets)
    : { document: null, withheld: [] };
  const sealed = withheld.flatMap((text): [string, string][] => {
    const value = live && valueAt(kind.schema, live.document, toPath(text));
    if (live === undefined || value === undefined) return [];
    const kept = deps.seal?.({ ...live, address: change.address, kind: kind.name }, text, value);
    return kept === undefined ? [] : [[text, kept]];
  });
  const snapshot: SnapshotTaken = {
    type: 'snapshot',
    address: change.address,
    kind: kind.name,
    id: live?.id ?? null,
    document,
    pin,
    resource: recorded ?? null,
    withheld,
    ...(sealed.length === 0 ? {} : { sealed: Object.fromEntries(sealed) }),
    intended: intendedBy(work, live),
  };
  deps.lease.note(snapshot);
  return snapshot;
}

/** Findings of the proof that are no failures. */
type Proof = {
  /** Leaves that were to be emptied and still have a value: the platform has its own for them, or refuses null. */
  readonly kept: readonly string[];
  /** Leaves that the platform stored as another value than was sent. */
  readonly stored: readonly LeafChange[];
  /** Neighbours that the platform moved by itself, and what follows what was written (`x-follows`), in words. */
  readonly moved: readonly string[];
};

const UNPROVEN: Proof = { kept: [], stored: [], moved: [] };

/**
 * Holds what is live against what was sent, leaf by leaf (`judgeLeaf`). Throws for what did not take, was lost, or was
 * overwritten by somebody else.
 */
function prove(
  work: Work,
  { live, left: given, written, history }: Progress,
  carried: ReadonlyMap<string, Carried>,
  before: JsonObject | undefined,
): Proof {
  const { desired, kind, change } = work;
  if (live === undefined || desired === undefined) return UNPROVEN;
  // These cannot be read back: that they were sent is all the proof there is.
  const unsent = change.fields.filter((field) => isSecretSent(field) && !written.has(field.path));
  if (unsent.length > 0) {
    const paths = unsent.map(({ path }) => path).join(', ');
    throw new CallsheetError('api', `planned, but not written: ${paths}`);
  }
  const known = new Set(given.map(({ text }) => text));
  const left = remaining(work, live, { isProof: true }).filter(
    ({ unreadable, text }) => !unreadable && !known.has(text),
  );
  const owned = new Set(left.map(({ text }) => text));
  // An edit before our write was overwritten by it.
  const hasOthers = (history?.interleaved ?? []).some(({ order }) => order !== 'before');
  const seen = { isOwned: true, hasOthers };
  const judged: (readonly [Outcome, LeafChange])[] = [];
  const kept: string[] = [];
  for (const leaf of left) {
    const sentBack = carried.get(leaf.text);
    if (leaf.cause === 'stored_as') judged.push(['stored_as', leaf]);
    else if (isClear(leaf, desired.isPartial)) kept.push(leaf.text);
    else if (sentBack === undefined)
      judged.push([judgeChanged(leaf, kind.schema, before, seen), leaf]);
    else judged.push([judgeCarried(sentBack, kind.schema, live.document, seen), leaf]);
  }
  const having = (outcome: Outcome) =>
    judged.flatMap(([one, leaf]) => (one === outcome ? [leaf] : []));
  const neighbours = [...carried].filter(([text]) => !owned.has(text));
  const neighboursThat = (outcome: Outcome) =>
    neighbours.flatMap(([text, one]) =>
      judgeCarried(one, kind.schema, live.document, { isOwned: false, hasOthers }) === outcome
        ? [text]
        : [],
    );
  const stored = having('stored_as');
  const failures = [
    listed('the platform still has the old value of', having('not_taken').map(getText)),
    listed('fields that were sent back unchanged are gone:', [
      ...having('lost').map(getText),
      ...neighboursThat('lost'),
    ]),
    listed('somebody else has since changed', having('overwritten').map(getText)),
  ].flatMap((one) => one ?? []);
  if (failures.length > 0) {
    const others = stored.length === 0 ? [] : [storedWords(work, stored)];
    throw new CallsheetError('api', `written, but ${[...failures, ...others].join('; ')}`);
  }
  const set = change.fields.filter(isSent).map(({ path }) => toPath(path));
  const followers = listFollowers(kind.schema, set).map(({ path }) => formatPath(path));
  const moved = [...new Set([...neighboursThat('moved'), ...followers])].filter(
    (text) => !owned.has(text),
  );
  return { kept, stored, moved: before ? movedWords(work, live, before, moved) : [] };
}

/** Judges a leaf that is not as configured. The comparison leaves out fields that the platform does not return. */
function judgeChanged(
  leaf: LeafChange,
  root: FieldSchema,
  before: JsonObject | undefined,
  seen: { readonly isOwned: boolean; readonly hasOthers: boolean },
): Outcome {
  const { path, schema, before: now } = leaf;
  const was = before && valueAt(root, before, path);
  const [old, found] = [was, now].map((value) => normalise(schema, value));
  return judgeLeaf({
    ...seen,
    isChanged: true,
    isReturned: true,
    isAsSent: false,
    isAsBefore: isSameJson(old, found),
    isAlike: isNearlySent(leaf),
    isGone: found === null,
  });
}

const getText = ({ text }: LeafChange) => text;

function listed(words: string, paths: readonly string[]): string | undefined {
  return paths.length === 0 ? undefined : `${words} ${paths.join(', ')}`;
}

/** The platform returns what was sent, but for what platforms change on the way. */
function isNearlySent({ before, after, schema, sensitive }: LeafChange): boolean {
  // The value of a secret is not at hand here.
  if (sensitive && isSpecial(after ?? null)) return false;
  const [live, sent] = [before, after].map((value) => normalise(schema, value));
  return isAlike(sent ?? null, live ?? null, schema['x-set']);
}

/** A value that was stored otherwise fails a rollback alone, which is to bring back just what was there. */
function isPutBackAs({ deps }: Work, stored: readonly LeafChange[]): boolean {
  return stored.length === 0 || deps.restored === undefined;
}

/** A value that was sent and the one that the platform returned, masked where they may be secret. */
function storedValue(work: Work, leaf: LeafChange): NonNullable<LedgerLine['stored']>[number] {
  const { kind, desired, recorded } = work;
  const secrets = knownSecrets(kind.schema, desired?.document, recorded?.leaves);
  const { path, before, after, secret } = fieldChange(kind, leaf, { secrets });
  return { path, sent: after, returned: before, secret };
}

/** Says of each value how it was sent and how it was stored. Both count as equal from now on (decision 10). */
function storedWords(work: Work, stored: readonly LeafChange[]): string {
  const words = stored.map((leaf) => {
    const { path, sent, returned } = storedValue(work, leaf);
    return `${path} was sent as ${shorten(sent)} and stored as ${shorten(returned)}`;
  });
  return words.join(', ');
}

/** Describes leaves that were not set and have another value than before. */
function movedWords(
  { kind, desired, recorded }: Work,
  live: LiveResource,
  before: JsonObject,
  moved: readonly string[],
): readonly string[] {
  const secrets = knownSecrets(kind.schema, desired?.document, recorded?.leaves);
  const [now, then] = [live.document, before].map(
    (document) => listLeaves(kind.schema, document).leaves,
  );
  return moved.flatMap((text) => {
    const leaf = now?.get(text) ?? then?.get(text);
    const path = toPath(text);
    const [is, was] = [live.document, before].map((one) => valueAt(kind.schema, one, path));
    if (leaf === undefined || isSameJson(normalise(leaf.schema, is), normalise(leaf.schema, was)))
      return [];
    const { before: old, after } = fieldChange(kind, leafChange(leaf, was, is, 'changed'), {
      secrets,
    });
    return [`${text} is now ${shorten(after)} (before: ${shorten(old)}): the platform set it`];
  });
}

function isSecretSent(field: Change['fields'][number]): boolean {
  return field.cause.startsWith('secret_') && isSent(field);
}

const STORED = 'there is nothing to do, as Callsheet takes both for the same from now on';

/** Returns what is to be reported of a change that took all the same. */
function formatRemarks(
  work: Work,
  progress: Progress,
  { kept, stored, moved }: Proof,
): string | null {
  const { remarks, left } = progress;
  const others = othersIn(work.change.address, progress);
  const { former_id: prior } = priorId(work);
  const isUndo = work.deps.restored !== undefined;
  const isBack = `it was created again with the id ${progress.live?.id} (before: ${prior})`;
  const stays = `the platform cannot clear ${kept.join(', ')}: the value stays, and Callsheet no longer manages it`;
  return (
    [
      ...(prior === undefined ? [] : [isBack]),
      ...leftMessages(left, isUndo),
      ...(left.length > 0 && isUndo ? ['everything else was undone'] : []),
      ...(stored.length === 0 ? [] : [storedWords(work, stored), STORED]),
      ...moved,
      ...remarks,
      ...unverified(work, progress),
      ...(kept.length === 0 ? [] : [stays]),
      ...(others ? [others] : []),
    ].join('; ') || null
  );
}

/** Finds fields that are newer than the schema, were sent, and are not returned. */
function unverified({ kind }: Work, { live, written }: Progress): readonly string[] {
  if (live === undefined) return [];
  const unseen = [...written].filter(
    (text) => !isEchoed(kind.schema, fieldIn(text), live.document),
  );
  return unseen.length === 0
    ? []
    : [
        `${unseen.join(', ')} was sent, but the platform does not return it, so Callsheet cannot verify it`,
      ];
}

/** Returns the former id of a resource that a rollback creates again. */
function priorId({ change, desired }: Work): Pick<LedgerLine, 'former_id'> {
  const id = desired?.isPartial === true ? desired.lifecycle.adopt : undefined;
  return change.action === 'create' && id !== undefined ? { former_id: id } : {};
}

/** Returns true if nothing is missing but leaves that were agreed to be left out. A rollback must bring all back. */
function isDone({ refused, deps }: Work, { left }: Progress): boolean {
  const isAgreed = (leaf: SkippedLeaf) => leaf.isAgreed === true || refused.includes(leaf);
  return left.length === 0 || (deps.restored === undefined && left.every(isAgreed));
}

/** The same reason of several leaves is said once. */
function leftMessages(left: readonly SkippedLeaf[], isUndo: boolean): readonly string[] {
  return [...Map.groupBy(left, ({ why }) => why)].map(([why, all]) => {
    const names = all.map(({ text }) => text).join(', ');
    return `${names} ${all.length === 1 ? 'is' : 'are'} ${isUndo ? 'not undone' : 'left out'}: ${why}`;
  });
}

/** The fields that the plan leaves out, as the platform would refuse them. */
function refusedIn({ fields }: Change): readonly SkippedLeaf[] {
  return fields.flatMap(({ path: text, refused: why }) => {
    return why === undefined ? [] : [{ path: toPath(text), text, why }];
  });
}

function othersIn(address: Address, { history }: Progress): string | undefined {
  return interleavedMessage(address, history?.interleaved ?? []);
}

function seenIn({ history }: Progress): Pick<LedgerLine, 'history' | 'interleaved'> {
  if (history === undefined) return { history: null };
  const { before, after, interleaved } = history;
  return { history: { before, after }, ...(interleaved.length === 0 ? {} : { interleaved }) };
}

/** The history of what a change deletes, where somebody edited it: it goes along. */
async function readGoingHistory(
  { change, kind, deps }: Work,
  live: LiveResource | undefined,
): Promise<readonly HistoryEntry[] | undefined> {
  const isGoing = change.operations.some(({ step }) => step === 'delete');
  if (!isGoing || live === undefined || kind.history === undefined) return undefined;
  if (editedFields(change).length === 0) return undefined;
  return (await historyIfShown(deps.reader, kind, live.id, ENTRIES_AFTER)).entries;
}

function undoneBy(
  work: Work,
  before: Pin | null,
  entries: readonly HistoryEntry[] | undefined,
): Pick<LedgerLine, 'undid'> {
  const undid = findUndone(
    work,
    before,
    work.kind.history === undefined ? undefined : (entries ?? []),
  );
  return undid === undefined ? {} : { undid };
}

function withHint(error: unknown): string {
  const hint = error instanceof CallsheetError && error.hint !== undefined ? `. ${error.hint}` : '';
  return describeApiError(error) + hint;
}

/** An answer that tells nothing of the change is not worth a hint: what was found out, or will be, stands beside it. */
function describeLost(error: unknown): string {
  return error instanceof ApiError && !isRefusal(error)
    ? `${describeApiError(error)}.`
    : withHint(error);
}

/** Returns what the state is to record once a change took, `live` being the resource before; null: nothing. */
function intendedBy(work: Work, live: LiveResource | undefined): Intended | null {
  const { change, kind, desired, recorded, world } = work;
  const restored = restoredBy(work, [live]);
  if (desired === undefined || restored === null) return null;
  const key = journalledKey(getNaturalKey(kind, desired.document));
  const scope = getScope(kind, desired.document);
  if (restored !== undefined) {
    const { name, leaves, protect } = restored;
    return { key, scope, name, leaves, protect, unreadable: [] };
  }
  const isSentAt = sendsLeaf(change);
  const written = [...listLeaves(kind.schema, desired.document).leaves.values()].filter(
    ({ text }) => isSentAt(text),
  );
  const unreadable = written.filter(({ facts }) => facts.unreadable).map(({ text }) => text);
  const known = recorded?.id === change.id ? recorded : undefined;
  const at = { id: '', scope, pin: null, ...(live ? { document: live.document } : {}) };
  const { name, leaves, protect } = rememberResource(
    kind,
    desired,
    at,
    known,
    new Set(written.map(({ text }) => text)),
    world,
  );
  return { key, scope, name, leaves, protect, unreadable };
}

/**
 * Restores a history entry, and updates what it did not restore. A version that is gone (404), or that a
 * lock or save rule refuses (403), is no failure: an update brings back what it can (DESIGN §6). Nor is one
 * that the agent matches already: it makes no entry, and nothing is left to update.
 */
async function performRevert(
  { version }: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  const before = required(progress);
  const { history } = work.kind;
  if (history === undefined || version === undefined) return progress;
  const remarks = [...progress.remarks];
  try {
    await work.io('revert', before.id).call(history.revert(before.id, version));
  } catch (error) {
    const why = whyNot(error);
    if (why === undefined) throw error;
    remarks.push(`the revert to history entry ${version} ${why}; it was updated instead`);
  }
  let live = await reread(work, before);
  const isReverted = remarks.length === progress.remarks.length;
  const other = isReverted ? describeOtherCopy(work, live) : undefined;
  if (other !== undefined) {
    const late = await findLateEdit(work, live, version);
    if (late === undefined) throw otherCopy(work, version, other);
    await work.io('revert', before.id).call(history.revert(before.id, late));
    live = await reread(work, before);
    const still = describeOtherCopy(work, live);
    if (still !== undefined) throw otherCopy(work, late, still);
  }
  return performUpdate(withSideEffects(work, before, live), { ...progress, live, remarks });
}

/**
 * Holds the copy that a rollback goes back to against the history entry that was just restored: what that records is live
 * now. A copy with another value was never live then, as others can write where copies are kept. Undefined: it fits.
 */
function describeOtherCopy(work: Work, live: LiveResource): string | undefined {
  const { kind, desired, recorded } = work;
  const others = remaining(work, live).filter(
    ({ path: [field = '', ...rest], unreadable }) =>
      !unreadable && namesField(kind.schema, field) && isRecorded(kind.schema, [field, ...rest]),
  );
  if (others.length === 0) return undefined;
  const secrets = knownSecrets(kind.schema, desired?.document, recorded?.leaves);
  const words = others.map((leaf) => {
    const { path, before, after } = fieldChange(kind, leaf, { secrets });
    return `${path} is ${shorten(before)} there and ${shorten(after)} in the copy`;
  });
  return words.join('; ');
}

/** The entry of somebody's edit that came late: the copy has the edit, and the entry that was newest then has not. */
async function findLateEdit(
  { kind, deps }: Work,
  { id }: LiveResource,
  version: number,
): Promise<number | undefined> {
  const { entries } = await historyIfShown(deps.reader, kind, id, ENTRIES_AFTER);
  const { account_id: account } = deps.state;
  const author = account === undefined ? undefined : findAuthor(account);
  const later = entries.filter((entry) => entry.id > version).sort((a, b) => a.id - b.id);
  // The first of our own account is that of the run which the rollback undoes.
  const own = later.findIndex((entry) => isSigned(entry, { author, isRevert: true }));
  return later[own - 1]?.id;
}

function otherCopy({ change }: Work, version: number, words: string): CallsheetError {
  return new CallsheetError(
    'refused',
    `the revert to history entry ${version} was carried out, and nothing else of it was written: the copy that was kept of it is not what that entry has, so it was never live then. ${words}`,
    { hint: `To see who wrote it when: \`callsheet log ${quoted(change.address)}\`` },
  );
}

/** Why a version could not be restored; undefined: something else is wrong. */
function whyNot(error: unknown): string | undefined {
  const isRefused = error instanceof ApiError && error.status === 403;
  if (isRefused) return `was refused (${describeApiError(error)})`;
  return isNotFound(error) ? 'found no such version' : undefined;
}

/**
 * A revert restores all that its version records, and takes web transfer along with call transfer. What it
 * moved beside what is to be undone, and not to where that was, goes back there.
 */
function withSideEffects(work: Work, before: LiveResource, after: LiveResource): Work {
  const { desired, change, kind, world } = work;
  if (desired?.whole === undefined) return work;
  const { whole } = desired;
  const at = { address: change.address, ignore: ignoredPaths(work) };
  const differ = (live: LiveResource) => compareWhole(kind.schema, whole, live.document, at, world);
  const wrongBefore = new Set(differ(before).map(liveKey));
  const moved = differ(after).filter((one) => !wrongBefore.has(liveKey(one)));
  const paths = moved.map(({ path }) => path);
  const document = pickLeaves(kind.schema, whole.document, paths, desired.document);
  return { ...work, desired: { ...desired, document } };
}

/**
 * Writes what differs outside facets. A platform that refuses null keeps what it would have cleared: the
 * rest is then written without (DESIGN §4.5, `released`). In a rollback what a lock or a rule refuses is left
 * as it is, and the rest is written.
 */
async function performUpdate(work: Work, progress: Progress): Promise<Progress> {
  const { kind, desired } = work;
  const live = required(progress);
  if (desired === undefined || kind.update === undefined) return progress;
  // Secrets that are to be sent again are among them.
  const resend = isResent(work.change.address, work.options);
  const found = remaining(work, live, { resend }).filter(
    ({ path, text }) =>
      findFacet(kind, path[0]) === undefined && !progress.left.some((one) => one.text === text),
  );
  const all = found.filter((one) => !isUnclearable(one));
  const sent: LeafChange[] = [];
  const left: SkippedLeaf[] = found
    .filter(isUnclearable)
    .map(({ path, text }) => ({ path, text, why: UNCLEARABLE }));
  const batches: (readonly LeafChange[])[] = [all];
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    const changes = batch;
    if (changes.length === 0) continue;
    try {
      await sendUpdate(work, live, desired, changes, all);
      sent.push(...changes);
    } catch (error) {
      const clears = refusedClears(error, kind.schema, changes);
      const rest = changes.filter((one) => !clears.includes(one));
      const nulls = clears.filter((one) => !isClear(one, desired.isPartial));
      // If only nulls are wanted, the refusal itself says the most.
      if (nulls.length > 0 && rest.length === 0 && sent.length === 0) throw error;
      if (clears.length > 0) {
        left.push(...nulls.map(({ path, text }) => ({ path, text, why: NULL_REFUSED })));
        batches.unshift(rest);
      } else {
        const narrower = await narrow(error, changes, work, live);
        if (narrower === undefined) throw error;
        left.push(...narrower.left);
        batches.unshift(...narrower.batches);
      }
    }
  }
  const after = sent.length > 0 ? await reread(work, live) : live;
  return {
    ...progress,
    live: after,
    written: new Set([
      ...progress.written,
      ...sent.flatMap((one) => writtenLeaves(kind.schema, one)),
    ]),
    left: [...progress.left, ...left],
  };
}

/** Why a leaf that the files set to null is left out. Unlike a line that was taken out, they go on asking for it. */
const NULL_REFUSED =
  'the platform refuses null for it, so its value stays; take the line out to leave it as it is';

/** Sends some of all changes; the others keep what is live. */
async function sendUpdate(
  work: Work,
  live: LiveResource,
  desired: DesiredResource,
  changes: readonly LeafChange[],
  all: readonly LeafChange[],
): Promise<void> {
  const { kind, world, io, isTaken } = work;
  const secrets = new Set(changes.filter(({ sensitive }) => sensitive).map(({ text }) => text));
  const others = all.filter((change) => !changes.includes(change));
  const ignore = [
    ...ignoredPaths(work),
    ...storedPaths(work, live),
    ...others.map(({ path }) => path),
  ];
  const written = new Set(changes.map(({ text }) => text));
  const intent = { secrets, cleared: clearedIn(changes), ignore, written };
  const document = mergeDocuments(kind.schema, desired.document, live.document, intent, world);
  const fields = changes.map(({ path }) => path[0] ?? '');
  const body = requestBody(kind.schema, document, fields);
  const draft: Draft = {
    body,
    scope: live.scope,
    files: {},
    again: false,
    isTaken,
  };
  await kind.update?.(live.id, draft, io('update', live.id, { live: live.document, draft }));
}
