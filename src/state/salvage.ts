import { randomUUID } from 'node:crypto';
import { isAddress } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { compareTexts } from '../core/value.ts';
import { BeyondBounds, createAllowance } from './bounds.ts';
import { BrokenSeal, KeyMissing, NewerDocument, refuseNewer } from './failures.ts';
import { withoutFingerprints } from './fingerprint.ts';
import { findBegan, type JournalEntry, type RunBegan } from './journal.ts';
import { eachLine, isHeader, parseLine } from './journal-text.ts';
import {
  getIdentity,
  isRecord,
  type Kept,
  type KeptEntries,
  type ResourceState,
  type State,
} from './model.ts';
import { emptyState, replay } from './replay.ts';
import { type LineSeals, NO_SEALS, type SealedLine, type Seals } from './seal.ts';
import {
  appliedShape,
  entryShape,
  holdsShape,
  keptShape,
  ownerShape,
  parseJson,
  resourceShape,
} from './shape.ts';
import { brokenResource, type Line, parseState, readState, VERSION } from './state-text.ts';
import type { Salvage, SalvagedJournal } from './store.ts';

/** The sources of a salvage, as they lie there. For the holder of the lock. */
export type Remainder = {
  /** The state in lines; undefined when there is none. */
  readonly stateLines: () => Promise<AsyncIterable<Line> | Iterable<Line> | undefined>;
  /** The same in one text, for one that does not lie as it was written. */
  readonly stateText: () => Promise<string | undefined>;
  /** Every journal, in no order. */
  readonly journals: () => Promise<readonly JournalSource[]>;
  readonly seals: Seals;
};

export type JournalSource = {
  readonly run: string;
  /** Names it in messages. */
  readonly path: string;
  readonly finished: boolean;
  /** Reads the whole part of it; undefined: nothing is whole. Throws `NewerDocument` for a later format. */
  readonly read: () => Promise<SalvagedEntries | undefined>;
};

type Sources = Remainder & {
  readonly location: string;
  /** Throws what is wrong. */
  readonly load: () => Promise<unknown>;
};

/**
 * Reads what is left of a state and its journals.
 *
 * | the state is                        | of it is taken           | on top come                           |
 * |-------------------------------------|--------------------------|---------------------------------------|
 * | whole, but its journals are not     | everything               | runs that began from it or later      |
 * | whole, but an older copy            | everything               | runs that began from it or later      |
 * | damaged                             | each resource that reads | every run, as journals are sealed line by line and it is not |
 * | another stack's, or no state at all | nothing                  | every run of the newest lineage       |
 *
 * With a key only what is sealed is taken: the state as a whole or not at all, and journals line by line.
 */
export async function salvageFrom(sources: Sources): Promise<Salvage> {
  const problem = await findProblem(sources.load);
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
    journals: journals.flatMap((journal) => listSalvaged(journal, replayed, lineage)),
  };
}

/** Throws where nothing may be made of what is there. */
async function findProblem(load: Sources['load']): Promise<CallsheetError | undefined> {
  try {
    await load();
    return undefined;
  } catch (error) {
    const isFinal = error instanceof NewerDocument || error instanceof KeyMissing;
    if (!(error instanceof CallsheetError) || isFinal) throw error;
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

/** Every journal, in the order in which the runs began. */
async function readJournals(sources: readonly JournalSource[]): Promise<readonly Journal[]> {
  const journals: Journal[] = [];
  for (const { run, path, finished, read } of sources) {
    const { entries = [], lost } = (await boundedRead(read)) ?? {};
    const began = findBegan(entries);
    journals.push({ run, path, finished, entries, began, lost });
  }
  const order = ({ began }: Journal) => [began?.serial ?? 0, began?.at ?? ''] as const;
  return journals.sort((a, b) => {
    const [[serial, at], [otherSerial, otherAt]] = [order(a), order(b)];
    return serial - otherSerial || compareTexts(at, otherAt);
  });
}

/** Returns the text that is read; undefined if it is beyond the bounds. */
async function boundedRead<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BeyondBounds) return undefined;
    throw error;
  }
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
  const lines = await sources.stateLines();
  if (lines === undefined) return { read: 'nothing', remains: undefined };
  const { whole, remains } = (await boundedRead(() => readWhat(lines, sources))) ?? {};
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
  { location, stateText, seals }: Sources,
): Promise<{ readonly whole: State | undefined; readonly remains: Remains | undefined }> {
  const whole = await readWhole(lines, { location, stateText, seals }).catch((error: unknown) => {
    const isFinal = error instanceof KeyMissing || error instanceof BeyondBounds;
    if (error instanceof CallsheetError && !isFinal) return undefined;
    throw error;
  });
  if (whole !== undefined || seals.isOn) return { whole, remains: whole };
  return { whole, remains: await salvageState((await stateText()) ?? '', location) };
}

async function readWhole(
  lines: AsyncIterable<Line> | Iterable<Line>,
  { location, stateText, seals }: Pick<Sources, 'location' | 'stateText' | 'seals'>,
): Promise<State> {
  const written = await readState(lines, { location, seals });
  return written ?? parseState((await stateText()) ?? '', location, seals);
}

function rebuild(
  remains: Remains | undefined,
  lineage: string,
  journals: readonly Journal[],
  newest: RunBegan | undefined,
): State {
  const account = remains?.account_id ?? (newest?.account_id || undefined);
  const owner = remains?.owner ?? newest?.owner;
  const serials = journals.flatMap(({ began }) => (began === undefined ? [] : began.serial + 1));
  const before: State = {
    ...emptyState(lineage, remains?.salt),
    ...(account === undefined ? {} : { account_id: account }),
    ...(owner && { owner }),
    ...(remains?.applied && { applied: remains.applied }),
    ...(remains?.holds === undefined ? {} : { holds: remains.holds }),
    ...(remains?.kept === undefined ? {} : { kept: remains.kept }),
    resources: remains?.resources ?? {},
  };
  const after = journals.reduce(
    (state, { entries }) => replay(state, entries).state ?? state,
    before,
  );
  const serial = Math.max(remains?.serial ?? 0, ...serials);
  const isNewest = remains?.serial === serial;
  const kept = isNewest && remains.kept !== undefined ? remains.kept : inDoubt(after.kept);
  return {
    ...after,
    ...(kept && { kept }),
    serial,
    resources: withoutTwins(after.resources),
  };
}

/**
 * Doubts open entries of features: journals say that something went on and never that it ended. A person decides
 * whether it goes on: a change that was taken back must not be written again.
 */
function inDoubt(kept: Kept | undefined): Kept | undefined {
  if (kept === undefined) return undefined;
  const doubt = 'the state was rebuilt, and no journal says whether it ended since its last run';
  const doubted = (entries: KeptEntries) =>
    Object.entries(entries).map(([name, one]) => [name, one.open ? { ...one, doubt } : one]);
  return Object.fromEntries(
    Object.entries(kept).map(([feature, all]) => [feature, Object.fromEntries(doubted(all))]),
  );
}

/** Returns the remains without a known lineage: with another one, no fingerprint fits any more. */
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

/** Keeps one of two addresses that have the same resource, as both sides of a merge may have them. */
function withoutTwins(resources: State['resources']): State['resources'] {
  const seen = new Set<string>();
  const kept = Object.entries(resources).filter(([, resource]) => {
    const own = getIdentity(resource);
    return !seen.has(own) && seen.add(own);
  });
  return Object.fromEntries(kept);
}

/** Journals that were used, and those that stand in the way; not the receipts of other lineages. */
function listSalvaged(
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

/** The readable rest of a damaged state. Only its form is known to be right. */
type Remains = Partial<
  Pick<State, 'lineage' | 'serial' | 'salt' | 'account_id' | 'owner' | 'applied' | 'holds' | 'kept'>
> &
  Pick<State, 'resources'>;

const RESOURCE_LINE = /^\s*("(?:[^"\\]|\\.)+")\s*:\s*(\{.*\})\s*,?\s*$/s;

/**
 * Reads what is left of a state's text: of one that is JSON its members, of any other each line that holds
 * a whole resource. Of a text with two sides, as a merge leaves it, the later side counts. Undefined for what
 * never was a state. Throws `NewerDocument` for one of a later format.
 */
export async function salvageState(text: string, location: string): Promise<Remains | undefined> {
  const document = parseJson(text);
  const isState = isRecord(document)
    ? document.format === 'callsheet-state'
    : text.includes('"format":"callsheet-state"');
  if (!isState) return undefined;
  const facts = isRecord(document) ? document : factsIn(text);
  const { version, lineage, serial, salt, account_id: account, owner, applied } = facts;
  const { holds, kept } = facts;
  const [isOwner, isApplied, isHolds, isKept] = await Promise.all([
    ownerShape(),
    appliedShape(),
    holdsShape(),
    keptShape(),
  ]);
  refuseNewer(location, version, VERSION);
  const found = isRecord(document) ? listMembers(document.resources) : resourceLines(text);
  return {
    ...(typeof lineage === 'string' && lineage !== '' ? { lineage } : {}),
    ...(typeof serial === 'number' && Number.isSafeInteger(serial) ? { serial } : {}),
    ...(typeof salt === 'string' && /^[0-9a-f]+$/.test(salt) ? { salt } : {}),
    ...(typeof account === 'string' && account !== '' ? { account_id: account } : {}),
    ...(isOwner(owner) ? { owner } : {}),
    ...(isApplied(applied) ? { applied } : {}),
    ...(isHolds(holds) ? { holds } : {}),
    ...(isKept(kept) ? { kept } : {}),
    resources: await soundResources(found),
  };
}

/** The resources that could stand in a state, each under one address. */
async function soundResources(
  found: readonly (readonly [string, unknown])[],
): Promise<State['resources']> {
  const validate = await resourceShape();
  const sound = new Map<string, ResourceState>();
  for (const [address, value] of found) {
    if (!isAddress(address) || !validate(value)) continue;
    if (brokenResource(address, value) === undefined) sound.set(address, uncertain(value));
  }
  return Object.fromEntries(sound);
}

/** A resource with a pin that certifies nothing: its leaves may have been edited since they were compared with it. */
function uncertain({ pin, ...resource }: ResourceState): ResourceState {
  if (pin === null) return { ...resource, pin };
  const { certain: _, ...own } = pin;
  return { ...resource, pin: own };
}

function listMembers(resources: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(resources) ? Object.entries(resources) : [];
}

function resourceLines(text: string): readonly (readonly [string, unknown])[] {
  return text.split('\n').flatMap((line): readonly (readonly [string, unknown])[] => {
    const [, name = '', value = ''] = RESOURCE_LINE.exec(line) ?? [];
    const address = parseJson(name);
    return typeof address === 'string' ? [[address, parseJson(value)]] : [];
  });
}

/** The facts of the first lines, wherever they stand; the last of each. */
function factsIn(text: string): { readonly [name: string]: unknown } {
  const end = ',"resources":{';
  const heads = text.split('\n').filter((line) => line.endsWith(end));
  const whole = heads
    .map((line) => parseJson(`{${line.slice(0, -end.length)}}`))
    .findLast(isRecord);
  if (whole !== undefined) return whole;
  const facts = text.matchAll(
    /"(version|lineage|serial|salt|account_id|owner|holds)":("[^"\\]*"|\d+|\{(?:"(?:[^"\\]|\\.)*"|[^{}"]|\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\})*\})/g,
  );
  return Object.fromEntries(
    [...facts].map(([, name = '', value = '']) => [name, parseJson(value)]),
  );
}

type SalvagedEntries = {
  readonly entries: readonly JournalEntry[];
  /** Whole lines that could not be read. */
  readonly lost: number;
};

/**
 * The entries of a journal that are whole, whatever stands between them. A rest of a write that was cut
 * off is no loss: no write to the platform relied on it. Undefined for what does not begin as a journal does.
 */
export async function salvageJournal<L extends Line>(
  lines: AsyncIterable<L> | Iterable<L>,
  location: string,
  seals: LineSeals = NO_SEALS.lines(''),
  keep: (entry: JournalEntry, line: L) => JournalEntry = (entry) => entry,
): Promise<SalvagedEntries | undefined> {
  const validate = await entryShape();
  const entries: JournalEntry[] = [];
  const allow = createAllowance(`the journal ${location}`);
  let lost = 0;
  const isTrusted = (line: SealedLine) => {
    try {
      seals.check(line, location, true);
      return true;
    } catch (error) {
      if (error instanceof BrokenSeal && !(error instanceof KeyMissing)) return false;
      throw error;
    }
  };
  await eachLine(lines, {
    header(text) {
      if (!isHeader(text, location) && text !== '') lost += 1;
    },
    line(line) {
      const sealed = parseLine(line.text);
      const entry = sealed?.entry;
      if (sealed === undefined || !validate(entry) || !isTrusted(sealed)) {
        lost += 1;
        return;
      }
      const kept = keep(entry, line);
      if (kept === entry) allow(line.text.length);
      entries.push(kept);
    },
    torn() {},
  });
  return entries.length === 0 && lost > 0 ? undefined : { entries, lost };
}
