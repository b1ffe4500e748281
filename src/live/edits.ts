import { isNotFound } from '../api/errors.ts';
import type { Kind } from '../kinds/kind.ts';
import { type Edits, editsSince, isAhead, type Since } from '../plan/edits.ts';
import type { HistoryEntry, Reader } from '../plan/reader.ts';

/** Entries that are read first, as many as a plan reads. */
const FEW = 20;
/** Read where those do not reach back to the last run: the largest page that other lists give (Limits). */
const MOST = 100;
/** A change without an entry is waited for while it is this young: one appears "within a few seconds" (revert rule 5). */
const YOUNG_MS = 30_000;
const LONGEST_WAIT_MS = 5_000;
const FIRST_WAIT_MS = 250;

/** A resource whose edits are asked for. */
export type Edited = {
  readonly kind: Kind;
  readonly id: string;
  readonly since: Since;
  /** `updated_at` as it was compared; null where it is gone or the platform does not say. */
  readonly updatedAt: string | null;
  /** Its newest entries, where they were read already: as many as a plan reads. */
  readonly history?: readonly HistoryEntry[] | undefined;
};

export type EditsDeps = {
  readonly reader: Pick<Reader, 'history'>;
  /** How changes through the API are signed. */
  readonly author: string | undefined;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** What was edited on a resource since Callsheet last wrote it. */
export async function readEdits(edited: Edited, deps: EditsDeps): Promise<Edits> {
  const { since, updatedAt } = edited;
  const few = edited.history ?? (await readHistory(edited, deps, FEW));
  const history = await reachBack(few, edited, deps);
  const edits = editsSince(history, since, deps.author);
  if (edits.doubt !== null || !isAhead(updatedAt, history)) return edits;
  const later = await awaitEntry(edited, deps);
  const again = editsSince(later, since, deps.author);
  // Past its few seconds, a change without an entry is one that makes none: of what history does not record.
  return isYoung(updatedAt, deps) && isAhead(updatedAt, later)
    ? { ...again, doubt: 'late' }
    : again;
}

/** The newest entries, back to the last run where there are so many. */
async function reachBack(
  few: readonly HistoryEntry[],
  edited: Edited,
  deps: EditsDeps,
): Promise<readonly HistoryEntry[]> {
  const { doubt } = editsSince(few, edited.since, deps.author);
  const isCut = few.length === FEW && (doubt === 'retention' || doubt === 'no_beginning');
  return isCut ? readHistory(edited, deps, MOST) : few;
}

/** What is gone may have taken its history along. */
async function readHistory(
  { kind, id }: Edited,
  { reader }: EditsDeps,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  try {
    return await reader.history(kind, id, limit);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function awaitEntry(edited: Edited, deps: EditsDeps): Promise<readonly HistoryEntry[]> {
  const read = async () => reachBack(await readHistory(edited, deps, FEW), edited, deps);
  let history = await read();
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; waited + wait <= LONGEST_WAIT_MS; wait *= 2) {
    if (!isAhead(edited.updatedAt, history) || !isYoung(edited.updatedAt, deps)) break;
    await deps.sleep(wait);
    waited += wait;
    history = await read();
  }
  return history;
}

function isYoung(updatedAt: string | null, { now }: EditsDeps): boolean {
  return updatedAt !== null && now().getTime() - Date.parse(updatedAt) < YOUNG_MS;
}
