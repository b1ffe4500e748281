import type { SourcePosition } from '../core/diagnostics.ts';
import { lineAt, lineRange, type Place, type Source } from './source.ts';

/** Lines of a file, counted from 1, both included. */
export type Lines = { readonly from: number; readonly to: number };

/** The text of a line; undefined where the file has none. */
export function lineText(source: Source, line: number): string | undefined {
  const range = lineRange(source, line);
  return range === undefined ? undefined : source.text.slice(range.start, range.end);
}

/**
 * The lines of the key or list entry that a line begins, with everything below it: what follows is
 * indented deeper, or is the list of a key, which may stand as far left as the key itself.
 */
export function extentOf(source: Source, line: number): Lines {
  const first = lineText(source, line) ?? '';
  const indent = indentOf(first);
  const isEntry = first.trimStart().startsWith('- ');
  let to = line;
  for (let next = line + 1; ; next += 1) {
    const text = lineText(source, next);
    if (text === undefined) return { from: line, to };
    if (text.trim() === '') continue;
    const deeper = indentOf(text) > indent;
    const listed = !isEntry && indentOf(text) === indent && /^\s*-(?:\s|$)/.test(text);
    if (!deeper && !listed) return { from: line, to };
    to = next;
  }
}

/** A position as a place: the rest of its line from there on. */
export function placeAt(source: Source, { line, column }: SourcePosition): Place {
  const range = lineRange(source, line);
  if (range === undefined) return { source, start: 0, end: 0 };
  const before = [...source.text.slice(range.start, range.end)].slice(0, column - 1).join('');
  return { source, start: range.start + before.length, end: range.end };
}

/** The lines of a place as one stretch of text, for what stands below its key. */
export function bodyOf(place: Place): Place {
  const { to } = extentOf(place.source, lineAt(place.source, place.start));
  const end = lineRange(place.source, to)?.end ?? place.end;
  return { ...place, end: Math.max(place.end, end) };
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
