import { isSigned } from '../../apply/interleaved.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import type { LedgerLine } from '../../state/journal.ts';
import type { Receipt } from './receipts.ts';

/** A history entry that Callsheet made. */
type Mark = {
  readonly entry: number;
  readonly run: string;
  readonly purpose: string;
  /** The run that it undid. */
  readonly undoes: string | null;
  readonly at: string;
  readonly user: string | null;
  readonly commit: string | null;
};

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
      if (!marks.has(id)) marks.set(id, markOf(id, receipt));
    }
  }
  return [...marks.values()].sort((a, b) => b.entry - a.entry);
}

function isMadeBy(entry: HistoryEntry, receipt: Receipt): boolean {
  const { began, entries } = receipt;
  const isRevert = entries.some((one) => one.type === 'intent' && one.step === 'revert');
  const author = `api:${began.account_id}`;
  return linesOf(receipt).some(
    (line) => isInside(entry.id, line) && isSigned(entry, { author, isRevert }),
  );
}

/** Lines of what was really written. */
export function linesOf({ entries }: Receipt): readonly LedgerLine[] {
  return entries.flatMap((entry) => (entry.type === 'ended' ? entry.ledger : []));
}

function isInside(id: number, { action, history, interleaved = [] }: LedgerLine): boolean {
  if (history?.after == null || id > history.after) return false;
  if (interleaved.some(({ entry }) => entry === id)) return false;
  if (history.before !== null) return id > history.before;
  // Without an entry from before, only what was made has all its entries from the run.
  return action === 'create' || action === 'replace' || id === history.after;
}

function markOf(entry: number, { began }: Receipt): Mark {
  const { run, purpose, undoes = null, at, actor } = began;
  return { entry, run, purpose, undoes, at, user: actor.user, commit: actor.commit };
}
