import { type Address, getKind, nameInWords } from '../core/address.ts';
import { redactText } from '../core/credentials.ts';
import { parseTime } from '../core/moment.ts';
import { fieldIn } from '../core/path.ts';
import type { Pin, RecoveryFinding } from '../core/plan-document.ts';
import { findText } from '../core/value.ts';
import type { World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import { isWhole, listRequests, nextRequest } from '../kinds/making.ts';
import { baseEntry, findAuthor } from '../plan/drift.ts';
import { CLOCK_SKEW_MS } from '../plan/identify.ts';
import { getRecordKey } from '../plan/natural-key.ts';
import {
  historyIfShown,
  type ListedResource,
  type LiveResource,
  type Reader,
  readWith,
} from '../plan/reader.ts';
import { buildPin, livePin } from '../plan/refresh.ts';
import { createdIn, keptSince } from '../plan/state-entry.ts';
import {
  findBegan,
  type Intended,
  type IntentRecorded,
  type JournalEntry,
  type LedgerLine,
  ledgerOfDeadRun,
  type ResourceRecorded,
  type SnapshotTaken,
} from '../state/journal.ts';
import { getIdentity, type ResourceState, type State } from '../state/model.ts';
import { type OpenChange, type Replayed, type RequestMade, replay } from '../state/replay.ts';
import { isSigned } from './history.ts';
import { compareSent, recoverLeaves, type Taken } from './recover-leaves.ts';
import { findFacet, type RunDeps, type Work } from './work.ts';

/** The outcome of one change of a run that died. */
type Recovered = {
  readonly address: Address;
  readonly isDone: boolean;
  readonly severity: RecoveryFinding['severity'];
  /** Goes on after the address: `was created (id …)`. */
  readonly message: string;
  readonly id: string | null;
  /** The state's records from now on, of this address and of what a replacement left behind. */
  readonly records: ReadonlyMap<Address, ResourceState | null>;
  readonly history?: LedgerLine['history'];
  /** The live resources of which one was made by the run; which one is unknown. */
  readonly candidates?: readonly string[];
};

/** A change of a run that died, and what finding out about it takes. */
type InterruptedChange = {
  readonly change: OpenChange & { readonly snapshot: SnapshotTaken };
  readonly kind: Kind;
  readonly reader: Reader;
  readonly world: World;
  /** How the run's changes are signed in histories; undefined while its account is unknown. */
  readonly author: string | undefined;
  /** True if another address has the resource of an id. */
  readonly isTaken: (id: string) => boolean;
  /** An address for what a replacement left behind, by its id. */
  readonly spare: (address: Address, id: string) => Address;
};

/** The outcome of a run that died: found by reading alone, so that a plan can show it and apply record it. */
export type Recovery = {
  readonly run: string;
  /** When it began. */
  readonly at: string;
  /** The journal that it was made from. */
  readonly entries: readonly JournalEntry[];
  readonly recovered: readonly Recovered[];
  readonly records: readonly ResourceRecorded[];
  readonly ledger: readonly LedgerLine[];
  /** The state with all that. */
  readonly state: State;
};

/**
 * Finds out what became of the requests that a dead run did not write down (DESIGN §5, Journal):
 *
 * | the run was about to    | is recovered by                                                          |
 * |-------------------------|--------------------------------------------------------------------------|
 * | make a resource         | its id, if the answer was journaled; nothing, if it was refused; else    |
 * |                         | `findCreated`: never by its name alone                                   |
 * | write to a resource     | reading it, and comparing it with what was intended                      |
 * | delete a resource       | a 404                                                                    |
 *
 * It writes nothing. Undefined where there is no such run. `deps` are needed only where something is open.
 */
export async function recoverRun(
  entries: readonly JournalEntry[],
  { began, state, open }: Replayed,
  deps: { readonly reader: Reader; readonly world: Omit<World, 'findId'> } | undefined,
): Promise<Recovery | undefined> {
  if (began === undefined || state === undefined) return undefined;
  const author = began.account_id === '' ? undefined : findAuthor(began.account_id);
  // The first of several changes that were answered with one id has it.
  const claims = new Map<string, Address>();
  for (const { address, requests } of open) {
    const id = findAnsweredId(requests.filter(({ intent }) => isMakingStep(intent)));
    const identity = id && getIdentity({ kind: getKind(address), id });
    if (identity && !claims.has(identity)) claims.set(identity, address);
  }
  const recovered = await Promise.all(
    open.flatMap((change) => {
      const { snapshot } = change;
      if (snapshot === undefined || deps === undefined) return [];
      const kind = kindNamed(snapshot.kind);
      const isTaken = (id: string) =>
        isHeld(state, kind, id, change.address) ||
        (claims.get(getIdentity({ kind: kind.name, id })) ?? change.address) !== change.address;
      const spare = (address: Address, id: string) => freeAddress(address, id, state);
      const world = { ...deps.world, findId: () => undefined };
      const { reader } = deps;
      return [
        recoverOne({
          change: { ...change, snapshot },
          kind,
          reader,
          world,
          author,
          isTaken,
          spare,
        }),
      ];
    }),
  );
  const records = recovered.flatMap(({ records: known }) =>
    [...known].map(([address, resource]) => ({ type: 'resource' as const, address, resource })),
  );
  return {
    run: began.run,
    at: began.at,
    entries,
    recovered,
    records,
    ledger: buildLedger(entries, recovered),
    state: replay(state, records).state ?? state,
  };
}

/** The same for the plan document. */
export function recoveryFindings({ recovered, entries }: Recovery): readonly RecoveryFinding[] {
  const { addresses = [], to } = findBegan(entries)?.moves ?? {};
  const moving = to === undefined ? [] : addresses;
  return [
    ...recovered.map(({ severity, address, message }) => ({ severity, address, message })),
    ...moving.map((address) => ({ severity: 'warning' as const, address, message: isMoving(to) })),
  ];
}

function isMoving(to: { readonly location: string } | undefined): string {
  return `is moving to ${to?.location}: nothing is applied before \`callsheet state mv --to\` is run again`;
}

/**
 * Finds what was made before a failure, and how far it came, from the journal, as for a run that died: it must not be
 * forgotten. Undefined if nothing was made, and if that is unknown.
 */
export async function recoverFailedChange(
  work: FailedWork,
  entries: readonly JournalEntry[],
): Promise<Remains | undefined> {
  const [change] = replay(undefined, entries).open;
  const { snapshot } = change ?? {};
  if (!change || !snapshot?.intended || !isMaking(change)) return undefined;
  const interrupted = interruptedBy(work, { ...change, snapshot });
  const recovered = await recoverCreation(interrupted).catch(() => undefined);
  const records = recovered?.records ?? answeredIn(interrupted, snapshot.intended);
  const resource = records.get(change.address);
  if (!resource) return undefined;
  const leftBehind = new Map<Address, ResourceState>();
  for (const [address, record] of records) {
    await work.deps.lease.append({ type: 'resource', address, resource: record });
    if (record !== null && address !== change.address) leftBehind.set(address, record);
  }
  const message =
    recovered?.message ??
    `was created (id ${resource.id}), but Callsheet could not check whether it is complete`;
  return { id: resource.id, resource, leftBehind, message: `it ${message}` };
}

type FailedWork = Pick<Work, 'kind' | 'world' | 'isTaken'> & {
  readonly deps: Pick<RunDeps, 'reader' | 'lease' | 'state'>;
};

type Remains = {
  readonly id: string;
  readonly resource: ResourceState;
  readonly leftBehind: ReadonlyMap<Address, ResourceState>;
  readonly message: string;
};

function recoverOne(interrupted: InterruptedChange): Promise<Recovered> {
  if (isMaking(interrupted.change)) return recoverCreation(interrupted);
  const steps = new Set(interrupted.change.requests.map(({ intent }) => intent.step));
  return steps.has('delete') ? recoverDeletion(interrupted) : recoverUpdate(interrupted);
}

/**
 * A resource that was to be made. Its id stands in the journal where the answer came. Where every request was refused there
 * is none, even if the name exists; otherwise it is looked for (`findCreated`). One is it; none means that it was not
 * made; of several, and of one that is not as it was sent, that is unclear, and a person must say.
 */
async function recoverCreation(interrupted: InterruptedChange): Promise<Recovered> {
  const { address, snapshot, requests } = interrupted.change;
  const { intended } = snapshot;
  const making = requests.filter(({ intent }) => isMakingStep(intent));
  if (!intended)
    return perhapsMade(interrupted, 'its journal does not record the intended configuration');
  const answeredId = findAnsweredId(making);
  if (answeredId && interrupted.isTaken(answeredId))
    return perhapsMade(
      interrupted,
      `the platform answered with the id ${answeredId}, which another resource already has`,
    );
  const [lost] = making.filter(({ outcome }) => outcome?.refused !== true);
  if (!answeredId && lost === undefined) return notMade(interrupted);
  const found = answeredId
    ? await readAnswered(interrupted, answeredId, intended.scope)
    : await findLost(interrupted, intended, lost?.intent.at ?? '');
  if (found === undefined) return perhapsMade(interrupted, 'the platform has no list to search');
  const [live, ...others] = found.made;
  if (others.length > 0)
    return several(
      address,
      found.made.map(({ id }) => id),
    );
  if (live !== undefined) return made(interrupted, intended, live);
  return found.unlike.length === 0
    ? notMade(interrupted)
    : perhapsMade(interrupted, unlikeWords(interrupted.kind, found.unlike));
}

/** A resource that an answer gave an id to. */
async function readAnswered(
  interrupted: InterruptedChange,
  id: string,
  scope: Scope,
): Promise<FoundCreated> {
  const live = await readWhole(interrupted, id, scope, true);
  return { made: live === undefined ? [] : [live], unlike: [] };
}

function findLost(
  interrupted: InterruptedChange,
  { scope, key, leaves, unreadable }: Intended,
  since: string,
): Promise<FoundCreated | undefined> {
  const { change, kind, reader, world, isTaken } = interrupted;
  const { address, snapshot } = change;
  const hidden = new Set(unreadable);
  const sent = Object.entries(leaves).filter(([path]) => !hidden.has(path));
  // A journal has no credentials: what differs in one alone has one key there, and fingerprints of its own.
  const isNamed = (found: string) => key !== null && redactText(found) === redactText(key);
  const read = (id: string) => readWhole(interrupted, id, scope, true);
  const sought = { address, kind, scope, isNamed, since, old: snapshot.id, isTaken, world, read };
  return findCreated({ ...sought, leaves: Object.fromEntries(sent) }, reader);
}

/** Why something with the name of what was to be made is not taken for it, in words. */
export function unlikeWords(kind: Kind, unlike: readonly Unlike[]): string {
  const noun = nameInWords(kind.name);
  const each = unlike.map(({ id, paths }) =>
    paths.length === 0
      ? `${id}, of which nothing but its name can be compared`
      : `${id}, where ${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'} not as sent`,
  );
  return `another ${noun} may have its name: ${each.join('; ')}`;
}

async function made(
  interrupted: InterruptedChange,
  intended: Intended,
  live: LiveResource,
): Promise<Recovered> {
  const { change, kind } = interrupted;
  const { address, snapshot } = change;
  const { id } = live;
  const old = snapshot.id;
  const isSame = old === id;
  const before = isSame ? snapshot.resource?.leaves : undefined;
  const found = isSame ? snapshot.document : null;
  const { known, history, hasOthers } = await readHistory(interrupted, live, null);
  const taken = recoverLeaves({
    ...{ ...interrupted, ...change, intended },
    ...{ before, found, live, hasOthers },
  });
  const answered = answeredBy(interrupted, id);
  // The resource that was there before says nothing of its replacement.
  const isFinished =
    old === id
      ? nextRequest(kind, live.record, answered) === undefined
      : isWhole(kind, live.record, answered);
  const isDone = isFinished && taken.extent === 'all';
  const resource: ResourceState = {
    kind: kind.name,
    id,
    scope: live.scope,
    name: intended.name,
    leaves:
      live.extent === 'nothing'
        ? intended.leaves
        : isFinished
          ? taken.leaves
          : (before ?? taken.leaves),
    pin: livePin(kind, live, known),
    protect: intended.protect,
    ...createdIn(live),
    ...askedIn(interrupted),
    ...(isFinished ? {} : { unfinished: answered }),
  };
  const left = await leftBehind(interrupted, id);
  const rest = isFinished ? describeRest(taken) : ', but is not complete yet';
  return {
    address,
    id,
    isDone: isDone && left === undefined,
    severity: 'info',
    message: `was created (id ${id})${rest}${left?.message ?? ''}`,
    // Its own record settles the change: a run that dies before it still finds what is left behind.
    records: new Map<Address, ResourceState | null>([
      ...(left?.records ?? []),
      [address, resource],
    ]),
    history,
  };
}

/** When the platform was last asked to work on it, for a kind where that takes a while. */
function askedIn({ kind, change }: InterruptedChange): Pick<ResourceState, 'asked_at'> {
  const asked = change.requests.findLast(({ intent }) => isMakingStep(intent))?.intent.at;
  return kind.unready === undefined || asked === undefined ? {} : { asked_at: asked };
}

/** The old one of a replacement, where the run did not come to delete it: it keeps an address of its own. */
async function leftBehind(interrupted: InterruptedChange, id: string) {
  const { change, kind, reader, spare } = interrupted;
  const { address, snapshot, requests } = change;
  const old = snapshot.resource;
  const isReplaced = requests.some(({ intent }) => intent.step === 'create');
  if (!old || old.id === id || !isReplaced || kind.delete === undefined) return undefined;
  const live = await reader.read(kind, old, new Set());
  if (live === undefined) return undefined;
  const at = spare(address, old.id);
  return {
    message: `; the old resource (id ${old.id}) still exists, and is tracked as ${at} until it is deleted`,
    records: [[at, old]] as const,
  };
}

/** Nothing new is there. What a replacement was to delete first may be gone. */
async function notMade(interrupted: InterruptedChange): Promise<Recovered> {
  const { address, snapshot, requests } = interrupted.change;
  if (requests.some(({ intent }) => intent.step === 'delete')) return recoverDeletion(interrupted);
  const again = requests.findLast(({ intent }) => intent.step === 'again');
  // The platform may have had it, unknown to the state, and said so only when it was to be created.
  const id = snapshot.id ?? again?.intent.id ?? null;
  return {
    address,
    id,
    isDone: false,
    severity: 'info',
    message: again === undefined ? 'was not created' : `was not written again (id ${id})`,
    records: new Map(),
  };
}

function perhapsMade({ change: { address } }: InterruptedChange, why: string): Recovered {
  const message = `may have been created: ${why}. If it is there, name its id in lifecycle.adopt`;
  return { address, id: null, isDone: false, severity: 'warning', message, records: new Map() };
}

function several(address: Address, ids: readonly string[]): Recovered {
  return {
    address,
    id: null,
    isDone: false,
    severity: 'warning',
    message: `may have been created: ${ids.length} live resources with its name exist since then, ${ids.join(', ')}. Name the id of the right one in lifecycle.adopt, or delete the duplicates in the dashboard`,
    records: new Map(),
    candidates: ids,
  };
}

/** A delete took where the platform answers 404. */
async function recoverDeletion(interrupted: InterruptedChange): Promise<Recovered> {
  const { change, kind, reader } = interrupted;
  const { address, snapshot } = change;
  const id = findSentId(change);
  const scope = snapshot.resource?.scope ?? snapshot.intended?.scope ?? {};
  const live = await reader.read(kind, { id, scope }, new Set());
  const common = { address, id, severity: 'info' as const };
  if (live === undefined) {
    const then = snapshot.intended ? '; its replacement was not created yet' : '';
    const message = `was deleted (id ${id})${then}`;
    return { ...common, isDone: then === '', message, records: new Map([[address, null]]) };
  }
  const message = `was not deleted (id ${id})`;
  return { ...common, isDone: false, message, records: new Map() };
}

/** Everything that changes what is there: found out by reading it. */
async function recoverUpdate(interrupted: InterruptedChange): Promise<Recovered> {
  const { change, kind } = interrupted;
  const { address, snapshot } = change;
  const id = findSentId(change);
  const { intended } = snapshot;
  const before = snapshot.resource ?? undefined;
  const scope = before?.scope ?? intended?.scope ?? {};
  const live = await readWhole(interrupted, id, scope);
  const common = { address, id, severity: 'info' as const, records: new Map() };
  if (live === undefined) return { ...common, isDone: false, message: `is gone (id ${id})` };
  if (!intended || live.extent === 'nothing') {
    const message = `cannot be read, so Callsheet cannot tell whether it was changed (id ${id})`;
    return { ...common, severity: 'warning', isDone: false, message };
  }
  const { known, history, hasOthers } = await readHistory(interrupted, live, snapshot.pin);
  const taken = recoverLeaves({
    ...interrupted,
    ...change,
    intended,
    before: before?.leaves,
    found: snapshot.document,
    live,
    hasOthers,
  });
  if (taken.extent === 'none' && !taken.isUnsettled)
    return { ...common, isDone: false, message: `was not changed (id ${id})` };
  const isDone = taken.extent === 'all';
  const resource: ResourceState = {
    kind: kind.name,
    id,
    scope: live.scope,
    name: intended.name,
    leaves: taken.leaves,
    pin: isDone ? livePin(kind, live, known) : (before?.pin ?? buildPin(kind, live)),
    protect: isDone ? intended.protect : (before?.protect ?? intended.protect),
    ...createdIn(live),
    ...keptSince(before),
  };
  return {
    ...common,
    isDone,
    message: `was updated${isDone ? '' : ' in part'} (id ${id})${describeRest(taken)}`,
    records: new Map([[address, resource]]),
    history,
  };
}

/** The resource that a change is about; where nothing was known of it, the one that was last asked for. */
function findSentId({ snapshot, requests }: InterruptedChange['change']): string {
  return snapshot.id ?? requests.at(-1)?.intent.id ?? '';
}

/** Describes the rest of a change that took in part. */
function describeRest({ extent, isUnsettled }: Taken): string {
  if (isUnsettled)
    return '; Callsheet cannot tell whether its secrets arrived, so it will write them again';
  return extent === 'all' ? '' : '; the rest is still to do';
}

/** A resource with the facets that a change was about. */
function readWhole(
  { change, kind, reader }: InterruptedChange,
  id: string,
  scope: ResourceState['scope'],
  isUnread = false,
): Promise<LiveResource | undefined> {
  const paths = Object.keys(change.snapshot.intended?.leaves ?? {});
  const fields = paths.map(fieldIn);
  return readWith(reader, kind, { id, scope, isUnread }, fields);
}

/** Entries that are read to find those that the run made. */
const ENTRIES_READ = 20;

/**
 * Finds the history entry that the run made, if it is distinct from those of others: it is not seen at once, and
 * what somebody wrote since is none of the run's.
 */
async function readHistory(
  { change, kind, reader, author }: InterruptedChange,
  { id }: LiveResource,
  found: Pin | null,
): Promise<{
  readonly known: number | null;
  readonly history: LedgerLine['history'];
  /** Somebody else wrote since, or the history does not tell. */
  readonly hasOthers: boolean;
}> {
  if (kind.history === undefined) return { known: null, history: null, hasOthers: true };
  const { entries } = await historyIfShown(reader, kind, id, ENTRIES_READ);
  const before = baseEntry(entries, found ?? undefined);
  const newer = entries.filter((entry) => entry.id > (before ?? 0));
  const own = newer.filter((entry) => isSigned(entry, { author, isRevert: true }));
  const [last] = own;
  // Somebody else's write in between would be taken for the run's, too.
  const isAlone = own.length === newer.filter(({ id }) => id <= (last?.id ?? 0)).length;
  const after = isAlone && own.length <= change.requests.length ? (last?.id ?? null) : null;
  const hasOthers = after === null || own.length < newer.length;
  return { known: after ?? before, history: { before, after }, hasOthers };
}

/**
 * `sms_template.reminder.replaced`, or the first of that name with a number that is free; of a row
 * `agent.clinic.replaced["harbor"]`, as nothing stands behind the key of one. A resource that has such an address
 * already, of a run that died right after recording it, keeps that.
 */
export function freeAddress(
  address: Address,
  id: string,
  { resources }: Pick<State, 'resources'>,
): Address {
  const [name = ''] = address.split('[', 1);
  const key = address.slice(name.length);
  for (let number = 2, last = 'replaced'; ; number += 1) {
    const spare = `${name}.${last}${key}`;
    const known = resources[spare];
    if (known === undefined || known.id === id) return spare;
    last = `replaced-${number}`;
  }
}

/** Returns true if a change was to make a resource, also again. */
function isMaking({ requests }: OpenChange): boolean {
  return requests.some(({ intent }) => isMakingStep(intent));
}

export function isMakingStep({ step }: IntentRecorded): boolean {
  return step === 'create' || step === 'again';
}

/** The last id that requests of a making were answered with. */
function findAnsweredId(making: readonly RequestMade[]): string | null | undefined {
  return making.findLast(({ outcome }) => outcome?.ok && outcome.id !== null)?.outcome?.id;
}

/** The operations of a making that were answered, from its last beginning on: what was before that went elsewhere. */
export function listAnswered(requests: readonly RequestMade[]): readonly string[] {
  const making = requests.filter(({ intent }) => isMakingStep(intent));
  const first = making[0]?.intent.operation;
  const begun = making.findLastIndex(({ intent }) => intent.operation === first);
  return making
    .slice(Math.max(begun, 0))
    .filter(({ outcome }) => outcome?.ok === true)
    .map(({ intent }) => intent.operation);
}

function buildLedger(
  entries: readonly JournalEntry[],
  recovered: readonly Recovered[],
): readonly LedgerLine[] {
  const found = new Map(recovered.map((one) => [one.address, one]));
  return ledgerOfDeadRun(entries).map((line): LedgerLine => {
    const one = found.get(line.address);
    if (one === undefined) return line;
    const { isDone, id, message, history = null } = one;
    return { ...line, status: isDone ? 'done' : 'failed', id: id ?? line.id, message, history };
  });
}

/** Returns true if another address has the resource of an id. */
export function isHeld({ resources }: State, kind: Kind, id: string, by: Address): boolean {
  return Object.entries(resources).some(
    ([address, known]) => address !== by && known.kind === kind.name && known.id === id,
  );
}

/** The same of a resource, with what earlier runs had an answer to, unless it was begun from the start. */
function answeredBy({ change, kind }: InterruptedChange, id: string): readonly string[] {
  const { snapshot, requests } = change;
  const first = new Set(kind.making.map((making) => making.requests[0]?.operation));
  const isBegun = requests.some(({ intent }) => first.has(intent.operation));
  const known = isBegun || snapshot.resource?.id !== id ? [] : snapshot.resource.unfinished;
  return [...new Set([...(known ?? []), ...listAnswered(requests)])];
}

function interruptedBy(work: FailedWork, change: InterruptedChange['change']): InterruptedChange {
  const { kind, deps, world, isTaken } = work;
  const { account_id: account } = deps.state;
  return {
    change,
    kind,
    reader: listingAfresh(deps.reader),
    world,
    author: account === undefined ? undefined : findAuthor(account),
    isTaken,
    spare: (address, id) => freeAddress(address, id, deps.state),
  };
}

/** Returns what is known without the platform, if it no longer answers: the id that a creation returned. */
function answeredIn(
  { change, kind }: InterruptedChange,
  intended: Intended,
): ReadonlyMap<Address, ResourceState> {
  const { address, requests } = change;
  const id = findAnsweredId(requests.filter(({ intent }) => isMakingStep(intent)));
  if (!id) return new Map();
  const isFacet = (path: string) => findFacet(kind, fieldIn(path)) !== undefined;
  const { scope, name, protect } = intended;
  const leaves = Object.entries(intended.leaves).filter(([path]) => !isFacet(path));
  const answered = listAnswered(requests);
  return new Map([
    [
      address,
      {
        kind: kind.name,
        id,
        scope,
        name,
        leaves: Object.fromEntries(leaves),
        pin: null,
        protect,
        ...(kind.unready === undefined ? {} : { unfinished: answered }),
      },
    ],
  ]);
}

/** A natural key as a journal keeps it: the address of a page may hold a credential. Null: there is none. */
export function journalledKey(key: string | undefined): string | null {
  return key === undefined ? null : redactText(key);
}

/**
 * Live resources that a request made whose answer was lost: of its natural key, not taken, not older than the request
 * and, in all that the platform returns of what was sent, as sent. Where the platform does not say when it was created a
 * field beside its name must tell: a name alone is anybody's. What has the name and fails that may be a stranger's,
 * or be stored otherwise than it was sent. Of a kind whose resources have versions it is the newest. Undefined: the
 * platform has no list to search.
 */
export async function findCreated(
  { kind, scope, isNamed, since, old, isTaken, read, ...sent }: Sought,
  reader: Pick<Reader, 'list'>,
): Promise<FoundCreated | undefined> {
  const listed = await reader.list(kind, scope);
  if (listed === undefined) return undefined;
  const before = createdAt(listed.find(({ id }) => id === old)?.record ?? {});
  const earliest = parseTime(since) - CLOCK_SKEW_MS;
  const isOlder = ({ record }: Pick<LiveResource, 'record'>) =>
    createdAt(record) < earliest || createdAt(record) < before;
  const named = listed.filter(({ id, record }) => {
    const key = getRecordKey(kind, record, scope);
    const isSought = key !== undefined && isNamed(key);
    // `isTaken` comes last: it searches all that the stack has.
    return isSought && !isOlder({ record }) && id !== old && !isTaken(id);
  });
  const whole = await Promise.all(named.map(({ id }) => read(id)));
  const made: LiveResource[] = [];
  const unlike: Unlike[] = [];
  for (const live of whole) {
    if (live === undefined || isOlder(live) || isPastFirst(kind, live)) continue;
    const { alike, unlike: paths } = compareSent({ ...sent, kind, live });
    // It has another name: one that differs in a credential alone.
    if (paths.some((path) => kind.naturalKey.flat().includes(path))) continue;
    const isProven = alike.length > 0 || !Number.isNaN(createdAt(live.record));
    if (paths.length === 0 && isProven) made.push(live);
    else unlike.push({ id: live.id, paths });
  }
  const newest = made.toSorted((a, b) => (createdAt(b.record) || 0) - (createdAt(a.record) || 0));
  return { made: kind.tie === 'error' ? made : newest.slice(0, 1), unlike };
}

/** Tells whether a later request of its making reached a resource: without its id only the first one could be sent. */
function isPastFirst(kind: Kind, { record }: LiveResource): boolean {
  const { unready } = kind;
  return (
    unready !== undefined && unready(record) === undefined && listRequests(kind, record).length > 1
  );
}

/** The result of looking for a creation whose answer was lost. */
export type FoundCreated = {
  /** The resources that it made, as far as the platform tells. */
  readonly made: readonly LiveResource[];
  readonly unlike: readonly Unlike[];
};

/** Something of the name that was sent, and the fields of it that are not as sent. */
type Unlike = { readonly id: string; readonly paths: readonly string[] };

/** A reader of what is there by now: what was listed before a request does not have what that made. */
export function listingAfresh(reader: Reader): Reader {
  return { ...reader, list: (kind, scope) => reader.list(kind, scope, true) };
}

type Sought = {
  readonly address: Address;
  readonly kind: Kind;
  readonly scope: Scope;
  /** True for its natural key. A resource without one cannot be found. */
  readonly isNamed: (key: string) => boolean;
  /** The leaves that were sent, but for those that are never returned. */
  readonly leaves: ResourceState['leaves'];
  readonly world: World;
  /** Reads one whole. */
  readonly read: (id: string) => Promise<LiveResource | undefined>;
  /** When the request left that made it, if any did. ISO 8601. */
  readonly since: string;
  /** The resource whose place it takes: never the one that is sought, and older than that. */
  readonly old: string | null;
  /** True if the id is known to belong to another resource. */
  readonly isTaken: (id: string) => boolean;
};

/** NaN where the record does not tell. */
function createdAt({ created_at: at }: ListedResource['record']): number {
  return parseTime(findText(at));
}
