import { CallsheetError } from '../core/errors.ts';
import type { Line } from './disk.ts';
import { systemCode } from './disk-failures.ts';
import { notAFile, tooLongToMend } from './failures.ts';
import type { State } from './model.ts';
import type { Place } from './place.ts';
import { checkProvenance } from './provenance.ts';
import { type OpenRuns, readOpenRuns, sortOpenRuns, type Wanted } from './run-files.ts';
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
