import { CsvError, parse } from 'csv-parse/sync';
import { isResourceName } from '../core/address.ts';
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
  readonly columns: readonly string[];
  readonly rows: readonly MapNode[];
  /** Stretches in which nobody can say which cell belongs to which column. */
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
  const delimiter = findDelimiter(source.text);
  const rows: MapNode[] = [];
  const doubtful: SourceRange[] = [];
  const problems: Problem[] = [];
  const columns: string[] = [];
  let isHeader = true;
  const take = (record: Placed) => {
    if (isHeader) {
      columns.push(...record.values.slice(0, countCells(record)).map((name) => name.trim()));
      problems.push(...checkHeader(columns, record, delimiter));
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
    problems.push(unevenRow(record, columns.length));
  };
  try {
    eachRecord(source, delimiter, take);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const whole: SourceRange = { source, start: 0, end: source.text.length };
    return { columns: [], rows: [], doubtful: [whole], problems: [malformed(error, source)] };
  }
  return { columns, rows, doubtful, problems };
}

/** How many cells a record has up to the last one that holds anything. */
function countCells({ values }: Placed): number {
  return values.findLastIndex((value) => value.trim() !== '') + 1;
}

/** What the parser gives with `raw`, which its types do not say. */
type RawRecord = { readonly record: readonly string[]; readonly raw: string };

const LINE_ENDS = /[\r\n]*/y;

/** Gives the records of a file one by one: all of them together take several times as much as the file. */
function eachRecord(source: Source, delimiter: Delimiter, take: (record: Placed) => void): void {
  let from = 0;
  const place = ({ record, raw }: RawRecord) => {
    // Raw texts have some of the line ends around them, and not those of Windows whole.
    LINE_ENDS.lastIndex = from;
    const start = from + (LINE_ENDS.exec(source.text)?.[0].length ?? 0);
    const end = start + raw.replace(/^[\r\n]+|[\r\n]+$/g, '').length;
    from = end;
    take({ values: record, range: { source, start, end } });
    return null;
  };
  parse(source.text, {
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

function* checkHeader(
  columns: readonly string[],
  { range: line }: Placed,
  delimiter: Delimiter,
): Iterable<Problem> {
  const cells = cellPlaces(line, delimiter);
  for (const [index, name] of columns.entries()) {
    const range = cells[index] ?? line;
    if (!isResourceName(name)) {
      yield {
        rule: 'csv/header',
        message: `the column ${JSON.stringify(name)} cannot be named in \${each.…}`,
        hint: 'The first line names the columns; use letters, digits, _ and -, and begin with a letter',
        range,
      };
    } else if (columns.indexOf(name) !== index) {
      yield {
        rule: 'csv/header',
        message: `two columns are called ${name}`,
        hint: 'Give each column its own name',
        range,
      };
    }
  }
}

function unevenRow(record: Placed, wanted: number): Problem {
  const { values, range } = record;
  const count = Math.max(countCells(record), Math.min(values.length, wanted));
  return {
    rule: 'csv/row',
    message: `the row has ${formatCount(count, 'cell')}, and the first line names ${wanted} columns`,
    hint: 'Put a cell that holds a comma in quotes; leave a cell empty for no value',
    range,
  };
}

const WORDS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE:
    'something follows a closing quote that is neither a comma nor a line end',
  INVALID_OPENING_QUOTE: 'a cell that does not begin with a quote has a quote inside',
};

function malformed(error: CsvError, source: Source): Problem {
  const { lines } = error as CsvError & { readonly lines?: number };
  // Of a quote that is never closed the parser only knows where the file ends.
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

/** What stands between cells. Spreadsheets write a semicolon where the comma is that of numbers. */
type Delimiter = ',' | ';';

/** The delimiter of a file: a semicolon where its first line has some and no comma. */
export function findDelimiter(text: string): Delimiter {
  const first = /[^\r\n]+/.exec(text)?.[0] ?? '';
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

/**
 * Where each cell of a record stands, without the quotes around it. It is read as RFC 4180 has it, since a
 * cell with quotes in it is written otherwise than it reads and so cannot be looked for.
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
