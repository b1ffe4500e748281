import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { padText, widestOf } from './width.ts';

/** A sentence for people, broken between words. */
export function sentence(text: string, { width, color }: RenderOptions): string {
  return paint(wrap([span(sanitiseLine(text))], width, 0), color);
}

/** Longer names are rare, and would leave no room beside the others. */
const WIDEST_NAME = 36;

/** Names and values, one a line; a value of null is left out. */
export function table(
  rows: readonly (readonly [string, string | null])[],
  { width }: RenderOptions,
): readonly Line[] {
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : [[sanitiseLine(name), value]],
  );
  const column = Math.min(widestOf(shown.map(([name = '']) => name)), WIDEST_NAME);
  return shown.flatMap(([name = '', value = '']) =>
    wrap(
      [span(`  ${padText(name, column)}  `, 'dim'), span(sanitiseLine(value))],
      width,
      column + 4,
    ),
  );
}
