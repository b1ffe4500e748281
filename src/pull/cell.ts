import { delimiterOf } from '../config/csv-cells.ts';
import type { Place } from '../config/source.ts';

/** A cell of a CSV file with another text: quotes that stand around it stay, and come where they are needed. */
export function editCell({ source, start, end }: Place, text: string) {
  const isQuoted = source.text[start - 1] === '"';
  const inner = text.replaceAll('"', '""');
  if (isQuoted) return { start, end, text: inner };
  const needsQuotes = new RegExp(`["\\r\\n${delimiterOf(source.text)}]|^\\s|\\s$`).test(text);
  return { start, end, text: needsQuotes ? `"${inner}"` : text };
}
