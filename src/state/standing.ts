import { CallsheetError } from '../core/errors.ts';
import type { Line } from './disk.ts';
import { systemCode } from './disk-failures.ts';
import { notAFile, olderState, strayState, tooLongToMend } from './failures.ts';
import { runOf } from './layout.ts';
import type { State } from './model.ts';
import type { Place } from './place.ts';
import {
  type OpenRun,
  type OpenRuns,
  readOpenRuns,
  readRunFile,
  sortOpenRuns,
  type Wanted,
} from './run-files.ts';
import { parseState, readMark, readState, type StateMark } from './state-text.ts';

/** How a state stands: as committed, or what tells which one it is, and what the journals beside it hold. */
export type Standing<S extends StateMark = State> = {
  readonly state: S | undefined;
  readonly runs: OpenRuns;
};

/**
 * Readers take no lock, so a run can commit and another begin between two reads. What then does not fit
 * together does so at the next look; what still does not is so on disk.
 */
const TRIES = 3;

/** Throws `CallsheetError('state')` when state or journals are damaged, or do not belong together. */
export function readStanding(place: Place): Promise<Standing> {
  return readAround(place, readState, 'all');
}

/** The same where only the mark of the state and the ends of the journals are asked for; all of both is checked. */
export function readMarkStanding(place: Place): Promise<Standing<StateMark>> {
  return readAround(place, readMark, 'ends');
}

async function readAround<S extends StateMark>(
  place: Place,
  read: (lines: AsyncIterable<Line>) => Promise<S | undefined>,
  wanted: Wanted,
): Promise<Standing<S | State>> {
  for (let attempt = 1; ; attempt += 1) {
    const state = await readCommitted(place, read);
    const open = await readOpenRuns(place, wanted);
    // One was filed between the listing and the reading: look again.
    if (open === undefined) continue;
    try {
      const runs = sortOpenRuns(state, open, place.location);
      if (state !== undefined) await checkProvenance(state, open, place);
      return { state, runs };
    } catch (error) {
      if (attempt === TRIES || !(error instanceof CallsheetError)) throw error;
    }
  }
}

/** Undefined when there is none yet. What does not lie as it was written is read as a whole. */
async function readCommitted<S extends StateMark>(
  place: Place,
  read: (lines: AsyncIterable<Line>) => Promise<S | undefined>,
): Promise<S | State | undefined> {
  const lines = await readStateLines(place);
  const state = lines && (await read(lines));
  if (lines === undefined || state !== undefined) return state;
  const text = await readStateText(place);
  return text === undefined ? undefined : parseState(text, place.location);
}

/** Undefined when there is none. Throws as `refuseOddPlace` does. */
export async function readStateLines(place: Place): Promise<AsyncIterable<Line> | undefined> {
  const found = await refuseOddPlace(place);
  return found === undefined ? undefined : place.disk.readLines(place.layout.state);
}

/** The same in one text. Throws where that is longer than a string can be: only a sound state is read by lines. */
export async function readStateText(place: Place): Promise<string | undefined> {
  try {
    const found = await refuseOddPlace(place);
    return found === undefined ? undefined : await place.disk.read(place.layout.state);
  } catch (error) {
    if (TOO_LONG.has(systemCode(error) ?? '') || error instanceof RangeError)
      throw tooLongToMend(place.location);
    throw error;
  }
}

/** How Node says that a file is longer than a string, or than it reads at once. */
const TOO_LONG = new Set(['ERR_STRING_TOO_LONG', 'ERR_FS_FILE_TOO_LARGE']);

/** Throws `CallsheetError('state')` where something else than a file stands in the state's place. */
export async function refuseOddPlace({ layout, location, disk }: Place) {
  const found = await disk.look(layout.state);
  if (found !== undefined && found !== 'file') throw notAFile(location, found);
  return found;
}

/**
 * Whether a whole state is the one that the runs beside it left. Throws `CallsheetError('state')` where a
 * finished run of its own lineage began from its serial or a later one, so that it is an older copy, and
 * where all runs are of other stacks, though it says that a run wrote it.
 *
 * Runs are named by the time at which they began. In the usual case the newest wrote the state, and
 * nothing is read but the names. A state without any run beside it was brought here, and is taken as it is.
 */
async function checkProvenance(
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
