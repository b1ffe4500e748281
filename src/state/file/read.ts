import { join } from 'node:path';
import { CallsheetError, errorCode } from '../../core/errors.ts';
import { damagedJournal, linkedFolder, notAFile, strayState, tooLongToMend } from '../failures.ts';
import type { JournalEntry, SnapshotTaken } from '../journal.ts';
import { parseLine } from '../journal-text.ts';
import { isRecord, type State } from '../model.ts';
import {
  END_LENGTH,
  type EndsByRun,
  isAsLate,
  type JournalEnds,
  type OpenRun,
  type Place,
  parseRunFile,
  readOpenRun,
  refuseOlder,
  type Stored,
  sortOpenRuns,
  type Wanted,
} from '../runs.ts';
import { type JournalSource, salvageJournal } from '../salvage.ts';
import {
  type Line,
  parseState,
  readMark,
  readState,
  type StateMark,
  type StateReading,
} from '../state-text.ts';
import type { FileLine } from './disk.ts';

/** Reads what lies on the disk: a state, the journals beside it, and whether the two belong together. */

/**
 * Readers take no lock, so a run can commit and another begin between two reads. What then does not fit
 * together does so at the next look; what still does not is so on disk.
 */
const TRIES = 3;

/** Throws `CallsheetError('state')` when state or journals are damaged, or do not belong together. */
export function readStored(place: Place): Promise<Stored> {
  return readAround(place, readState, 'all');
}

/** The same where only the mark of the state and the ends of the journals are asked for; all of both is checked. */
export function readStoredMark(place: Place): Promise<Stored<StateMark>> {
  return readAround(place, readMark, 'ends');
}

async function readAround<S extends StateMark>(
  place: Place,
  read: ReadState<S>,
  wanted: Wanted,
): Promise<Stored<S | State>> {
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

type ReadState<S> = (lines: AsyncIterable<Line>, reading: StateReading) => Promise<S | undefined>;

/** Undefined when there is none yet. What does not lie as it was written is read as a whole. */
async function readCommitted<S extends StateMark>(
  place: Place,
  read: ReadState<S>,
): Promise<S | State | undefined> {
  const lines = await readStateLines(place);
  const state = lines && (await read(lines, place));
  if (lines === undefined || state !== undefined) return state;
  const text = await readStateText(place);
  return text === undefined ? undefined : parseState(text, place.location, place.seals);
}

/** Undefined when there is none. Throws as `refuseOddPlace` does. */
export async function readStateLines(place: Place): Promise<AsyncIterable<Line> | undefined> {
  const found = await refuseOddPlace(place);
  return found === undefined ? undefined : place.disk.readLines(place.layout.state, 'state');
}

/** The same in one text. Throws where that is longer than a string can be: only a sound state is read by lines. */
export async function readStateText(place: Place): Promise<string | undefined> {
  try {
    const found = await refuseOddPlace(place);
    return found === undefined ? undefined : await place.disk.read(place.layout.state);
  } catch (error) {
    if (TOO_LONG.has(errorCode(error) ?? '') || error instanceof RangeError)
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

/** Throws `CallsheetError('state')` where a folder beside the state is a link: others may have brought it. */
export async function refuseLinkedFolders({ layout, disk }: Place): Promise<void> {
  for (const folder of [layout.runs, layout.lock])
    if ((await disk.look(folder)) === 'link') throw linkedFolder(folder);
}

/**
 * Checks that a whole state is the one that the runs beside it left. Throws `CallsheetError('state')` if a finished
 * run of its own lineage began from its serial or a later one, so that it is an older copy, and if all runs are of
 * other stacks, though it says that a run wrote it.
 *
 * Runs are named by the time at which they began. In the usual case the newest wrote the state, and nothing is read
 * but the names. A state without any run beside it was brought here, and is taken as it is.
 */
async function checkProvenance(
  state: StateMark,
  open: readonly OpenRun[],
  place: Place,
): Promise<void> {
  const { last_run: last, lineage } = state;
  const finished = await filedRuns(place);
  const isHere = last !== null && (finished.includes(last) || open.some(({ run }) => run === last));
  const suspects = finished.filter((run) => !isHere || last === null || isAsLate(run, last));
  let isForeign = last !== null && !isHere && suspects.length > 0;
  for (const run of suspects.sort().reverse()) {
    const ends = await readEnds(run, place);
    if (ends?.began?.lineage !== lineage) continue;
    isForeign = false;
    // It may have been filed without ever committing.
    if (!ends.entries.some(({ type }) => type === 'ended')) continue;
    refuseOlder(state, ends, place.location);
    // Older runs say no more.
    break;
  }
  if (isForeign && last !== null) throw strayState(place.location, last);
}

/** Undefined for a damaged journal: it tells nothing. */
async function readEnds(run: string, place: Place): Promise<OpenRun | undefined> {
  try {
    return await readRunFile(place, run, place.layout.finishedRun(run), 'ends');
  } catch (error) {
    if (error instanceof CallsheetError) return undefined;
    throw error;
  }
}

/** Reads every open journal. Undefined when one of them was filed meanwhile. */
export async function readOpenRuns(
  place: Place,
  wanted: Wanted,
): Promise<readonly OpenRun[] | undefined> {
  const open: OpenRun[] = [];
  for (const name of await place.disk.list(place.layout.runs)) {
    const found = parseRunFile(name);
    if (found?.open !== true) continue;
    const run = await readRunFile(place, found.run, join(place.layout.runs, name), wanted);
    if (run === undefined) return undefined;
    open.push(run);
  }
  return open;
}

/**
 * Reads the journal of a run; undefined when there is none. What a resource was before the run is left in the file
 * until somebody asks for it: the copies of a large run are larger than the memory of a process.
 */
export async function readRunFile(
  place: Place,
  run: string,
  path: string,
  wanted: Wanted,
): Promise<OpenRun | undefined> {
  const lines = await place.disk.readLines(path);
  if (lines === undefined) return undefined;
  return readOpenRun(lines, run, path, wanted, place.seals, keptIn(run, place));
}

/** How entries of a run's file are held. */
function keptIn(run: string, place: Place): (entry: JournalEntry, line: FileLine) => JournalEntry {
  return (entry, line) => (entry.type === 'snapshot' ? leftInFile(entry, line, run, place) : entry);
}

/** A reader of one member of a copy reads the others next. */
let latest: { readonly line: FileLine; readonly entry: SnapshotTaken } | undefined;

/** A copy that is read again, from wherever its journal is filed by then, each time that one looks at it. */
function leftInFile(
  entry: SnapshotTaken,
  line: FileLine,
  run: string,
  { layout, disk }: Place,
): SnapshotTaken {
  const { type, address, kind, id, sealed } = entry;
  const there = { at: line.at, size: line.size, text: '', isWhole: true };
  const digest = parseLine(line.text)?.digest;
  function again(): SnapshotTaken {
    if (latest?.line === there) return latest.entry;
    const paths = [layout.openRun(run), layout.finishedRun(run)];
    for (const path of paths) {
      const found = parseLine(disk.readAgain(path, there) ?? '');
      if (found === undefined || found.digest !== digest) continue;
      if (!isCopy(found.entry, address)) continue;
      latest = { line: there, entry: found.entry };
      return found.entry;
    }
    throw damagedJournal(paths[0] ?? '', `lost what ${address} was, while it was being read`);
  }
  return {
    type,
    address,
    kind,
    id,
    // Few have any, and it is short.
    ...(sealed === undefined ? {} : { sealed }),
    get document() {
      return again().document;
    },
    get pin() {
      return again().pin;
    },
    get resource() {
      return again().resource;
    },
    get withheld() {
      return again().withheld;
    },
    get intended() {
      return again().intended;
    },
  };
}

/** Recognizes the line of a copy whose shape was checked when it was read before. */
function isCopy(value: unknown, address: string): value is SnapshotTaken {
  return isRecord(value) && value.type === 'snapshot' && value.address === address;
}

/** The journal of one run, finished or not; undefined when there is none. */
export async function readRun(
  place: Place,
  run: string,
  wanted: Wanted,
): Promise<OpenRun | undefined> {
  const { layout } = place;
  // The open name first: a journal that is filed in between is then found under the other.
  for (const path of [layout.openRun(run), layout.finishedRun(run)]) {
    const found = await readRunFile(place, run, path, wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The runs whose journals were filed, in no order. */
export async function filedRuns({ layout, disk }: Place): Promise<readonly string[]> {
  return (await disk.list(layout.runs)).flatMap((name) => {
    const found = parseRunFile(name);
    return found?.open === false ? [found.run] : [];
  });
}

/** The ends of the journals of filed runs. */
export async function readAllEnds(
  { layout, disk }: Place,
  runs: readonly string[],
): Promise<EndsByRun> {
  const ends = new Map<string, JournalEnds>();
  for (const run of runs) {
    const found = await disk.readEnds(layout.finishedRun(run), END_LENGTH);
    if (found !== undefined) ends.set(run, found);
  }
  return ends;
}

/** Every journal, in no order, as it is salvaged. */
export async function journalSources(place: Place): Promise<readonly JournalSource[]> {
  const { layout, disk } = place;
  const files: JournalSource[] = [];
  for (const name of await disk.list(layout.runs)) {
    const found = parseRunFile(name);
    if (found === undefined) continue;
    const path = join(layout.runs, name);
    files.push({
      run: found.run,
      path,
      finished: !found.open,
      read: async () =>
        salvageJournal(
          (await disk.readLines(path)) ?? [],
          path,
          place.seals.lines(found.run),
          keptIn(found.run, place),
        ),
    });
  }
  return files;
}
