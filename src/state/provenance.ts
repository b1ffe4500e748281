import { CallsheetError } from '../core/errors.ts';
import { olderState, strayState } from './failures.ts';
import { runOf } from './layout.ts';
import type { Place } from './place.ts';
import { type OpenRun, readRunFile } from './run-files.ts';
import type { StateMark } from './state-text.ts';

/**
 * Whether a whole state is the one that the runs beside it left. Throws `CallsheetError('state')` where a
 * finished run of its own lineage began from its serial or a later one, so that it is an older copy, and
 * where all runs are of other stacks, though it says that a run wrote it.
 *
 * Runs are named by the time at which they began. In the usual case the newest wrote the state, and
 * nothing is read but the names. A state without any run beside it was brought here, and is taken as it is.
 */
export async function checkProvenance(
  state: StateMark,
  open: readonly OpenRun[],
  place: Place,
): Promise<void> {
  const { last_run: last, lineage, serial } = state;
  const names = await place.disk.list(place.layout.runs);
  const finished = names.flatMap((name) => {
    const found = runOf(name);
    return found?.open === false ? [found.run] : [];
  });
  const isHere = last !== null && (finished.includes(last) || open.some(({ run }) => run === last));
  const suspects = finished.filter((run) => !isHere || last === null || isAsLate(run, last));
  let isForeign = last !== null && !isHere && suspects.length > 0;
  for (const run of suspects.sort().reverse()) {
    const { began, entries } = (await readEnds(run, place)) ?? {};
    if (began?.lineage !== lineage) continue;
    isForeign = false;
    // It may have been filed without ever committing.
    if (!entries?.some(({ type }) => type === 'ended')) continue;
    if (began.serial >= serial) throw olderState(place.location, serial, run, began.serial);
    // What is older still says no more.
    break;
  }
  if (isForeign && last !== null) throw strayState(place.location, last);
}

/** Whether a run may have begun after another, which their names tell to the second. */
function isAsLate(run: string, other: string): boolean {
  return run !== other && run.slice(0, SECOND) >= other.slice(0, SECOND);
}

/** Of `20261121t094500z-1f3a9c`, the time. */
const SECOND = 16;

/** Undefined for a damaged journal: it tells nothing. */
async function readEnds(run: string, place: Place): Promise<OpenRun | undefined> {
  try {
    return await readRunFile(place, run, place.layout.finishedRun(run), 'ends');
  } catch (error) {
    if (error instanceof CallsheetError) return undefined;
    throw error;
  }
}
