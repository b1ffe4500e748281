/**
 * `log/` answers what became of a stack, a resource or a field: by whom, when, from which commit and pull request, and
 * what undid it. It joins the receipts of runs with the platform's history, and reads both from the newest to the oldest.
 */

import { locateWrites } from '../../apply/history.ts';
import { type Address, matchesAddress } from '../../core/address.ts';
import { parseTime } from '../../core/moment.ts';
import type { Path } from '../../core/path.ts';
import { isRecorded } from '../../core/walk.ts';
import { kindNamed } from '../../kinds/index.ts';
import { findAuthor } from '../../plan/drift.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import {
  describeEdit,
  describeReceipt,
  isMadeBy,
  listReceipts,
  narrowChange,
  openTexts,
  type Receipt,
  type Receipts,
  type RecordedChange,
} from '../../run/receipts.ts';

/** The changes that are asked for. */
export type LogQuery = {
  /** An address, a fleet, a kind; undefined for the whole stack. */
  readonly address?: Address | undefined;
  readonly field?: Path | undefined;
  /** Milliseconds since the epoch; what is older is left out. */
  readonly since?: number | undefined;
};

/** The platform's history of one resource, newest first. */
export type ResourceHistory = {
  readonly address: Address;
  readonly kind: string;
  readonly id: string;
  readonly entries: readonly HistoryEntry[];
  /** The texts that it has now: receipts keep a digest of long ones, and the newest change has no later copy. */
  readonly texts: readonly string[];
};

export type LogSources = Pick<Receipts, 'journals'> & {
  /** Identifiers that the asked address has or had, as far as they are known before. */
  readonly ids: readonly string[];
  readonly histories: readonly ResourceHistory[];
  /** More texts that receipts may have a digest of. */
  readonly texts: readonly string[];
};

/** Collects what a reading met, for messages about unknown addresses and unreadable receipts. */
export type Met = {
  readonly addresses: Set<Address>;
  readonly unreadable: string[];
  isAny: boolean;
};

/**
 * The changes, newest first. Each journal is read once and let go of, so that a log of any length takes as much memory:
 * kept are identifiers, what is not undone yet, and a bounded number of texts.
 */
export async function* readLog(
  { address, field, since }: LogQuery,
  sources: LogSources,
  met: Met,
): AsyncGenerator<RecordedChange> {
  const ids = new Set(sources.ids);
  const texts = openTexts();
  const known = sources.histories.flatMap((one) => one.texts);
  for (const text of [...sources.texts, ...known]) texts.add(text);
  const undone = openUndone();
  const names = new Map<string, Named>();
  const open = new Map(sources.histories.map((one) => [one.id, [...one.entries]]));
  const isAbout = (receipt: Receipt) =>
    address === undefined ||
    [receipt.line.address, receipt.movedFrom].some(
      (one) => one !== undefined && matchesAddress(address, one),
    ) ||
    receipt.ids.some((id) => ids.has(id));
  const isShown = (change: RecordedChange) =>
    since === undefined || change.at === null || parseTime(change.at) >= since;
  /** Edits that a run met, which came before it and before which other runs may have come. */
  let waiting: readonly RecordedChange[] = [];

  /** Changes after a time, and the edits of some resources at any time: clocks differ. */
  function* flush(after: number, own: ReadonlySet<string> = new Set()): Generator<RecordedChange> {
    const isDue = (one: RecordedChange) => timeOfChange(one) >= after || own.has(one.id ?? '');
    const due = [
      ...waiting.filter(isDue),
      ...takeEdits(sources.histories, open, (entry) => timeOfChange(entry) >= after),
    ];
    waiting = waiting.filter((one) => !isDue(one));
    yield* due.toSorted((a, b) => timeOfChange(b) - timeOfChange(a));
  }

  function* narrowed(changes: Iterable<RecordedChange>): Generator<RecordedChange> {
    for (const change of changes) {
      met.isAny = true;
      if (!isShown(change) || !mayConcern(change, field)) continue;
      const narrow = field === undefined ? change : narrowChange(change, field);
      if (narrow !== undefined) yield narrow;
    }
  }

  for await (const { run, entries } of sources.journals(since)) {
    if (entries === undefined) {
      met.unreadable.push(run);
      continue;
    }
    const changes: RecordedChange[] = [];
    const edits: RecordedChange[] = [];
    const own = new Set<string>();
    let latest = Number.POSITIVE_INFINITY;
    for (const receipt of listReceipts(entries)) {
      met.addresses.add(receipt.line.address);
      undone.learn(receipt);
      if (!isAbout(receipt)) continue;
      for (const id of receipt.ids) {
        ids.add(id);
        own.add(id);
      }
      const located = await claimEntries(receipt, open);
      yield* narrowed(takeEdits(sources.histories, open, isLater(located)));
      const { change, edit } = describeReceipt(located, texts);
      const renamed = renaming(change, receipt.ids, names);
      latest = Math.min(latest, parseTime(change.at));
      changes.push(...(renamed === undefined ? [] : [renamed]));
      changes.push({ ...change, undone_by: undone.find(receipt) });
      if (edit !== undefined) edits.push(edit);
      dropEntries(open, edit);
    }
    undone.forget(run);
    if (changes.length === 0) continue;
    yield* narrowed(flush(latest, own));
    yield* narrowed(changes);
    waiting = [...waiting, ...edits];
  }
  yield* narrowed(flush(Number.NEGATIVE_INFINITY));
}

function timeOfChange({ at }: { readonly at: string | null }): number {
  return at === null ? Number.NEGATIVE_INFINITY : parseTime(at);
}

/** A receipt with its place in the history of its resource, whose entries that it made are no longer open. */
async function claimEntries(
  receipt: Receipt,
  open: ReadonlyMap<string, HistoryEntry[]>,
): Promise<Receipt> {
  const history = receipt.ids.map((id) => open.get(id)).find((one) => one !== undefined);
  if (history === undefined) return receipt;
  const author = findAuthor(receipt.began.account_id);
  const entries = await locateWrites(receipt.entries, author, async () => history);
  const lines = entries.flatMap((entry) => (entry.type === 'ended' ? entry.ledger : []));
  const located = { ...receipt, entries, line: lines.at(-1) ?? receipt.line };
  const left = history.filter((entry) => !isMadeBy(entry, located));
  history.splice(0, history.length, ...left);
  return located;
}

/** Tells entries that came after a change, whatever their times are. */
function isLater({ line: { history }, ids }: Receipt) {
  const after = history?.after ?? null;
  return (entry: HistoryEntry, id: string) =>
    after !== null && ids.includes(id) && entry.id > after;
}

/** Edits of which nothing is known but who made them, and when. They are open no longer. */
function takeEdits(
  histories: readonly ResourceHistory[],
  open: ReadonlyMap<string, HistoryEntry[]>,
  isTaken: (entry: HistoryEntry, id: string) => boolean,
): readonly RecordedChange[] {
  return histories.flatMap(({ address, id }) => {
    const entries = open.get(id) ?? [];
    const taken = entries.filter((entry) => isTaken(entry, id));
    const left = entries.filter((entry) => !taken.includes(entry));
    if (taken.length > 0) entries.splice(0, entries.length, ...left);
    return taken.map(({ id: entry, actor, source, at }) =>
      describeEdit(address, id, [{ entry, actor, source, at }], null),
    );
  });
}

/** An edit that a run undid has a line of its own, with its fields. */
function dropEntries(
  open: ReadonlyMap<string, HistoryEntry[]>,
  edit: RecordedChange | undefined,
): void {
  const entries = open.get(edit?.id ?? '');
  if (edit === undefined || entries === undefined) return;
  const known = new Set(edit.edits.map(({ entry }) => entry));
  entries.splice(0, entries.length, ...entries.filter(({ id }) => !known.has(id)));
}

/** The name of a resource in the receipt that was read last, which is a newer one. */
type Named = { readonly address: Address; readonly at: string | null };

/** A resource that `moved` renamed has another address in older receipts, and none of them says when that was. */
function renaming(
  change: RecordedChange,
  ids: readonly string[],
  names: Map<string, Named>,
): RecordedChange | undefined {
  const { address, at, moved_from: from = address } = change;
  const later = ids.map((id) => names.get(id)).find((name) => name !== undefined);
  for (const id of ids) names.set(id, { address: from, at });
  if (later === undefined || later.address === address) return undefined;
  const moved = describeEdit(later.address, change.id, [], []);
  const message = 'at this time or before, after the change below';
  return { ...moved, action: 'move', at: later.at, moved_from: address, message };
}

/** An edit of unknown fields may concern one that the history records. */
function mayConcern({ fields, address }: RecordedChange, field: Path | undefined): boolean {
  if (fields !== null || field === undefined) return true;
  return isRecorded(kindNamed(address.split('.')[0] ?? '').schema, field);
}

/** Changes that later runs undid, as far as the log has been read. */
function openUndone() {
  const byRun = new Map<string, Map<string, NonNullable<RecordedChange['undone_by']>>>();
  /** Resources that went back to a snapshot, by identifier and address. */
  const toSnapshots: {
    readonly madeAt: string;
    readonly by: NonNullable<RecordedChange['undone_by']>;
    readonly keys: readonly string[];
  }[] = [];
  const listKeys = ({ line, ids }: Receipt) => [line.address, ...ids];
  return {
    learn(receipt: Receipt): void {
      const { run, at, purpose, undoes, snapshot } = receipt.began;
      if (purpose !== 'rollback' || receipt.line.status !== 'done') return;
      const by = { run, at, purpose };
      if (undoes !== undefined) {
        const keys = byRun.get(undoes) ?? new Map();
        // The first rollback comes last.
        for (const key of listKeys(receipt)) keys.set(key, by);
        byRun.set(undoes, keys);
      } else if (snapshot !== undefined)
        toSnapshots.push({ madeAt: snapshot.made_at, by, keys: listKeys(receipt) });
    },
    find(receipt: Receipt): RecordedChange['undone_by'] {
      const { run, at } = receipt.began;
      const keys = listKeys(receipt);
      const own = byRun.get(run);
      const found = keys.map((key) => own?.get(key)).find((by) => by !== undefined);
      if (found !== undefined) return found;
      const back = toSnapshots.findLast(
        (one) =>
          one.by.run !== run && one.madeAt < at && keys.some((key) => one.keys.includes(key)),
      );
      return back?.by ?? null;
    },
    /** Nothing older than a run undoes it. */
    forget(run: string): void {
      byRun.delete(run);
    },
  };
}
