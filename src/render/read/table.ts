import type { JsonObject } from '../../core/value.ts';
import { cutLine, type Line, type Span, span, type Tone, wrap } from '../terminal.ts';
import { cutText, padText, textWidth } from '../width.ts';
import { formatFigure, isRightAligned, NOTHING, valueAt } from './figures.ts';
import { type Field, GAP, type Layout, layOut } from './layout.ts';

/** The line of headings. */
export function headingLine(layout: Layout, indent = 0): Line {
  const cells = layout.columns.map(({ field, width }) => cell(field.title, width, field, 'dim'));
  return lineOf(cells, layout.width, indent);
}

/** One record as a line; `tone` where the whole line has one. */
export function recordLine(
  layout: Layout,
  record: JsonObject,
  { indent = 0, tone }: { readonly indent?: number; readonly tone?: Tone } = {},
): Line {
  const cells = layout.columns.map(({ field, width }) => {
    const value = valueAt(record, field.path);
    const text = formatFigure(value, field.form);
    return cell(text, width, field, tone ?? (text === NOTHING ? 'dim' : field.tone?.(value)));
  });
  return lineOf(cells, layout.width, indent);
}

function cell(text: string, width: number, field: Field, tone: Tone = 'plain'): Span {
  const cut = cutText(text, width);
  const isRight = isRightAligned(field.form ?? 'text');
  return span(isRight ? ' '.repeat(width - textWidth(cut)) + cut : padText(cut, width), tone);
}

function lineOf(cells: readonly Span[], width: number, indent: number): Line {
  const gap = span(' '.repeat(GAP));
  const parts = cells.flatMap((one, index) => (index === 0 ? [one] : [gap, one]));
  return [span(' '.repeat(indent)), ...cutLine(parts, width)];
}

/** Headings and records, without what goes around them. */
export function tableLines(
  fields: readonly Field[],
  records: readonly JsonObject[],
  width: number,
  indent = 0,
): readonly Line[] {
  const layout = layOut(fields, records, width - indent);
  return [
    headingLine(layout, indent),
    ...records.map((record) => recordLine(layout, record, { indent })),
    ...leftOutLines(layout, indent),
  ];
}

/** Says which columns there was no room for, so that nobody takes them for absent. */
export function leftOutLines({ left, width }: Layout, indent = 0): readonly Line[] {
  if (left.length === 0) return [];
  const titles = left.map(({ title }) => title).join(', ');
  const text = `${' '.repeat(indent)}No room for: ${titles}.`;
  return wrap([span(text, 'dim')], width, indent);
}
