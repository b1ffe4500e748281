import { unsettledRun } from './failures.ts';
import type { JournalEntry } from './journal.ts';
import type { JournalWriter } from './journal-file.ts';

/** The journal that a lease writes to, whatever keeps it: opened by its first entry, of one run at a time. */
type OpenJournal = {
  readonly append: (entry: JournalEntry) => Promise<void>;
  /** Written with what is appended next. */
  readonly note: (entry: JournalEntry) => void;
  /** Ends the journal, if there is one; the next entry opens another. Throws what opening or ending it threw. */
  readonly close: () => Promise<void>;
};

export function openOnFirst(
  open: (first: JournalEntry) => Promise<JournalWriter>,
  location: string,
): OpenJournal {
  let journal: Promise<JournalWriter> | undefined;
  let noted: Promise<void> | undefined;

  function writerFor(entry: JournalEntry): Promise<JournalWriter> {
    journal ??= open(entry);
    const opening = journal;
    return opening.catch((error: unknown) => {
      if (journal === opening) journal = undefined;
      throw error;
    });
  }

  return {
    async append(entry) {
      const writer = await writerFor(entry);
      if (entry.type === 'began' && entry.run !== writer.run)
        throw unsettledRun(location, writer.run);
      await writer.append(entry);
    },
    note(entry) {
      // Where it cannot be opened, whoever appends is told.
      noted = writerFor(entry).then(
        (writer) => writer.note(entry),
        () => undefined,
      );
    },
    async close() {
      const ending = journal;
      await noted;
      await (await ending)?.close();
      if (journal === ending) journal = undefined;
    },
  };
}
