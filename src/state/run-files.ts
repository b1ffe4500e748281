import { join } from 'node:path';
import { olderState, severalPending, straySource } from './failures.ts';
import type { JournalEntry, RunBegan } from './journal.ts';
import { parseJournal } from './journal-text.ts';
import { runOf } from './layout.ts';
import type { Place } from './place.ts';
import type { StateMark } from './state-text.ts';

/** The journal of a run that has not been filed among the finished ones. */
export type OpenRun = {
  readonly run: string;
  readonly path: string;
  readonly entries: readonly JournalEntry[];
  /** Whether its last write was cut off. */
  readonly torn: boolean;
};

/** What the open journals of a state are. At most one run is pending. */
export type OpenRuns = {
  readonly pending: (OpenRun & { readonly began: RunBegan }) | undefined;
  /** Committed, but not filed: their process died in between. */
  readonly finished: readonly OpenRun[];
  /** Without a whole entry: their process died before anything was acknowledged. */
  readonly blank: readonly OpenRun[];
};

/** Reads every open journal. Undefined when one of them was filed meanwhile. */
export async function readOpenRuns({
  layout,
  disk,
}: Place): Promise<readonly OpenRun[] | undefined> {
  const open: OpenRun[] = [];
  for (const name of await disk.list(layout.runs)) {
    const found = runOf(name);
    if (found?.open !== true) continue;
    const path = join(layout.runs, name);
    const text = await disk.read(path);
    if (text === undefined) return undefined;
    open.push({ run: found.run, path, ...(await parseJournal(text, path)) });
  }
  return open;
}

/**
 * Tells the open journals apart by the state that they lie beside:
 *
 * | the journal                                    | it is                                           |
 * |------------------------------------------------|-------------------------------------------------|
 * | has no whole entry                             | blank                                           |
 * | is of the state's last run                     | finished                                        |
 * | began from a state of another lineage          | foreign: throws                                 |
 * | began from an older state, or is one of several| finished if it asked nothing of the platform; else throws |
 * | began from a newer state                       | of a state that was lost: throws                |
 * | any other                                      | pending                                         |
 */
export function sortOpenRuns(
  state: StateMark | undefined,
  open: readonly OpenRun[],
  location: string,
): OpenRuns {
  const blank: OpenRun[] = [];
  const finished: OpenRun[] = [];
  let pending: (OpenRun & { readonly began: RunBegan })[] = [];
  for (const run of open) {
    const [began] = run.entries;
    if (began?.type !== 'began') blank.push(run);
    else if (state?.last_run === run.run) finished.push(run);
    else if (state !== undefined && began.lineage !== state.lineage)
      throw straySource(run.path, `belongs to another stack: its lineage is ${began.lineage}`);
    else pending.push({ ...run, began });
  }
  const outdated = ({ began }: { readonly began: RunBegan }) =>
    state !== undefined && began.serial < state.serial;
  if (pending.length > 1 || pending.some(outdated)) {
    finished.push(...pending.filter(isIdle));
    pending = pending.filter((run) => !isIdle(run));
  }
  const stray = pending.find(outdated);
  if (stray !== undefined)
    throw straySource(
      stray.path,
      `began at serial ${stray.began.serial}, and the state has moved on to ${state?.serial} without it`,
    );
  const ahead = pending.find(({ began }) => state !== undefined && began.serial > state.serial);
  if (ahead !== undefined && state !== undefined)
    throw olderState(location, state.serial, ahead.run, ahead.began.serial);
  if (pending.length > 1)
    throw severalPending(
      location,
      pending.map(({ run }) => run),
    );
  return { pending: pending[0], finished, blank };
}

/** Whether a run ended before it asked anything of the platform. */
function isIdle({ entries }: OpenRun): boolean {
  return entries.every(({ type }) => type !== 'intent' && type !== 'resource');
}

/** Files what the dead left behind. For the holder of the lock alone. */
export async function tidyOpenRuns(place: Place, runs: OpenRuns): Promise<void> {
  for (const { run } of runs.finished) await fileRun(place, run);
  for (const { path } of runs.blank) await place.disk.remove(path);
}

/** Moves a journal among the finished ones. */
export function fileRun({ layout, disk }: Place, run: string): Promise<void> {
  return disk.rename(layout.openRun(run), layout.finishedRun(run));
}
