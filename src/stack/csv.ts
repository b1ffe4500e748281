import { CsvError, parse } from 'csv-parse/sync';
import { formatCount } from '../core/errors.ts';
import type { Problem } from './diagnostics.ts';
import {
  lineAt,
  lineRange,
  type MapNode,
  type Member,
  type Source,
  type SourceRange,
} from './source.ts';

/** A table as rows of named cells, each with its range. */
export type Table = {
  /** Their names, with single blanks and composed letters; what has none cannot be used. */
  readonly columns: readonly string[];
  readonly rows: readonly MapNode[];
  /** Stretches in which it is unclear which cell belongs to which column. */
  readonly doubtful: readonly SourceRange[];
  readonly problems: readonly Problem[];
};

/** One record of the file with the stretch of text that it was written in. */
type Placed = {
  readonly values: readonly string[];
  readonly range: SourceRange;
};

/**
 * Reads a CSV file as RFC 4180 has it: the first record names the columns, every other has as many cells.
 * Cells are texts; `loose` lets one stand for a number where a field takes one.
 */
export function parseCsv(source: Source): Table {
  const { delimiter, from } = findDelimiter(source.text);
  const rows: MapNode[] = [];
  const doubtful: SourceRange[] = [];
  const problems: Problem[] = [];
  const columns: string[] = [];
  let isHeader = true;
  const take = (record: Placed) => {
    if (isHeader) {
      columns.push(...record.values.slice(0, countCells(record)).map(columnName));
      isHeader = false;
      return;
    }
    // Spreadsheets go on with rows and columns in which nothing stands.
    if (countCells(record) === 0) return;
    if (record.values.length >= columns.length && countCells(record) <= columns.length) {
      rows.push(toRow(columns, record, delimiter));
      return;
    }
    doubtful.push(record.range);
    problems.push(unevenRow(record, columns.length, delimiter));
  };
  try {
    eachRecord(source, delimiter, from, take);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const whole: SourceRange = { source, start: 0, end: source.text.length };
    return { columns: [], rows: [], doubtful: [whole], problems: [malformed(error, source)] };
  }
  return { columns, rows, doubtful, problems };
}

/** A heading as an expression names it: a spreadsheet breaks long ones into lines. */
function columnName(heading: string): string {
  return heading.trim().replace(/\s+/g, ' ').normalize('NFC');
}

/** How many cells a record has up to the last one that holds anything. */
function countCells({ values }: Placed): number {
  return values.findLastIndex((value) => value.trim() !== '') + 1;
}

/** The parser's types do not know its option `raw`. */
type RawRecord = { readonly record: readonly string[]; readonly raw: string };

const LINE_ENDS = /[\r\n]*/y;

/** Gives the records of a file one by one: all of them together take several times as much as the file. */
function eachRecord(
  source: Source,
  delimiter: Delimiter,
  start: number,
  take: (record: Placed) => void,
): void {
  let from = start;
  const place = ({ record, raw }: RawRecord) => {
    // Raw texts have some of the line ends around them, and not those of Windows whole.
    LINE_ENDS.lastIndex = from;
    const start = from + (LINE_ENDS.exec(source.text)?.[0].length ?? 0);
    const end = start + raw.replace(/^[\r\n]+|[\r\n]+$/g, '').length;
    from = end;
    take({ values: record, range: { source, start, end } });
    return null;
  };
  parse(source.text.slice(start), {
    delimiter,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    on_record: place as unknown as (record: string[]) => null,
  });
}

function toRow(
  columns: readonly string[],
  { values, range }: Placed,
  delimiter: Delimiter,
): MapNode {
  const cells = cellPlaces(range, delimiter);
  const members = columns.map((key, index): [string, Member] => {
    const cell = cells[index] ?? range;
    const text = values[index] ?? '';
    const scalar = { type: 'scalar', range: cell, value: text, text, empty: false } as const;
    return [key, { key, keyPlace: cell, value: { ...scalar, loose: true } }];
  });
  return { type: 'map', range, members: new Map(members) };
}

function unevenRow(record: Placed, wanted: number, delimiter: Delimiter): Problem {
  const { values, range } = record;
  const count = Math.max(countCells(record), Math.min(values.length, wanted));
  return {
    rule: 'csv/row',
    message: `the row has ${formatCount(count, 'cell')}, and the first line names ${wanted} columns`,
    hint: `Put a cell that holds ${DELIMITERS[delimiter]} in quotes; leave a cell empty for no value`,
    range,
  };
}

const WORDS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE:
    'something follows a closing quote that neither separates cells nor ends the line',
  INVALID_OPENING_QUOTE: 'a cell that does not begin with a quote has a quote inside',
};

function malformed(error: CsvError, source: Source): Problem {
  const { lines } = error as CsvError & { readonly lines?: number };
  // For a quote that is never closed, the parser reports the end of the file.
  const opened = error.code === 'CSV_QUOTE_NOT_CLOSED' ? source.text.lastIndexOf('"') : -1;
  const line = opened < 0 ? (lines ?? 1) : lineAt(source, opened);
  const range = lineRange(source, line) ?? { start: 0, end: 0 };
  return {
    rule: 'csv/syntax',
    message: WORDS[error.code] ?? 'the file is no CSV',
    hint: 'Put the whole cell in quotes, and double each quote inside it',
    range: { source, ...range },
  };
}

/** The separators of cells, in words. Spreadsheets write a semicolon where the comma is that of numbers. */
const DELIMITERS = { ',': 'a comma', ';': 'a semicolon', '\t': 'a tab' } as const;

type Delimiter = keyof typeof DELIMITERS;

/** A first line that only says what separates the cells, for Excel. */
const SEPARATOR = /^\uFEFF?"?sep=([,;\t])"?\r?\n/i;

/**
 * The delimiter of a file, and where its first record begins. It is the one that its first line says, or has most
 * often outside of quotes.
 */
export function findDelimiter(text: string): {
  readonly delimiter: Delimiter;
  readonly from: number;
} {
  const said = SEPARATOR.exec(text);
  if (said !== null) return { delimiter: said[1] as Delimiter, from: said[0].length };
  const first = (/[^\r\n]+/.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const count = (delimiter: Delimiter) => first.split(delimiter).length;
  const [most = ','] = (Object.keys(DELIMITERS) as Delimiter[]).sort((a, b) => count(b) - count(a));
  return { delimiter: most, from: 0 };
}

/**
 * Finds each cell of a record, without the quotes around it. Follows RFC 4180, since a cell with quotes in it is
 * written otherwise than it reads and so cannot be searched for.
 */
function cellPlaces(
  { source, start, end }: SourceRange,
  delimiter: Delimiter,
): readonly SourceRange[] {
  // No search may run on to the end of the file.
  const record = source.text.slice(start, end);
  const ranges: SourceRange[] = [];
  for (let at = 0; at <= record.length; ) {
    const quotes = record[at] === '"' ? 1 : 0;
    const close = quotes === 1 ? closingQuote(record, at + 1) : findEnd(record, delimiter, at);
    ranges.push({ source, start: start + at + quotes, end: start + close });
    at = close + quotes + 1;
  }
  return ranges;
}

function closingQuote(record: string, from: number): number {
  let at = findEnd(record, '"', from);
  // A doubled quote stands for one.
  while (record[at + 1] === '"') at = findEnd(record, '"', at + 2);
  return at;
}

function findEnd(record: string, what: string, from: number): number {
  const at = record.indexOf(what, from);
  return at < 0 ? record.length : at;
}
