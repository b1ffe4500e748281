import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { checkSize } from '../../../core/bounds.ts';
import { CallsheetError, formatSize } from '../../../core/errors.ts';
import { inTurns } from '../../../core/value.ts';
import {
  BeyondBounds,
  createAllowance,
  MOST_PART_BYTES,
  MOST_UNPACKED_BYTES,
  within,
} from '../../../state/bounds.ts';
import {
  damagedState,
  foreignState,
  NotKept,
  refuseNewer,
  strayPart,
} from '../../../state/failures.ts';
import {
  isReleased,
  type LockRecord,
  parseLockRecord,
  RELEASED,
  type Timing,
} from '../../../state/lock.ts';
import { isRecord } from '../../../state/model.ts';
import { openParts } from '../../../state/retention.ts';
import { cutEnds, type JournalEnds } from '../../../state/runs.ts';
import { NO_SEALS, type Seals } from '../../../state/seal.ts';
import { parseJson } from '../../../state/shape.ts';
import { piecesOfState } from '../../../state/state-text.ts';
import type { Estimate, Expected, Traffic } from '../../../state/store.ts';
import { findCode, NoAnswer, type Retries, refusedByStore } from './failures.ts';
import type { Change, OpenJournal, Remote, Wanting } from './store.ts';

/** A place of one document that is compared and swapped. */
export type DocumentPlace = {
  readonly location: string;
  readonly timing: Timing;
  readonly read: () => Promise<Found | undefined>;
  /**
   * Puts a document in the place of the one with that tag; undefined: where there is none. `moved`: there is
   * another one. `lost`: the lease does not hold the place any more. Throws `NoAnswer` where the outcome is unknown.
   */
  readonly put: (text: string, tag: string | undefined, lease: string) => Promise<Put>;
  /** Locks the place itself for a lease, where it has locks. False: look again who holds it. */
  readonly enter: (lease: string, seen: LockRecord | undefined) => Promise<boolean>;
  readonly leave: (lease: string) => Promise<void>;
  /** Keeps a text that the next document names. */
  readonly keep: (text: string) => Promise<Part>;
  /** The text of a part that lies elsewhere; undefined when it does not any more. */
  readonly fetch: (at: string) => Promise<string | undefined>;
  readonly discard: (at: string) => Promise<void>;
  /** Makes the journal of a finished run small, or few. */
  readonly pack: (
    parts: readonly Part[],
    read: () => Promise<readonly string[]>,
  ) => Promise<readonly Part[]>;
  readonly most: Most;
  /** Only where all that is kept stands in the document itself, which each write then sends whole. */
  readonly whole?: Whole;
  readonly traffic?: (() => Traffic) | undefined;
  readonly retries: Retries;
  readonly close: () => Promise<void>;
};

/** The price of a document that is sent whole with each batch of a journal, and what keeps it low. */
export type Whole = {
  /** Puts the parts of a journal that is open into fewer bytes. */
  readonly fold: (parts: readonly Part[]) => readonly Part[];
  /** Bytes a second that batches may send from `free` on, which a small run never reaches. */
  readonly pace: number;
  readonly free: number;
  /** Milliseconds that a batch waits at most for others to go with it: less than lies between two heartbeats. */
  readonly longest: number;
  /** Changes that are under way at once, so that a batch has the entries of many. */
  readonly gathers: number;
  /** Changes that a batch settles, on average and at the least. */
  readonly changes: number;
  /** Bytes that a run may send. */
  readonly most: number;
  /** The setting that says so. */
  readonly setting: string;
};

/** Limits of a place in bytes, as the text stands in the document or in a part. */
type Most = {
  /** Finished runs whose journals are kept, and what they may take in the document. */
  readonly runs: number;
  readonly size: number;
  /** The text of the state. */
  readonly state: number;
  /** The journal of a run that is under way. Whatever recovers the run comes on top. */
  readonly journal: number;
};

type Found = { readonly text: string; readonly tag: string };
export type Put = { readonly tag: string } | 'moved' | 'lost';

/** About what one takes, measured on agents with prompts: more than most take. */
const OF_RESOURCE = 1_500;
const OF_CHANGE = 8_000;
/** The same, packed. */
const OF_RESOURCE_PACKED = 400;
const OF_CHANGE_PACKED = 1_000;
/** Writes of a run beside its batches: the lock, its beginning and end, the state, and what is written alone. */
const AROUND = 10;
const ELSEWHERE =
  'Keep a state of this size in PostgreSQL or in a file (`callsheet state migrate --to`), or split the stack.';

/** A repair of the state reads its document first. */
const REPLACED =
  'Put an earlier version of that document back. Or remove it, and rebuild the state: `callsheet state repair`';

/** The most readings of a document that is replaced while its parts are fetched. */
const READS = 4;
/** Parts that are fetched at once. */
const AT_ONCE = 8;

/** The purpose of a reading of parts, and its limit. `allow` throws `BeyondBounds`. */
type Reading = {
  readonly name: string;
  readonly wanting: Wanting;
  readonly allow: (size: number) => void;
};

type Current = { readonly document: Document; readonly tag: string | undefined };

/** A store whose every change is the replacement of one document. */
export function documentRemote(place: DocumentPlace, seals: Seals = NO_SEALS): Remote {
  const { location, whole } = place;
  /** Bytes of the document that was read or written last, when that was, and of all that were written. */
  const size = { last: 0, at: 0, sent: 0 };
  /** Bytes of parts as they are unpacked, so that none is unpacked again to be measured. */
  const unpacked = new WeakMap<Part, number>();
  /** The last document that we wrote: as long as the lease is ours, there was no write since. */
  let written: Current | undefined;
  /** Parts that no document names any more. */
  let replaced: readonly string[] = [];
  const formatJournal = (run: string) => `the journal of run ${run} in ${location}`;
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work);
    queue = turn.catch(() => undefined);
    return turn;
  }

  async function read(): Promise<Current> {
    const found = await place.read().catch((error: unknown) => {
      throw error instanceof BeyondBounds
        ? new BeyondBounds(`the state ${location}`, error, REPLACED)
        : error;
    });
    if (found === undefined) return { document: EMPTY, tag: undefined };
    size.last = found.text.length;
    return { document: parseDocument(found.text, location), tag: found.tag };
  }

  /**
   * The texts of parts of what `name` names; undefined when one is not there any more. A large journal lies in thousands
   * of them. Throws `BeyondBounds`; of what remains, a part that is beyond the bounds is a text that damages the rest.
   */
  async function readTexts(
    parts: readonly Part[],
    { name, wanting, allow }: Reading,
  ): Promise<readonly string[] | undefined> {
    const texts: string[] = [];
    const readOne = async (part: Part) => {
      try {
        // Once there is too much, nothing more is unpacked.
        allow(0);
        const text = within(name, () => inlineText(part)) ?? (await fetched(part));
        allow(text?.length ?? 0);
        return text;
      } catch (error) {
        if (error instanceof BeyondBounds && wanting === 'remains') return leftOut(part);
        throw error;
      }
    };
    for (let from = 0; from < parts.length; from += AT_ONCE) {
      for (const text of await Promise.all(parts.slice(from, from + AT_ONCE).map(readOne))) {
        if (text === undefined) return undefined;
        texts.push(text);
      }
    }
    return texts;
  }

  /** The ends of a journal; undefined where a part of it is missing or too large, of which reading the whole tells. */
  async function readBoth(run: string, parts: readonly Part[]): Promise<JournalEnds | undefined> {
    const ends = parts.length < 2 ? parts : [parts[0], parts.at(-1)].flatMap((part) => part ?? []);
    const name = formatJournal(run);
    const reading: Reading = { name, wanting: 'remains', allow: createAllowance(name) };
    const texts = await readTexts(ends, reading);
    return texts && cutEnds(texts[0] ?? '', texts.at(-1) ?? '');
  }

  async function fetched(part: Part): Promise<string | undefined> {
    return 'at' in part ? place.fetch(part.at) : undefined;
  }

  /** Reads parts of the newest document. What it names may be gone once a newer one is there. */
  async function gather<T>(
    wanting: Wanting,
    pick: (document: Document) => Promise<T | undefined>,
  ): Promise<T> {
    for (let attempt = 1; attempt <= READS; attempt += 1) {
      const before = written;
      const { document } = await read();
      if (wanting === 'all') {
        refuseStray(document, location);
        // Every write of the lease was confirmed before this was asked for.
        if (before !== undefined && document.serial < before.document.serial)
          throw new NotKept(location, 'a write, and returns what was there before it');
      }
      const picked = await pick(document);
      if (picked !== undefined) return picked;
    }
    throw damagedState(location, 'is incomplete: a part that it names is missing');
  }

  /** Puts a document, and looks what became of it where the answer was lost, or is a no: a try before it may be there. */
  async function swap(document: Document, tag: string | undefined, lease: string): Promise<Put> {
    const text = `${JSON.stringify(document)}\n`;
    const bytes = Buffer.byteLength(text);
    if (bytes > MOST_PART_BYTES)
      throw refusedByStore(
        'write',
        location,
        tooSmall('the document', bytes, MOST_PART_BYTES),
        ELSEWHERE,
      );
    size.last = bytes;
    return place.retries.again(async () => {
      let failure: NoAnswer;
      size.at = performance.now();
      size.sent += bytes;
      try {
        const put = await place.put(text, tag, lease);
        if (put !== 'moved') return put;
        failure = contradicts(location);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        failure = error;
      }
      const found = await place.read().catch(() => {
        throw failure;
      });
      if (found !== undefined && (found.text === text || holds(found.text, document)))
        return { tag: found.tag };
      if (found?.tag !== tag) return 'moved';
      throw failure;
    });
  }

  async function change(lease: string, edit: (from: Document) => Promise<Document>) {
    for (let isAgain = false; ; isAgain = true) {
      const { document, tag } = written ?? (await read());
      written = undefined;
      const { ticket } = document;
      if (ticket === null || ticket.id !== lease || isReleased(ticket)) return false;
      const next = { ...(await edit(document)), serial: document.serial + 1 };
      const put = await swap(next, tag, lease);
      if (put === 'lost') return false;
      if (put === 'moved') {
        // Only the holder writes there: it is no longer the holder, or the server contradicts itself.
        if (isAgain) throw contradicts(location);
        continue;
      }
      written = { document: next, tag: put.tag };
      const named = placesIn(next);
      replaced = [...replaced, ...placesIn(document)].filter((at) => !named.has(at));
      // The document that a lost write replaced is all that is left: its parts stay until the write is seen to be kept.
      if (isDeepStrictEqual(next.state, document.state)) await discardReplaced();
      return true;
    }
  }

  /** Lets entries of a journal gather for as long as the document is large, but never for long. */
  function pause(): number {
    if (whole === undefined || size.sent < whole.free) return 0;
    const longest = Math.min(whole.longest, (1_000 * size.last) / whole.pace);
    return Math.max(0, longest - (performance.now() - size.at));
  }

  /** Bytes of a part that stands in the document, unpacked. */
  function measurePart(part: Part): number {
    const known = unpacked.get(part) ?? Buffer.byteLength(inlineText(part) ?? '');
    unpacked.set(part, known);
    return known;
  }

  async function estimate({ resources, changes }: Expected): Promise<Estimate | undefined> {
    if (whole === undefined) return undefined;
    const state = size.last === 0 ? resources * OF_RESOURCE_PACKED : size.last;
    const writes = AROUND + Math.ceil(changes / whole.changes);
    // The journal grows with the run: half of it, on average, goes with each write.
    const bytes = writes * (state + (changes * OF_CHANGE_PACKED) / 2);
    return { bytes, most: whole.most };
  }

  async function discardReplaced(): Promise<void> {
    const parts = replaced;
    replaced = [];
    // A part that no document names does no harm.
    for (const at of parts) await place.discard(at).catch(() => undefined);
  }

  function tooSmall(what: string, needed: number, most: number): string {
    return `${what} needs ${formatSize(needed)}, and the store allows ${formatSize(most)}`;
  }

  /** Before anything is kept: what is refused here leaves all that is there as it was. */
  function checkRoom(from: Document, { append }: Change, state: readonly string[]): void {
    const needed = measureSize(state);
    const { most } = place;
    if (needed > most.state)
      throw refusedByStore('write', location, tooSmall('it', needed, most.state), ELSEWHERE);
    if (append?.leavesRoom !== true || most.journal === Number.POSITIVE_INFINITY) return;
    const { run, text } = append;
    const parts = from.open.find((one) => one.run === run)?.parts ?? [];
    const journal = within(
      formatJournal(run),
      () => parts.reduce((sum, part) => sum + measurePart(part), 0) + Buffer.byteLength(text),
    );
    if (journal > most.journal)
      throw refusedByStore(
        'write',
        location,
        tooSmall(`the journal of run ${run}`, journal, most.journal),
        ELSEWHERE,
      );
  }

  async function reserve({ resources, changes }: Expected): Promise<void> {
    const { most } = place;
    const state = resources * OF_RESOURCE;
    const journal = changes * OF_CHANGE;
    const why =
      state > most.state
        ? tooSmall(`the state of ${resources} resources`, state, most.state)
        : journal > most.journal
          ? tooSmall(`the journal of ${changes} changes`, journal, most.journal)
          : undefined;
    if (why === undefined) return refuseTraffic({ resources, changes });
    throw new CallsheetError('refused', `${location} has no room for this run: ${why}`, {
      hint: `Nothing was written. ${ELSEWHERE} Or apply in parts, with --target.`,
    });
  }

  async function refuseTraffic(expected: Expected): Promise<void> {
    const { bytes, most } = (await estimate(expected)) ?? { bytes: 0, most: 0 };
    if (whole === undefined || bytes <= most) return;
    throw new CallsheetError(
      'refused',
      `this run would send about ${formatSize(bytes)} to ${location}, and may send ${formatSize(most)}: the whole state goes with each batch`,
      {
        hint: `Nothing was written. Keep a state of this size in PostgreSQL or S3 (\`callsheet state migrate --to\`), apply in parts with --target, or raise ${whole.setting}.`,
      },
    );
  }

  async function edited(from: Document, given: Change): Promise<Document> {
    if (given.aside === undefined) refuseStray(from, location);
    const pieces = given.state === undefined ? [] : [...(await piecesOfState(given.state, seals))];
    checkRoom(from, given, pieces);
    const { append, beat, state, file = [], drop = [], forget = [] } = given;
    const open =
      append === undefined
        ? from.open
        : appended(from.open, append.run, await place.keep(append.text), whole?.fold);
    const filed: Journal[] = [];
    for (const { run, parts } of open) {
      if (!file.includes(run)) continue;
      const name = formatJournal(run);
      const reading: Reading = { name, wanting: 'all', allow: createAllowance(name) };
      const whole = async () => (await readTexts(parts, reading)) ?? [];
      filed.push({ run, parts: await place.pack(parts, whole) });
    }
    const gone = new Set([...file, ...forget]);
    const finished = [...from.finished.filter(({ run }) => !gone.has(run)), ...filed];
    return {
      ...from,
      ...(state === undefined
        ? {}
        : {
            lineage: state.lineage,
            state: await place.keep(pieces.join('')),
          }),
      ...(beat === undefined || from.ticket === null ? {} : { ticket: { ...from.ticket, beat } }),
      open: open.filter(({ run }) => !file.includes(run) && !drop.includes(run)),
      // The state says which are still needed.
      finished: state === undefined ? finished : newest(finished, place.most, openParts(state)),
      ...(given.aside === undefined ? {} : await setAside(from, finished, given.aside)),
    };
  }

  /**
   * Keeps what a repair or a push sets aside; what the last one did is dropped. Receipts with stray parts go there, too.
   */
  async function setAside(
    from: Document,
    finished: readonly Journal[],
    aside: NonNullable<Change['aside']>,
  ): Promise<Pick<Document, 'finished' | 'aside'>> {
    const set = await Promise.all(
      aside.map(async ({ name, pieces }) => ({
        name,
        parts: await Promise.all(
          inFew(pieces).map(async (piece) => packed(await place.keep(piece))),
        ),
      })),
    );
    const strays = finished.filter(({ parts }) => parts.some(isStray));
    const moved = strays.map(({ run, parts }) => ({
      name: `${run}.stray`,
      parts: parts.map(inlined),
    }));
    const all = [...set, ...moved];
    return {
      finished: finished.filter((journal) => !strays.includes(journal)),
      aside:
        all.length > 0 ? all : from.aside.map((one) => ({ ...one, parts: one.parts.map(inlined) })),
    };
  }

  return {
    location,
    seals,
    timing: place.timing,
    lockRecord: async () => (await read()).document.ticket ?? undefined,
    writesBeat: true,
    ...(whole === undefined ? {} : { gathers: whole.gathers }),
    pause,
    mostRuns: place.most.runs,
    estimate,
    ...(place.traffic && { traffic: place.traffic }),
    read: (wanting, known) =>
      gather(wanting, async ({ state, open, finished }) => {
        const allow = createAllowance(`the state ${location}`);
        const name = `the state ${location}`;
        const mark = state === null ? undefined : toMark(state);
        const isKnown = mark !== undefined && mark === known;
        const texts =
          state === null || isKnown ? [] : await readTexts([state], { name, wanting, allow });
        if (texts === undefined) return undefined;
        const journals: OpenJournal[] = [];
        for (const { run, parts } of open) {
          const pieces = await readTexts(parts, { name: formatJournal(run), wanting, allow });
          if (pieces === undefined) return undefined;
          journals.push({ run, pieces });
        }
        const newest = finished
          .map(({ run }) => run)
          .toSorted()
          .at(-1);
        const pieces = state === null ? undefined : isKnown ? ('known' as const) : texts;
        return { state: pieces, mark, open: journals, newest };
      }),
    acquire: (seen, own) =>
      inTurn(async () => {
        if (!(await place.enter(own.id, seen))) return false;
        try {
          const { document, tag } = await read();
          const { id, beat } = document.ticket ?? {};
          if (id !== seen?.id || beat !== seen?.beat) return await leaveTo(own.id);
          const next = { ...document, ticket: own, serial: document.serial + 1 };
          const put = await swap(next, tag, own.id);
          if (put === 'moved' || put === 'lost') return await leaveTo(own.id);
          written = { document: next, tag: put.tag };
          return true;
        } catch (error) {
          await leaveTo(own.id);
          throw error;
        }
      }),
    beat: (lease, beat) =>
      inTurn(async () => {
        const withBeat = async (from: Document) => ({
          ...from,
          ticket: from.ticket && { ...from.ticket, beat },
        });
        const isHeld = await change(lease, withBeat).catch(async (error: unknown) => {
          // A document that takes no writes any more must not keep the place locked.
          if (beat === RELEASED) await place.leave(lease).catch(() => undefined);
          throw error;
        });
        // The document of that lease is lost; its lock is not.
        if (!isHeld && beat === RELEASED && (await read()).document.ticket === null)
          await place.leave(lease);
        if (!isHeld || written?.document.ticket == null || !isReleased(written.document.ticket))
          return isHeld;
        // Others may write from now on, or put an earlier version back.
        written = undefined;
        await place.leave(lease);
        return true;
      }),
    reserve,
    write: (lease, given) => inTurn(() => change(lease, (from) => edited(from, given))),
    keeps: () =>
      inTurn(async () => {
        const own = written?.document;
        if (own === undefined) return true;
        const { document } = await read();
        const isOwn =
          document.serial === own.serial && isDeepStrictEqual(document.state, own.state);
        if (isOwn) await discardReplaced();
        return isOwn || document.serial > own.serial;
      }),
    runs: async () => (await read()).document.finished.map(({ run }) => run),
    ends: (runs) =>
      gather('all', async ({ finished }) => {
        const wanted = new Set(runs);
        const ends = new Map<string, JournalEnds>();
        await inTurns(
          finished.filter(({ run }) => wanted.has(run)),
          AT_ONCE,
          async ({ run, parts }) => {
            const found = await readBoth(run, parts);
            if (found !== undefined) ends.set(run, found);
          },
        );
        return ends;
      }),
    async journal(run, wanting) {
      const found = await gather(wanting, async ({ open, finished }) => {
        const journal = [...open, ...finished].find((one) => one.run === run);
        if (journal === undefined) return { pieces: undefined };
        const name = formatJournal(run);
        const reading = { name, wanting, allow: createAllowance(name) };
        const pieces = await readTexts(journal.parts, reading);
        return pieces && { pieces };
      });
      return found.pieces;
    },
    close: () => place.close(),
  };

  async function leaveTo(lease: string): Promise<false> {
    await place.leave(lease).catch(() => undefined);
    return false;
  }
}

function measureSize(texts: readonly string[]): number {
  return texts.reduce((size, text) => size + Buffer.byteLength(text), 0);
}

/** Compares parsed values, as some servers write JSON in their own way. */
function holds(text: string, document: Document): boolean {
  return isDeepStrictEqual(parseJson(text), parseJson(JSON.stringify(document)));
}

function contradicts(location: string): NoAnswer {
  return new NoAnswer('write', location, {
    words: 'the server reports another writer, but returns what this run wrote',
  });
}

function appended(
  open: readonly Journal[],
  run: string,
  part: Part,
  fold: Whole['fold'] = (parts) => parts,
): readonly Journal[] {
  const before = open.find((one) => one.run === run);
  return [
    ...open.filter((one) => one !== before),
    { run, parts: fold([...(before?.parts ?? []), part]) },
  ];
}

/** Names the text of a part: a part that lies elsewhere has a name of its own, and is never written again. */
function toMark(part: Part): string {
  return 'at' in part ? part.at : hash('sha256', JSON.stringify(part));
}

/** The newest journals that may be kept, at least one, and those that are needed. */
function newest(
  journals: readonly Journal[],
  most: DocumentPlace['most'],
  needed: ReadonlySet<string>,
): readonly Journal[] {
  let size = 0;
  const kept = journals.toReversed().filter((journal, index) => {
    size += JSON.stringify(journal).length;
    return needed.has(journal.run) || index === 0 || (index < most.runs && size <= most.size);
  });
  return kept.toReversed();
}

/**
 * The one document that a store keeps which can put a document in the place of another, and nothing else.
 * Since it is replaced as a whole, each change is one step. Large texts may lie elsewhere (`at`): they are
 * there before the document names them.
 */
type Document = {
  readonly format: 'callsheet-remote-state';
  readonly version: 1;
  /** Counts the writes, heartbeats among them; servers that keep versions tell them apart by it. */
  readonly serial: number;
  readonly lineage: string;
  readonly ticket: LockRecord | null;
  readonly state: Part | null;
  readonly open: readonly Journal[];
  /** Newest last. */
  readonly finished: readonly Journal[];
  readonly aside: readonly { readonly name: string; readonly parts: readonly Part[] }[];
};

type Journal = { readonly run: string; readonly parts: readonly Part[] };

/** A text, as it is or compressed, or the name under which it lies elsewhere. */
export type Part = { readonly text: string } | { readonly gz: string } | { readonly at: string };

/** The names that Callsheet gives. Others can write the document: no other name in it is asked for, or removed. */
const GIVEN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The name of a part that Callsheet did not give. */
function strayName(part: Part): string | undefined {
  return 'at' in part && !GIVEN.test(part.at) ? part.at : undefined;
}

function isStray(part: Part): boolean {
  return strayName(part) !== undefined;
}

/** A stray part as a text, which damages whatever it is a part of. */
function inlined(part: Part): Part {
  return isStray(part) ? { text: leftOut(part) } : part;
}

/** A text in the place of a part that is not read: nothing takes it for a line of its own. */
function leftOut(part: Part): string {
  return `${'at' in part ? JSON.stringify(part) : '{"left":"out"}'}\n`;
}

/** Throws `CallsheetError('state')` where a document names a part as Callsheet names none. */
function refuseStray({ state, open, finished, aside }: Document, location: string): void {
  const journals = [...open, ...finished].map(
    ({ run, parts }) => [`the journal of run ${run}`, parts] as const,
  );
  const owners: readonly (readonly [string, readonly Part[]])[] = [
    ['the state', state === null ? [] : [state]],
    ...journals,
    ...aside.map(({ name, parts }) => [`${name}, which was set aside`, parts] as const),
  ];
  for (const [owner, parts] of owners) {
    const name = parts.map(strayName).find((one) => one !== undefined);
    if (name !== undefined) throw strayPart(location, owner, name);
  }
}

const VERSION = 1;

const EMPTY: Document = {
  format: 'callsheet-remote-state',
  version: VERSION,
  serial: 0,
  lineage: '',
  ticket: null,
  state: null,
  open: [],
  finished: [],
  aside: [],
};

/**
 * The document in a text. What is no JSON any more is taken for the text of a damaged state, so that a repair can
 * set it aside. Throws `CallsheetError('state')` for another program's document and for a newer one.
 */
function parseDocument(text: string, location: string): Document {
  const value = parseJson(text);
  if (value === undefined) return { ...EMPTY, state: { text } };
  if (!isRecord(value) || value.format !== EMPTY.format)
    throw foreignState(location, 'there is some other document');
  refuseNewer(location, value.version, VERSION);
  return isDocument(value) ? value : { ...EMPTY, state: { text } };
}

function isDocument(value: { readonly [name: string]: unknown }): value is Document {
  const { version, serial, lineage, ticket, state, open, finished, aside } = value;
  return (
    version === VERSION &&
    typeof serial === 'number' &&
    typeof lineage === 'string' &&
    (ticket === null ||
      (isRecord(ticket) && parseLockRecord(JSON.stringify(ticket)) !== undefined)) &&
    (state === null || isPart(state)) &&
    [open, finished].every((journals) => isList(journals, (one) => isNamed(one, 'run'))) &&
    isList(aside, (one) => isNamed(one, 'name'))
  );
}

function isNamed(value: unknown, name: string): boolean {
  return isRecord(value) && typeof value[name] === 'string' && isList(value.parts, isPart);
}

function isPart(value: unknown): value is Part {
  if (!isRecord(value)) return false;
  const [name = '', ...others] = Object.keys(value);
  return others.length === 0 && FORMS.has(name) && typeof value[name] === 'string';
}

const FORMS: ReadonlySet<string> = new Set(['text', 'gz', 'at']);

function isList(value: unknown, is: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

/** Characters of a text that is put together from pieces: as bytes they are at most a part that is unpacked. */
const MOST_TOGETHER = MOST_UNPACKED_BYTES / 4;

/** The same text in few pieces, none of which is too large for one answer. */
export function inFew(pieces: readonly string[]): readonly string[] {
  const few: string[] = [];
  let text = '';
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += MOST_TOGETHER) {
      const some = piece.slice(from, from + MOST_TOGETHER);
      if (text !== '' && text.length + some.length > MOST_TOGETHER) {
        few.push(text);
        text = '';
      }
      text += some;
    }
  }
  return [...few, text];
}

/** The same part, in fewer bytes where it is long and stands in the document. */
function packed(part: Part): Part {
  return 'text' in part && part.text.length > LONG_TEXT ? zip(part.text) : part;
}

const LONG_TEXT = 1024 * 1024;

/** The same parts with those at the end packed into one, once they are long together. */
export function foldTexts(parts: readonly Part[]): readonly Part[] {
  const first = parts.findLastIndex((part) => !('text' in part)) + 1;
  const texts = parts.slice(first).map((part) => ('text' in part ? part.text : ''));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length < LONG_TEXTS ? parts : [...parts.slice(0, first), zip(texts.join(''))];
}

/** Characters from which texts are packed: below, each write would pack them again for little. */
const LONG_TEXTS = 128 * 1024;

/** A text packed where that is worth it, and where it can be unpacked again. */
export function zipLong(text: string): Part {
  const isPackable = text.length >= LONG_TEXTS && Buffer.byteLength(text) <= MOST_UNPACKED_BYTES;
  return isPackable ? zip(text) : { text };
}

export function zip(text: string): Part {
  return { gz: gzipSync(text).toString('base64') };
}

/** A text that stands in the document itself, as a stray part does; undefined where it lies elsewhere. */
function inlineText(part: Part): string | undefined {
  if ('text' in part) return part.text;
  if (isStray(part)) return leftOut(part);
  return 'gz' in part ? unzip(part.gz) : undefined;
}

/** Stops unpacking at the bound, and throws `Excess`. What is no packed text is one that damages the rest. */
function unzip(packed: string): string {
  try {
    const bytes = Buffer.from(packed, 'base64');
    return gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED_BYTES }).toString('utf8');
  } catch (error) {
    if (findCode(error) === 'ERR_BUFFER_TOO_LARGE')
      checkSize(MOST_UNPACKED_BYTES + 1, MOST_UNPACKED_BYTES, 'a part');
    return '{"not":"packed"}\n';
  }
}

/** Returns the places of the texts that a document names; strays are not followed. */
function placesIn({ state, open, finished, aside }: Document): ReadonlySet<string> {
  const parts = [state, ...[...open, ...finished, ...aside].flatMap((one) => one.parts)];
  return new Set(
    parts.flatMap((part) => (part !== null && 'at' in part && !isStray(part) ? part.at : [])),
  );
}
