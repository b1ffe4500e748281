import { basename } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import { commitState } from './commit.ts';
import type { JournalEntry, RunBegan } from './journal.ts';
import { journalPieces } from './journal-text.ts';
import { isRunId, runOf } from './layout.ts';
import type { Lock } from './lock.ts';
import type { State } from './model.ts';
import type { Place } from './place.ts';
import { fileRun, readRunFile } from './run-files.ts';

/**
 * Puts a state in the place of whatever is there, and records the run that does it.
 *
 *     step                                  a crash before it leaves
 *     1  copy the state aside               what was there
 *     2  clear the open journals away       the same; no more than copies were made
 *     3  write the run's journal            the same; runs that died are among the finished
 *     4  commit                             the same, and the journal of a run that wrote nothing
 *
 * Open journals of the same lineage that can be read are filed as runs that did not finish; others get a
 * name under which nobody takes them for a journal. Resolves to the names of what was set aside.
 */
export async function replaceState(
  state: State,
  [began, ...rest]: readonly [RunBegan, ...JournalEntry[]],
  place: Place,
  lock: Lock,
): Promise<readonly string[]> {
  const { layout, disk } = place;
  const { run } = began;
  if (!isRunId(run) || state.last_run !== run) throw new Error(`not written by a run: ${run}`);
  const aside = (path: string) => `${path}.before-${run}`;
  const kept: string[] = [];

  lock.check();
  if ((await disk.look(layout.state)) === 'file') {
    await disk.copy(layout.state, aside(layout.state));
    kept.push(aside(layout.state));
  }
  await disk.makeFolder(layout.runs);
  for (const name of await disk.list(layout.runs)) {
    const found = runOf(name);
    if (found?.open !== true) continue;
    const path = layout.openRun(found.run);
    lock.check();
    if (await isSound(found.run, state.lineage, place)) await fileRun(place, found.run);
    else {
      await disk.rename(path, aside(path));
      kept.push(aside(path));
    }
  }
  lock.check();
  await disk.writeNew(layout.openRun(run), journalPieces([began, ...rest]));
  await commitState(state, run, place, lock);
  return kept.map((path) => basename(path));
}

/** Whether a journal can be read by everybody and is of that lineage. */
async function isSound(run: string, lineage: string, place: Place): Promise<boolean> {
  try {
    const found = await readRunFile(place, run, place.layout.openRun(run), 'ends');
    return found?.began?.lineage === lineage;
  } catch (error) {
    if (error instanceof CallsheetError) return false;
    throw error;
  }
}
