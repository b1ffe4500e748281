import type { ValueDocument, ValueFilling, ValueLayer } from '../core/value-document.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitise, sanitiseLine } from './untrusted.ts';
import { padText, widestOf } from './width.ts';

/** A value that is longer is cut, unless everything is asked for. */
const MOST_LINES = 12;
const WIDEST_BY = 32;

/** Where a value came from, in words. */
export function renderValueText(document: ValueDocument, options: RenderOptions): string {
  const { address, field, layers, filled } = document;
  const title = [
    span(sanitiseLine(address), 'strong'),
    ...(field === '' ? [] : [span(`  ${sanitiseLine(field)}`, 'strong')]),
  ];
  return paint(
    [
      ...wrap(title, options.width, 2),
      [],
      ...valueLines(document, options),
      ...section('From, the last wins', layers.map(layerRow), options),
      ...section('Filled in', filled.map(fillingRow), options),
    ],
    options.color,
  );
}

function valueLines({ given, value }: ValueDocument, options: RenderOptions): readonly Line[] {
  if (!given) return [[span('  not given, so it is left as it is', 'dim')]];
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const lines = sanitise(text).replace(/\n$/, '').split('\n');
  const shown = options.verbose ? lines : lines.slice(0, MOST_LINES);
  const rest = lines.length - shown.length;
  return [
    ...shown.flatMap((line) => wrap([span(`  ${line}`)], options.width, 2)),
    ...(rest > 0 ? [[span(`  ⋯ ${rest} more lines; --verbose shows them`, 'dim')]] : []),
  ];
}

/** What has a part in the value: its name, what it says, and where. */
type Row = { readonly name: string; readonly text: string; readonly place: string };

function section(title: string, rows: readonly Row[], { width }: RenderOptions): readonly Line[] {
  if (rows.length === 0) return [];
  const names = Math.min(WIDEST_BY, widestOf(rows.map(({ name }) => sanitiseLine(name))));
  return [
    [],
    [span(`  ${title}`, 'strong')],
    ...rows.flatMap(({ name, text, place }) => {
      const head = span(`    ${padText(sanitiseLine(name), names)}  `);
      const where = place === '' ? [] : [span(`  ${sanitiseLine(place)}`, 'dim')];
      return wrap([head, span(sanitiseLine(text)), ...where], width, names + 6);
    }),
  ];
}

const SAYS: Readonly<Record<ValueLayer['says'], (text: string) => string>> = {
  value: (text) => text,
  removed: () => 'removes it',
  empty: (text) => `${text} (nothing in this row, so what lies beneath stays)`,
};

function layerRow({ by, says, text, position }: ValueLayer): Row {
  return { name: by, text: SAYS[says](text), place: placeOf(position) };
}

function fillingRow({ expression, value, by, position }: ValueFilling): Row {
  const isFile = expression === '$file' || expression === '$template';
  const given = isFile ? by : value === null ? `nothing, from ${by}` : `${value}, from ${by}`;
  return { name: expression, text: given, place: isFile || !position ? '' : placeOf(position) };
}

function placeOf({ file, line, column }: ValueLayer['position']): string {
  return `${file}:${line}:${column}`;
}
