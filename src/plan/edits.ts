import type { Doubt, HistoryEntry } from '../core/history.ts';
import type { Pin } from '../core/plan-document.ts';

/** What was edited since Callsheet last wrote a resource, or last saw it as configured. */
export type Edits = {
  /** Newest first. */
  readonly entries: readonly HistoryEntry[];
  /** The entry that stands for the last run. */
  readonly base: number | null;
  /** Why these need not be all; null where they are. */
  readonly doubt: Doubt | null;
};

/** Where a run ended: the pin that the state keeps. Undefined where there is none. */
export type Since = Pick<Pin, 'history_id' | 'updated_at'> | undefined;

/** A platform may stamp an entry a moment after the change that it tells of. */
const STAMPED_TOGETHER_MS = 1000;

/**
 * The entries since a run, of a history that is given newest first. A pin that names no entry, as that of a
 * resource which was taken over, is found by its time where entries carry times (`history.list-shape`).
 *
 * @param author how changes through the API are signed
 */
export function editsSince(
  history: readonly HistoryEntry[],
  since: Since,
  author: string | undefined,
): Edits {
  const known = since?.updated_at ?? null;
  const base = since?.history_id ?? entryAt(history, known);
  if (base === null) return { entries: [], base, doubt: 'no_beginning' };
  const newer = history.filter(({ id, at }) => id > base && !isBefore(at, known, 0));
  const late = lateOwn(history, newer, base, known, author);
  // Retention takes the oldest: where one from before is left, all that came since are.
  const reaches = history.some(({ id, at }) => id <= base || isBefore(at, known, 0));
  return {
    entries: newer.filter((entry) => entry !== late),
    base,
    doubt: reaches ? null : 'retention',
  };
}

/** Whether what is live has been changed after the newest entry, which then says nothing of that change. */
export function isAhead(updated: string | null, [newest]: readonly HistoryEntry[]): boolean {
  if (updated === null || newest === undefined || newest.at === null) return false;
  return isBefore(newest.at, updated, -STAMPED_TOGETHER_MS);
}

/** The entry of the change that a resource was last seen with; null where the times do not tell. */
function entryAt(history: readonly HistoryEntry[], updated: string | null): number | null {
  if (updated === null || history.some(({ at }) => at === null)) return null;
  const atOnce = history.filter(
    ({ at }) => !isBefore(at, updated, 0) && isBefore(at, updated, STAMPED_TOGETHER_MS),
  );
  return (atOnce.at(-1) ?? history.find(({ at }) => isBefore(at, updated, 0)))?.id ?? null;
}

/**
 * The entry of the run's own write, where it appeared after the run had looked: then the pin names an older
 * one, which somebody else may have made. By its time it belongs to what the run read back.
 */
function lateOwn(
  history: readonly HistoryEntry[],
  newer: readonly HistoryEntry[],
  base: number,
  updated: string | null,
  author: string | undefined,
): HistoryEntry | undefined {
  const isOwn = (entry: HistoryEntry | undefined) =>
    entry !== undefined &&
    entry.actor === author &&
    isBefore(entry.at, updated, STAMPED_TOGETHER_MS) &&
    !isBefore(entry.at, updated, -STAMPED_TOGETHER_MS);
  const oldest = newer.at(-1);
  return isOwn(oldest) && !isOwn(history.find(({ id }) => id === base)) ? oldest : undefined;
}

/** Whether a moment is before another one, moved by so much. */
function isBefore(at: string | null, other: string | null, moved: number): boolean {
  if (at === null || other === null) return false;
  return Date.parse(at) < Date.parse(other) + moved;
}
