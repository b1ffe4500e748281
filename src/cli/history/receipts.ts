import { CallsheetError } from '../../core/errors.ts';
import type { JournalEntry, RunBegan } from '../../state/journal.ts';
import type { StateStore } from '../../state/store.ts';
import type { Context } from '../context.ts';
import type { PlatformSession } from '../platform-session.ts';
import { openStore } from '../session.ts';

/** What one run wrote down of one resource. */
export type Receipt = {
  readonly began: RunBegan;
  /** Entries of the journal that are about the resource. */
  readonly entries: readonly JournalEntry[];
};

/** A history that goes back further than this many runs is not marked to its end. */
const MOST_RUNS = 500;

/**
 * Receipts of the runs that touched a resource, newest first. None where the folder has no stack. A receipt
 * that cannot be read hides no other.
 */
export async function readReceipts(
  id: string,
  { settings }: Pick<PlatformSession, 'settings'>,
  context: Context,
): Promise<readonly Receipt[]> {
  if (settings === undefined) return [];
  const store = openStore(settings, context);
  try {
    const runs = (await store.runs()).filter(({ status }) => status !== 'unreadable');
    const receipts: Receipt[] = [];
    for (const { run } of runs.slice(0, MOST_RUNS)) {
      const receipt = receiptOf((await readRun(store, run)) ?? [], id);
      if (receipt !== undefined) receipts.push(receipt);
    }
    return receipts;
  } finally {
    await store.close();
  }
}

async function readRun(
  store: StateStore,
  run: string,
): Promise<readonly JournalEntry[] | undefined> {
  try {
    return await store.run(run);
  } catch (error) {
    if (error instanceof CallsheetError && error.code === 'state') return undefined;
    throw error;
  }
}

/** The part of a journal that is about one resource, whatever it was called then. */
function receiptOf(journal: readonly JournalEntry[], id: string): Receipt | undefined {
  const began = journal.find((entry) => entry.type === 'began');
  const addresses = new Set(journal.flatMap((entry) => addressesIn(entry, id)));
  if (began === undefined || addresses.size === 0) return undefined;
  const isAbout = (address: string) => addresses.has(address);
  const entries = journal.flatMap((entry): readonly JournalEntry[] => {
    if (entry.type === 'ended') {
      return [{ ...entry, ledger: entry.ledger.filter(({ address }) => isAbout(address)) }];
    }
    return 'address' in entry && isAbout(entry.address) ? [entry] : [];
  });
  return { began, entries };
}

function addressesIn(entry: JournalEntry, id: string): readonly string[] {
  if (entry.type === 'ended') {
    return entry.ledger.filter((line) => line.id === id).map(({ address }) => address);
  }
  return entry.type === 'snapshot' && entry.id === id ? [entry.address] : [];
}
