import { type Collection, columnOf, endOfItem, lineStart, nextLine, startOfItem } from './nodes.ts';
import type { Splice } from './splice.ts';

/** Takes items out of a collection that keeps at least one. */
export function removeItems(
  holder: Collection,
  removed: ReadonlySet<number>,
  text: string,
): readonly Splice[] {
  return runsOf(removed).map(([first, last]) =>
    holder.flow === true
      ? withoutInFlow(holder, first, last)
      : withoutLines(holder, first, last, text),
  );
}

/** Neighbours as one stretch each: first and last index. */
function runsOf(removed: ReadonlySet<number>): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const index of [...removed].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}

function withoutInFlow(holder: Collection, first: number, last: number): Splice {
  const isLast = last === holder.items.length - 1;
  return isLast
    ? { start: endOfItem(holder, first - 1), end: endOfItem(holder, last), text: '' }
    : { start: startOfItem(holder, first), end: startOfItem(holder, last + 1), text: '' };
}

function withoutLines(holder: Collection, first: number, last: number, text: string): Splice {
  const start = startOfItem(holder, first);
  const line = lineStart(text, start);
  // `- name: x`: the next member takes the place behind the dash.
  if (text.slice(line, start).trim() !== '') {
    return { start, end: startOfItem(holder, last + 1), text: '' };
  }
  const from = first === 0 ? line : aboveComments(text, line, columnOf(text, start));
  return { start: from, end: nextLine(text, endOfItem(holder, last)), text: '' };
}

/** A comment right above an item goes with it. */
function aboveComments(text: string, line: number, column: number): number {
  let from = line;
  while (from > 0) {
    const above = lineStart(text, from - 1);
    const words = text.slice(above, from);
    if (!words.trimStart().startsWith('#') || columnOf(words, words.indexOf('#')) !== column) break;
    from = above;
  }
  return from;
}
