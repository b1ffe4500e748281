import type { Address } from '../core/address.ts';
import { ownOf } from '../core/own.ts';
import type { HistoryEntry } from '../plan/reader.ts';
import type { State } from '../state/model.ts';
import { author, type Edited } from './interleaved.ts';

/** Entries that are read to find edits made since the last run. */
const ENTRIES_READ = 20;

/**
 * One sentence for every resource that somebody edited after Callsheet wrote it last, as far as its history
 * tells. What goes back to a snapshot undoes those edits too, but for those that the snapshot has itself.
 *
 * @param versions the newest entry of each resource when the snapshot was made
 */
export async function findEdits(
  addresses: readonly Address[],
  versions: ReadonlyMap<Address, number>,
  { resources }: State,
  historyOf: (kind: string, id: string, limit: number) => Promise<readonly HistoryEntry[]>,
): Promise<readonly Edited[]> {
  const found = await Promise.all(
    addresses.map(async (address): Promise<Edited | undefined> => {
      const known = ownOf(resources, address);
      const last = known?.pin?.history_id;
      if (known === undefined || last === undefined || last === null) return undefined;
      const entries = await historyOf(known.kind, known.id, ENTRIES_READ);
      const since = Math.max(last, versions.get(address) ?? last);
      const [newest] = entries.filter(({ id }) => id > since);
      const message =
        newest && `${address} was edited since the last run, last by ${author(newest)}`;
      return message === undefined ? undefined : { address, message };
    }),
  );
  return found.filter((edited) => edited !== undefined);
}
