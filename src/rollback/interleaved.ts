import type { HistoryEntry } from '../plan/reader.ts';
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

function author({ actor, source, at }: Pick<HistoryEntry, 'actor' | 'source' | 'at'>): string {
  return `${actor ?? 'someone'}${source ? ` via ${source}` : ''}${at === null ? '' : ` at ${at}`}`;
}
