import type { Place } from './source.ts';

/** What stands between cells. Spreadsheets write a semicolon where the comma is that of numbers. */
export type Delimiter = ',' | ';';

/** The delimiter of a file: a semicolon where its first line has some and no comma. */
export function delimiterOf(text: string): Delimiter {
  const first = /[^\r\n]+/.exec(text)?.[0] ?? '';
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

/**
 * Where each cell of a record stands, without the quotes around it. It is read as RFC 4180 has it, since a
 * cell with quotes in it is written otherwise than it reads and so cannot be looked for.
 */
export function cellPlaces({ source, start, end }: Place, delimiter: Delimiter): readonly Place[] {
  // No search may run on to the end of the file.
  const record = source.text.slice(start, end);
  const places: Place[] = [];
  for (let at = 0; at <= record.length; ) {
    const quotes = record[at] === '"' ? 1 : 0;
    const close = quotes === 1 ? closingQuote(record, at + 1) : endOf(record, delimiter, at);
    places.push({ source, start: start + at + quotes, end: start + close });
    at = close + quotes + 1;
  }
  return places;
}

function closingQuote(record: string, from: number): number {
  let at = endOf(record, '"', from);
  // A doubled quote stands for one.
  while (record[at + 1] === '"') at = endOf(record, '"', at + 2);
  return at;
}

function endOf(record: string, what: string, from: number): number {
  const at = record.indexOf(what, from);
  return at < 0 ? record.length : at;
}
