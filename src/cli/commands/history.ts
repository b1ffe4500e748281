import { isSigned, locateWrites } from '../../apply/history.ts';
import type { Context } from '../../console/context.ts';
import { type ReadFlags, show, stampDocument } from '../../console/show.ts';
import { computeDigest } from '../../core/digest.ts';
import type { Read } from '../../core/documents.generated.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { parsePath } from '../../core/path.ts';
import { contextAt, mask, maskAt, sensitivity } from '../../core/redact.ts';
import type { Json, JsonObject } from '../../core/value.ts';
import { isRecorded } from '../../core/walk.ts';
import { digestOfApplied } from '../../diff/applied.ts';
import { listLeaves, normalise } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { listIn } from '../../kinds/making.ts';
import { createReader, historyEntry, isYoung } from '../../live/reader.ts';
import { findAuthor, isAhead } from '../../plan/drift.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import {
  HISTORY_FIELDS,
  renderHistoryText,
  renderVersionDiffText,
  type VersionField,
} from '../../render/read/records.ts';
import { type PlatformSession, withPlatform } from '../../run/platform-session.ts';
import { openStore } from '../../run/session.ts';
import {
  findBegan,
  type JournalEntry,
  type LedgerLine,
  listLedger,
  type RunBegan,
  type SnapshotTaken,
} from '../../state/journal.ts';
import type { AppliedLeaf } from '../../state/model.ts';
import { type Found, findAgent, onPlatform, type ScopeFlags } from '../read/find.ts';
import { readReceipts } from '../state/edit.ts';

export type HistoryFlags = ReadFlags &
  ScopeFlags & {
    readonly limit: number;
    /** Ids of the two versions that are compared. */
    readonly diff?: readonly string[];
  };

/** `callsheet history AGENT`: the versions of an agent, who made them and from where, or how two differ. */
export async function history(
  wanted: string,
  flags: HistoryFlags,
  context: Context,
): Promise<ExitCode> {
  const compared = comparedIn(flags);
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    await (compared === undefined
      ? showVersions(agent, flags, session, context)
      : showDiff(agent, compared, flags, session, context));
    return EXIT.done;
  });
}

/** No schema says what a history entry has. */
const UNKNOWN = {};

/** The versions of an agent, and in which run Callsheet made those that it made. */
async function showVersions(
  agent: Found,
  flags: Pick<HistoryFlags, 'limit' | 'format'>,
  session: PlatformSession,
  context: Context,
): Promise<void> {
  const { records, entries } = await readVersions(agent, flags.limit, session);
  const marks = markEntries(entries, await readOwnReceipts(agent.id, entries, session, context));
  const runs = new Map(marks.map(({ entry, run }) => [entry, run]));
  const data = records.map((record) => mask(UNKNOWN, record));
  const marked = data.map((entry) => ({ ...entry, run: runs.get(Number(entry.id)) ?? null }));
  show(
    flags,
    stampDocument('callsheet-history', { agent_id: agent.id, data, runs: marks }),
    (to) => renderHistoryText(agent.label, marked, to),
    context,
    { columns: HISTORY_FIELDS, records: marked },
  );
}

/** Versions of an agent, newest first. */
export type Listed = {
  /** As the platform returned them. */
  readonly records: readonly JsonObject[];
  readonly entries: readonly HistoryEntry[];
};

/** The newest versions of an agent, as many as are asked for. */
async function readVersions(
  agent: Found,
  limit: number,
  { client }: Pick<PlatformSession, 'client'>,
): Promise<Listed> {
  const call = kindNamed('agent').history?.list(agent.id, limit);
  if (call === undefined) throw new Error('agents have a history');
  const answer = await onPlatform('agent', agent, () => client.call(call));
  const records = listIn(answer).toSorted((a, b) => Number(b.id) - Number(a.id));
  // One without an id is shown; nothing is known of it.
  const known = records.filter(({ id }) => typeof id === 'number');
  return { records, entries: known.map((record) => historyEntry(call, record)) };
}

/** The most that a list gives (Limits). */
const MOST = 100;

type Compared = readonly [number, number];

/** The versions that `--diff` names. Throws `CallsheetError('usage')` where they are none. */
function comparedIn({ diff, format }: HistoryFlags): Compared | undefined {
  if (diff === undefined) return undefined;
  const [one = 0, other = 0] = diff.map((text) => (/^[1-9]\d*$/.test(text) ? Number(text) : 0));
  if (diff.length !== 2 || one === 0 || other === 0) {
    throw new CallsheetError('usage', '--diff takes the ids of two versions', {
      hint: 'The first column of `callsheet history AGENT` shows them: --diff 41 43',
    });
  }
  if (format !== 'csv') return [one, other];
  throw new CallsheetError('usage', '--diff is shown as text or JSON, not as CSV');
}

/** How two versions of an agent differ, as far as Callsheet has copies of them. */
async function showDiff(
  agent: Found,
  [one, other]: Compared,
  flags: Pick<HistoryFlags, 'format'>,
  session: PlatformSession,
  context: Context,
): Promise<void> {
  const kind = kindNamed('agent');
  const { live, entries } = await readLive(agent, session, context);
  const receipts = await readOwnReceipts(agent.id, entries, session, context);
  const known = knownVersions(kind, entries, receipts, live);
  const called = (id: number) => versionCalled(id, agent.label, entries, known);
  const [from, to] = [called(one), called(other)];
  const fields = compareVersions(kind, from, to, known.values());
  const told = ({ entry, from, isPartial: partial }: Version) => ({ entry, from, partial });
  const [before, after] = [told(from), told(to)];
  show(
    flags,
    stampDocument('callsheet-history-diff', { agent_id: agent.id, before, after, fields }),
    (options) => renderVersionDiffText(agent.label, [before, after], fields, options),
    context,
  );
}

/** The history, and what is live where it belongs to the newest entry for sure. */
async function readLive(
  agent: Found,
  session: PlatformSession,
  { now }: Pick<Context, 'now'>,
): Promise<Pick<Listed, 'entries'> & { readonly live: Live | undefined }> {
  const { client } = session;
  const earlier = await readVersions(agent, 2, session);
  const kind = kindNamed('agent');
  const found = await createReader(client).read(kind, { id: agent.id, scope: {} }, new Set());
  const { entries } = await readVersions(agent, MOST, session);
  const [newest] = entries;
  const updated = found?.record.updated_at;
  const isAwaited =
    typeof updated === 'string' && isYoung(updated, { now }) && isAhead(updated, entries);
  const isSettled = newest !== undefined && newest.id === earlier.entries[0]?.id && !isAwaited;
  const live =
    found && isSettled && found.extent === 'whole'
      ? { entry: newest.id, document: found.document }
      : undefined;
  return { live, entries };
}

/** A setting as far as it is known: of a long one that a run wrote a receipt keeps the digest. */
type Setting = { readonly value: Json } | { readonly digest: string } | { readonly unknown: true };

/** Recorded settings by their paths; those without a value are not among them. */
type Settings = ReadonlyMap<string, Setting>;

/** What Callsheet knows of a version. The platform tells nobody what settings a version had. */
type Version = {
  readonly entry: number;
  readonly settings: Settings;
  /** Whether these are not all: of what a run made, only what it configured is known. */
  readonly isPartial: boolean;
  /** Where that is known from, for people: `before run …`. */
  readonly from: string;
};

/** What is live, and the entry that it belongs to. */
type Live = { readonly entry: number; readonly document: JsonObject };

/**
 * The versions whose settings are known, by their entries:
 *
 * | version                        | known from                                            |
 * |--------------------------------|-------------------------------------------------------|
 * | newest now                     | what is live                                          |
 * | newest before a run            | the copy that the run took before it wrote            |
 * | newest that a run made         | that copy and what the run changed, read back         |
 * | the first, which a run made    | what the run configured, read back                    |
 * | a revert, or what it restored  | the other one of the two                              |
 *
 * Only settings that history records belong to a version: others change without one.
 */
export function knownVersions(
  kind: Kind,
  entries: readonly HistoryEntry[],
  receipts: readonly Receipt[],
  live: Live | undefined,
): ReadonlyMap<number, Version> {
  const known = new Map<number, Version>();
  const learn = (version: Version | undefined) => {
    if (version !== undefined && !known.has(version.entry)) known.set(version.entry, version);
  };
  if (live) {
    const settings = listSettings(kind, live.document);
    learn({ entry: live.entry, settings, isPartial: false, from: 'live now' });
  }
  for (const receipt of receipts) learn(before(kind, receipt, entries));
  for (const receipt of receipts) learn(after(kind, receipt, entries));
  for (let size = -1; size < known.size; ) {
    size = known.size;
    for (const { id, reverted_from_id: from } of entries) {
      if (from === null) continue;
      learn(equalTo(known.get(from), id, `restored from ${from}`));
      learn(equalTo(known.get(id), from, `restored as ${id}`));
    }
  }
  return known;
}

function equalTo(known: Version | undefined, entry: number, from: string): Version | undefined {
  return known && { ...known, entry, from };
}

/** The version that a run found. */
function before(
  kind: Kind,
  { began, entries }: Receipt,
  history: readonly HistoryEntry[],
): Version | undefined {
  const snapshot = entries.find((entry) => entry.type === 'snapshot');
  const entry = snapshot?.pin?.history_id ?? null;
  if (snapshot === undefined || snapshot.document === null || entry === null) return undefined;
  if (isNewer(snapshot, entry, history)) return undefined;
  const withheld = snapshot.withheld.filter((text) => isRecordedText(kind, text));
  const settings = new Map([
    ...listSettings(kind, snapshot.document),
    ...withheld.map((text) => [text, { unknown: true }] as const),
  ]);
  return { entry, settings, isPartial: false, from: `before run ${began.run}` };
}

/** Whether a copy holds an edit already whose entry had not appeared when the run looked. */
function isNewer({ pin }: SnapshotTaken, entry: number, history: readonly HistoryEntry[]): boolean {
  const updated = pin?.updated_at ?? null;
  if (updated === null) return false;
  return history.some(
    ({ id, at }) => id > entry && at !== null && Date.parse(at) <= Date.parse(updated),
  );
}

/** The version that a run left or made, where nobody else wrote meanwhile. */
function after(
  kind: Kind,
  receipt: Receipt,
  history: readonly HistoryEntry[],
): Version | undefined {
  const line = listLedger(receipt.entries).find(({ status }) => status === 'done');
  const written = receipt.entries.findLast((one) => one.type === 'resource')?.resource;
  const entry = line?.history?.after ?? null;
  if (!line || !written || entry === null || line.interleaved?.length) return undefined;
  const { run } = receipt.began;
  const { leaves } = written;
  if (line.action === 'create') {
    // The platform may have filled in what was not sent.
    const settings = changed(kind, new Map(), { fields: Object.keys(leaves) }, leaves);
    return { entry, settings, isPartial: true, from: `made by run ${run}` };
  }
  const found = before(kind, receipt, history);
  if (!found || entry === found.entry) return undefined;
  const settings = changed(kind, found.settings, line, leaves);
  return { entry, settings, isPartial: false, from: `after run ${run}` };
}

function changed(
  kind: Kind,
  found: Settings,
  { fields }: Pick<LedgerLine, 'fields'>,
  leaves: Readonly<Record<string, AppliedLeaf>>,
): Settings {
  const settings = new Map(found);
  for (const text of fields.filter((one) => isRecordedText(kind, one))) {
    const leaf = leaves[text];
    if (leaf !== undefined && 'value' in leaf && leaf.value === null) settings.delete(text);
    else settings.set(text, settingFrom(leaf));
  }
  return settings;
}

/** What is no longer configured was cleared or left as it was: a receipt does not say which. */
function settingFrom(leaf: AppliedLeaf | undefined): Setting {
  return leaf !== undefined && ('value' in leaf || 'digest' in leaf) ? leaf : { unknown: true };
}

function listSettings(kind: Kind, document: JsonObject): Settings {
  const { leaves } = listLeaves(kind.schema, document);
  return new Map(
    [...leaves.values()].flatMap(({ text, path, schema, value }) => {
      if (!isRecorded(kind.schema, path)) return [];
      const normal = normalise(schema, value);
      return normal === null ? [] : [[text, { value: normal }] as const];
    }),
  );
}

function isRecordedText({ schema }: Kind, text: string): boolean {
  return isRecorded(schema, parsePath(text) ?? [text]);
}

/** Long values that one version has as a digest and another one whole, by their digests. */
function valuesByDigest(versions: Iterable<Version>): ReadonlyMap<string, Json> {
  const values = new Map<string, Json>();
  for (const { settings } of versions) {
    for (const setting of settings.values()) {
      if ('value' in setting && typeof setting.value === 'string') {
        values.set(computeDigest(setting.value), setting.value);
      }
    }
  }
  return values;
}

/** The recorded settings in which two known versions differ, masked. */
function compareVersions(
  kind: Kind,
  one: Version,
  other: Version,
  known: Iterable<Version>,
): readonly VersionField[] {
  const values = valuesByDigest(known);
  const whole = (setting: Setting | undefined): Setting => {
    if (setting === undefined) return { value: null };
    const value = 'digest' in setting ? values.get(setting.digest) : undefined;
    return value === undefined ? setting : { value };
  };
  const paths = [...new Set([...one.settings.keys(), ...other.settings.keys()])]
    .filter((path) => [one, other].every((of) => !of.isPartial || of.settings.has(path)))
    .sort();
  return paths.flatMap((path) => {
    const [before, after] = [whole(one.settings.get(path)), whole(other.settings.get(path))];
    return isSame(before, after) ? [] : [buildField(kind, path, before, after)];
  });
}

function isSame(before: Setting, after: Setting): boolean {
  const digest = digestOfApplied(before);
  return digest !== undefined && digest === digestOfApplied(after);
}

function buildField(kind: Kind, path: string, before: Setting, after: Setting): VersionField {
  const at = parsePath(path) ?? [path];
  const field = contextAt(kind.schema, at);
  const shown = (setting: Setting): Json =>
    'value' in setting ? maskAt(kind.schema, at, setting.value) : null;
  const secret = [before, after].some(
    (setting) => 'value' in setting && sensitivity(field, setting.value) === 'whole',
  );
  const isUnknown = 'unknown' in before || 'unknown' in after;
  return {
    path,
    before: shown(before),
    after: shown(after),
    secret,
    differs: isUnknown ? null : true,
    kept: { before: 'value' in before, after: 'value' in after },
  };
}

/** The version that somebody means. Throws where nothing is known of its settings, with what is known. */
function versionCalled(
  id: number,
  label: string,
  entries: readonly HistoryEntry[],
  known: ReadonlyMap<number, Version>,
): Version {
  const found = known.get(id);
  if (found !== undefined) return found;
  const isThere = entries.some((entry) => entry.id === id);
  const message = isThere
    ? `the platform does not return the settings of a version, and Callsheet has no copy of version ${id} of ${label}`
    : `${label} has no version ${id} in its history`;
  throw new CallsheetError('usage', message, { hint: knownWords(known) });
}

function knownWords(known: ReadonlyMap<number, Version>): string {
  if (known.size < 2) {
    return 'Copies come from the runs of the stack (`callsheet runs`), and no run has a copy of this agent.';
  }
  const lines = [...known.values()]
    .sort((a, b) => b.entry - a.entry)
    .map(({ entry, from }) => `  ${entry}  ${from}`);
  return ['These versions can be compared, by their id:', ...lines].join('\n');
}

/** A history entry that Callsheet made. */
type Mark = NonNullable<Read.History['runs']>[number];

/**
 * Which entries runs made, as their receipts say: those between the newest entry before a change and the
 * newest of its own, but for those that others made meanwhile.
 */
export function markEntries(
  entries: readonly HistoryEntry[],
  receipts: readonly Receipt[],
): readonly Mark[] {
  const marks = new Map<number, Mark>();
  for (const receipt of receipts) {
    for (const { id } of entries.filter((entry) => isMadeBy(entry, receipt))) {
      if (!marks.has(id)) marks.set(id, getMark(id, receipt));
    }
  }
  return [...marks.values()].sort((a, b) => b.entry - a.entry);
}

function isMadeBy(entry: HistoryEntry, receipt: Receipt): boolean {
  const { began, entries } = receipt;
  const isRevert = entries.some((one) => one.type === 'intent' && one.step === 'revert');
  const author = findAuthor(began.account_id);
  return listLedger(entries).some(
    (line) => isInside(entry.id, line) && isSigned(entry, { author, isRevert }),
  );
}

function isInside(id: number, { action, history, interleaved = [] }: LedgerLine): boolean {
  if (history?.after == null || id > history.after) return false;
  if (interleaved.some(({ entry }) => entry === id)) return false;
  if (history.before !== null) return id > history.before;
  // Without an entry from before, only what was made has all its entries from the run.
  return action === 'create' || action === 'replace' || id === history.after;
}

function getMark(entry: number, { began }: Receipt): Mark {
  const { run, purpose, undoes = null, at, actor } = began;
  return { entry, run, purpose, undoes, at, user: actor.user, commit: actor.commit };
}

/** What one run wrote down of one resource. */
export type Receipt = {
  readonly began: RunBegan;
  /** Entries of the journal that are about the resource. */
  readonly entries: readonly JournalEntry[];
};

/** A history that goes back further than this many runs is not marked to its end. */
const MOST_RUNS = 500;

/**
 * Receipts of the runs that touched a resource, newest first, with where they stand in its history. None where the folder has no stack.
 */
async function readOwnReceipts(
  id: string,
  history: readonly HistoryEntry[],
  { settings }: Pick<PlatformSession, 'settings'>,
  context: Context,
): Promise<readonly Receipt[]> {
  if (settings === undefined) return [];
  const store = openStore(settings, context);
  try {
    const receipts: Receipt[] = [];
    for await (const { entries: journal = [] } of readReceipts(store, MOST_RUNS)) {
      const receipt = findReceipt(journal, id);
      if (receipt === undefined) continue;
      const author = findAuthor(receipt.began.account_id);
      const entries = await locateWrites(receipt.entries, author, async () => history);
      receipts.push({ ...receipt, entries });
    }
    return receipts;
  } finally {
    await store.close();
  }
}

/** The part of a journal that is about one resource, whatever it was called then. */
function findReceipt(journal: readonly JournalEntry[], id: string): Receipt | undefined {
  const began = findBegan(journal);
  const addresses = new Set(journal.flatMap((entry) => addressesIn(entry, id)));
  if (began === undefined || addresses.size === 0) return undefined;
  const isAbout = (address: string) => addresses.has(address);
  const entries = journal.flatMap((entry): readonly JournalEntry[] => {
    if (entry.type === 'ended') {
      return [{ ...entry, ledger: entry.ledger.filter(({ address }) => isAbout(address)) }];
    }
    return 'address' in entry && isAbout(entry.address) ? [entry] : [];
  });
  return { began, entries };
}

function addressesIn(entry: JournalEntry, id: string): readonly string[] {
  if (entry.type === 'ended') {
    return entry.ledger.filter((line) => line.id === id).map(({ address }) => address);
  }
  return entry.type === 'snapshot' && entry.id === id ? [entry.address] : [];
}
