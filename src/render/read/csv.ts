import type { Json, JsonObject } from '../../core/value.ts';
import { sanitise } from '../untrusted.ts';
import { valueAt } from './figures.ts';

/** A column of CSV; `Field` of a table is one. */
export type CsvColumn = { readonly path: string };

/**
 * Records as CSV (RFC 4180): a line of headings, values as the platform gives them, quoted where they
 * hold a comma, a quote or a line break. Lines end in a line feed.
 */
export function renderCsv(columns: readonly CsvColumn[], records: readonly JsonObject[]): string {
  return [csvHeader(columns), ...records.map((record) => csvLine(columns, record))].join('');
}

export function csvHeader(columns: readonly CsvColumn[]): string {
  return `${columns.map(({ path }) => quote(path)).join(',')}\n`;
}

export function csvLine(columns: readonly CsvColumn[], record: JsonObject): string {
  return `${columns.map(({ path }) => csvCell(valueAt(record, path))).join(',')}\n`;
}

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;
/** A number with its sign, and so a phone number: no formula, whatever it begins with. */
const NUMERAL = /^[+-]?\d+(?:\.\d+)?$/;

function csvCell(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isFormula = FORMULA.test(text) && !NUMERAL.test(text);
  return quote(sanitise(isFormula ? `'${text}` : text));
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
