import type { Address } from '../core/address.ts';
import { codeSpan, quoted } from '../core/command-line.ts';
import { isBefore, mayFollow } from '../core/moment.ts';
import { formatEdit, isEdited, isWritten, type Pin } from '../core/plan-document.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { baseEntry, editsSince, findAuthor, STAMPED_TOGETHER_MS } from '../plan/drift.ts';
import type { HistoryEntry, LiveResource } from '../plan/reader.ts';
import { isSamePin } from '../plan/refresh.ts';
import {
  type Interleaved,
  type JournalEntry,
  type LedgerLine,
  listLedger,
} from '../state/journal.ts';
import type { HistoryAfter, RunDeps, Work } from './work.ts';

/**
 * Reads the history of a resource after a change, for the receipt and for the pin: the newest entry that the change
 * made, and what others wrote meanwhile. Undefined for a kind without history.
 * @param tries how often a write was sent: one whose answer was lost may have been carried out all the same
 */
export async function historyAfter(
  work: Pick<Work, 'kind' | 'deps' | 'change'>,
  live: LiveResource | undefined,
  { before, after, readAt }: Pins,
  tries: number,
): Promise<HistoryAfter | undefined> {
  const { kind, deps, change } = work;
  if (kind.history === undefined || live === undefined) return undefined;
  const steps = change.operations.map(({ step }) => step);
  // A facet may leave `updated_at` as it was, so that an entry after that time may be of an earlier run's facet.
  const isFound = before?.history_id !== null || steps.some((step) => step !== 'facet');
  const most = isFound ? tries : Number.POSITIVE_INFINITY;
  const writesIn = (entries: readonly HistoryEntry[]) =>
    ownWrites(work, { before, readAt }, most, entries);
  const isMoved = before === null || after === null || !isSamePin(before, after);
  const isExpected = isMoved && steps.some((step) => step !== 'facet' && step !== 'delete');
  const entries = await awaitHistory(deps, kind, live.id, writesIn, {
    isExpected,
    isMore: steps.filter((step) => step !== 'delete').length > 1,
  });
  const { own, interleaved } = readOwnWrites(entries, writesIn(entries));
  const base = before && baseEntry(entries, before);
  const newest = before === null ? (entries[0]?.id ?? null) : base;
  return { before: base, after: (isFound ? own : null) ?? newest, interleaved, entries };
}

/** Pins of the live resource before and after a change; null where it could not be read. */
type Pins = {
  readonly before: Pin | null;
  readonly after: Pin | null;
  /** When it was read before, by the platform's clock. */
  readonly readAt: LiveResource['readAt'];
};

/** The fields that were edited since the last run and that a change writes over, or deletes with their resource. */
export function editedFields({ fields }: Work['change']): readonly string[] {
  return fields.flatMap((field) => (isEdited(field) && isWritten(field) ? field.path : []));
}

/**
 * Finds whose edits a change undid, for the receipt. A resource that it deletes loses its history, which is therefore
 * read before.
 * @param history what was read, newest first; undefined where the kind has none
 */
export function findUndone(
  { change, recorded, deps }: Pick<Work, 'change' | 'recorded' | 'deps'>,
  found: Pin | null,
  history: readonly HistoryEntry[] | undefined,
): LedgerLine['undid'] {
  const fields = editedFields(change);
  if (fields.length === 0) return undefined;
  if (history === undefined) {
    const edit = { entry: null, actor: null, source: null, at: found?.updated_at ?? null };
    return { fields, edits: [edit] };
  }
  const { account_id: account } = deps.state;
  const author = account === undefined ? undefined : findAuthor(account);
  const before = history.filter(({ id }) => id <= (found?.history_id ?? 0));
  const { entries } = editsSince(before, recorded?.pin ?? undefined, author);
  const edits = entries.map(({ id: entry, actor, source, at }) => ({ entry, actor, source, at }));
  return { fields, edits };
}

/**
 * Tells the entries that a change made from those of others. An entry is somebody else's where another
 * author or source signed it, where it restores a version and the change restored none, or where there are
 * more of our own account than the change can have made: then another program uses the account too.
 *
 * | newer entries, oldest first | read as                                              |
 * |-----------------------------|------------------------------------------------------|
 * | ours                        | the ordinary case                                    |
 * | theirs, ours                | they wrote between the check and our write: `before` |
 * | ours, theirs                | they wrote on top of ours: `after`                   |
 * | theirs                      | ours cannot be seen (yet): taken to be `before`      |
 * | theirs without a time, ours | `before`; `unknown` where the change mends an edit   |
 * |                             | of theirs, whose entry may only have come late       |
 *
 * A write that the check had seen already is none of these: its entry only came late.
 */
export function readOwnWrites(entries: readonly HistoryEntry[], writes: OwnWrites): HistoryReading {
  const newer = entries.filter(({ id }) => id > writes.than).sort((a, b) => a.id - b.id);
  const signed = newer.filter((entry) => isSigned(entry, writes));
  // Without times, one that is too many may as well be a late one of an earlier run.
  const isDated = writes.author !== undefined && signed.every(({ at }) => at !== null);
  const fresh = signed.filter(({ at }) => !isBefore(at, writes.checkedAt, STAMPED_TOGETHER_MS));
  const surplus = isDated ? fresh.slice(0, Math.max(0, fresh.length - writes.most)) : [];
  const own = signed.filter((entry) => !surplus.includes(entry)).at(-1)?.id ?? null;
  const others = newer.filter((entry) =>
    signed.includes(entry) ? surplus.includes(entry) : !isBefore(entry.at, writes.checkedAt, 0),
  );
  return { own, interleaved: others.map((entry) => interleavedEntry(entry, own, writes)) };
}

/** Returns true if the change may have made the entry. */
export function isSigned(
  { actor, source, action }: HistoryEntry,
  { author, isRevert }: Pick<OwnWrites, 'author' | 'isRevert'>,
): boolean {
  if (author === undefined) return true;
  const isActor = actor === null || actor === author;
  const isSource = source === null || source === API_SOURCE;
  return isActor && isSource && (action !== 'reverted' || isRevert);
}

/**
 * A run's journal with what it did not ask for: which entries its writes made, which was the newest before, and what
 * others wrote in between. A write is found by its author and by the `updated_at` that it was read back with; where
 * entries have no times, or the entry is gone, its line stays as it is.
 *
 * @param author how the run's changes are signed, `api:<account>`
 * @param readHistory the newest entries of a resource, newest first
 * @param isLast whether no run of the stack came after it
 */
export async function locateWrites(
  entries: readonly JournalEntry[],
  author: string,
  readHistory: (kind: Kind, id: string) => Promise<readonly HistoryEntry[]>,
  isLast = false,
): Promise<readonly JournalEntry[]> {
  const written = Map.groupBy(entries, (entry) => ('address' in entry ? entry.address : undefined));
  const located = new Map<Address, Located>();
  await Promise.all(
    [...written].map(async ([address, own]) => {
      const found = await locateWrite(own, author, readHistory, isLast);
      if (found !== undefined) located.set(address ?? '', found);
    }),
  );
  if (located.size === 0) return entries;
  return entries.map((entry) => {
    if (entry.type === 'ended') {
      const known = (line: LedgerLine) =>
        line.history === null ? { ...line, ...located.get(line.address) } : line;
      return { ...entry, ledger: entry.ledger.map(known) };
    }
    const found = entry.type === 'snapshot' ? located.get(entry.address) : undefined;
    if (entry.type !== 'snapshot' || entry.pin === null || found === undefined) return entry;
    return { ...entry, pin: { ...entry.pin, history_id: found.history.before } };
  });
}

/** The journal of a run, as far as it is of one resource. */
type Written = { readonly run: string; readonly entries: readonly JournalEntry[] };

/** A run that may have made an entry. */
type Claim = {
  readonly run: string;
  /** The newest entry that was there before; null where that is unknown. */
  readonly before: number | null;
  readonly isRevert: boolean;
  /** True if it moved `updated_at`. */
  readonly isStamped: boolean;
  /** True if an entry of this time may be its own. */
  readonly mayBeAt: (at: string | null) => boolean;
  /** Entries that its requests make, by `READINGS`. */
  readonly counts: readonly number[];
};

/**
 * How many entries a run may have made, the likeliest first: a facet may make one, and an update that left the resource
 * as it was may make none.
 */
const READINGS = [
  { hasFacets: false, hasIdle: false },
  { hasFacets: true, hasIdle: false },
  { hasFacets: false, hasIdle: true },
  { hasFacets: true, hasIdle: true },
] as const;

/**
 * Returns the run that made an entry of a history; undefined where none did, or where the times do not show which: in
 * whole seconds several may have written at once. Then all of these have made all entries of that time, each run its
 * own in their order. Entries without times are assigned to runs by that order alone, from the last run on that came to
 * see an entry of its own: a run of a facet does not wait for one. A run that left `updated_at` as it was, as one of a
 * facet may, made its entries at any time up to the next write that moved it.
 *
 * @param runs those that wrote to the resource, the newest first
 * @param author how runs are signed, `api:<account>`
 */
export async function findWriter(
  runs: Iterable<Written> | AsyncIterable<Written>,
  entry: HistoryEntry,
  history: readonly HistoryEntry[],
  author: string,
): Promise<string | undefined> {
  const own = history.filter((one) => isSigned(one, { author, isRevert: true }));
  const claims: Claim[] = [];
  let since = 0;
  // The earliest time that tells anything of the entry, and that of the write after a run.
  let from = entry.at;
  let next: string | null = null;
  for await (const { run, entries } of runs) {
    const { before = null, after: known = null } =
      listLedger(entries).find((line) => line.history !== null)?.history ?? {};
    // One that saw none of its own knows what was there before.
    if (known === entry.id && known !== before) return run;
    const requests = entries.filter((one) => one.type === 'intent');
    if (requests.length === 0) continue;
    const found = entries.find((one) => one.type === 'snapshot')?.pin ?? null;
    const left = entries.findLast((one) => one.type === 'resource')?.resource?.pin ?? null;
    const updated = left?.updated_at ?? null;
    const facets = requests.filter(({ step }) => step === 'facet').length;
    const isStamped = found === null || isBefore(found?.updated_at ?? null, updated, 0);
    if (!isStamped && isBefore(updated, from, 0)) from = updated;
    if (isBefore(updated, from, -2 * STAMPED_TOGETHER_MS)) break;
    const isOlder = known !== null && known < entry.id;
    // An entry that it did not see when it looked may have come late; one that it saw may be gone by now.
    const kept = own.filter(({ id }) => known !== null && id > (before ?? 0) && id <= known);
    const seen = isOlder && known !== before ? Math.max(1, kept.length) : 0;
    const isIdle = found !== null && left !== null && isSamePin(found, left);
    const counts = READINGS.map(({ hasFacets, hasIdle }) => {
      const updates = isIdle && !hasIdle ? 0 : requests.length - facets;
      return Math.max(0, updates + (hasFacets ? facets : 0) - seen);
    });
    if (isOlder && (entry.at === null || seen > 0)) since = known;
    const until = next;
    const mayBeAt = (at: string | null) =>
      isStamped
        ? mayFollow(at, updated, STAMPED_TOGETHER_MS)
        : !isBefore(at, updated, 0) && !isBefore(until, at, -STAMPED_TOGETHER_MS);
    const isRevert = requests.some(({ step }) => step === 'revert');
    if (counts.some((count) => count > 0))
      claims.push({ run, before, isRevert, isStamped, mayBeAt, counts });
    // A run that sees its own entry sees all that came before it.
    if (seen > 0) break;
    // One that knows what was there before made what came since, with the runs after it.
    if (before !== null && before < entry.id) {
      const { maker } = findClaimants(entry, own, claims, before, author);
      if (maker !== undefined) return maker.run;
    }
    if (isStamped) next = updated;
  }
  const among = findClaimants(entry, own, claims, since, author);
  const [first] = among.claims;
  if (among.claims.length === 1 && first?.isStamped === true && entry.at !== null) return first.run;
  return among.maker?.run;
}

/** The runs that may have made an entry or one beside it, with the one that did where they made as many as there are. */
function findClaimants(
  entry: HistoryEntry,
  own: readonly HistoryEntry[],
  claims: readonly Claim[],
  since: number,
  author: string,
): { readonly claims: readonly Claim[]; readonly maker: Claim | undefined } {
  const mayMake = ({ before, isRevert, mayBeAt }: Claim, one: HistoryEntry) =>
    isSigned(one, { author, isRevert }) &&
    one.id > Math.max(before ?? 0, since) &&
    (entry.at === null || mayBeAt(one.at));
  let among = claims.filter((claim) => mayMake(claim, entry));
  let made: readonly HistoryEntry[] = [];
  for (let size = 0; among.length > size; ) {
    size = among.length;
    made = own.filter((one) => among.some((claim) => mayMake(claim, one)));
    among = claims.filter((claim) => made.some((one) => mayMake(claim, one)));
  }
  const at = made.toSorted((one, other) => other.id - one.id).indexOf(entry);
  const makers = READINGS.map((_, reading) =>
    among.flatMap((claim) => Array.from({ length: claim.counts[reading] ?? 0 }, () => claim)),
  ).find(({ length }) => length === made.length);
  const maker = makers?.[at];
  return { claims: among, maker: maker && mayMake(maker, entry) ? maker : undefined };
}

type Located = {
  readonly history: NonNullable<LedgerLine['history']>;
  readonly interleaved?: readonly Interleaved[];
};

/** @param own what the journal has of the resource */
async function locateWrite(
  own: readonly JournalEntry[],
  author: string,
  readHistory: (kind: Kind, id: string) => Promise<readonly HistoryEntry[]>,
  isLast: boolean,
): Promise<Located | undefined> {
  const snapshot = own.find((entry) => entry.type === 'snapshot');
  const left = own.findLast((entry) => entry.type === 'resource')?.resource;
  const id = left?.id ?? snapshot?.id ?? null;
  const kind = snapshot && kindNamed(snapshot.kind);
  // The base is known already if the plan read the history.
  if (kind?.history === undefined || id === null || snapshot?.pin?.history_id) return undefined;
  const history = await readHistory(kind, id);
  const isMade = snapshot?.id !== id;
  const updated = left?.pin?.updated_at ?? null;
  const found = snapshot?.pin ?? undefined;
  const requests = own.filter((entry) => entry.type === 'intent');
  const isRevert = requests.some(({ step }) => step === 'revert');
  // A facet that was written last may have stamped the resource after the entry that the run made.
  const isFacetLast =
    requests.at(-1)?.step === 'facet' && requests.some(({ step }) => step !== 'facet');
  const since = isFacetLast ? (found?.updated_at ?? null) : null;
  const isOwn = (entry: HistoryEntry) =>
    updated !== null &&
    entry.at !== null &&
    isSigned(entry, { author, isRevert }) &&
    (since === null
      ? mayFollow(entry.at, updated, STAMPED_TOGETHER_MS)
      : isBefore(since, entry.at, 0) && isBefore(entry.at, updated, STAMPED_TOGETHER_MS));
  // A change without an entry, as of a facet, has no entry at its time but the run's own.
  const isMoved = isBefore(found?.updated_at ?? null, updated, 0);
  const earlier = isMoved
    ? history.filter(
        (entry) => entry.at === null || (isBefore(entry.at, updated, 0) && !isOwn(entry)),
      )
    : history;
  const before = isMade ? null : baseEntry(earlier, found);
  const signed = history.filter((entry) => entry.id > (before ?? 0) && isOwn(entry));
  // The first: a later one may be of the run after it. Where the run before wrote in the same second, the first is its.
  const last = isMoved || !isLast ? signed.at(-1) : signed[0];
  if (last === undefined) return before === null ? undefined : { history: { before, after: null } };
  const after = last.id;
  if (before === null && !isMade) return { history: { before, after } };
  const { interleaved } = readOwnWrites(
    history.filter((entry) => entry.id <= after),
    {
      author,
      than: before ?? 0,
      most: requests.length,
      isRevert,
      checkedAt: isMade ? null : (found?.updated_at ?? null),
      isEditKnown: false,
    },
  );
  return { history: { before, after }, ...(interleaved.length === 0 ? {} : { interleaved }) };
}

/** Describes the writes of others. */
export function interleavedMessage(
  address: string,
  found: readonly Interleaved[],
): string | undefined {
  const [before, after, unknown] = (['before', 'after', 'unknown'] as const).map((order) =>
    found.filter((one) => one.order === order),
  );
  const parts = [
    ...(before?.length
      ? [
          `somebody else edited it between the check and this write (${before.map(who).join(', ')}), and this run overwrote the fields that both set`,
        ]
      : []),
    ...(unknown?.length
      ? [
          `its history has an edit without a time, made before or during this write: ${unknown.map(who).join(', ')}`,
        ]
      : []),
    ...(after?.length
      ? [`it was edited again right after this write: ${after.map(who).join(', ')}`]
      : []),
  ];
  if (parts.length === 0) return undefined;
  return `${parts.join('; ')} (${codeSpan(`callsheet history ${quoted(address)}`)})`;
}

/** The entries that a change can have left in a history, and what it knew of the resource right before. */
export type OwnWrites = {
  /** How changes through the API are signed, `api:<account>`; undefined while the account is unknown. */
  readonly author: string | undefined;
  /** The newest entry that was there before; 0 where there was none. */
  readonly than: number;
  /** Entries that the change makes at most. */
  readonly most: number;
  /** True if it restores an entry. */
  readonly isRevert: boolean;
  /** A time that the last look before the first write did not come before. */
  readonly checkedAt: string | null;
  /** True if somebody else's edit was known then, whose entry may only come now. */
  readonly isEditKnown: boolean;
};

type HistoryReading = {
  /** The newest entry that the change made; null where none can be seen. */
  readonly own: number | null;
  readonly interleaved: readonly Interleaved[];
};

/** History entries appear "within a few seconds" (revert rule 5); the receipt waits no longer than this. */
const LONGEST_WAIT_MS = 5_000;

const FIRST_WAIT_MS = 50;

/** Entries that are read to tell our own from those of others, and whose edits a change undid. */
export const ENTRIES_AFTER = 20;

function ownWrites(
  { change, deps }: Pick<Work, 'change' | 'deps'>,
  { before, readAt }: Pick<Pins, 'before' | 'readAt'>,
  most: number,
  entries: readonly HistoryEntry[],
): OwnWrites {
  const { account_id: account } = deps.state;
  const base = before && baseEntry(entries, before);
  const isRevert = change.operations.some(({ step }) => step === 'revert');
  return {
    // If no history was visible before, none of its entries is known to be new.
    author: account === undefined || (before && base === null) ? undefined : findAuthor(account),
    than: base ?? 0,
    most,
    isRevert,
    checkedAt: timeOfCheck(before, readAt),
    isEditKnown: change.fields.some(isEdited),
  };
}

/**
 * A time that the check is not before: what was live had its `updated_at` by then, and the platform's clock had come to
 * `readAt`. The second is the later one where a write makes an entry and leaves `updated_at` as it was, as that of a
 * facet may. The platform gives it in whole seconds, so that as much is left aside.
 */
function timeOfCheck(before: Pin | null, readAt: number | undefined): string | null {
  const updated = before?.updated_at ?? null;
  if (before === null || readAt === undefined) return updated;
  const read = new Date(readAt - 2 * STAMPED_TOGETHER_MS).toISOString();
  return updated === null || isBefore(updated, read, 0) ? read : updated;
}

type Awaited = {
  /** True if the change must have made an entry. */
  readonly isExpected: boolean;
  /** True if more than one entry may appear; they need not. */
  readonly isMore: boolean;
};

/** The newest entries, once one of our own is among them; those there are when none appears in time. */
async function awaitHistory(
  { reader, sleep }: Pick<RunDeps, 'reader' | 'sleep'>,
  kind: Kind,
  id: string,
  writesIn: (entries: readonly HistoryEntry[]) => OwnWrites,
  { isExpected, isMore }: Awaited,
): Promise<readonly HistoryEntry[]> {
  const read = () => reader.history(kind, id, ENTRIES_AFTER);
  let entries = await read();
  if (!isExpected) return entries;
  // An entry of somebody else may appear first, and says nothing of ours.
  const isThere = () => {
    const writes = writesIn(entries);
    return entries.some((one) => one.id > writes.than && isSigned(one, writes));
  };
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; !isThere() && waited + wait <= LONGEST_WAIT_MS; wait *= 2) {
    await sleep(wait);
    waited += wait;
    entries = await read();
  }
  if (!isMore || !isThere()) return entries;
  // Entries that were made together appear together, but for a moment.
  await sleep(FIRST_WAIT_MS);
  return read();
}

/** The source of changes through the API (Agent history entry). */
const API_SOURCE = 'dashboard-api';

function interleavedEntry(
  { id, action, actor, source, at }: HistoryEntry,
  own: number | null,
  { isEditKnown }: Pick<OwnWrites, 'isEditKnown'>,
): Interleaved {
  const isUncertain = at === null && isEditKnown;
  return {
    entry: id,
    action,
    actor,
    source,
    at,
    order: own !== null && id > own ? 'after' : isUncertain ? 'unknown' : 'before',
  };
}

function who(edit: Interleaved): string {
  return `${formatEdit(edit)} (history entry ${edit.entry})`;
}
