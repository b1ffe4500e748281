import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import type { Line } from './disk.ts';
import { NewerDocument } from './failures.ts';
import { withoutFingerprints } from './fingerprint.ts';
import { identityOf } from './invariants.ts';
import type { JournalEntry, RunBegan } from './journal.ts';
import { runOf } from './layout.ts';
import type { State } from './model.ts';
import type { Place } from './place.ts';
import { emptyState, replay } from './replay.ts';
import { keptIn } from './run-files.ts';
import {
  type Remains,
  type SalvagedEntries,
  salvageJournal,
  salvageState,
} from './salvage-text.ts';
import { readStanding, readStateLines, readStateText } from './standing.ts';
import { parseState, readState } from './state-text.ts';
import type { Salvage, SalvagedJournal } from './store.ts';

/**
 * Reads what is left of a state and its journals. For the holder of the lock.
 *
 * | the state is                        | of it is taken           | on top come                           |
 * |-------------------------------------|--------------------------|---------------------------------------|
 * | whole, but its journals are not     | everything               | runs that began from it or later      |
 * | whole, but an older copy            | everything               | runs that began from it or later      |
 * | damaged                             | each resource that reads | every run, as journals are sealed line by line and it is not |
 * | another stack's, or no state at all | nothing                  | every run of the newest lineage       |
 */
export function salvage(place: Place): Promise<Salvage> {
  return salvageFrom({
    location: place.location,
    check: () => readStanding(place),
    lines: () => readStateLines(place),
    state: () => readStateText(place),
    journals: () => readFiles(place),
  });
}

/** What a store has to be salvaged from. */
type Sources = {
  readonly location: string;
  /** Throws what `load` throws. */
  readonly check: () => Promise<unknown>;
  /** The state in lines; undefined when there is none. */
  readonly lines: () => Promise<AsyncIterable<Line> | Iterable<Line> | undefined>;
  /** The same in one text, for one that does not lie as it was written. */
  readonly state: () => Promise<string | undefined>;
  /** Every journal, in no order. */
  readonly journals: () => Promise<readonly JournalSource[]>;
};

type JournalSource = {
  readonly run: string;
  /** Names it in messages. */
  readonly path: string;
  readonly finished: boolean;
  /** What of it is whole; undefined: nothing. Throws `NewerDocument` for one of a later format. */
  readonly read: () => Promise<SalvagedEntries | undefined>;
};

/** The same for any store. */
export async function salvageFrom(sources: Sources): Promise<Salvage> {
  const problem = await problemOf(sources.check);
  const journals = await readJournals(await sources.journals());
  const { read, remains } = await readRemains(sources, journals);
  const lineage = remains?.lineage ?? newestBegan(journals)?.lineage;
  const own = journals.filter(({ began }) => began?.lineage === lineage);
  const floor = read === 'whole' ? (remains?.serial ?? 0) : 0;
  const replayed = own.filter(
    ({ began, finished }) => !finished || (began !== undefined && began.serial >= floor),
  );
  return {
    problem,
    read,
    state:
      lineage === undefined
        ? remains && orphaned(remains)
        : rebuild(remains, lineage, replayed, newestBegan(own)),
    journals: journals.flatMap((journal) => told(journal, replayed, lineage)),
  };
}

/** Throws where nothing may be made of what is there. */
async function problemOf(check: Sources['check']): Promise<CallsheetError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (!(error instanceof CallsheetError) || error instanceof NewerDocument) throw error;
    return error;
  }
}

type Journal = {
  readonly run: string;
  readonly path: string;
  readonly finished: boolean;
  readonly entries: readonly JournalEntry[];
  readonly began: RunBegan | undefined;
  /** Undefined: nothing of it can be read. */
  readonly lost: number | undefined;
};

async function readFiles(place: Place): Promise<readonly JournalSource[]> {
  const { layout, disk } = place;
  const files: JournalSource[] = [];
  for (const name of await disk.list(layout.runs)) {
    const found = runOf(name);
    if (found === undefined) continue;
    const path = join(layout.runs, name);
    files.push({
      run: found.run,
      path,
      finished: !found.open,
      read: async () =>
        salvageJournal((await disk.readLines(path)) ?? [], path, keptIn(found.run, place)),
    });
  }
  return files;
}

/** Every journal, in the order in which the runs began. */
async function readJournals(sources: readonly JournalSource[]): Promise<readonly Journal[]> {
  const journals: Journal[] = [];
  for (const { run, path, finished, read } of sources) {
    const { entries = [], lost } = (await read()) ?? {};
    const began = entries.find((entry) => entry.type === 'began');
    journals.push({ run, path, finished, entries, began, lost });
  }
  const order = ({ began }: Journal) => [began?.serial ?? 0, began?.at ?? ''] as const;
  return journals.sort((a, b) => {
    const [[serial, at], [otherSerial, otherAt]] = [order(a), order(b)];
    return serial - otherSerial || (at < otherAt ? -1 : at > otherAt ? 1 : 0);
  });
}

/** The run that began last, by the clock: serials of different lineages say nothing of each other. */
function newestBegan(journals: readonly Journal[]): RunBegan | undefined {
  return journals
    .flatMap(({ began }) => began ?? [])
    .reduce<RunBegan | undefined>(
      (newest, began) => (newest === undefined || began.at >= newest.at ? began : newest),
      undefined,
    );
}

type Read = { readonly read: Salvage['read']; readonly remains: Remains | undefined };

async function readRemains(sources: Sources, journals: readonly Journal[]): Promise<Read> {
  const lines = await sources.lines();
  if (lines === undefined) return { read: 'nothing', remains: undefined };
  const { whole, remains } = await readWhat(lines, sources);
  if (remains === undefined) return { read: 'nothing', remains };
  const isOwn =
    journals.every(({ began }) => began === undefined) ||
    remains.lineage === undefined ||
    journals.some(({ began }) => began?.lineage === remains.lineage) ||
    // No run wrote it, so none need be there.
    whole?.last_run === null;
  if (!isOwn) return { read: 'foreign', remains: undefined };
  return { read: whole === undefined ? 'part' : 'whole', remains };
}

/** A state that is whole or, of any other, what it still tells. */
async function readWhat(
  lines: AsyncIterable<Line> | Iterable<Line>,
  { location, state }: Sources,
): Promise<{ readonly whole: State | undefined; readonly remains: Remains | undefined }> {
  const written = await readState(lines);
  if (written !== undefined) return { whole: written, remains: written };
  const text = (await state()) ?? '';
  const whole = await parseState(text, location).catch((error: unknown) => {
    if (error instanceof CallsheetError) return undefined;
    throw error;
  });
  return { whole, remains: whole ?? (await salvageState(text, location)) };
}

function rebuild(
  remains: Remains | undefined,
  lineage: string,
  journals: readonly Journal[],
  newest: RunBegan | undefined,
): State {
  const account = remains?.account_id ?? (newest?.account_id || undefined);
  const serials = journals.flatMap(({ began }) => (began === undefined ? [] : began.serial + 1));
  const before: State = {
    ...emptyState(lineage, remains?.salt),
    ...(account === undefined ? {} : { account_id: account }),
    ...(remains?.holds === undefined ? {} : { holds: remains.holds }),
    resources: remains?.resources ?? {},
  };
  const after = journals.reduce(
    (state, { entries }) => replay(state, entries).state ?? state,
    before,
  );
  return {
    ...after,
    serial: Math.max(remains?.serial ?? 0, ...serials),
    resources: withoutTwins(after.resources),
  };
}

/** What is left where nothing tells the lineage: with another one, no fingerprint fits any more. */
function orphaned(remains: Remains): State {
  const resources = Object.entries(remains.resources).map(
    ([address, resource]) => [address, withoutFingerprints(resource)] as const,
  );
  return rebuild(
    { ...remains, resources: Object.fromEntries(resources) },
    randomUUID(),
    [],
    undefined,
  );
}

/** Of two addresses that stand for one resource, as both sides of a merge may have them, one is kept. */
function withoutTwins(resources: State['resources']): State['resources'] {
  const seen = new Set<string>();
  const kept = Object.entries(resources).filter(([, resource]) => {
    const own = identityOf(resource);
    return !seen.has(own) && seen.add(own);
  });
  return Object.fromEntries(kept);
}

/** Journals that were used, and those that stand in the way; not the receipts of other lineages. */
function told(
  { run, path, finished, began, lost }: Journal,
  replayed: readonly Journal[],
  lineage: string | undefined,
): readonly SalvagedJournal[] {
  const common = { run, path, finished, lost: lost ?? 0 };
  if (lost === undefined) return [{ ...common, use: 'unreadable' }];
  if (replayed.some((one) => one.path === path)) return [{ ...common, use: 'replayed' }];
  const isStray = !finished && began !== undefined && began.lineage !== lineage;
  return isStray ? [{ ...common, use: 'stray' }] : [];
}
