import { hash } from 'node:crypto';
import { BrokenSeal, damagedJournal, refuseNewer, unsettledRun } from './failures.ts';
import type { JournalEntry } from './journal.ts';
import { isRecord, openSharing } from './model.ts';
import { type LineSeals, NO_SEALS, type SealedLine } from './seal.ts';
import { entryShape, firstProblem, parseBounded, parseJson, parseRecord } from './shape.ts';
import type { Line } from './state-text.ts';

/**
 * The text form of a journal: a line that says what the file is, then one line an entry,
 * `{"sum":"<first 16 hex of the SHA-256 of the entry's text>","entry":{…}}`, with `"number":1,"seal":"…",` before the
 * entry where there is a key: so no line can be removed, exchanged or put in its place (`seal.ts`). Text is only ever added
 * at the end. To go on with a journal whose last write was cut off, that rest is ended with `TORN`.
 */
export const JOURNAL_VERSION = 1;
export const JOURNAL_HEADER = `{"format":"callsheet-journal","version":${JOURNAL_VERSION}}\n`;
const TORN_LINE = '{"torn":true}';
export const TORN = `\n${TORN_LINE}\n`;
/** A text in it may hold U+2028, at which a dot ends without the `s`. */
const LINE = /^\{"sum":"([0-9a-f]{16})",(?:"number":(\d{1,15}),"seal":"([^"]*)",)?"entry":(.*)\}$/s;

/** The line of an entry, with its line break. */
export function formatEntry(entry: JournalEntry, seals?: LineSeals): string {
  const text = JSON.stringify(entry);
  const digest = hash('sha256', text);
  return `{"sum":"${digest.slice(0, SUM)}",${seals?.seal(entry, digest) ?? ''}"entry":${text}}\n`;
}

/** Hex digits of a line's sum. */
const SUM = 16;

/** The text of a whole journal, an entry at a time. */
export function* journalPieces(
  entries: readonly JournalEntry[],
  seals?: LineSeals,
): Generator<string> {
  yield JOURNAL_HEADER;
  for (const entry of entries) yield formatEntry(entry, seals);
}

/**
 * Hands on the entries of a journal as they are read, so that memory need not hold all of them, and resolves to whether
 * the rest of a write that was cut off stands at the end. What stands behind the last line break, or before `TORN`,
 * is such a rest: no write relied on it, so it is left out. Any other line that is damaged throws
 * `CallsheetError('state')` with its number, and one that is not sealed as it must be `BrokenSeal`.
 */
export async function readJournal<L extends Line>(
  lines: AsyncIterable<L> | Iterable<L>,
  location: string,
  take: (entry: JournalEntry, line: L) => void,
  seals: LineSeals = NO_SEALS.lines(''),
): Promise<boolean> {
  const validate = await entryShape();
  const share = openSharing();
  let damage: Error | undefined;
  const torn = await eachLine(lines, {
    header(text) {
      if (!isHeader(text, location))
        throw damagedJournal(location, 'does not begin as a journal does');
    },
    // Several rests may stand one behind the other, where the write of `TORN` was cut off, too.
    line(line, number) {
      if (damage !== undefined) throw damage;
      const sealed = parseLine(line.text);
      const entry = sharing(sealed?.entry, share);
      if (sealed !== undefined && validate(entry)) {
        seals.check(sealed, location);
        return take(entry, line);
      }
      const how = entry === undefined ? 'its checksum does not match' : firstProblem(validate);
      // If it is beyond the bounds, that is what is wrong with it.
      if (entry === undefined) parseBounded(line.text, `line ${number} of the journal ${location}`);
      damage = damagedJournal(location, `is damaged in line ${number}: ${how}`);
    },
    torn() {
      damage = undefined;
    },
  });
  if (damage !== undefined) throw damage;
  return torn;
}

/**
 * The entries of a journal's header and some of its lines, the first one among them. Undefined where one of them is damaged,
 * or not sealed as it must be.
 */
export async function readLines(
  [header = '', ...lines]: readonly string[],
  seals: LineSeals,
): Promise<readonly JournalEntry[] | undefined> {
  if (`${header}\n` !== JOURNAL_HEADER) return undefined;
  const validate = await entryShape();
  const entries: JournalEntry[] = [];
  for (const line of lines) {
    const sealed = parseLine(line);
    const entry = sealed?.entry;
    if (sealed === undefined || !validate(entry)) return undefined;
    try {
      seals.check(sealed, '', true);
    } catch (error) {
      if (error instanceof BrokenSeal) return undefined;
      throw error;
    }
    entries.push(entry);
  }
  return entries;
}

/**
 * Goes through the whole lines of a journal but for those before `TORN`, of which it tells instead. Resolves to
 * whether a rest stands at the end.
 */
export async function eachLine<L extends Line>(
  lines: AsyncIterable<L> | Iterable<L>,
  visit: {
    readonly header: (text: string) => void;
    readonly line: (line: L, number: number) => void;
    readonly torn: () => void;
  },
): Promise<boolean> {
  let number = 0;
  /** The line before, held back: the next one may show it to be the rest of a write. */
  let held: L | undefined;
  for await (const line of lines) {
    if (!line.isWhole) {
      if (held !== undefined) visit.line(held, number);
      return true;
    }
    if (number === 0) visit.header(line.text);
    else if (line.text === TORN_LINE) {
      held = undefined;
      visit.torn();
    } else {
      if (held !== undefined) visit.line(held, number);
      held = line;
    }
    number += 1;
  }
  if (held !== undefined) visit.line(held, number);
  return false;
}

function sharing(entry: unknown, share: (resource: unknown) => unknown): unknown {
  const isRecorded = isRecord(entry) && entry.type === 'resource';
  return isRecorded ? { ...entry, resource: share(entry.resource) } : entry;
}

/** The lines of a text that comes in pieces, which may end anywhere. */
export function* linesIn(pieces: Iterable<string>): Generator<Line> {
  let rest = '';
  for (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      yield { text: rest + piece.slice(from, end), isWhole: true };
      rest = '';
      from = end + 1;
    }
    rest += piece.slice(from);
  }
  if (rest !== '') yield { text: rest, isWhole: false };
}

/** The entry of a line, whose shape is not checked; undefined where its checksum does not fit. */
export function readLine(line: string): unknown {
  return parseLine(line)?.entry;
}

/** The same with what its seal is checked by. */
export function parseLine(line: string): SealedLine | undefined {
  const [, sum, number, seal, text] = LINE.exec(line) ?? [];
  if (text === undefined) return undefined;
  const digest = hash('sha256', text);
  if (sum !== digest.slice(0, SUM)) return undefined;
  const entry = parseJson(text);
  if (entry === undefined) return undefined;
  return { entry, digest, number: number === undefined ? undefined : Number(number), seal };
}

/** Returns true if a line is the header of a journal of this format. Throws `NewerDocument` for a later format. */
export function isHeader(line: string, location: string): boolean {
  if (`${line}\n` === JOURNAL_HEADER) return true;
  const { format, version } = parseRecord(line) ?? {};
  if (format === 'callsheet-journal') refuseNewer(location, version, JOURNAL_VERSION);
  return false;
}

/** Appends lines behind what is there. */
export type FileEnd = {
  /** Resolves when the next lines may be taken: a store whose every write is large lets more of them gather. */
  readonly ready?: (() => Promise<void>) | undefined;
  readonly append: (text: string) => Promise<void>;
  /** True if others see the last write as a heartbeat of the lease. */
  readonly wasHeartbeat?: () => boolean;
  readonly close: () => Promise<void>;
};

/** The journal of the run under way. */
export type JournalWriter = {
  readonly run: string;
  /** Durable when it resolves. After one failure every later append fails likewise. */
  readonly append: (entry: JournalEntry) => Promise<void>;
  /** Written with what is appended next, or when the file is closed. */
  readonly note: (entry: JournalEntry) => void;
  /** Waits for what was appended and closes the file. Throws if an append had failed. */
  readonly close: () => Promise<void>;
};

/** Characters that go to the disk at once. All of what waits may be more than fits into one string. */
const MOST_AT_ONCE = 4 * 1024 * 1024;

type Waiting = {
  readonly entry: JournalEntry;
  /** Who waits for it; undefined for what was only noted. */
  readonly caller?: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
};

/**
 * Appends lines in the order of the calls. What is appended while the disk is busy goes out together
 * with the next write, so that a hundred requests in flight share one sync instead of queueing for a
 * hundred.
 *
 * `check` throws when the lease is lost. It is asked before a write, so that nothing is written into a
 * journal that another run has settled, and after it, so that whatever was acknowledged was written
 * before another run could have read the journal.
 */
export function writeJournal(
  run: string,
  file: FileEnd,
  check: () => void,
  head: string,
  seals?: LineSeals,
): JournalWriter {
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;
  let failed: { readonly error: unknown } | undefined;
  let closing: Promise<void> | undefined;
  let unwritten = head;

  async function write(lines: string): Promise<void> {
    if (failed !== undefined) throw failed.error;
    check();
    await file.append(unwritten + lines);
    unwritten = '';
    check();
  }

  /** The lines of what has waited longest, which is put into `batch`. */
  function nextLines(batch: Waiting[]): string {
    let lines = '';
    try {
      for (const one of waiting) {
        batch.push(one);
        lines += formatEntry(one.entry, seals);
        if (lines.length >= MOST_AT_ONCE) break;
      }
      return lines;
    } finally {
      waiting = waiting.slice(batch.length);
    }
  }

  async function writeNext(): Promise<void> {
    const batch: Waiting[] = [];
    try {
      await write(nextLines(batch));
      for (const { caller } of batch) caller?.resolve();
    } catch (error) {
      failed ??= { error };
      for (const { caller } of batch) caller?.reject(error);
    }
  }

  async function flush(): Promise<void> {
    while (waiting.some(({ caller }) => caller !== undefined)) {
      await file.ready?.();
      await writeNext();
    }
    flushing = undefined;
  }

  async function end(): Promise<void> {
    await flushing;
    while (waiting.length > 0) await writeNext();
    await file.close();
  }

  return {
    run,
    append(entry) {
      if (closing !== undefined)
        return Promise.reject(new Error(`the journal of run ${run} is closed`));
      return new Promise((resolve, reject) => {
        waiting.push({ entry, caller: { resolve, reject } });
        flushing ??= flush();
      });
    },
    note(entry) {
      if (closing === undefined) waiting.push({ entry });
    },
    async close() {
      closing ??= end();
      await closing;
      if (failed !== undefined) throw failed.error;
    },
  };
}

/** The journal that a lease writes to, whatever keeps it: opened by its first entry, of one run at a time. */
type OpenJournal = {
  readonly append: (entry: JournalEntry) => Promise<void>;
  /** Written with what is appended next. */
  readonly note: (entry: JournalEntry) => void;
  /** Ends the journal, if there is one; the next entry opens another. Throws what opening or ending it threw. */
  readonly close: () => Promise<void>;
};

export function openOnFirst(
  open: (first: JournalEntry) => Promise<JournalWriter>,
  location: string,
): OpenJournal {
  let journal: Promise<JournalWriter> | undefined;
  let noted: Promise<void> | undefined;

  function writerFor(entry: JournalEntry): Promise<JournalWriter> {
    journal ??= open(entry);
    const opening = journal;
    return opening.catch((error: unknown) => {
      if (journal === opening) journal = undefined;
      throw error;
    });
  }

  return {
    async append(entry) {
      const writer = await writerFor(entry);
      if (entry.type === 'began' && entry.run !== writer.run)
        throw unsettledRun(location, writer.run);
      await writer.append(entry);
    },
    note(entry) {
      // If it cannot be opened, `append` reports that.
      noted = writerFor(entry).then(
        (writer) => writer.note(entry),
        () => undefined,
      );
    },
    async close() {
      const ending = journal;
      await noted;
      await (await ending)?.close();
      if (journal === ending) journal = undefined;
    },
  };
}
