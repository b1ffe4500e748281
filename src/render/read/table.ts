/**
 * `render/read/` shows what the platform has, as it is: records in lists and tables. A
 * `Field` says once how a value is called and written, for the table and for CSV alike. Everything here
 * is live text, so it is sanitised where it becomes a cell.
 */
import { formText, isObject, type Json, type JsonObject } from '../../core/value.ts';
import {
  cutLine,
  cutText,
  type Line,
  measureWidest,
  padText,
  type RenderOptions,
  type Span,
  span,
  type Tone,
  textWidth,
  wrap,
} from '../terminal.ts';
import { jsonText, sanitise, sanitiseLine } from '../untrusted.ts';
import { formatNumber, formatTime } from '../wording.ts';

/** How a value is written for people. */
export type Form =
  | 'text'
  /** It stands at the right as a number does, and is printed as it is. */
  | 'id'
  | 'number'
  | 'decimal'
  | 'percent'
  | 'seconds'
  | 'milliseconds'
  | 'time'
  | 'words';

/** One column of a table, and of the CSV with the same records. */
export type Field = {
  /** The path of the value in a record, and its heading in CSV: `actor.id`. */
  readonly path: string;
  /** Heading for people. */
  readonly title: string;
  readonly form?: Form;
  /** If lines are too narrow, columns with a high number are left out first; those without one stay. */
  readonly drop?: number;
  /** A text may be cut to so many columns; without it the text is never cut. */
  readonly least?: number;
  readonly tone?: (value: unknown) => Tone;
};

/** Headings and records, without what goes around them. */
export function tableLines(
  fields: readonly Field[],
  records: readonly JsonObject[],
  width: number,
  indent = 0,
): readonly Line[] {
  const { heading, row, leftOut } = layOut(fields, records, width, indent);
  return [...heading, ...records.flatMap((record) => row(record)), ...leftOut(indent)];
}

/** A table of records: which columns fit, how wide each is, and its lines. */
type Table = {
  readonly columns: readonly Column[];
  /** Columns that there was no room for. */
  readonly left: readonly Field[];
  /** Lines above a table: columns that are alike in every row, then the titles of the others. */
  readonly heading: readonly Line[];
  /** One record; `tone` where all of it has one. */
  readonly row: (record: JsonObject, tone?: Tone) => readonly Line[];
  /** Says which columns there was no room for, as the platform did return them. */
  readonly leftOut: (indent?: number) => readonly Line[];
};

type Column = { readonly field: Field; readonly width: number };

/** Columns between two cells. */
const GAP = 2;
/** Columns left of a text that may be cut, on a line that is too narrow even for what must be there. */
const NARROWEST = 8;

/** Fewer rows are as soon read as a heading. */
const FEWEST_ALIKE = 3;

/** Columns for tables: all that a text needs where a program reads it. */
export function tableWidth({ width, isPiped = false }: RenderOptions): number {
  return isPiped ? Infinity : width;
}

/**
 * Fits a table of all these records into a width. A column in which no record has a value is not shown, and one that says the
 * same of each record moves into the heading. The first column is the last to be cut: what has no room beside it stands
 * below it.
 */
export function layOut(
  fields: readonly Field[],
  records: readonly JsonObject[],
  given: number,
  indent = 0,
): Table {
  const width = given - indent;
  const all = fields
    .map((field, at) => measure(field, records, at === 0))
    .filter(({ isEmpty }) => !isEmpty);
  const isMoving = Number.isFinite(given) && records.length >= FEWEST_ALIKE;
  const alike = isMoving ? all.slice(1).filter(({ isAlike }) => isAlike) : [];
  const measured = all.filter((column) => !alike.includes(column));
  const beside = fitColumns(measured, width);
  const [first, ...others] = measured;
  const isBelow =
    first !== undefined && others.length > 0 && (beside.get(first) ?? 0) < first.natural;
  const widths = isBelow
    ? new Map([...fitColumns([first], width), ...fitColumns(others, width - GAP)])
    : beside;
  const columns = measured.flatMap((column) => {
    const own = widths.get(column);
    return own === undefined ? [] : [{ field: column.field, width: own }];
  });
  const left = measured.filter((column) => !widths.has(column)).map(({ field }) => field);
  const lines = (drawCell: (column: Column) => Span) => {
    const cells = columns.map(drawCell);
    if (!isBelow) return [renderLine(cells, width, indent)];
    return [
      renderLine(cells.slice(0, 1), width, indent),
      renderLine(cells.slice(1), width - GAP, indent + GAP),
    ];
  };
  return {
    columns,
    left,
    heading: [
      ...alikeLines(alike, records, width, indent),
      ...lines((column) => cell(column.field.title, column)),
    ],
    row: (record, tone) => lines((column) => recordCell(record, column, tone)),
    leftOut: (margin = 0) => leftOutLines(left, width, margin),
  };
}

/** Which columns fit beside each other, and how wide each is. */
function fitColumns(measured: readonly Measured[], width: number): ReadonlyMap<Measured, number> {
  const byWorth = measured.toSorted((a, b) => (a.field.drop ?? 0) - (b.field.drop ?? 0));
  const kept: Measured[] = [];
  let spare = width + GAP;
  for (const column of byWorth) {
    const taken = column.least + GAP;
    if (taken > spare && column.field.drop !== undefined) continue;
    spare -= taken;
    kept.push(column);
  }
  const widths = new Map<Measured, number>();
  for (const column of spare < 0 ? kept.toReversed() : kept) {
    const added = measureChange(column, spare);
    widths.set(column, column.least + added);
    spare -= added;
  }
  return widths;
}

/** `In every row: status active, model alpha-4.1` */
function alikeLines(
  alike: readonly Measured[],
  [first = {}]: readonly JsonObject[],
  width: number,
  indent: number,
): readonly Line[] {
  if (alike.length === 0) return [];
  const facts = alike.map(
    ({ field: { path, title, form } }) => `${title} ${formatFigure(valueAt(first, path), form)}`,
  );
  return wrap([span(`${' '.repeat(indent)}In every row: ${facts.join(', ')}`)], width, indent + 2);
}

type Measured = {
  readonly field: Field;
  readonly natural: number;
  readonly least: number;
  readonly isElastic: boolean;
  readonly isEmpty: boolean;
  readonly isAlike: boolean;
};

/** By how much a column grows into spare room, or shrinks where there is less than none. */
function measureChange({ natural, least, isElastic }: Measured, spare: number): number {
  if (!isElastic) return 0;
  return spare >= 0
    ? Math.min(spare, natural - least)
    : Math.max(spare, Math.min(0, NARROWEST - least));
}

function measure(field: Field, records: readonly JsonObject[], isFirst: boolean): Measured {
  const texts = records.map((record) => formatFigure(valueAt(record, field.path), field.form));
  const natural = Math.max(textWidth(field.title), measureWidest(texts));
  return {
    field,
    natural,
    least: isFirst ? natural : Math.min(natural, field.least ?? natural),
    isElastic: isFirst || field.least !== undefined,
    isEmpty: records.length > 0 && texts.every((text) => text === NOTHING),
    isAlike: texts.every((text) => text === texts[0]),
  };
}

function recordCell(record: JsonObject, column: Column, tone: Tone | undefined): Span {
  const { path, form, tone: chooseTone } = column.field;
  const value = valueAt(record, path);
  const text = formatFigure(value, form);
  return cell(text, column, tone ?? (text === NOTHING ? undefined : chooseTone?.(value)));
}

function cell(text: string, { field, width }: Column, tone: Tone = 'plain'): Span {
  const cut = cutText(text, width);
  const isRight = RIGHT.includes(field.form ?? 'text');
  return span(isRight ? ' '.repeat(width - textWidth(cut)) + cut : padText(cut, width), tone);
}

function renderLine(cells: readonly Span[], width: number, indent: number): Line {
  const gap = span(' '.repeat(GAP));
  const parts = cells.flatMap((one, index) => (index === 0 ? [one] : [gap, one]));
  return [span(' '.repeat(indent)), ...cutLine(parts, width)];
}

function leftOutLines(left: readonly Field[], width: number, indent: number): readonly Line[] {
  if (left.length === 0) return [];
  const titles = left.map(({ title }) => title).join(', ');
  return wrap([span(`${' '.repeat(indent)}No room for: ${titles}.`)], width, indent);
}

/** Stands where there is no value. */
const NOTHING = '–';

/** Forms whose values are compared by their digits and stand at the right of their column. */
const RIGHT: readonly Form[] = ['id', 'number', 'decimal', 'percent', 'seconds', 'milliseconds'];

/** A member of a record, or of an object in it: `actor.id`. Undefined where there is none. */
export function valueAt(record: JsonObject, path: string): Json | undefined {
  let at: Json | undefined = record;
  for (const name of path.split('.')) {
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

/** A value in one line. What is not of the form that was expected is shown as it came. */
export function formatFigure(value: Json | undefined, form: Form = 'text'): string {
  if (value === undefined || value === null || value === '') return NOTHING;
  if (typeof value === 'number') return formatNumberAs(value, form);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'string') return sanitiseLine(JSON.stringify(value));
  if (form === 'time') return formatTime(value);
  return sanitiseLine(form === 'words' ? value.replaceAll('_', ' ') : value);
}

function formatNumberAs(value: number, form: Form): string {
  switch (form) {
    case 'percent':
      return `${formatDecimal(value, 1)} %`;
    case 'seconds':
      return formatSeconds(value);
    case 'milliseconds':
      return `${formatDecimal(value, 0)} ms`;
    case 'decimal':
      return formatDecimal(value, 1);
    case 'number':
      return Number.isInteger(value) ? formatDecimal(value, 0) : formatDecimal(value, 2);
    default:
      return String(value);
  }
}

/** `16,204.5`, whatever the locale of the machine. */
export function formatDecimal(value: number, digits: number): string {
  const [whole = '', rest] = value.toFixed(digits).split('.');
  const grouped = formatNumber(whole);
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

/** `45s`, `3m 12s`, `1h 05m`. */
function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (part: number) => String(part).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${formatDecimal(Math.floor(whole / 3600), 0)}h ${two(Math.floor((whole % 3600) / 60))}m`;
}

/** A column of CSV; `Field` of a table is one. */
export type CsvColumn = { readonly path: string };

/**
 * Records as CSV (RFC 4180): a line of headings, values as the platform gives them, quoted where they
 * hold a comma, a quote or a line break. Lines end in a line feed.
 */
export function renderCsv(columns: readonly CsvColumn[], records: readonly JsonObject[]): string {
  const header = `${columns.map(({ path }) => quote(path)).join(',')}\n`;
  return [header, ...records.map((record) => csvLine(columns, record))].join('');
}

export function csvLine(columns: readonly CsvColumn[], record: JsonObject): string {
  return `${columns.map(({ path }) => csvCell(valueAt(record, path))).join(',')}\n`;
}

/** Characters that a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;
/** A number with its sign, and so a phone number: no formula, whatever it begins with. */
const NUMERAL = /^[+-]?\d+(?:\.\d+)?$/;

function csvCell(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = formText(value);
  const isFormula = FORMULA.test(text) && !NUMERAL.test(text);
  return quote(sanitise(isFormula ? `'${text}` : text));
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A document whose `data` is a list that is written as it arrives, in pieces that end in line breaks. */
export function jsonFrame(head: JsonObject): {
  readonly open: string;
  readonly item: (item: JsonObject, isLast: boolean) => string;
  readonly close: string;
} {
  const whole = jsonText({ ...head, data: [] });
  return {
    open: `${whole.slice(0, -']\n}'.length)}\n`,
    item: (item, isLast) => `${jsonText(item).replace(/^/gm, '    ')}${isLast ? '' : ','}\n`,
    close: '  ]\n}\n',
  };
}
