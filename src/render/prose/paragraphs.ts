import { align, type Budget, gapsBetween, type Pair, type Range } from '../../core/align.ts';
import { MOST_READ, UNSPACED } from './words.ts';

/** Texts in paragraphs, and which of two texts' paragraphs are the same ones. */

/** A paragraph, heading, list item or line of code: what is compared and moves as one. */
export type Paragraph = {
  /** Without the blanks that follow it. */
  readonly text: string;
  /** The blanks that follow, line breaks included. */
  readonly gap: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** Its words, where it is a heading. */
  readonly title: string | undefined;
  /** The heading above it. */
  readonly heading: string | null;
};

const HEADING = /^ {0,3}#{1,6}[ \t]+(?<title>[^\n]{1,200}?)[ \t#]*$/;
/** `<opening_hours>` alone on a line, as prompts often mark their parts. */
const TAG = /^\s*<(?<title>[a-z][\w-]{0,60})>\s*$/i;
/** `**Hours**` alone on a line. */
const BOLD = /^\s*(?:\*\*|__)(?<title>[^*_\n]{1,80}?):?(?:\*\*|__):?\s*$/;
const FENCE = /^\s*(?:```|~~~)/;
/** What begins a paragraph wherever it stands: list items, quotations, rows of tables, tags. */
const OPENING = /^\s*(?:[-*+•–]\s|\d{1,3}[.)]\s|[a-z][.)]\s|>|\||<\/?[a-z])/i;

/** Below this a line is no sign of how wide a text was broken, above it nobody broke the text. */
const LEAST_WIDE = 60;
const MOST_WIDE = 130;

/**
 * A text in paragraphs: their texts and gaps, one after the other, are the text again. `isList`: each line is
 * one.
 */
export function splitParagraphs(text: string, isList = false): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let heading: string | null = null;
  for (const { lines, first, isCode } of listGroups(text, isList)) {
    const whole = lines.join('');
    const body = whole.trimEnd();
    const title =
      isCode || isList || lines.length > 1 + blankLines(lines) ? undefined : findTitle(body);
    paragraphs.push({ text: body, gap: whole.slice(body.length), line: first, title, heading });
    if (title !== undefined) heading = title;
  }
  return paragraphs;
}

/** The words of a heading, or undefined. */
function findTitle(line: string): string | undefined {
  const found = HEADING.exec(line) ?? BOLD.exec(line) ?? TAG.exec(line);
  return found?.groups?.title?.trim();
}

function blankLines(lines: readonly string[]): number {
  return lines.filter(isBlank).length;
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Lines with their ends, the blank ones with what is above them. */
type Lines = { readonly lines: string[]; readonly first: number; readonly isCode: boolean };

function listGroups(text: string, isList: boolean): readonly Lines[] {
  // A pattern over whole lines overflows where one has some megabytes.
  const all = text === '' ? [] : text.split(/(?<=\n)/);
  const groups: Lines[] = [];
  let isCode = false;
  let widest = 0;
  for (const [at, line] of all.entries()) {
    const last = groups.at(-1);
    const isFence = FENCE.test(line);
    if (last !== undefined && isBlank(line)) last.lines.push(line);
    else if (last !== undefined && !isList && !isCode && !isFence && goesOn(last, line, widest)) {
      last.lines.push(line);
    } else groups.push({ lines: [line], first: at + 1, isCode: isCode || isFence });
    if (isFence) isCode = !isCode;
    widest = isBlank(line) ? 0 : Math.max(widest, line.trimEnd().length);
  }
  return groups;
}

/**
 * Whether a line only exists because the one above it was full: then the two are one paragraph, and breaking it
 * anew changes no word. Otherwise somebody wanted a line of its own.
 */
function goesOn({ lines, isCode }: Lines, line: string, widest: number): boolean {
  const above = lines.at(-1) ?? '';
  if (isCode || OPENING.test(line) || findTitle(line) !== undefined) return false;
  if (isBlank(above)) return lines.every(isBlank);
  if (widest > MOST_WIDE || findTitle(above.trimEnd()) !== undefined) return false;
  const word = /^\s*\S{0,200}/.exec(line)?.[0].trim().length ?? 0;
  return above.trimEnd().length + 1 + word > Math.max(widest, LEAST_WIDE);
}

/** A paragraph as it is compared with others. */
type Subject = {
  readonly paragraph: Paragraph;
  /** Its words with single blanks between them: equal for paragraphs that differ in blanks only. */
  readonly key: string;
  /** Numbers of its words in lower case, ascending; the same number for the same word everywhere. */
  readonly words: () => Int32Array;
};

/** Makes subjects of paragraphs whose words are numbered alike. */
function subjectMaker(): (paragraph: Paragraph) => Subject {
  const ids = new Map<string, number>();
  return (paragraph) => {
    let words: Int32Array | undefined;
    return {
      paragraph,
      key: paragraph.text.trim().replace(/\s+/g, ' '),
      words() {
        words ??= numberLines(paragraph.text, ids);
        return words;
      },
    };
  };
}

const SPOKEN = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}]){1,2000}`, 'gu');

function numberLines(text: string, ids: Map<string, number>): Int32Array {
  const found = text.length > MOST_READ ? [] : (text.toLowerCase().match(SPOKEN) ?? []);
  return Int32Array.from(found, (word) => {
    const id = ids.get(word) ?? ids.size;
    ids.set(word, id);
    return id;
  }).sort();
}

/** With less in common, paragraphs are two and not one that was edited. */
const ALIKE = 0.5;
/** Where one paragraph stands exactly where one stood, less will do. */
const LEAST_ALIKE = 0.3;

/** Share of the words that two paragraphs have in common, from 0 to 1 (Dice's coefficient). */
function likeness(a: Subject, b: Subject, budget: Budget): number {
  const [x, y] = [a.words(), b.words()];
  const all = x.length + y.length;
  if (all === 0) return a.key === b.key ? 1 : 0;
  if ((a.paragraph.title === undefined) !== (b.paragraph.title === undefined)) return 0;
  budget.steps -= 1;
  if ((2 * Math.min(x.length, y.length)) / all < LEAST_ALIKE) return 0;
  budget.steps -= all / 8;
  let [at, other, common] = [0, 0, 0];
  while (at < x.length && other < y.length) {
    const difference = (x[at] ?? 0) - (y[other] ?? 0);
    if (difference === 0) common += 1;
    if (difference <= 0) at += 1;
    if (difference >= 0) other += 1;
  }
  return (2 * common) / all;
}

/** Which paragraphs are the same ones, edited or not. */
export type Matches = {
  /** Both indexes ascend. */
  readonly inOrder: readonly Pair[];
  readonly moved: readonly Pair[];
};

/** A paragraph with fewer words is repeated by chance, not moved. */
const LEAST_MOVED = 3;
/** The same for one that was edited on its way. */
const LEAST_MOVED_EDITED = 8;
/** How alike it must have stayed. */
const ALIKE_MOVED = 0.6;
/** Comparisons of what is left over with what is left over. */
const MOST_COMPARED = 100_000;

/**
 * Finds the paragraphs that stayed, then those that stand elsewhere as they were, then those that were edited
 * where they are, then those that were edited and moved.
 */
export function matchParagraphs(
  old: readonly Paragraph[],
  fresh: readonly Paragraph[],
  budget: Budget,
): Matches {
  const subjectOf = subjectMaker();
  const [before, after] = [old.map(subjectOf), fresh.map(subjectOf)];
  const keysOf = (subjects: readonly Subject[]) => subjects.map(({ key }) => key);
  const taken: Taken = { before: new Set(), after: new Set() };
  const stayed = align(keysOf(before), keysOf(after), budget);
  // Where hardly a paragraph stayed as it was, the steps below find the edited ones all the same.
  budget.isSpent = false;
  take(taken, stayed);
  const movedWhole = sameElsewhere(before, after, taken);
  take(taken, movedWhole);
  const edited = gapsBetween(stayed, before.length, after.length).flatMap(([old, fresh]) => {
    const [a, b] = [free(old, taken.before), free(fresh, taken.after)];
    const pairs = pairAlike(pick(before, a), pick(after, b), budget);
    return pairs.map(([x, y]): Pair => [a[x] ?? -1, b[y] ?? -1]);
  });
  take(taken, edited);
  return {
    inOrder: [...stayed, ...edited].sort(([x], [y]) => x - y),
    moved: [...movedWhole, ...alikeElsewhere(before, after, taken, budget)],
  };
}

/** Indexes that have found their partner. */
type Taken = { readonly before: Set<number>; readonly after: Set<number> };

function take({ before, after }: Taken, pairs: readonly Pair[]): void {
  for (const [a, b] of pairs) {
    before.add(a);
    after.add(b);
  }
}

function free([from, to]: Range, taken: ReadonlySet<number>): readonly number[] {
  return Array.from({ length: to - from }, (_, at) => from + at).filter((at) => !taken.has(at));
}

function pick(subjects: readonly Subject[], indexes: readonly number[]): readonly Subject[] {
  return indexes.flatMap((index) => subjects[index] ?? []);
}

function sameElsewhere(
  before: readonly Subject[],
  after: readonly Subject[],
  taken: Taken,
): readonly Pair[] {
  const waiting = Map.groupBy(free([0, after.length], taken.after), (at) => after[at]?.key ?? '');
  return free([0, before.length], taken.before).flatMap((at): readonly Pair[] => {
    const subject = before[at];
    if (subject === undefined || !isOwn(subject)) return [];
    const found = waiting.get(subject.key)?.shift();
    return found === undefined ? [] : [[at, found]];
  });
}

/** Whether a paragraph is known again wherever it stands: a heading is, however short. */
function isOwn({ words, paragraph }: Subject): boolean {
  return words().length >= (paragraph.title === undefined ? LEAST_MOVED : 1);
}

function alikeElsewhere(
  before: readonly Subject[],
  after: readonly Subject[],
  taken: Taken,
  budget: Budget,
): readonly Pair[] {
  const isLong = (subjects: readonly Subject[]) => (at: number) =>
    (subjects[at]?.words().length ?? 0) >= LEAST_MOVED_EDITED;
  const old = free([0, before.length], taken.before).filter(isLong(before));
  const fresh = free([0, after.length], taken.after).filter(isLong(after));
  if (old.length * fresh.length > MOST_COMPARED) {
    budget.isSpent = true;
    return [];
  }
  const found = old.flatMap((a) =>
    fresh.flatMap((b) => {
      const [x, y] = [before[a], after[b]];
      const alike = x && y && budget.steps > 0 ? likeness(x, y, budget) : 0;
      return alike < ALIKE_MOVED ? [] : [{ a, b, alike }];
    }),
  );
  const used: Taken = { before: new Set(), after: new Set() };
  return found
    .sort((x, y) => y.alike - x.alike || x.a - y.a || x.b - y.b)
    .flatMap(({ a, b }): readonly Pair[] => {
      if (used.before.has(a) || used.after.has(b)) return [];
      take(used, [[a, b]]);
      return [[a, b]];
    });
}

/** How far from the same place the edited form of a paragraph is looked for, at least. */
const LEAST_BAND = 25;
/** Comparisons of one stretch before it is only looked at near the same place. */
const MOST_BANDED = 40_000;

/** One paragraph before against those after it from `low` on: the best sum so far, and whether they are a pair. */
type Row = { readonly low: number; readonly sums: Float64Array; readonly paired: Uint8Array };

/**
 * Pairs up the paragraphs of two stretches, in their order, so that those which are most alike come together
 * (Needleman and Wunsch, within a band around the diagonal).
 */
function pairAlike(
  before: readonly Subject[],
  after: readonly Subject[],
  budget: Budget,
): readonly Pair[] {
  if (before.length === 0 || after.length === 0) return [];
  const least = before.length === 1 && after.length === 1 ? LEAST_ALIKE : ALIKE;
  const band = Math.max(LEAST_BAND, Math.floor(MOST_BANDED / before.length / 2));
  const rows: Row[] = [];
  for (const [at, subject] of before.entries()) {
    const centre = Math.round((at * after.length) / before.length);
    const low = Math.max(0, centre - band);
    const others = after.slice(low, centre + band);
    const row = fillRow(rows.at(-1), low, others.length, (column) => {
      const other = after[column];
      if (other === undefined || budget.steps <= 0) return 0;
      const alike = likeness(subject, other, budget);
      return alike < least ? 0 : alike;
    });
    rows.push(row);
  }
  if (budget.steps <= 0) budget.isSpent = true;
  return retrace(rows);
}

function fillRow(
  above: Row | undefined,
  low: number,
  length: number,
  alikeAt: (column: number) => number,
): Row {
  const row = { low, sums: new Float64Array(length), paired: new Uint8Array(length) };
  for (let at = 0; at < length; at += 1) {
    const skipped = Math.max(sumAt(above, low + at), at > 0 ? (row.sums[at - 1] ?? 0) : 0);
    const alike = alikeAt(low + at);
    const joined = alike === 0 ? 0 : sumAt(above, low + at - 1) + alike;
    row.sums[at] = Math.max(skipped, joined);
    row.paired[at] = joined > skipped ? 1 : 0;
  }
  return row;
}

/** Beyond its band a row has nothing to add. */
function sumAt(row: Row | undefined, column: number): number {
  if (row === undefined || column < row.low) return 0;
  return row.sums[Math.min(column - row.low, row.sums.length - 1)] ?? 0;
}

function retrace(rows: readonly Row[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let at = rows.length - 1;
  let column = Number.POSITIVE_INFINITY;
  while (at >= 0) {
    const row = rows[at];
    if (row === undefined || column < row.low) break;
    column = Math.min(column, row.low + row.sums.length - 1);
    if (row.paired[column - row.low] === 1) {
      pairs.push([at, column]);
      at -= 1;
      column -= 1;
    } else if (sumAt(rows[at - 1], column) >= sumAt(row, column)) at -= 1;
    else column -= 1;
  }
  return pairs.reverse();
}
