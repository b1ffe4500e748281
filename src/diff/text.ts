import { align, gapsBetween, newBudget } from '../core/align.ts';

/**
 * The edit of a text, by lines: hunks with the lines around them. It says exactly what one text needs to become another
 * one, and can be carried out on a third.
 */

/** A line that stays, goes or comes. */
export type HunkLine = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** Neighbouring lines that change, with the unchanged lines around them. */
export type Hunk = {
  /** Index of its first line in the text that it is about. */
  readonly at: number;
  /** The headings that the first changed line stands under, the outermost first, and the line that introduces its list. */
  readonly under: readonly string[];
  readonly lines: readonly HunkLine[];
  /** True if the text begins with its lines; `isLast`: if it ends with them. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** How often its old lines stand before it, behind the hunk before it, under the same headings. */
  readonly skipped: number;
};

/** Unchanged lines that belong to a hunk, before and after its changed ones. */
const AROUND = 3;

/** A text that changes in more places, or in more lines, is another text rather than an edited one. */
const MOST_HUNKS = 200;
const MOST_LINES = 2000;

/** The hunks that make one text of another; undefined where too much differs. The edit of equal texts has none. */
export function findHunks(before: string, after: string): readonly Hunk[] | undefined {
  if (before === after) return [];
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  const budget = newBudget();
  const pairs = align(old, fresh, budget);
  if (budget.isSpent) return undefined;
  const gaps = gapsBetween(pairs, old.length, fresh.length).filter(
    ([[a, x], [b, y]]) => a < x || b < y,
  );
  const changed = gaps.reduce((sum, [[a, x], [b, y]]) => sum + (x - a) + (y - b), 0);
  if (changed > MOST_LINES) return undefined;
  const hunks: Hunk[] = [];
  const place = openPlaces(old);
  let done = 0;
  for (let at = 0; at < gaps.length; ) {
    const [[start]] = gaps[at] as Gap;
    const from = Math.max(0, start - AROUND);
    const lines = old.slice(from, start).map(asLine(' '));
    let end = start;
    for (; at < gaps.length; at += 1) {
      const [[a, x], [b, y]] = gaps[at] as Gap;
      if (a > end + 2 * AROUND) break;
      lines.push(...old.slice(end, a).map(asLine(' ')));
      lines.push(...old.slice(a, x).map(asLine('-')), ...fresh.slice(b, y).map(asLine('+')));
      end = x;
    }
    const until = Math.min(old.length, end + AROUND);
    lines.push(...old.slice(end, until).map(asLine(' ')));
    const found = {
      under: place.headings(start),
      lines,
      isFirst: from === 0,
      isLast: until === old.length,
    };
    let skipped = 0;
    for (let other = done; other < from; other += 1) if (place.fits(found, other)) skipped += 1;
    hunks.push({ at: from, ...found, skipped });
    done = until;
  }
  return hunks.length > MOST_HUNKS ? undefined : hunks;
}

type Gap = ReturnType<typeof gapsBetween>[number];

function asLine(sign: HunkLine['sign']) {
  return (text: string): HunkLine => ({ sign, text });
}

/**
 * Carries an edit out on a text: each hunk where its old lines stand under the same headings, behind the hunk before it.
 * Undefined where one of them stands nowhere.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): string | undefined {
  const old = text.split('\n');
  const place = openPlaces(old);
  const fresh: string[] = [];
  let done = 0;
  for (const hunk of hunks) {
    const count = hunk.lines.filter(({ sign }) => sign !== '+').length;
    let { skipped } = hunk;
    let at = done;
    for (; at + count <= old.length; at += 1) {
      if (place.fits(hunk, at) && skipped-- === 0) break;
    }
    if (at + count > old.length) return undefined;
    fresh.push(...old.slice(done, at));
    fresh.push(...hunk.lines.filter(({ sign }) => sign !== '-').map((line) => line.text));
    done = at + count;
  }
  return [...fresh, ...old.slice(done)].join('\n');
}

/**
 * Checks whether a text has the edit that made `after` of `before`: every line that came is there, in the same order, and no
 * line that went stands in its place. False where too much differs to tell.
 */
export function containsTextEdit(text: string, before: string, after: string): boolean {
  const [old, fresh, own] = [before.split('\n'), after.split('\n'), text.split('\n')];
  const budget = newBudget();
  const edits = gapsBetween(align(old, fresh, budget), old.length, fresh.length);
  const kept = new Map(align(fresh, own, budget));
  if (budget.isSpent) return false;
  return edits.every(([[a, x], [b, y]]) => {
    for (let line = b; line < y; line += 1) if (!kept.has(line)) return false;
    const gone = old.slice(a, x).filter((line) => line.trim() !== '');
    let [from, until] = [b - 1, y];
    while (from >= 0 && !kept.has(from)) from -= 1;
    while (until < fresh.length && !kept.has(until)) until += 1;
    const came = new Set(fresh.slice(b, y));
    const place = own.slice((kept.get(from) ?? -1) + 1, kept.get(until) ?? own.length);
    return !gone.some((line) => place.includes(line) && !came.has(line));
  });
}

/** Finds the places of hunks in a text. */
function openPlaces(old: readonly string[]) {
  const headings = listHeadings(old);
  const fits = (
    { lines, isFirst, isLast, under }: Pick<Hunk, 'lines' | 'isFirst' | 'isLast' | 'under'>,
    at: number,
  ): boolean => {
    if (isFirst && at > 0) return false;
    let next = at;
    let lead: number | undefined;
    for (const { sign, text } of lines) {
      if (sign !== ' ') lead ??= next;
      if (sign === '+') continue;
      if (old[next] !== text) return false;
      next += 1;
    }
    return (!isLast || next === old.length) && isSameList(headings(lead ?? at), under);
  };
  return { headings, fits };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, at) => text === b[at]);
}

const HEADING = /^ {0,3}(#{1,6})[ \t]/;
/** `Never do this:`, `**Hours**` and `<rules>` say what the lines below them are. */
const LEAD =
  /:\s*(?:\*\*|__)?\s*$|^\s*(?:\*\*|__)[^*_]{1,80}(?:\*\*|__)\s*$|^\s*<[a-z][\w-]{0,60}>\s*$/i;

/**
 * Lists the headings above the lines of a text. A text is gone through once, in the order in which it is asked about.
 */
function listHeadings(lines: readonly string[]): (line: number) => readonly string[] {
  let next = 0;
  let above: readonly { readonly level: number; readonly text: string }[] = [];
  let lead: string | undefined;
  return (line) => {
    if (line < next) {
      next = 0;
      above = [];
      lead = undefined;
    }
    for (; next < line; next += 1) {
      const text = lines[next] ?? '';
      const [, marks] = HEADING.exec(text) ?? [];
      if (marks !== undefined) {
        const level = marks.length;
        above = [...above.filter((one) => one.level < level), { level, text }];
        lead = undefined;
      } else if (LEAD.test(text)) lead = text;
    }
    return [...above.map(({ text }) => text), ...(lead === undefined ? [] : [lead])];
  };
}
