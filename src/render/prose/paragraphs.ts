import { align, type Budget, gapsBetween, type Pair, type Range } from '../../core/align.ts';
import { commonEnds, sum } from '../../core/value.ts';
import { MOST_READ, UNSPACED } from './words.ts';

/** Texts in paragraphs, and which of two texts' paragraphs are the same ones. */

/** A paragraph, heading, list item or line of code: what is compared and moves as one. */
export type Paragraph = {
  /** Without the blanks that follow it. */
  readonly text: string;
  /** The blanks that follow, line breaks included. */
  readonly gap: string;
  /** The number of its first line, from 1. */
  readonly line: number;
  /** Its words, where it is a heading. */
  readonly title: string | undefined;
  /** The heading above it. */
  readonly heading: string | null;
  /** The line above its list, or else its heading. */
  readonly under: Paragraph | undefined;
};

const HEADING = /^ {0,3}#{1,6}[ \t]+(?<title>[^\n]{1,200}?)[ \t#]*$/;
/** `<opening_hours>` alone on a line, as prompts often mark their parts. */
const TAG = /^\s*<(?<title>[a-z][\w-]{0,60})>\s*$/i;
/** `**Hours**` alone on a line. */
const BOLD = /^\s*(?:\*\*|__)(?<title>[^*_\n]{1,80}?):?(?:\*\*|__):?\s*$/;
const FENCE = /^\s*(?:```|~~~)/;
const ITEM = /^\s*(?:[-*+•–]\s|\d{1,3}[.)]\s|[a-z][.)]\s)/i;
/** The beginnings of a paragraph anywhere: list items, quotations, rows of tables, tags. */
const OPENING = /^\s*(?:[-*+•–]\s|\d{1,3}[.)]\s|[a-z][.)]\s|>|\||<\/?[a-z])/i;
/** Characters and words of a line above a list that says of its items what they are: `Never:`, `What you may do`. */
const MOST_ABOVE = 300;
const MOST_TITLE = 6;

/** A text whose widest line is below `LEAST_WIDE` shows no width, and one above `MOST_WIDE` was not broken. */
const LEAST_WIDE = 60;
const MOST_WIDE = 130;

/** A part of a text: how many lines stand before it, and the heading that it is under. */
export type Excerpt = {
  readonly text: string;
  readonly skipped: number;
  readonly section: Paragraph | undefined;
};

/**
 * A text in paragraphs: their texts and gaps, one after the other, are the text again. `isList`: each line is
 * one.
 */
export function splitParagraphs(given: string | Excerpt, isList = false): readonly Paragraph[] {
  const {
    text,
    skipped,
    section: above,
  } = typeof given === 'string' ? { text: given, skipped: 0, section: undefined } : given;
  const paragraphs: Paragraph[] = [];
  let heading: string | null = above?.title ?? null;
  let [section, list]: [Paragraph | undefined, Paragraph | undefined] = [above, undefined];
  for (const { lines, first, isCode } of listGroups(text, isList)) {
    const whole = lines.join('');
    const body = whole.trimEnd();
    const title =
      isCode || isList || lines.length > 1 + blankLines(lines) ? undefined : findTitle(body);
    const isItem = !isCode && ITEM.test(body);
    const under = isItem ? (list ?? section) : section;
    const gap = whole.slice(body.length);
    const paragraph: Paragraph = { text: body, gap, line: skipped + first, title, heading, under };
    paragraphs.push(paragraph);
    if (title !== undefined) {
      heading = title;
      section = paragraph;
    }
    if (!isItem) list = isAboveList(body) ? paragraph : undefined;
  }
  return paragraphs;
}

function isAboveList(line: string): boolean {
  if (line.length > MOST_ABOVE) return false;
  const last = /[:.!?][*_\s]*$/.exec(line)?.[0][0];
  return last === ':' || (last === undefined && line.trim().split(/\s+/).length <= MOST_TITLE);
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
 * True if a line only exists because the one above it was full: then the two are one paragraph, and breaking it again
 * changes no word. Otherwise its author wanted a line of its own.
 */
function goesOn({ lines, isCode }: Lines, line: string, widest: number): boolean {
  const above = lines.at(-1) ?? '';
  if (isCode || OPENING.test(line) || findTitle(line) !== undefined) return false;
  if (isBlank(above)) return lines.every(isBlank);
  // `Never:` begins a list, however long the sentence above it is.
  if (line.trimEnd().endsWith(':') && /[.!?][*_"”’)]*$/.test(above.trimEnd())) return false;
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
/** The least likeness of a paragraph that stands exactly where another stood. */
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

/**
 * Characters of what two texts do not begin and end with alike that are compared by paragraphs, which takes a second at
 * most. No prompt that a model reads in one call is near it.
 */
const MOST_CHARACTERS = 2 * MOST_READ;

/** Both texts in paragraphs, and which of them are the same ones. */
export type Paired = Matches & {
  readonly before: readonly Paragraph[];
  readonly after: readonly Paragraph[];
  /** So much differs that not all of it is compared. */
  readonly isTooMuch: boolean;
};

/**
 * Characters of changed paragraphs that are searched for call-outs, which takes about half a second. More than that
 * is another text, not an edited one.
 */
const MOST_CALLED = 100_000;

/**
 * Splits two texts and pairs their paragraphs. It is always the text that sorts first which is compared with the
 * other: so the way back shows as removed what the way there shows as added.
 */
export function pairParagraphs(
  before: string | Excerpt,
  after: string | Excerpt,
  isList: boolean,
  budget: Budget,
): Paired {
  const [old, fresh] = bounded(splitParagraphs(before, isList), splitParagraphs(after, isList));
  const turn = ([a, b]: Pair): Pair => [b, a];
  const isTurned = getText(before) > getText(after);
  const { inOrder, moved } = isTurned
    ? matchParagraphs(fresh, old, budget)
    : matchParagraphs(old, fresh, budget);
  const matches = isTurned
    ? { inOrder: inOrder.map(turn), moved: moved.map(turn) }
    : { inOrder, moved };
  const sides = { before: old, after: fresh };
  return { ...sides, ...matches, isTooMuch: countChanged(sides, matches) > MOST_CALLED };
}

function getText(given: string | Excerpt): string {
  return typeof given === 'string' ? given : given.text;
}

/** A text of fewer characters is split as a whole: it takes a few milliseconds. */
const MOST_WHOLE = 100_000;
/** Lines that are looked at around what differs, unless a heading is nearer. */
const AROUND = 1000;

/** Gives the part in which two long texts differ, with the section around it: to split all of them takes seconds. */
export function pickAround(
  before: string,
  after: string,
): readonly [before: string | Excerpt, after: string | Excerpt] {
  if (before.length + after.length <= MOST_WHOLE) return [before, after];
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  if ([old, fresh].some((lines) => lines.some((line) => FENCE.test(line)))) return [before, after];
  const [head, tail] = commonEnds(old, fresh);
  const title = old.slice(0, head).findLastIndex((line) => findTitle(line) !== undefined);
  const from = Math.max(title, head - AROUND, 0);
  const [section] = splitParagraphs(old[title] ?? '');
  const below = old.slice(old.length - tail, old.length - tail + AROUND);
  const next = below.findIndex((line) => findTitle(line) !== undefined);
  const left = tail - (next < 0 ? below.length : next);
  const pick = (lines: readonly string[]): Excerpt => ({
    text: lines.slice(from, lines.length - left).join('\n'),
    skipped: from,
    section: section && { ...section, line: title + 1 },
  });
  return [pick(old), pick(fresh)];
}

/** Characters of the paragraphs that came, went, or differ. */
function countChanged(
  { before, after }: Pick<Paired, 'before' | 'after'>,
  { inOrder, moved }: Matches,
): number {
  const all = sum([...before, ...after].map(({ text }) => text.length));
  const same = [...inOrder, ...moved].map(([a, b]) => {
    const [old, fresh] = [before[a]?.text, after[b]?.text];
    return old !== undefined && old === fresh ? 2 * old.length : 0;
  });
  return all - sum(same);
}

/** Joins the differing middle of each side into one paragraph if too much differs. */
function bounded(
  old: readonly Paragraph[],
  fresh: readonly Paragraph[],
): readonly [readonly Paragraph[], readonly Paragraph[]] {
  const [head, tail] = commonEnds(old, fresh, (a, b) => a?.text === b?.text && a?.gap === b?.gap);
  const middle = (all: readonly Paragraph[]) => all.slice(head, all.length - tail);
  const size = [...middle(old), ...middle(fresh)].reduce((sum, { text }) => sum + text.length, 0);
  if (size <= MOST_CHARACTERS) return [old, fresh];
  const joined = (all: readonly Paragraph[]) => [
    ...all.slice(0, head),
    ...joinParagraphs(middle(all)),
    ...all.slice(all.length - tail),
  ];
  return [joined(old), joined(fresh)];
}

function joinParagraphs(paragraphs: readonly Paragraph[]): readonly Paragraph[] {
  const [first, last] = [paragraphs[0], paragraphs.at(-1)];
  if (first === undefined || last === undefined) return [];
  const text = paragraphs.map((one) => one.text + one.gap).join('');
  const { gap } = last;
  return [{ ...first, text: text.slice(0, text.length - gap.length), gap, title: undefined }];
}

/** Which paragraphs are the same ones, edited or not. */
type Matches = {
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
function matchParagraphs(
  old: readonly Paragraph[],
  fresh: readonly Paragraph[],
  budget: Budget,
): Matches {
  const getSubject = subjectMaker();
  const [before, after] = [old.map(getSubject), fresh.map(getSubject)];
  const listKeys = (subjects: readonly Subject[]) => subjects.map(({ key }) => key);
  const taken: Taken = { before: new Set(), after: new Set() };
  const stayed = align(listKeys(before), listKeys(after), budget);
  // If hardly a paragraph stayed as it was, the steps below find the edited ones all the same.
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

/** True if a paragraph is recognised anywhere: a heading is, however short. */
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
