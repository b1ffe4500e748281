import { Uneditable } from './nodes.ts';

/** A stretch of a text and what takes its place, with line feeds. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

/**
 * The text with all splices made, in its own line ends unless they stand for themselves. Those inside a stretch
 * that goes away are moot.
 */
export function joinSplices(
  text: string,
  splices: readonly Splice[],
  { isVerbatim = false } = {},
): string {
  const lineEnd = isVerbatim ? '\n' : (/\r?\n/.exec(text)?.[0] ?? '\n');
  const ordered = [...splices].sort((a, b) => a.start - b.start || a.end - b.end);
  let at = 0;
  let joined = '';
  let last: Splice | undefined;
  for (const splice of ordered) {
    if (splice.start < at) {
      const isInside = last !== undefined && splice.end <= last.end && last.text === '';
      if (isInside) continue;
      throw new Uneditable('two changes overlap');
    }
    joined += text.slice(at, splice.start) + splice.text.replaceAll('\n', lineEnd);
    at = splice.end;
    last = splice;
  }
  return joined + text.slice(at);
}
