import { unsettledRun } from './failures.ts';
import type { JournalEntry } from './journal.ts';
import type { JournalWriter } from './journal-file.ts';

/** The journal that a lease writes to, whatever keeps it: opened by its first entry, of one run at a time. */
type OpenJournal = {
  readonly append: (entry: JournalEntry) => Promise<void>;
  /** Ends the journal, if there is one; the next entry opens another. Throws what opening or ending it threw. */
  readonly close: () => Promise<void>;
};

export function openOnFirst(
  open: (first: JournalEntry) => Promise<JournalWriter>,
  location: string,
): OpenJournal {
  let journal: Promise<JournalWriter> | undefined;
  return {
    async append(entry) {
      journal ??= open(entry);
      const opening = journal;
      const writer = await opening.catch((error: unknown) => {
        if (journal === opening) journal = undefined;
        throw error;
      });
      if (entry.type === 'began' && entry.run !== writer.run)
        throw unsettledRun(location, writer.run);
      await writer.append(entry);
    },
    async close() {
      const ending = journal;
      await (await ending)?.close();
      if (journal === ending) journal = undefined;
    },
  };
}
