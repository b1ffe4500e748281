import type { Address } from '../core/address.ts';
import { parsePath } from '../core/path.ts';
import type { SettledFinding } from '../core/plan-document.ts';
import type { World } from '../diff/world.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { isWhole, nextRequest } from '../kinds/making.ts';
import { livePin, pinOf } from '../plan/pin.ts';
import { type LiveResource, type Reader, readWith } from '../plan/reader.ts';
import type {
  Intended,
  IntentRecorded,
  JournalEntry,
  LedgerLine,
  ResourceRecorded,
} from '../state/journal.ts';
import type { ResourceState, State } from '../state/model.ts';
import { type OpenChange, type Replayed, type RequestMade, replay } from '../state/replay.ts';
import { isSigned } from './interleaved.ts';
import { lookFor } from './look-for.ts';
import { settleLeaves, type Taken } from './settle-leaves.ts';

/** What became of one change of a run that died. */
type Settled = {
  readonly address: Address;
  readonly isDone: boolean;
  readonly severity: SettledFinding['severity'];
  /** Goes on after the address: `was created (id …)`. */
  readonly message: string;
  readonly id: string | null;
  /** What the state says from now on, of this address and of what a replacement left behind. */
  readonly records: ReadonlyMap<Address, ResourceState | null>;
  readonly history?: LedgerLine['history'];
  /** Live resources of which nobody can tell which one the run made. */
  readonly candidates?: readonly string[];
};

/** What settling one change takes. */
export type Settling = {
  readonly change: OpenChange;
  readonly kind: Kind;
  readonly reader: Reader;
  readonly world: World;
  /** How the run's changes are signed in histories; undefined while its account is unknown. */
  readonly author: string | undefined;
  /** Whether another address stands for the resource of an id. */
  readonly isTaken: (id: string) => boolean;
  /** An address for what a replacement left behind. */
  readonly spare: (address: Address) => Address;
};

/** A run that died, settled: found out by reading alone, so that a plan can show it and apply record it. */
export type Settlement = {
  readonly run: string;
  /** The journal that it was made from. */
  readonly entries: readonly JournalEntry[];
  readonly settled: readonly Settled[];
  readonly records: readonly ResourceRecorded[];
  readonly ledger: readonly LedgerLine[];
  /** The state with all that. */
  readonly state: State;
};

/**
 * Finds out what became of the requests that a dead run did not write down (DESIGN §5, Journal):
 *
 * | the run was about to    | is settled by                                                            |
 * |-------------------------|--------------------------------------------------------------------------|
 * | make a resource         | its id, if the answer was journaled; else natural key and creation time  |
 * | write to a resource     | reading it, and comparing it with what was intended                      |
 * | delete a resource       | a 404                                                                    |
 *
 * It writes nothing. Undefined where there is no such run. `deps` are needed only where something is open.
 */
export async function settleRun(
  entries: readonly JournalEntry[],
  { began, state, open }: Replayed,
  deps: { readonly reader: Reader; readonly world: Omit<World, 'idOf'> } | undefined,
): Promise<Settlement | undefined> {
  if (began === undefined || state === undefined) return undefined;
  const author = began.account_id === '' ? undefined : `api:${began.account_id}`;
  const settled = await Promise.all(
    open.flatMap((change) => {
      if (change.snapshot === undefined || deps === undefined) return [];
      const kind = kindNamed(change.snapshot.kind);
      const isTaken = (id: string) => isHeld(state, kind, id, change.address);
      const spare = (address: Address) => freeAddress(address, state);
      const world = { ...deps.world, idOf: () => undefined };
      return [settleOne({ change, kind, reader: deps.reader, world, author, isTaken, spare })];
    }),
  );
  const records = settled.flatMap(({ records: known }) =>
    [...known].map(([address, resource]) => ({ type: 'resource' as const, address, resource })),
  );
  return {
    run: began.run,
    entries,
    settled,
    records,
    ledger: ledgerOf(entries, settled),
    state: replay(state, records).state ?? state,
  };
}

/** The same for the plan document. */
export function findingsOf({ settled }: Settlement): readonly SettledFinding[] {
  return settled.map(({ severity, address, message }) => ({ severity, address, message }));
}

function settleOne(settling: Settling): Promise<Settled> {
  if (isMaking(settling.change)) return settleMaking(settling);
  const steps = new Set(settling.change.requests.map(({ intent }) => intent.step));
  return steps.has('delete') ? settleRemoval(settling) : settleWriting(settling);
}

function ledgerOf(
  entries: readonly JournalEntry[],
  settled: readonly Settled[],
): readonly LedgerLine[] {
  const found = new Map(settled.map((one) => [one.address, one]));
  return ledgerOfDeadRun(entries).map((line): LedgerLine => {
    const one = found.get(line.address);
    if (one === undefined) return line;
    const { isDone, id, message, history = null } = one;
    return { ...line, status: isDone ? 'done' : 'failed', id: id ?? line.id, message, history };
  });
}

function isHeld({ resources }: State, kind: Kind, id: string, by: Address): boolean {
  return Object.entries(resources).some(
    ([address, known]) => address !== by && known.kind === kind.name && known.id === id,
  );
}

/** `sms_template.reminder.replaced`, or the first of that name with a number that is free. */
export function freeAddress(address: Address, { resources }: State): Address {
  const first = `${address}.replaced`;
  for (let number = 2, spare = first; ; number += 1) {
    if (resources[spare] === undefined) return spare;
    spare = `${first}-${number}`;
  }
}

/**
 * What became of a run that died, as far as its journal knows: done where the resource was recorded,
 * failed where a request left and nothing more was written down. What it never came to is not listed.
 */
function ledgerOfDeadRun(entries: readonly JournalEntry[]): readonly LedgerLine[] {
  const intents = new Map<Address, IntentRecorded[]>();
  const recorded = new Map<Address, string | null>();
  for (const entry of entries) {
    if (entry.type === 'intent') {
      intents.set(entry.address, [...(intents.get(entry.address) ?? []), entry]);
    }
    if (entry.type === 'resource') recorded.set(entry.address, entry.resource?.id ?? null);
  }
  return [...intents].map(([address, steps]) => {
    const isDone = recorded.has(address);
    return {
      address,
      action: actionOf(steps),
      status: isDone ? 'done' : 'failed',
      id: recorded.get(address) ?? steps.at(-1)?.id ?? null,
      message: isDone ? null : 'the run died before it was known whether this took',
      fields: [...new Set(steps.flatMap(({ fields }) => fields))],
      history: null,
    };
  });
}

function actionOf(steps: readonly IntentRecorded[]): string {
  const has = (step: IntentRecorded['step']) => steps.some((one) => one.step === step);
  if (has('create')) return has('delete') ? 'replace' : 'create';
  return has('delete') ? 'delete' : 'update';
}

/**
 * A resource that was to be made. Its id stands in the journal where the answer came; otherwise it is looked
 * for by natural key and creation time. One is it; none means that it was not made; of several nobody
 * can tell, and a person must say.
 */
export async function settleMaking(settling: Settling): Promise<Settled> {
  const { address, snapshot, requests } = settling.change;
  const intended = snapshot?.intended;
  const making = requests.filter(({ intent }) => isMakingStep(intent));
  if (!intended) return unknown(settling, 'its journal does not say what it was to be');
  const told = making.findLast(({ outcome }) => outcome?.ok && outcome.id !== null)?.outcome?.id;
  if (told && settling.isTaken(told))
    return unknown(settling, `its answer named ${told}, which another resource has`);
  const ids = told ? [told] : await idsMade(settling, intended, making[0]);
  if (ids === undefined) return unknown(settling, 'there is no list to look in');
  const [id, ...others] = ids;
  if (others.length > 0) return several(address, ids);
  const live = id === undefined ? undefined : await readWhole(settling, id, intended.scope, true);
  return live === undefined ? notMade(settling) : made(settling, intended, live);
}

async function idsMade(
  { change, kind, reader, isTaken }: Settling,
  { scope, key }: Intended,
  first: RequestMade | undefined,
): Promise<readonly string[] | undefined> {
  const old = change.snapshot?.id ?? null;
  const since = first?.intent.at ?? '';
  const found = await lookFor({ kind, scope, key, since, old, isTaken }, reader.list);
  return found?.map(({ id }) => id);
}

async function made(settling: Settling, intended: Intended, live: LiveResource): Promise<Settled> {
  const { change, kind } = settling;
  const { address, snapshot, requests } = change;
  const { id } = live;
  const old = snapshot?.id ?? null;
  const before = old === id ? snapshot?.resource?.leaves : undefined;
  const found = old === id ? (snapshot?.document ?? null) : null;
  const taken = settleLeaves({ ...settling, address, requests, intended, before, found, live });
  const answered = answeredBy(settling, id);
  // What was there before says nothing of what was to take its place.
  const isFinished =
    old === id
      ? nextRequest(kind, live.record, answered) === undefined
      : isWhole(kind, live.record, answered);
  const isDone = isFinished && taken.extent === 'all';
  const { known, history } = await historyOf(settling, live, null);
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
    pin: live.extent === 'nothing' ? null : pinOf(kind, live, known),
    protect: intended.protect,
    ...(isFinished ? {} : { unfinished: answered }),
  };
  const left = await leftBehind(settling, id);
  const rest = isFinished ? restOf(taken) : '; what is missing of it is still to be done';
  return {
    address,
    id,
    isDone: isDone && left === undefined,
    severity: 'info',
    message: `was created (id ${id})${rest}${left?.message ?? ''}`,
    records: new Map<Address, ResourceState | null>([
      [address, resource],
      ...(left?.records ?? []),
    ]),
    history,
  };
}

/** The old one of a replacement, where the run did not come to delete it: it keeps an address of its own. */
async function leftBehind(settling: Settling, id: string) {
  const { change, kind, reader, spare } = settling;
  const { address, snapshot, requests } = change;
  const old = snapshot?.resource;
  const isReplaced = requests.some(({ intent }) => intent.step === 'create');
  if (!old || old.id === id || !isReplaced || kind.delete === undefined) return undefined;
  const live = await reader.read(kind, old, new Set());
  if (live === undefined) return undefined;
  const at = spare(address);
  return {
    message: `; the one before it (id ${old.id}) is still there, and is ${at} until it is deleted`,
    records: [[at, old]] as const,
  };
}

/** Nothing new is there. What a replacement was to delete first may be gone. */
async function notMade(settling: Settling): Promise<Settled> {
  const { address, snapshot, requests } = settling.change;
  if (requests.some(({ intent }) => intent.step === 'delete')) return settleRemoval(settling);
  const again = requests.findLast(({ intent }) => intent.step === 'again');
  // The platform may have had it, unknown to the state, and said so only when it was to be created.
  const id = snapshot?.id ?? again?.intent.id ?? null;
  return {
    address,
    id,
    isDone: false,
    severity: 'info',
    message: again === undefined ? 'was not created' : `was not written anew (id ${id})`,
    records: new Map(),
  };
}

function unknown({ change: { address } }: Settling, why: string): Settled {
  const message = `may have been created: ${why}. If it is there, name its id in lifecycle.adopt`;
  return { address, id: null, isDone: false, severity: 'warning', message, records: new Map() };
}

function several(address: Address, ids: readonly string[]): Settled {
  return {
    address,
    id: null,
    isDone: false,
    severity: 'warning',
    message: `may have been created: ${ids.length} live resources have its name since, ${ids.join(', ')}. Name the id of the right one in lifecycle.adopt, or delete those that are too many in the dashboard`,
    records: new Map(),
    candidates: ids,
  };
}

/** Whether a change was to make something, be it anew. */
export function isMaking({ requests }: OpenChange): boolean {
  return requests.some(({ intent }) => isMakingStep(intent));
}

export function isMakingStep({ step }: IntentRecorded): boolean {
  return step === 'create' || step === 'again';
}

/** The operations of a making that were answered, from its last beginning on: what was before that went elsewhere. */
export function answeredOf(requests: readonly RequestMade[]): readonly string[] {
  const making = requests.filter(({ intent }) => isMakingStep(intent));
  const first = making[0]?.intent.operation;
  const begun = making.findLastIndex(({ intent }) => intent.operation === first);
  return making
    .slice(Math.max(begun, 0))
    .filter(({ outcome }) => outcome?.ok === true)
    .map(({ intent }) => intent.operation);
}

/** The same of a resource, with what earlier runs had an answer to, unless it was begun from the start. */
function answeredBy({ change, kind }: Settling, id: string): readonly string[] {
  const { snapshot, requests } = change;
  const first = new Set(kind.making.map((making) => making.requests[0]?.operation));
  const isBegun = requests.some(({ intent }) => first.has(intent.operation));
  const known = isBegun || snapshot?.resource?.id !== id ? [] : snapshot.resource.unfinished;
  return [...new Set([...(known ?? []), ...answeredOf(requests)])];
}

/** Entries that are read to find those that the run made. */
const ENTRIES_READ = 20;

/** A delete is settled by a 404. */
export async function settleRemoval(settling: Settling): Promise<Settled> {
  const { change, kind, reader } = settling;
  const { address, snapshot } = change;
  const id = snapshot?.id ?? change.requests.at(-1)?.intent.id ?? '';
  const scope = snapshot?.resource?.scope ?? snapshot?.intended?.scope ?? {};
  const live = await reader.read(kind, { id, scope }, new Set());
  const common = { address, id, severity: 'info' as const };
  if (live === undefined) {
    const then = snapshot?.intended ? '; the one that takes its place was not made yet' : '';
    const message = `was deleted (id ${id})${then}`;
    return { ...common, isDone: then === '', message, records: new Map([[address, null]]) };
  }
  const message = `was not deleted (id ${id})`;
  return { ...common, isDone: false, message, records: new Map() };
}

/** Everything that changes what is there: settled by reading it. */
export async function settleWriting(settling: Settling): Promise<Settled> {
  const { change, kind } = settling;
  const { address, snapshot } = change;
  const id = snapshot?.id ?? '';
  const intended = snapshot?.intended;
  const before = snapshot?.resource ?? undefined;
  const scope = before?.scope ?? intended?.scope ?? {};
  const live = await readWhole(settling, id, scope);
  const common = { address, id, severity: 'info' as const, records: new Map() };
  if (live === undefined) return { ...common, isDone: false, message: `is gone (id ${id})` };
  if (!intended || live.extent === 'nothing') {
    const message = `cannot be read, so that nobody knows whether it was changed (id ${id})`;
    return { ...common, severity: 'warning', isDone: false, message };
  }
  const taken = settleLeaves({
    ...settling,
    ...change,
    intended,
    before: before?.leaves,
    found: snapshot?.document ?? null,
    live,
  });
  if (taken.extent === 'none' && !taken.isUnsettled)
    return { ...common, isDone: false, message: `was not changed (id ${id})` };
  const isDone = taken.extent === 'all';
  const { known, history } = await historyOf(settling, live, snapshot?.pin?.history_id ?? null);
  const resource: ResourceState = {
    kind: kind.name,
    id,
    scope: live.scope,
    name: intended.name,
    leaves: taken.leaves,
    pin: isDone ? livePin(kind, live, null, known) : (before?.pin ?? pinOf(kind, live, null)),
    protect: isDone ? intended.protect : (before?.protect ?? intended.protect),
  };
  return {
    ...common,
    isDone,
    message: `was updated${isDone ? '' : ' in part'} (id ${id})${restOf(taken)}`,
    records: new Map([[address, resource]]),
    history,
  };
}

/** What is still to do about a change that took in part, in words. */
function restOf({ extent, isUnsettled }: Taken): string {
  if (isUnsettled) return '; whether its secrets arrived is unknown, so they are written again';
  return extent === 'all' ? '' : '; what is missing is still to be done';
}

/** A resource with the facets that a change was about. */
function readWhole(
  { change, kind, reader }: Settling,
  id: string,
  scope: ResourceState['scope'],
  isUnread = false,
): Promise<LiveResource | undefined> {
  const paths = Object.keys(change.snapshot?.intended?.leaves ?? {});
  const fields = paths.flatMap((path) => parsePath(path)?.[0] ?? []);
  return readWith(reader, kind, { id, scope, isUnread }, fields);
}

/**
 * The history entry that the run made, if it can be told from those of others: it is not seen at once, and
 * what somebody wrote since is none of the run's.
 */
async function historyOf(
  { change, kind, reader, author }: Settling,
  { id }: LiveResource,
  before: number | null,
): Promise<{ readonly known: number | null; readonly history: LedgerLine['history'] }> {
  if (kind.history === undefined) return { known: null, history: null };
  const entries = await reader.history(kind, id, ENTRIES_READ);
  const newer = entries.filter((entry) => entry.id > (before ?? 0)).sort((a, b) => b.id - a.id);
  const own = newer.filter((entry) => isSigned(entry, { author, isRevert: true }));
  const [last] = own;
  // What somebody else wrote in between would be taken for the run's, too.
  const isAlone = own.length === newer.filter(({ id }) => id <= (last?.id ?? 0)).length;
  const after = isAlone && own.length <= change.requests.length ? (last?.id ?? null) : null;
  return { known: after ?? before, history: { before, after } };
}
