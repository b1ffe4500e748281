import type { HistoryEntry } from '../plan/reader.ts';
import type { JournalEntry } from '../state/journal.ts';
import type { Undo } from './undo.ts';

/** Entries that are read to find edits made since a run. */
const ENTRIES_READ = 20;

/**
 * One sentence for every resource whose newest history entry is not the one that the run made, or that
 * somebody else wrote while the run did.
 */
export async function findInterleaved(
  { produced, interleaved }: Undo,
  historyOf: (address: string, id: string, limit: number) => Promise<readonly HistoryEntry[]>,
): Promise<readonly string[]> {
  const found = await Promise.all(
    [...produced].map(async ([address, { id, entry }]) => {
      const newer = (await historyOf(address, id, ENTRIES_READ)).filter((one) => one.id > entry);
      const [last] = newer;
      if (last !== undefined) return `${address} was edited since the run, last by ${author(last)}`;
      const during = interleaved.get(address)?.at(-1);
      if (during === undefined) return undefined;
      return `${address} was edited while the run wrote it, last by ${author(during)}`;
    }),
  );
  return found.filter((sentence) => sentence !== undefined);
}

export function author({
  actor,
  source,
  at,
}: Pick<HistoryEntry, 'actor' | 'source' | 'at'>): string {
  return `${actor ?? 'someone'}${source ? ` via ${source}` : ''}${at === null ? '' : ` at ${at}`}`;
}

/**
 * The same undo, once a rollback of the run began and did not come to its end: the history entries that it
 * made are nobody's edits. Where it cannot be told which they are, none is looked for.
 */
export function afterRollbacks(undo: Undo, begun: readonly (readonly JournalEntry[])[]): Undo {
  const produced = new Map(undo.produced);
  for (const entries of begun.toReversed()) {
    const lines = entries.flatMap((entry) => (entry.type === 'ended' ? entry.ledger : []));
    const touched = entries.flatMap((entry) => (entry.type === 'intent' ? [entry.address] : []));
    for (const address of touched) {
      const known = produced.get(address);
      if (known === undefined) continue;
      const entry = lines.find((line) => line.address === address)?.history?.after;
      if (entry) produced.set(address, { ...known, entry });
      else produced.delete(address);
    }
  }
  return { ...undo, produced };
}
