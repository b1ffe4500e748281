import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isSigned } from '../apply/history.ts';
import type { Address } from '../core/address.ts';
import { MASK } from '../core/credentials.ts';
import { computeDigest } from '../core/digest.ts';
import type { Log } from '../core/documents.generated.ts';
import { overlaps, startsWith, toPath } from '../core/path.ts';
import { maskAt } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import { getOwn, isSameJson, type Json, type ValueObject } from '../core/value.ts';
import { schemaAt, valueAt } from '../core/walk.ts';
import { listLeaves, normalise } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { findAuthor } from '../plan/drift.ts';
import type { HistoryEntry } from '../plan/reader.ts';
import type { StackSettings } from '../stack/index.ts';
import { MovedAway } from '../state/failures.ts';
import {
  findBegan,
  findEnded,
  type JournalEntry,
  type LedgerLine,
  ledgerOfDeadRun,
  listLedger,
  type RunBegan,
  type SnapshotTaken,
} from '../state/journal.ts';
import { type AppliedLeaf, isConcealed, type ResourceState, type State } from '../state/model.ts';
import { replay } from '../state/replay.ts';
import { beganAt, countOutcomes, isDamage, summarise } from '../state/runs.ts';
import type { RunSummary, StateStore } from '../state/store.ts';
import type { RunContext } from './context.ts';
import { openStore } from './session.ts';

/** The journals of a stack, and what they say of its resources. */

/** The journal of a run; without entries where it cannot be read, as a damaged receipt hides no other. */
export type Journal = { readonly run: string; readonly entries?: readonly JournalEntry[] };

/** Runs of a stack: those of its own state, one that has not committed, and those of other states that it was given. */
export type Receipts = {
  /** Newest first; every receipt is read for it. */
  readonly list: () => Promise<readonly RunSummary[]>;
  /**
   * Journals by the time at which their runs began, newest first, each read when its turn comes.
   *
   * @param since milliseconds since the epoch; runs that began before are left out
   */
  readonly journals: (since?: number) => AsyncGenerator<Journal>;
  /** The journal of a run; undefined where none of that id is recorded. */
  readonly read: (run: string) => Promise<readonly JournalEntry[] | undefined>;
  /** The resources of the state; none where it is damaged, which hides no receipt. */
  readonly resources: State['resources'];
};

/**
 * Opens the receipts of a stack, works with them and closes them.
 *
 * @param others files of states beside that of the stack whose runs are wanted, too
 */
export async function withReceipts<T>(
  { dir, state }: Pick<StackSettings, 'dir' | 'state'>,
  others: readonly string[],
  context: RunContext,
  work: (receipts: Receipts) => Promise<T>,
): Promise<T> {
  const isSameFile = (file: string) =>
    'file' in state && resolve(dir, state.file) === resolve(file);
  const stores = [
    { name: undefined, store: openStore({ state }, context) },
    ...others
      .filter((file) => !isSameFile(file))
      .map((file) => ({
        // As CALLSHEET_STATE reads it: a relative path begins at the stack folder.
        name: relative(dir, file),
        store: openStore({ state: { file } }, context),
      })),
  ];
  try {
    const opened = await Promise.all(
      stores.map(async (one) => ({ ...one, ...(await loadSound(one.store)) })),
    );
    const read = async (run: string) => {
      for (const { store, pending } of opened) {
        const entries = (await store.run(run)) ?? pending;
        if (findBegan(entries)?.run === run) return entries;
      }
      return undefined;
    };
    const [own] = opened;
    return await work({
      async list() {
        const [first = [], ...restored] = await Promise.all(opened.map(listRuns));
        return restored.reduce(amongRuns, first);
      },
      async *journals(since) {
        const ids = await Promise.all(
          opened.map(async ({ store, pending }) => [
            ...(await store.runIds()),
            ...(findBegan(pending)?.run ?? []),
          ]),
        );
        yield* readInOrder([...new Set(ids.flat())], since, read);
      },
      read,
      resources: replay(own?.state, own?.pending ?? []).state?.resources ?? {},
    });
  } finally {
    for (const { store } of stores) await store.close();
  }
}

/** Journals that are read ahead of the one that is looked at: a store may be far away. */
const READ_AHEAD = 4;

/** Ids tell when runs began to the second, and journals the order of those that began in the same one. */
export async function* readInOrder(
  ids: readonly string[],
  since: number | undefined,
  read: Receipts['read'],
): AsyncGenerator<Journal> {
  const bySecond = Map.groupBy(ids, beganAt);
  const isWanted = (at: string) =>
    since === undefined || at === '' || Date.parse(at) + 1000 > since;
  const seconds = [...bySecond.keys()].filter(isWanted).sort().reverse();
  const readAll = (at: string) =>
    Promise.all((bySecond.get(at) ?? []).map((run) => readSound(run, read)));
  const ahead: ReturnType<typeof readAll>[] = [];
  for (const at of seconds) {
    ahead.push(readAll(at));
    if (ahead.length > READ_AHEAD) yield* inTurn((await ahead.shift()) ?? []);
  }
  for (const reading of ahead) yield* inTurn(await reading);
}

function inTurn(journals: readonly Journal[]): readonly Journal[] {
  const getSerial = ({ entries = [] }: Journal) => findBegan(entries)?.serial ?? 0;
  return journals.toSorted((a, b) => getSerial(b) - getSerial(a));
}

async function readSound(run: string, read: Receipts['read']): Promise<Journal> {
  try {
    return { run, entries: (await read(run)) ?? [] };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { run };
  }
}

async function listRuns({
  name,
  store,
  pending,
}: {
  readonly name: string | undefined;
  readonly store: StateStore;
  readonly pending: readonly JournalEntry[];
}): Promise<readonly RunSummary[]> {
  const found = [...(await listOpenRun(pending, store)), ...(await store.runs())];
  return name === undefined ? found : found.map((one) => ({ ...one, state: name }));
}

/** The run that has not committed, in a list: it is at work, or died and is settled by the next command. */
async function listOpenRun(
  pending: readonly JournalEntry[],
  store: StateStore,
): Promise<readonly RunSummary[]> {
  const run = findBegan(pending)?.run;
  if (run === undefined) return [];
  const held = await store.lock();
  const owner = held?.holder.run === run ? held.owner : 'gone';
  const { summary } = summarise({ run, entries: pending });
  const ledger = ledgerOfDeadRun(pending);
  const changes = ledger.filter(({ status }) => status === 'done').length;
  return [{ ...summary, status: OPEN[owner], changes, outcomes: countOutcomes(ledger) }];
}

/** How a run that has not committed is listed, by who holds the state. */
const OPEN = {
  running: 'running',
  silent: 'unfinished',
  gone: 'died',
  elsewhere: 'unfinished',
} as const;

/**
 * The state with the journal of a run that has not committed, or nothing where they are damaged: runs are listed all the
 * same. Throws `CallsheetError('state')` for a state that was moved away.
 */
async function loadSound(store: StateStore): ReturnType<StateStore['load']> {
  try {
    return await store.load();
  } catch (error) {
    if (error instanceof MovedAway || !isDamage(error)) throw error;
    return { state: undefined, pending: [] };
  }
}

/** Puts runs of another state in their places by the time. The order of each state's own runs is not the clock's, and stays. */
function amongRuns(
  runs: readonly RunSummary[],
  others: readonly RunSummary[],
): readonly RunSummary[] {
  return others.reduce((all, other) => {
    const after = all.findIndex(({ at }) => at < other.at);
    return all.toSpliced(after === -1 ? all.length : after, 0, other);
  }, runs);
}

/** A change of a resource, as `schemas/log.schema.json` describes it. */
export type RecordedChange = Log.Entry;
type RecordedField = Log.Field;

/** Long texts by their digests: a receipt keeps no more of what its run wrote, and a later run met the text itself. */
export type KnownTexts = {
  readonly get: (digest: string) => string | undefined;
  readonly add: (text: string) => void;
};

/** Characters that are kept at most, so that a log of any length takes as much memory. */
const MOST_TEXT = 4_000_000;

export function openTexts(): KnownTexts {
  const texts = new Map<string, string>();
  let size = 0;
  return {
    get: (digest) => texts.get(digest),
    add(text) {
      const digest = computeDigest(text);
      if (texts.has(digest)) return;
      texts.set(digest, text);
      size += text.length;
      for (const [oldest, { length }] of texts) {
        if (size <= MOST_TEXT) break;
        texts.delete(oldest);
        size -= length;
      }
    },
  };
}

/** The texts of a document, in the form in which they are digested. */
export function listTexts({ schema }: Kind, document: ValueObject): readonly string[] {
  return [...listLeaves(schema, document).leaves.values()].flatMap((leaf) => {
    if (typeof leaf.value !== 'string') return [];
    const value = normalise(leaf.schema, leaf.value);
    return typeof value === 'string' ? [value] : [];
  });
}

/** The entries that the journal of a run has of one resource. */
export type Receipt = {
  readonly began: RunBegan;
  readonly line: LedgerLine;
  readonly snapshot: SnapshotTaken | undefined;
  /** The state's record of it afterwards; undefined if that did not change. */
  readonly recorded: ResourceState | null | undefined;
  /** The address that an edit of the state took it from. */
  readonly movedFrom: Address | undefined;
  /** Its identifiers: of what was made again, that before as well. */
  readonly ids: readonly string[];
  /** Everything that the journal has of it. */
  readonly entries: readonly JournalEntry[];
};

/** The resources that a run changed, or may have: what it left alone has no receipt. */
export function listReceipts(entries: readonly JournalEntry[]): readonly Receipt[] {
  const began = findBegan(entries);
  if (began === undefined) return [];
  const lines = findEnded(entries) === undefined ? ledgerOfDeadRun(entries) : listLedger(entries);
  const own = Map.groupBy(entries, (entry) => ('address' in entry ? entry.address : undefined));
  return lines.flatMap((line): readonly Receipt[] => {
    const { address, status, id, former_id: former } = line;
    const about = own.get(address) ?? [];
    const isWritten = about.some(({ type }) => type === 'intent');
    if (status !== 'done' && !(status === 'failed' && isWritten)) return [];
    const snapshot = about.find((entry) => entry.type === 'snapshot');
    const recorded = about.findLast((entry) => entry.type === 'resource')?.resource;
    const ids = [id, former, snapshot?.id, recorded?.id].filter((one) => typeof one === 'string');
    const ends = entries.flatMap((entry): readonly JournalEntry[] =>
      entry.type === 'ended'
        ? [{ ...entry, ledger: entry.ledger.filter((one) => one.address === address) }]
        : [],
    );
    return [
      {
        began,
        line,
        snapshot,
        recorded,
        movedFrom: line.action === 'move' ? movedFrom(entries, address) : undefined,
        ids: [...new Set(ids)],
        entries: [...about, ...ends],
      },
    ];
  });
}

/** An edit of the state writes the new address down and right after it takes the old one away. */
function movedFrom(entries: readonly JournalEntry[], address: Address): Address | undefined {
  const at = entries.findIndex((entry) => entry.type === 'resource' && entry.address === address);
  const next = entries[at + 1];
  return next?.type === 'resource' && next.resource === null ? next.address : undefined;
}

/** A receipt as the log has it: what the run changed and, before it, the edits that it undid. */
export function describeReceipt(
  receipt: Receipt,
  texts: KnownTexts,
): { readonly change: RecordedChange; readonly edit: RecordedChange | undefined } {
  const { began, line, snapshot, movedFrom } = receipt;
  const { run, at, purpose, actor } = began;
  const { undid } = line;
  const change: RecordedChange = {
    at,
    by: actor.user,
    address: line.address,
    id: line.id ?? snapshot?.id ?? null,
    action: line.action,
    ...(movedFrom === undefined ? {} : { moved_from: movedFrom }),
    status: line.status === 'done' ? 'done' : 'failed',
    fields: changedPaths(receipt).map((path) => describeField(path, receipt, texts)),
    run,
    purpose,
    undoes: began.undoes ?? null,
    commit: actor.commit,
    pipeline: actor.pipeline,
    pull_request: actor.pull_request ?? null,
    approved_by: actor.approved_by ?? [],
    undone_by: null,
    edits: undid?.edits ?? [],
    message: line.message,
  };
  if (undid === undefined) return { change, edit: undefined };
  const fields = undid.fields.map((path) => describeEdited(path, receipt, texts));
  const edit = describeEdit(line.address, change.id, undid.edits, fields);
  return { change, edit: { ...edit, undone_by: { run, at, purpose } } };
}

/** Describes an edit by somebody else, or several whose single changes are unknown. */
export function describeEdit(
  address: Address,
  id: string | null,
  edits: RecordedChange['edits'],
  fields: RecordedChange['fields'],
): RecordedChange {
  const [newest] = edits;
  const isOne = edits.every(({ actor }) => actor === newest?.actor);
  return {
    at: newest?.at ?? null,
    by: isOne ? (newest?.actor ?? null) : null,
    address,
    id,
    action: 'edit',
    status: 'done',
    fields,
    run: null,
    purpose: null,
    undoes: null,
    commit: null,
    pipeline: null,
    pull_request: null,
    approved_by: [],
    undone_by: null,
    edits,
    message: null,
  };
}

/**
 * Lists the paths that changed: all of a resource that came or went; the platform's own values of a new one are
 * unknown.
 */
function changedPaths({ line, snapshot, recorded }: Receipt): readonly string[] {
  const { action, fields } = line;
  if (action === 'delete' && snapshot?.document)
    return [
      ...listLeaves(kindNamed(snapshot.kind).schema, snapshot.document).leaves.keys(),
      ...snapshot.withheld,
    ];
  return action === 'create' && recorded ? Object.keys(recorded.leaves) : fields;
}

/** One side of a field. */
type Side = { readonly value: Json; readonly isKept: boolean; readonly isSecret: boolean };

const NOTHING: Side = { value: null, isKept: true, isSecret: false };
const NOT_KEPT: Side = { value: null, isKept: false, isSecret: false };
const HIDDEN: Side = { value: MASK, isKept: true, isSecret: true };

function describeField(path: string, receipt: Receipt, texts: KnownTexts): RecordedField {
  const { snapshot, recorded, began } = receipt;
  const before = foundSide(path, snapshot, texts);
  const left = recorded === undefined ? snapshot?.resource : recorded;
  const leaf = getOwn(left?.leaves ?? {}, path);
  // A rollback also puts back what the state does not remember.
  const isGone = left === null || began.undoes === undefined;
  const isWhole = leaf === undefined && isAboveLeaf(path, left);
  const known = getOwn(snapshot?.resource?.leaves ?? {}, path);
  // A rollback that puts back an edit by hand leaves in the state what the files had: that is not what it wrote.
  const isEdit = began.undoes !== undefined && known !== undefined && isSameJson(known, leaf);
  const after =
    leaf === undefined
      ? isWhole || !isGone
        ? NOT_KEPT
        : NOTHING
      : isEdit
        ? NOT_KEPT
        : writtenSide(path, leaf, receipt, texts);
  return combine(path, before, after, hasOtherSource(known, leaf));
}

/** An edit changed what was last written into what the run found. */
function describeEdited(path: string, receipt: Receipt, texts: KnownTexts): RecordedField {
  const { snapshot } = receipt;
  const leaf = getOwn(snapshot?.resource?.leaves ?? {}, path);
  const before = leaf === undefined ? NOT_KEPT : writtenSide(path, leaf, receipt, texts);
  return combine(path, before, foundSide(path, snapshot, texts), false);
}

function combine(path: string, before: Side, after: Side, isOther: boolean): RecordedField {
  return {
    path,
    before: before.value,
    after: after.value,
    secret: before.isSecret || after.isSecret,
    ...(isOther ? { other_source: true as const } : {}),
    kept: { before: before.isKept, after: after.isKept },
  };
}

/** The value that a run found at a path: a copy has no secret, and no value that may be one. */
function foundSide(path: string, snapshot: SnapshotTaken | undefined, texts: KnownTexts): Side {
  if (snapshot === undefined) return NOT_KEPT;
  const { kind, document, withheld, resource } = snapshot;
  if (document === null) return NOTHING;
  const at = toPath(path);
  if (withheld.some((text) => overlaps(toPath(text), at))) return HIDDEN;
  const { schema } = kindNamed(kind);
  const value = normalise(schemaAt(schema, at), valueAt(schema, document, at));
  const leaf = getOwn(resource?.leaves ?? {}, path);
  if (value === null && leaf !== undefined && isConcealed(leaf)) return HIDDEN;
  if (typeof value === 'string') texts.add(value);
  return shownSide(schema, path, value);
}

function writtenSide(path: string, leaf: AppliedLeaf, receipt: Receipt, texts: KnownTexts): Side {
  const { schema } = kindNamed(findKind(receipt));
  if ('value' in leaf) return shownSide(schema, path, leaf.value);
  if ('digest' in leaf) {
    const text = texts.get(leaf.digest);
    return text === undefined ? NOT_KEPT : shownSide(schema, path, text);
  }
  return 'unsettled' in leaf ? NOT_KEPT : HIDDEN;
}

function shownSide(schema: FieldSchema, path: string, value: Json): Side {
  const shown = maskAt(schema, toPath(path), value);
  return { value: shown, isKept: true, isSecret: shown === MASK };
}

function findKind({ line, snapshot, recorded }: Receipt): string {
  return snapshot?.kind ?? recorded?.kind ?? line.address.split('.')[0] ?? '';
}

/** The state remembers leaves below a path: a list's element or an object. */
function isAboveLeaf(path: string, resource: ResourceState | null | undefined): boolean {
  const at = toPath(path);
  return Object.keys(resource?.leaves ?? {}).some((text) => startsWith(toPath(text), at));
}

function hasOtherSource(before: AppliedLeaf | undefined, after: AppliedLeaf | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const [one, other] = [before, after].map((leaf) => ('source' in leaf ? leaf.source : undefined));
  return one !== undefined && other !== undefined && one !== other;
}

/** The part of a change that concerns a field, or lies in it; undefined where none does. */
export function narrowChange(
  change: RecordedChange,
  field: readonly string[],
): RecordedChange | undefined {
  if (change.fields === null) return change;
  const fields = change.fields.filter(({ path }) => overlaps(toPath(path), field));
  const isWhole = change.action === 'delete' || change.action === 'move';
  return fields.length === 0 && !isWhole ? undefined : { ...change, fields };
}

/**
 * Tells whether a run made an entry of a history: those between the newest entry before its change and the newest of its
 * own, but for those that others made meanwhile.
 */
export function isMadeBy(
  entry: HistoryEntry,
  { began, entries }: Pick<Receipt, 'began' | 'entries'>,
): boolean {
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

/**
 * The states of restores that a stack's folder keeps, unless they were named with `--state`. One that died in its first
 * run has a journal and no state.
 */
export function restoreStates(dir: string): readonly string[] {
  const folder = join(dir, '.callsheet');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).flatMap(
    (name) => /^(restore-[\w-]+\.json)(?:\.runs)?$/.exec(name)?.[1] ?? [],
  );
  return [...new Set(names)].sort().map((name) => join(folder, name));
}
