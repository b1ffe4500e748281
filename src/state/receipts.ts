import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import type { JournalEntry } from './journal.ts';
import { isRunId, runOf } from './layout.ts';
import type { Place } from './place.ts';
import { type OpenRun, readOpenRun, readRunFile } from './run-files.ts';
import type { RunSummary } from './store.ts';

/** The journal of one run, finished or not; undefined when there is none. */
export async function readRun(
  place: Place,
  run: string,
): Promise<readonly JournalEntry[] | undefined> {
  const { layout } = place;
  if (!isRunId(run)) return undefined;
  // The open name first: a journal that is filed in between is then found under the other.
  for (const path of [layout.openRun(run), layout.finishedRun(run)]) {
    const found = await readRunFile(place, run, path, 'all');
    if (found !== undefined) return found.entries;
  }
  return undefined;
}

/** The finished runs, newest first. `unfiled` are those whose journal still has its open name. */
export async function summariseRuns(
  place: Place,
  unfiled: readonly OpenRun[],
): Promise<readonly RunSummary[]> {
  const receipts = unfiled.map(summarise);
  for (const name of await place.disk.list(place.layout.runs)) {
    const found = runOf(name);
    if (found?.open !== false) continue;
    const path = join(place.layout.runs, name);
    const read = () => readRunFile(place, found.run, path, 'ends');
    const changedAt = async () => (await stat(path)).mtime.toISOString();
    receipts.push(await readReceipt(found.run, read, changedAt));
  }
  return inOrder(receipts);
}

/** What receipts say in short, newest first. */
export function inOrder(receipts: readonly Receipt[]): readonly RunSummary[] {
  return newestFirst(receipts).map(({ summary }) => summary);
}

/** A receipt with what tells its place among the others. */
export type Receipt = {
  readonly summary: RunSummary;
  readonly lineage: string;
  /** Of the state that the run began from. */
  readonly serial: number;
};

/**
 * Runs of one lineage in the order of the states that they began from: clocks of machines differ and are set
 * back, and two runs may begin in the same second. Lineages by their newest run.
 */
function newestFirst(receipts: readonly Receipt[]): readonly Receipt[] {
  const newest = new Map<string, string>();
  for (const { lineage, summary } of receipts) {
    if (summary.at > (newest.get(lineage) ?? '')) newest.set(lineage, summary.at);
  }
  const newestOf = ({ lineage }: Receipt) => newest.get(lineage) ?? '';
  return receipts.toSorted(
    (a, b) =>
      compare(newestOf(b), newestOf(a)) ||
      compare(b.lineage, a.lineage) ||
      b.serial - a.serial ||
      compare(b.summary.at, a.summary.at) ||
      compare(b.summary.run, a.summary.run),
  );
}

/** A damaged receipt is listed as one, and hides no other. `changedAt` tells when it was written last. */
export async function readReceipt(
  run: string,
  read: () => Promise<OpenRun | undefined>,
  changedAt: () => Promise<string>,
): Promise<Receipt> {
  try {
    return summarise((await read()) ?? (await readOpenRun([], run, '', 'ends')));
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    const unknown = { purpose: 'unknown', changes: 0, user: null, commit: null };
    const summary = { run, at: await changedAt(), status: 'unreadable' as const, ...unknown };
    return { summary, lineage: '', serial: 0 };
  }
}

function summarise({ run, entries }: OpenRun): Receipt {
  const began = entries.find((entry) => entry.type === 'began');
  const ended = entries.find((entry) => entry.type === 'ended');
  const summary: RunSummary = {
    run,
    at: began?.at ?? '',
    purpose: began?.purpose ?? 'unknown',
    status: ended?.status ?? 'unfinished',
    changes: ended?.ledger.filter(({ status }) => status === 'done').length ?? 0,
    user: began?.actor.user ?? null,
    commit: began?.actor.commit ?? null,
  };
  return { summary, lineage: began?.lineage ?? '', serial: began?.serial ?? 0 };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
