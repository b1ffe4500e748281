import { basename, dirname, join } from 'node:path';
import { getKind } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { compareTexts } from '../core/value.ts';
import { createAllowance } from './bounds.ts';
import { olderState, severalPending, straySource, Unanswered } from './failures.ts';
import type { Disk } from './file/disk.ts';
import {
  findBegan,
  findEnded,
  isRunId,
  type JournalEntry,
  type LedgerLine,
  listLedger,
  type RunBegan,
} from './journal.ts';
import { readJournal, readLines } from './journal-text.ts';
import type { State } from './model.ts';
import { NO_SEALS, type Seals } from './seal.ts';
import type { Line, StateMark } from './state-text.ts';
import type { RunSummary } from './store.ts';

/** Which journals there are beside a state and what they mean, and finished runs in short: for every store. */

/** The journal of a run that has not been filed among the finished ones. */
export type OpenRun = {
  readonly run: string;
  readonly path: string;
  readonly entries: readonly JournalEntry[];
  /** Its first entry; undefined where it has none. */
  readonly began: RunBegan | undefined;
  /** How many lines with an entry it has. */
  readonly count: number;
  /** True if it asked nothing of the platform and recorded nothing. */
  readonly isIdle: boolean;
  /** True if its last write was cut off. */
  readonly torn: boolean;
};

/** Which entries of a journal somebody wants: all, or those that say what the run was and what came of it. */
export type Wanted = 'all' | 'ends';

/** The open journals of a state. At most one run is pending. */
export type OpenRuns = {
  readonly pending: (OpenRun & { readonly began: RunBegan }) | undefined;
  /** Committed, but not filed: their process died in between. */
  readonly finished: readonly OpenRun[];
  /** Without a whole entry: their process died before anything was acknowledged. */
  readonly blank: readonly OpenRun[];
};

/** The content of a store: the state as committed, or its mark, and the journals beside it. */
export type Stored<S extends StateMark = State> = {
  readonly state: S | undefined;
  readonly runs: OpenRuns;
};

/** Reads the journal of a run. `keep` says how an entry is held. Throws as `readJournal` does. */
export async function readOpenRun<L extends Line>(
  lines: AsyncIterable<L> | Iterable<L>,
  run: string,
  path: string,
  wanted: Wanted,
  seals: Seals = NO_SEALS,
  keep: (entry: JournalEntry, line: L) => JournalEntry = (entry) => entry,
): Promise<OpenRun> {
  const entries: JournalEntry[] = [];
  const allow = createAllowance(`the journal ${path}`);
  let began: RunBegan | undefined;
  let count = 0;
  let isIdle = true;
  const take = (entry: JournalEntry, line: L) => {
    const { type } = entry;
    if (count === 0 && type === 'began') began = entry;
    count += 1;
    if (type === 'intent' || type === 'resource') isIdle = false;
    if (wanted === 'ends' && type !== 'began' && type !== 'ended') return;
    const kept = keep(entry, line);
    if (kept === entry) allow(line.text.length);
    entries.push(kept);
  };
  const torn = await readJournal(lines, path, take, seals.lines(run));
  return { run, path, entries, began, count, isIdle, torn };
}

/** Characters at each end of a journal in which its beginning and its end are looked for, when runs are listed. */
export const END_LENGTH = 16 * 1024;

/** The text at both ends of a journal; they may overlap. */
export type JournalEnds = { readonly first: string; readonly last: string };

/** The ends of the journals of some runs, by run; none of those that are to be read whole. */
export type EndsByRun = ReadonlyMap<string, JournalEnds>;

/** Cuts a text that may be longer than its ends. */
export function cutEnds(first: string, last: string): JournalEnds {
  return { first: first.slice(0, END_LENGTH), last: last.slice(-END_LENGTH) };
}

/**
 * The beginning and the end of a finished run, read from the ends of its journal: what lies between is neither read nor
 * checked. Undefined where they do not tell, so that the whole is to be read: one is longer, a line is damaged, or the
 * run was settled, so that it may have another end before.
 */
export async function readEnds(
  { first, last }: JournalEnds,
  run: string,
  seals: Seals,
): Promise<Pick<OpenRun, 'run' | 'entries'> | undefined> {
  const [header = '', began, ...others] = first.split('\n', 3);
  if (began === undefined || others.length === 0 || !last.endsWith('\n')) return undefined;
  const ended = last.slice(last.lastIndexOf('\n', last.length - 2) + 1, -1);
  const entries = await readLines([header, began, ended], seals.lines(run));
  const [beginning, end] = entries ?? [];
  if (beginning?.type !== 'began' || end?.type !== 'ended' || end.status === 'settled')
    return undefined;
  return { run, entries: [beginning, end] };
}

/** Returns true if a journal can be read and is of that lineage. */
export async function isSound(
  read: () => Promise<OpenRun | undefined>,
  lineage: string,
): Promise<boolean> {
  try {
    return (await read())?.began?.lineage === lineage;
  } catch (error) {
    if (error instanceof CallsheetError) return false;
    throw error;
  }
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

/** Tells if a run may have begun after another, by their names, which are exact to the second. */
export function isAsLate(run: string, other: string): boolean {
  return run !== other && run.slice(0, SECOND) >= other.slice(0, SECOND);
}

/** The length of the time in `20261121t094500z-1f3a9c`. */
const SECOND = 16;

/**
 * Throws `CallsheetError('state')` where a finished run of the same lineage began from that state or a later one: it is an
 * older copy, sealed or not.
 */
export function refuseOlder(
  { lineage, serial }: StateMark,
  { run, began, entries }: Pick<OpenRun, 'run' | 'began' | 'entries'>,
  location: string,
): void {
  // One without an end may have been filed without ever committing.
  const isCommitted = entries.some(({ type }) => type === 'ended');
  if (began?.lineage === lineage && isCommitted && began.serial >= serial)
    throw olderState(location, serial, run, began.serial);
}

/**
 * Lists the summaries of receipts, newest first. An unreadable one stands where its run began by its id, and first if
 * that tells no time: what comes after it must not be taken for the last run.
 */
export function inOrder(receipts: readonly Receipt[]): readonly RunSummary[] {
  const isKnown = ({ summary }: Receipt) => summary.status !== 'unreadable';
  const listed = newestFirst(receipts.filter(isKnown)).map(({ summary }) => summary);
  const lost = receipts.filter((one) => !isKnown(one)).map(({ summary }) => summary);
  for (const summary of lost.toSorted((a, b) => compareTexts(a.run, b.run))) {
    const place = listed.findIndex(
      ({ at }) => summary.at === '' || second(at) <= second(summary.at),
    );
    listed.splice(place < 0 ? listed.length : place, 0, summary);
  }
  return listed;
}

/** An id tells no less. */
function second(at: string): string {
  return at.slice(0, '2026-01-02T03:04:05'.length);
}

/** A receipt with what tells its place among the others. */
export type Receipt = {
  readonly summary: RunSummary;
  readonly lineage: string;
  /** The serial of the state that the run began from. */
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
  const getNewest = ({ lineage }: Receipt) => newest.get(lineage) ?? '';
  return receipts.toSorted(
    (a, b) =>
      compareTexts(getNewest(b), getNewest(a)) ||
      compareTexts(b.lineage, a.lineage) ||
      b.serial - a.serial ||
      compareTexts(b.summary.at, a.summary.at) ||
      compareTexts(b.summary.run, a.summary.run),
  );
}

/** Returns true if an error says that a record is damaged. A store that does not answer says nothing of it. */
export function isDamage(error: unknown): boolean {
  const isState = error instanceof CallsheetError && error.code === 'state';
  return isState && !(error instanceof Unanswered);
}

/** A damaged receipt is listed as one, and hides no other. */
export async function readReceipt(
  run: string,
  read: () => Promise<Pick<OpenRun, 'run' | 'entries'> | undefined>,
): Promise<Receipt> {
  try {
    return summarise((await read()) ?? (await readOpenRun([], run, '', 'ends')));
  } catch (error) {
    if (!isDamage(error)) throw error;
    const unknown = {
      ...{ ended: null, purpose: 'unknown', changes: 0, outcomes: [] },
      ...{ user: null, commit: null },
    };
    const summary = { run, at: beganAt(run), status: 'unreadable' as const, ...unknown };
    return { summary, lineage: '', serial: 0 };
  }
}

/** When a run began, as its id says; empty where that tells no time. */
export function beganAt(run: string): string {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)z/.exec(run) ?? [];
  const [year, month, day, hour, minute, seconds] = parts;
  return year === undefined ? '' : `${year}-${month}-${day}T${hour}:${minute}:${seconds}.000Z`;
}

export function summarise({ run, entries }: Pick<OpenRun, 'run' | 'entries'>): Receipt {
  const began = findBegan(entries);
  const ended = findEnded(entries);
  const ledger = listLedger(entries);
  const summary: RunSummary = {
    run,
    at: began?.at ?? '',
    ended: ended?.at ?? null,
    purpose: began?.purpose ?? 'unknown',
    ...(began?.undoes === undefined ? {} : { undoes: began.undoes }),
    status: ended?.status ?? 'unfinished',
    changes: ledger.filter(({ status }) => status === 'done').length,
    outcomes: countOutcomes(ledger),
    user: began?.actor.user ?? null,
    commit: began?.actor.commit ?? null,
  };
  return { summary, lineage: began?.lineage ?? '', serial: began?.serial ?? 0 };
}

/** Counts the deeds of a run, as far as its journal has them. */
export function countOutcomes(ledger: readonly LedgerLine[]): RunSummary['outcomes'] {
  const tried = ledger.filter(({ verdict }) => verdict === undefined);
  const groups = Map.groupBy(tried, ({ address, action, status }) =>
    [getKind(address), action, status].join(' '),
  );
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const { address, action, status, name = address } = first;
    const isOne = own.length === 1;
    return [
      {
        ...{ kind: getKind(address), action, status, count: own.length },
        name: isOne ? name : null,
      },
    ];
  });
}

/**
 * The files of a state in `<folder>/state.json`:
 *
 * | name                    | what it is                                                       |
 * |-------------------------|------------------------------------------------------------------|
 * | `state.json`            | the state as last committed                                      |
 * | `state.json.<id>.tmp`   | what a lease is about to commit, or to receive                   |
 * | `state.lock/<number>`   | who holds the state, or held it last                             |
 * | `runs/<run>.open.jsonl` | the journal of a run that has not committed                      |
 * | `runs/<run>.jsonl`      | the journal of a finished run: its receipt                       |
 *
 * For a state of another name, say `prod.json`, the folders are `prod.json.lock` and `prod.json.runs`.
 */
export type Layout = {
  readonly folder: string;
  readonly state: string;
  readonly lock: string;
  readonly runs: string;
  readonly openRun: (run: string) => string;
  readonly finishedRun: (run: string) => string;
  readonly draft: (lease: string) => string;
  /** True for a draft's name in `folder`. */
  readonly isDraft: (name: string) => boolean;
};

const OPEN = '.open.jsonl';
const FINISHED = '.jsonl';

export function getLayout(path: string): Layout {
  const folder = dirname(path);
  const name = basename(path);
  const usual = name === 'state.json';
  const runs = join(folder, usual ? 'runs' : `${name}.runs`);
  return {
    folder,
    state: path,
    lock: join(folder, usual ? 'state.lock' : `${name}.lock`),
    runs,
    openRun: (run) => join(runs, `${run}${OPEN}`),
    finishedRun: (run) => join(runs, `${run}${FINISHED}`),
    draft: (lease) => `${path}.${lease}.tmp`,
    isDraft: (entry) => entry.startsWith(`${name}.`) && entry.endsWith('.tmp'),
  };
}

/** The run whose journal a file of the runs' folder is; undefined for any other file. */
export function parseRunFile(
  name: string,
): { readonly run: string; readonly open: boolean } | undefined {
  const open = name.endsWith(OPEN);
  if (!open && !name.endsWith(FINISHED)) return undefined;
  const run = name.slice(0, -(open ? OPEN : FINISHED).length);
  return isRunId(run) ? { run, open } : undefined;
}

/** The place of a file store. */
export type Place = {
  readonly seals: Seals;
  readonly layout: Layout;
  /** The state's path as it was given: what messages call it. */
  readonly location: string;
  readonly disk: Disk;
};
