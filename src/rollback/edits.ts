import type { Address } from '../core/address.ts';
import { formatEdit, type Pin, SIGNED_HERE } from '../core/plan-document.ts';
import { getOwn, inSeconds } from '../core/value.ts';
import { baseEntry, findAuthor, getSince, withoutRuns } from '../plan/drift.ts';
import type { HistoryEntry } from '../plan/reader.ts';
import { findLateEntries, type JournalEntry, listLedger } from '../state/journal.ts';
import type { ResourceState, State } from '../state/model.ts';
import type { Undo } from './undo.ts';

/** An edit of somebody else that a rollback would undo, in a sentence that begins with the address. */
export type Edited = {
  readonly address: Address;
  readonly message: string;
  /** True if it was deleted, so that all of it would have to be made again. */
  readonly isGone?: true;
  /** True if another resource has the address of the one that the run made, so that all of it would be deleted. */
  readonly isMade?: boolean;
};

/** The requests that find edits. */
export type EditsReader = {
  /** The newest history entries of a resource; none where it is gone. */
  readonly history: (
    address: Address,
    id: string,
    limit: number,
  ) => Promise<readonly HistoryEntry[]>;
  /** True if our own account made the entry. */
  readonly isOwn: (entry: HistoryEntry) => boolean;
  /** Reads the pin of a resource; undefined if the resource is gone. */
  readonly pin: (made: ResourceState) => Promise<Pin | undefined>;
  /** The run of this stack that made an entry of a history; undefined where none did. */
  readonly findEntryRun: (
    address: Address,
    entry: number,
    history: readonly HistoryEntry[],
  ) => Promise<string | undefined>;
  /** The run that is undone, its rollbacks, and the runs before it. */
  readonly ours: ReadonlySet<string>;
  /** Later runs that were rolled back, each with its rollback. */
  readonly undone: ReadonlyMap<string, string>;
  /** The last of the later runs that wrote a resource, but for those that were rolled back there. */
  readonly later: ReadonlyMap<Address, string>;
};

/**
 * One sentence for every resource whose newest history entry is not the one that the run made, that somebody
 * else wrote while the run did, or that the run made and that is not as it left it: it would be deleted.
 * A resource without history that was there before is judged by later runs; others' changes are compared field by
 * field, in the plan.
 */
export async function findInterleaved(
  { produced, interleaved, made, rewritten }: Undo,
  reader: EditsReader,
): Promise<readonly Edited[]> {
  const recorded = [...produced].map(
    async ([address, { id, entry, isBefore }]): Promise<Edited | undefined> => {
      const entries = await reader.history(address, id, ENTRIES_READ);
      const later = entries.filter((one) => one.id > entry);
      const others = isBefore ? await withoutOurs(address, later, entries, reader) : later;
      const newer = await withoutUndone(address, others, entries, reader);
      const found = await findLast(address, newer, entries, reader);
      if (found !== undefined) {
        const { last, run } = found;
        const signed = reader.isOwn(last)
          ? `${nameAuthor(last)}, ${SIGNED_HERE}`
          : nameAuthor(last);
        return editedSince(address, run === undefined ? signed : `run ${run}`);
      }
      const during = interleaved.get(address)?.at(-1);
      if (during === undefined) return undefined;
      return {
        address,
        message: `${address} was edited while the run wrote it, last by ${nameAuthor(during)}`,
      };
    },
  );
  const unrecorded = [...made].map(async ([address, resource]): Promise<Edited | undefined> => {
    if (produced.has(address) || resource.pin === null) return undefined;
    const now = await reader.pin(resource);
    if (now === undefined || now.digest === resource.pin.digest) return undefined;
    const when = now.updated_at === null ? '' : ` at ${inSeconds(now.updated_at)}`;
    return {
      address,
      message: `${address} was edited since the run created it${when}, by an unrecorded author; it would be deleted`,
    };
  });
  const overwritten = rewritten.map((address) => {
    const run = produced.has(address) ? undefined : reader.later.get(address);
    return run === undefined ? undefined : editedSince(address, `run ${run}`);
  });
  const found = await Promise.all([...recorded, ...unrecorded, ...overwritten]);
  return found.filter((edited) => edited !== undefined);
}

function editedSince(address: Address, by: string): Edited {
  return { address, message: `${address} was edited since the run, last by ${by}` };
}

/**
 * Entries but for those of our own account that no other run is known to have made: they may be the run's. What a run
 * that was rolled back left there could not be taken back, and was reported then.
 */
async function withoutOurs(
  address: Address,
  newer: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
  { ours, undone, isOwn, findEntryRun }: EditsReader,
): Promise<readonly HistoryEntry[]> {
  const over = new Set([...ours, ...[...undone].flat()]);
  const runs = await Promise.all(
    newer.map((one) => (isOwn(one) ? findEntryRun(address, one.id, entries) : undefined)),
  );
  const isOthers = (run: string | undefined) => run !== undefined && !over.has(run);
  return newer.filter((one, at) => !isOwn(one) || isOthers(runs[at]));
}

/** Entries of a resource but for those of a run that a later one of them took back there, and that one's own. */
async function withoutUndone(
  address: Address,
  newer: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
  { undone, isOwn, findEntryRun }: EditsReader,
): Promise<readonly HistoryEntry[]> {
  if (undone.size === 0) return newer;
  // Receipts know nothing of somebody else's entries.
  const runs = await Promise.all(
    newer.map((one) => (isOwn(one) ? findEntryRun(address, one.id, entries) : undefined)),
  );
  const seen = new Set(runs);
  const pairs = [...undone].filter((pair) => pair.every((run) => seen.has(run)));
  const over = new Set<string | undefined>(pairs.flat());
  return newer.filter((_, at) => !over.has(runs[at]));
}

/** The newest entry that the run did not make, and the run that did; a run may see one of its own too late to record it. */
async function findLast(
  address: Address,
  newer: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
  { ours, findEntryRun }: EditsReader,
): Promise<{ readonly last: HistoryEntry; readonly run: string | undefined } | undefined> {
  for (const last of newer) {
    const run = await findEntryRun(address, last.id, entries);
    if (run === undefined || !ours.has(run)) return { last, run };
  }
  return undefined;
}

/**
 * One sentence for every resource that somebody edited after Callsheet wrote it last, as far as its history
 * tells. What goes back to a snapshot undoes those edits too, but for those that the snapshot has itself.
 *
 * @param versions the newest entry of each resource when the snapshot was made
 */
export async function findEdits(
  addresses: readonly Address[],
  versions: ReadonlyMap<Address, number>,
  { resources, account_id: account }: State,
  readHistory: (kind: string, id: string, limit: number) => Promise<readonly HistoryEntry[]>,
): Promise<readonly Edited[]> {
  const found = await Promise.all(
    addresses.map(async (address): Promise<Edited | undefined> => {
      const known = getOwn(resources, address);
      if (!known?.pin) return undefined;
      const since = getSince(known);
      const author = account === undefined ? undefined : findAuthor(account);
      const all = await readHistory(known.kind, known.id, ENTRIES_READ);
      const entries = withoutRuns(all, since, author);
      const last = baseEntry(entries, since);
      if (last === null) return undefined;
      const seen = Math.max(last, versions.get(address) ?? last);
      const [newest] = entries.filter(({ id }) => id > seen);
      const message =
        newest && `${address} was edited since the last run, last by ${nameAuthor(newest)}`;
      return message === undefined ? undefined : { address, message };
    }),
  );
  return found.filter((edited) => edited !== undefined);
}

export function deletedSince(address: Address): Edited {
  return { address, message: `${address} was deleted since the run`, isGone: true };
}

/** Another resource has the address of one that a run wrote, and made where `isMade`. */
export function replacedSince(address: Address, was: string, now: string, isMade: boolean): Edited {
  const message = `${address} is another resource since the run: ${now}; the run wrote ${was}`;
  return { address, message, isMade };
}

/**
 * The same undo, once the run was rolled back in part: the history entries that this made are no edits of others. If
 * they cannot be identified, no entry of our own account counts as one. The newest rollback comes first.
 */
export function afterRollbacks(undo: Undo, rollbacks: readonly (readonly JournalEntry[])[]): Undo {
  const produced = new Map(undo.produced);
  for (const entries of rollbacks.toReversed()) {
    const isLate = findLateEntries(entries);
    const lines = new Map(listLedger(entries).map((line) => [line.address, line]));
    for (const { address } of entries.filter((entry) => entry.type === 'intent')) {
      const known = produced.get(address);
      if (known === undefined) continue;
      const entry = lines.get(address)?.history?.after;
      produced.set(
        address,
        entry && !isLate(address)
          ? { id: known.id, entry }
          : { ...known, entry: entry ?? known.entry, isBefore: true },
      );
    }
  }
  return { ...undo, produced };
}

/** Entries that are read to find edits made since a run. */
const ENTRIES_READ = 20;

function nameAuthor(edit: Pick<HistoryEntry, 'actor' | 'source' | 'at'>): string {
  // Sentences stand on lines of their own: none is to be made up by a name.
  return formatEdit(edit).replace(/\s+/g, ' ');
}
