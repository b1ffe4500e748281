import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import type { JournalEntry } from './journal.ts';
import { parseJournal } from './journal-text.ts';
import { isRunId, runOf } from './layout.ts';
import type { Place } from './place.ts';
import type { OpenRun } from './run-files.ts';
import type { RunSummary } from './store.ts';

/** The journal of one run, finished or not; undefined when there is none. */
export async function readRun(
  { layout, disk }: Place,
  run: string,
): Promise<readonly JournalEntry[] | undefined> {
  if (!isRunId(run)) return undefined;
  // The open name first: a journal that is filed in between is then found under the other.
  for (const path of [layout.openRun(run), layout.finishedRun(run)]) {
    const text = await disk.read(path);
    if (text !== undefined) return (await parseJournal(text, path)).entries;
  }
  return undefined;
}

/** The finished runs, newest first. `unfiled` are those whose journal still has its open name. */
export async function summariseRuns(
  place: Place,
  unfiled: readonly OpenRun[],
): Promise<readonly RunSummary[]> {
  const summaries = unfiled.map(({ run, entries }) => summarise(run, entries));
  for (const name of await place.disk.list(place.layout.runs)) {
    const found = runOf(name);
    if (found?.open === false)
      summaries.push(await readSummary(place, found.run, join(place.layout.runs, name)));
  }
  return summaries.sort((a, b) => compare(b.at, a.at) || compare(b.run, a.run));
}

/** A damaged receipt is listed as one, and hides no other. */
async function readSummary({ disk }: Place, run: string, path: string): Promise<RunSummary> {
  try {
    return summarise(run, (await parseJournal((await disk.read(path)) ?? '', path)).entries);
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    const { mtime } = await stat(path);
    const unknown = { purpose: 'unknown', changes: 0, user: null, commit: null };
    return { run, at: mtime.toISOString(), status: 'unreadable', ...unknown };
  }
}

function summarise(run: string, entries: readonly JournalEntry[]): RunSummary {
  const began = entries.find((entry) => entry.type === 'began');
  const ended = entries.find((entry) => entry.type === 'ended');
  return {
    run,
    at: began?.at ?? '',
    purpose: began?.purpose ?? 'unknown',
    status: ended?.status ?? 'unfinished',
    changes: ended?.ledger.filter(({ status }) => status === 'done').length ?? 0,
    user: began?.actor.user ?? null,
    commit: began?.actor.commit ?? null,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
