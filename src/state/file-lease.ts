import { type Base, checkSuccession, commitState } from './commit.ts';
import { worded } from './disk-failures.ts';
import { unsettledRun } from './failures.ts';
import type { JournalEntry } from './journal.ts';
import { type JournalWriter, writeJournal } from './journal-file.ts';
import { JOURNAL_HEADER, journalPieces, TORN } from './journal-text.ts';
import { isRunId } from './layout.ts';
import type { Lock } from './lock.ts';
import type { State } from './model.ts';
import { openOnFirst } from './open-journal.ts';
import type { Place } from './place.ts';
import { replaceState } from './replace.ts';
import { type OpenRun, readOpenRuns, tidyOpenRuns } from './run-files.ts';
import { readMarkStanding } from './standing.ts';
import type { Holder, KeptRun, Lease } from './store.ts';

/**
 * The right to write, for as long as the lock is held. One lease can settle a dead run and then do its
 * own: entries without a `began` go on with the pending run's journal, `commit` files it, and the next
 * `began` opens another.
 */
export function openLease(lock: Lock, holder: Holder, place: Place): Lease {
  const { layout, location, disk } = place;
  const journal = openOnFirst(openJournal, location);

  /** Reads how things stand and files what the dead left behind. */
  async function takeStock() {
    lock.check();
    const standing = await readMarkStanding(place);
    // Again: what was read is only sure to be left by the dead if the lock was held throughout.
    lock.check();
    await tidyOpenRuns(place, standing.runs);
    return { state: standing.state, pending: standing.runs.pending };
  }

  async function openJournal(first: JournalEntry): Promise<JournalWriter> {
    lock.check();
    // With nothing open, the usual case, a large state need not be read for it.
    const open = await readOpenRuns(place, 'ends');
    const pending = open?.length === 0 ? undefined : (await takeStock()).pending;
    if (first.type === 'began') {
      if (pending !== undefined) throw unsettledRun(location, pending.run);
      return beginJournal(first.run);
    }
    if (pending === undefined) throw new Error(`no run has begun: ${first.type} entry`);
    return continueJournal(pending);
  }

  async function beginJournal(run: string): Promise<JournalWriter> {
    if (!isRunId(run)) throw new Error(`not the id of a run: ${JSON.stringify(run)}`);
    await disk.makeFolder(layout.runs);
    const file = await disk.openEnd(layout.openRun(run), 'new');
    return writeJournal(run, file, lock.check, JOURNAL_HEADER);
  }

  async function continueJournal({ run, path, torn }: OpenRun): Promise<JournalWriter> {
    const file = await disk.openEnd(path, 'existing');
    return writeJournal(run, file, lock.check, torn ? TORN : '');
  }

  async function commit(state: State): Promise<void> {
    lock.check();
    await journal.close();
    const { state: current, pending } = await takeStock();
    if (pending !== undefined && state.last_run !== pending.run)
      throw unsettledRun(location, pending.run);
    const base: Base | undefined = current ?? pending?.began;
    checkSuccession(state, base, location);
    await commitState(state, pending?.run, place, lock);
  }

  /** What fails after the lease was lost fails for that reason: another run tidied it away, say. */
  function whileHeld<T>(work: () => Promise<T>): Promise<T> {
    return worded(location, async () => {
      try {
        return await work();
      } catch (error) {
        lock.check();
        throw error;
      }
    });
  }

  /** Receipts first: a state is there when all of it is. */
  async function receive(state: State, receipts: readonly KeptRun[]): Promise<void> {
    await disk.makeFolder(layout.runs);
    for (const { run, entries } of receipts) {
      lock.check();
      if (!isRunId(run)) throw new Error(`not the id of a run: ${JSON.stringify(run)}`);
      const path = layout.finishedRun(run);
      if ((await disk.look(path)) === undefined) await disk.writeNew(path, journalPieces(entries));
    }
    await commitState(state, undefined, place, lock);
  }

  return {
    id: lock.id,
    holder,
    append: (entry) => whileHeld(() => journal.append(entry)),
    note: (entry) => journal.note(entry),
    commit: (state) => whileHeld(() => commit(state)),
    replace: (state, entries) => whileHeld(() => replaceState(state, entries, place, lock)),
    receive: (state, receipts) => whileHeld(() => receive(state, receipts)),
    async release() {
      // A journal that failed has told so already, to whoever appended.
      await journal.close().catch(() => undefined);
      await lock.release();
    },
  };
}
