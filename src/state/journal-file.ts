import type { FileEnd } from './disk.ts';
import type { JournalEntry } from './journal.ts';
import { formatEntry } from './journal-text.ts';

/** The journal of the run under way. */
export type JournalWriter = {
  readonly run: string;
  /** Durable when it resolves. After one failure every later append fails likewise. */
  readonly append: (entry: JournalEntry) => Promise<void>;
  /** Written with what is appended next, or when the file is closed. */
  readonly note: (entry: JournalEntry) => void;
  /** Waits for what was appended and closes the file. Throws if an append had failed. */
  readonly close: () => Promise<void>;
};

/** Characters that go to the disk at once. All of what waits may be more than fits into one string. */
const MOST_AT_ONCE = 4 * 1024 * 1024;

type Waiting = {
  readonly entry: JournalEntry;
  /** Who waits for it; undefined for what was only noted. */
  readonly caller?: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
};

/**
 * Appends lines in the order of the calls. What is appended while the disk is busy goes out together
 * with the next write, so that a hundred requests in flight share one sync instead of queueing for a
 * hundred.
 *
 * `check` throws when the lease is lost. It is asked before a write, so that nothing is written into a
 * journal that another run has settled, and after it, so that whatever was acknowledged was written
 * before another run could have read the journal.
 */
export function writeJournal(
  run: string,
  file: FileEnd,
  check: () => void,
  head: string,
): JournalWriter {
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;
  let failed: { readonly error: unknown } | undefined;
  let closing: Promise<void> | undefined;
  let unwritten = head;

  async function write(lines: string): Promise<void> {
    if (failed !== undefined) throw failed.error;
    check();
    await file.append(unwritten + lines);
    unwritten = '';
    check();
  }

  /** The lines of what has waited longest, which is put into `batch`. */
  function nextLines(batch: Waiting[]): string {
    let lines = '';
    try {
      for (const one of waiting) {
        batch.push(one);
        lines += formatEntry(one.entry);
        if (lines.length >= MOST_AT_ONCE) break;
      }
      return lines;
    } finally {
      waiting = waiting.slice(batch.length);
    }
  }

  async function writeNext(): Promise<void> {
    const batch: Waiting[] = [];
    try {
      await write(nextLines(batch));
      for (const { caller } of batch) caller?.resolve();
    } catch (error) {
      failed ??= { error };
      for (const { caller } of batch) caller?.reject(error);
    }
  }

  async function flush(): Promise<void> {
    while (waiting.some(({ caller }) => caller !== undefined)) await writeNext();
    flushing = undefined;
  }

  async function end(): Promise<void> {
    await flushing;
    while (waiting.length > 0) await writeNext();
    await file.close();
  }

  return {
    run,
    append(entry) {
      if (closing !== undefined)
        return Promise.reject(new Error(`the journal of run ${run} is closed`));
      return new Promise((resolve, reject) => {
        waiting.push({ entry, caller: { resolve, reject } });
        flushing ??= flush();
      });
    },
    note(entry) {
      if (closing === undefined) waiting.push({ entry });
    },
    async close() {
      closing ??= end();
      await closing;
      if (failed !== undefined) throw failed.error;
    },
  };
}
