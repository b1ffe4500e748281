import type { HistoryEntry } from '../plan/reader.ts';
import type { Interleaved } from '../state/journal.ts';

/** What a change can have left in a history, and what it knew of the resource right before. */
export type OwnWrites = {
  /** How changes through the API are signed, `api:<account>`; undefined while the account is unknown. */
  readonly author: string | undefined;
  /** The newest entry that was there before; 0 where there was none. */
  readonly than: number;
  /** Entries that the change makes at most. */
  readonly most: number;
  /** Whether it restores an entry. */
  readonly isRevert: boolean;
  /** `updated_at` of what was found right before the first write. */
  readonly checkedAt: string | null;
  /** Whether an edit of somebody else was known then, whose entry may only come now. */
  readonly isEditKnown: boolean;
};

/** What a history says of a change that was carried out. */
type HistoryReading = {
  /** The newest entry that the change made; null where none can be seen. */
  readonly own: number | null;
  readonly interleaved: readonly Interleaved[];
};

/** The source of changes through the API (Agent history entry). */
const API_SOURCE = 'dashboard-api';
/** A platform may stamp an entry a moment after the change that it tells of. */
const STAMPED_TOGETHER_MS = 1000;

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
 * What the check had seen already is no such write: its entry only came late.
 */
export function readOwnWrites(entries: readonly HistoryEntry[], writes: OwnWrites): HistoryReading {
  const newer = entries.filter(({ id }) => id > writes.than).sort((a, b) => a.id - b.id);
  const signed = newer.filter((entry) => isSigned(entry, writes));
  // Without times, one that is too many may as well be a late one of an earlier run.
  const isDated = writes.author !== undefined && signed.every(({ at }) => at !== null);
  const fresh = signed.filter(({ at }) => !wasSeen(at, writes.checkedAt, STAMPED_TOGETHER_MS));
  const surplus = isDated ? fresh.slice(0, Math.max(0, fresh.length - writes.most)) : [];
  const own = signed.filter((entry) => !surplus.includes(entry)).at(-1)?.id ?? null;
  const others = newer.filter((entry) =>
    signed.includes(entry) ? surplus.includes(entry) : !wasSeen(entry.at, writes.checkedAt, 0),
  );
  return { own, interleaved: others.map((entry) => interleavedEntry(entry, own, writes)) };
}

/** Whether an entry may be one that the change made. */
export function isSigned(
  { actor, source, action }: HistoryEntry,
  { author, isRevert }: Pick<OwnWrites, 'author' | 'isRevert'>,
): boolean {
  if (author === undefined) return true;
  const isActor = actor === null || actor === author;
  const isSource = source === null || source === API_SOURCE;
  return isActor && isSource && (action !== 'reverted' || isRevert);
}

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

function wasSeen(at: string | null, checkedAt: string | null, tolerance: number): boolean {
  if (at === null || checkedAt === null) return false;
  return Date.parse(at) < Date.parse(checkedAt) + tolerance;
}

/** What a person should know of the writes of others, in words. */
export function tellInterleaved(
  address: string,
  found: readonly Interleaved[],
): string | undefined {
  const [before, after, unknown] = (['before', 'after', 'unknown'] as const).map((order) =>
    found.filter((one) => one.order === order),
  );
  const parts = [
    ...(before?.length
      ? [
          `somebody else wrote it between the check and this write: ${before.map(who).join(', ')}; where both set the same, theirs is overwritten`,
        ]
      : []),
    ...(unknown?.length
      ? [
          `its history has an edit without a time, from before this write or right at it: ${unknown.map(who).join(', ')}`,
        ]
      : []),
    ...(after?.length ? [`it was edited again right after: ${after.map(who).join(', ')}`] : []),
  ];
  if (parts.length === 0) return undefined;
  return `${parts.join('; ')} (callsheet history ${address})`;
}

/** `user:mina via dashboard at 2026-11-21T10:12:03Z (history entry 61)` */
function who({ entry, actor, source, at }: Interleaved): string {
  const from = source === null ? '' : ` via ${source}`;
  const when = at === null ? '' : ` at ${at}`;
  return `${actor ?? 'someone'}${from}${when} (history entry ${entry})`;
}
