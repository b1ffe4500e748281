import { hash } from 'node:crypto';
import { damagedJournal, NewerDocument } from './failures.ts';
import type { JournalEntry } from './journal.ts';
import { entryShape, firstProblem, isRecord } from './shape.ts';

/**
 * The text form of a journal: a line that says what the file is, then one line an entry,
 * `{"sum":"<first 16 hex of the SHA-256 of the entry's text>","entry":{…}}`. Text is only ever added
 * at the end. Whoever goes on with a journal whose last write was cut off ends that rest with `TORN`.
 */
export const JOURNAL_VERSION = 1;
export const JOURNAL_HEADER = `{"format":"callsheet-journal","version":${JOURNAL_VERSION}}\n`;
export const TORN_LINE = '{"torn":true}';
export const TORN = `\n${TORN_LINE}\n`;
const LINE = /^\{"sum":"([0-9a-f]{16})","entry":(.*)\}$/;

/** The line of an entry, with its line break. */
export function formatEntry(entry: JournalEntry): string {
  const text = JSON.stringify(entry);
  return `{"sum":"${sumOf(text)}","entry":${text}}\n`;
}

export type ParsedJournal = {
  readonly entries: readonly JournalEntry[];
  /** Whether the rest of a write that was cut off stands at the end. */
  readonly torn: boolean;
};

/**
 * The entries of a journal. What stands behind the last line break, or before `TORN`, is the rest of a
 * write that never came to its end, so nobody relied on it: it is left out. Any other line that is
 * damaged throws `CallsheetError('state')` with its number.
 */
export async function parseJournal(text: string, location: string): Promise<ParsedJournal> {
  const end = text.lastIndexOf('\n') + 1;
  const torn = end < text.length;
  if (end === 0) return { entries: [], torn };
  const [header, ...lines] = text.slice(0, end - 1).split('\n');
  if (`${header}\n` !== JOURNAL_HEADER) throw unknownHeader(header ?? '', location);
  const validate = await entryShape();
  const entries: JournalEntry[] = [];
  let damage: Error | undefined;
  for (const [index, line] of lines.entries()) {
    if (line === TORN_LINE) {
      damage = undefined;
      continue;
    }
    if (lines[index + 1] === TORN_LINE) continue;
    if (damage !== undefined) throw damage;
    const entry = readLine(line);
    if (entry !== undefined && validate(entry)) entries.push(entry);
    else {
      const how = entry === undefined ? 'its checksum does not fit' : firstProblem(validate);
      damage = damagedJournal(location, `is damaged in line ${index + 2}: ${how}`);
    }
  }
  if (damage !== undefined) throw damage;
  return { entries, torn };
}

/** The entry of a line, whose shape is not checked; undefined where its checksum does not fit. */
export function readLine(line: string): unknown {
  const [, sum, entry] = LINE.exec(line) ?? [];
  return entry !== undefined && sum === sumOf(entry) ? JSON.parse(entry) : undefined;
}

function unknownHeader(line: string, location: string): Error {
  try {
    const header: unknown = JSON.parse(line);
    if (isRecord(header) && header.format === 'callsheet-journal') {
      const { version } = header;
      if (typeof version === 'number' && version > JOURNAL_VERSION)
        return new NewerDocument(location, version, JOURNAL_VERSION);
    }
  } catch {
    // Not JSON: said below.
  }
  return damagedJournal(location, 'does not begin as a journal does');
}

function sumOf(text: string): string {
  return hash('sha256', text).slice(0, 16);
}
