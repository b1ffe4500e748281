import { join } from 'node:path';
import type { FileLine, Line } from './disk.ts';
import { damagedJournal, olderState, severalPending, straySource } from './failures.ts';
import type { JournalEntry, RunBegan, SnapshotTaken } from './journal.ts';
import { readJournal, readLine } from './journal-text.ts';
import { runOf } from './layout.ts';
import type { Place } from './place.ts';
import { isRecord } from './shape.ts';
import type { StateMark } from './state-text.ts';

/** The journal of a run that has not been filed among the finished ones. */
export type OpenRun = {
  readonly run: string;
  readonly path: string;
  readonly entries: readonly JournalEntry[];
  /** Its first entry; undefined where it has none. */
  readonly began: RunBegan | undefined;
  /** Whether it asked nothing of the platform and recorded nothing. */
  readonly isIdle: boolean;
  /** Whether its last write was cut off. */
  readonly torn: boolean;
};

/** Which entries of a journal somebody wants: all, or those that say what the run was and what came of it. */
export type Wanted = 'all' | 'ends';

/** What the open journals of a state are. At most one run is pending. */
export type OpenRuns = {
  readonly pending: (OpenRun & { readonly began: RunBegan }) | undefined;
  /** Committed, but not filed: their process died in between. */
  readonly finished: readonly OpenRun[];
  /** Without a whole entry: their process died before anything was acknowledged. */
  readonly blank: readonly OpenRun[];
};

/** Reads every open journal. Undefined when one of them was filed meanwhile. */
export async function readOpenRuns(
  place: Place,
  wanted: Wanted,
): Promise<readonly OpenRun[] | undefined> {
  const open: OpenRun[] = [];
  for (const name of await place.disk.list(place.layout.runs)) {
    const found = runOf(name);
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
  return readOpenRun(lines, run, path, wanted, keptIn(run, place));
}

/** How entries of a run's file are held. */
export function keptIn(
  run: string,
  place: Place,
): (entry: JournalEntry, line: FileLine) => JournalEntry {
  return (entry, line) => (entry.type === 'snapshot' ? leftInFile(entry, line, run, place) : entry);
}

/** The same for any store. `keep` says how an entry is held. */
export async function readOpenRun<L extends Line>(
  lines: AsyncIterable<L> | Iterable<L>,
  run: string,
  path: string,
  wanted: Wanted,
  keep: (entry: JournalEntry, line: L) => JournalEntry = (entry) => entry,
): Promise<OpenRun> {
  const entries: JournalEntry[] = [];
  let began: RunBegan | undefined;
  let isFirst = true;
  let isIdle = true;
  const torn = await readJournal(lines, path, (entry, line) => {
    const { type } = entry;
    if (isFirst && type === 'began') began = entry;
    isFirst = false;
    if (type === 'intent' || type === 'resource') isIdle = false;
    if (wanted === 'ends' && type !== 'began' && type !== 'ended') return;
    entries.push(keep(entry, line));
  });
  return { run, path, entries, began, isIdle, torn };
}

/** Whoever looks at one member of a copy looks at the others next. */
let latest: { readonly line: FileLine; readonly entry: SnapshotTaken } | undefined;

/** A copy that is read again, from wherever its journal is filed by then, each time that one looks at it. */
function leftInFile(
  entry: SnapshotTaken,
  line: FileLine,
  run: string,
  { layout, disk }: Place,
): SnapshotTaken {
  const { type, address, kind, id, intended, sealed } = entry;
  // Journals of older versions have none.
  if (intended === undefined) return entry;
  const there = { at: line.at, size: line.size, text: '', isWhole: true };
  function again(): SnapshotTaken {
    if (latest?.line === there) return latest.entry;
    const paths = [layout.openRun(run), layout.finishedRun(run)];
    for (const path of paths) {
      const found = readLine(disk.readAgain(path, there) ?? '');
      if (!isCopyOf(found, address)) continue;
      latest = { line: there, entry: found };
      return found;
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
      return again().intended ?? null;
    },
  };
}

/** Of a line whose shape was checked when it was read before. */
function isCopyOf(value: unknown, address: string): value is SnapshotTaken {
  return isRecord(value) && value.type === 'snapshot' && value.address === address;
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
    const { began } = run;
    if (began === undefined) blank.push(run);
    else if (state?.last_run === run.run) finished.push(run);
    else if (state !== undefined && began.lineage !== state.lineage)
      throw straySource(run.path, `belongs to another stack: its lineage is ${began.lineage}`);
    else pending.push({ ...run, began });
  }
  const outdated = ({ began }: { readonly began: RunBegan }) =>
    state !== undefined && began.serial < state.serial;
  if (pending.length > 1 || pending.some(outdated)) {
    finished.push(...pending.filter(({ isIdle }) => isIdle));
    pending = pending.filter(({ isIdle }) => !isIdle);
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

/** Files what the dead left behind. For the holder of the lock alone. */
export async function tidyOpenRuns(place: Place, runs: OpenRuns): Promise<void> {
  for (const { run } of runs.finished) await fileRun(place, run);
  for (const { path } of runs.blank) await place.disk.remove(path);
}

/** Moves a journal among the finished ones. */
export function fileRun({ layout, disk }: Place, run: string): Promise<void> {
  return disk.rename(layout.openRun(run), layout.finishedRun(run));
}
