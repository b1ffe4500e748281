import { align, newBudget } from '../core/align.ts';
import { countEach } from '../core/value.ts';

/** The form of a text: pieces that it has in common with others, and between them what is its own. */

/**
 * Finds the parts between some pieces of a text: one for each gap. The text begins with the first piece and ends with
 * the last. Undefined where it is no text of that form. `expected`: parts that are taken where they fit.
 */
export function matchPieces(
  pieces: readonly string[],
  text: string,
  {
    expected = [],
    isWhole = () => true,
  }: {
    readonly expected?: readonly string[];
    /** Tells whether a piece may begin or end at a place of the text. */
    readonly isWhole?: (text: string, at: number) => boolean;
  } = {},
): readonly string[] | undefined {
  const [first = '', ...rest] = pieces;
  const last = rest.at(-1);
  if (last === undefined) return text === first ? [] : undefined;
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return undefined;
  if (!isWhole(text, first.length) || !isWhole(text, end)) return undefined;
  const parts: string[] = [];
  let from = first.length;
  for (const [at, piece] of rest.slice(0, -1).entries()) {
    const wanted = expected[at];
    const next = wanted === undefined ? -1 : from + wanted.length;
    const fits = wanted !== undefined && text.startsWith(wanted + piece, from) && next <= end;
    // Nothing says where one of two neighbours ends.
    if (!fits && piece === '') return undefined;
    let place = fits ? next : text.indexOf(piece, from);
    while (place >= 0 && !(isWhole(text, place) && isWhole(text, place + piece.length)))
      place = text.indexOf(piece, place + 1);
    if (place < 0 || place + piece.length > end) return undefined;
    parts.push(text.slice(from, place));
    from = place + piece.length;
  }
  return [...parts, text.slice(from, end)];
}

/** A text of a form. */
export function fillPieces(pieces: readonly string[], parts: readonly string[]): string {
  return pieces.map((piece, at) => piece + (parts[at] ?? '')).join('');
}

/** A form, and the texts that have it. */
export type Form = {
  readonly pieces: readonly string[];
  /** The parts of each text, by its place among those that were given. */
  readonly parts: ReadonlyMap<number, readonly string[]>;
};

/** A piece of a text that stands for a word: texts have a form in common by such pieces. */
const TOKENS = /\s*[\p{L}\p{M}\p{N}]+|\s*[^\s\p{L}\p{M}\p{N}]|\s+$/gu;
const WORD = /[\p{L}\p{N}]/u;
const JOINED = /^[\p{L}\p{M}\p{N}]{2}$/u;

/** Texts that a form is made of: it is tried on all. */
const MOST_SAMPLES = 60;
/** Texts with which the search begins. */
const MOST_SEEDS = 4;
/** Longer texts are no sentences that were filled in. */
const LONGEST = 4000;
/** The share of its words that a text has in common with others. */
const LEAST_COMMON = 0.5;
/** A longer part is a text of its own. */
const LONGEST_PART = 48;
/** More digits than this name somebody, as those of a phone number do. */
const MOST_DIGITS = 6;

/** The form that most of some texts have; undefined where fewer than three have one. */
export function findForm(texts: readonly string[]): Form | undefined {
  const known = [...new Set(texts)].filter((text) => text.length <= LONGEST);
  const samples = spread(known, MOST_SAMPLES).map((text) => text.match(TOKENS) ?? []);
  const forms = spread(samples, MOST_SEEDS).map((seed) => {
    const words = seed.filter((token) => WORD.test(token)).length;
    let common: readonly (string | null)[] = seed;
    for (const other of samples) {
      const next = keepCommon(common, other);
      const left = next.filter((token) => token !== null && WORD.test(token)).length;
      if (left > 0 && left >= words * LEAST_COMMON) common = next;
    }
    return joinPieces(common);
  });
  const fitting = forms.map((pieces) => withoutFew(fitAll(pieces, texts)));
  const [best] = fitting.toSorted((a, b) => b.parts.size - a.parts.size);
  return best === undefined || best.parts.size < 3 ? undefined : trimmed(best);
}

function spread<T>(all: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, all.length / most);
  return Array.from(
    { length: Math.min(most, all.length) },
    (_, at) => all[Math.floor(at * step)] as T,
  );
}

/** Tokens that two texts have, with null where either has others. */
function keepCommon(
  a: readonly (string | null)[],
  b: readonly string[],
): readonly (string | null)[] {
  const old = a.map((token) => token ?? '\0');
  const kept: (string | null)[] = [];
  let [x, y] = [0, 0];
  for (const [i, j] of [...align(old, b, newBudget()), [a.length, b.length] as const]) {
    if ((i > x || j > y) && kept.at(-1) !== null) kept.push(null);
    if (i < a.length) kept.push(a[i] as string);
    [x, y] = [i + 1, j + 1];
  }
  return kept;
}

function joinPieces(tokens: readonly (string | null)[]): readonly string[] {
  const pieces = [''];
  for (const token of tokens) {
    if (token === null) pieces.push('');
    else pieces[pieces.length - 1] += token;
  }
  return pieces;
}

function fitAll(pieces: readonly string[], texts: readonly string[]): Form {
  const isWhole = (text: string, at: number) =>
    !JOINED.test(text.slice(Math.max(0, at - 1), at + 1));
  const fitting = texts.flatMap((text, at): [number, readonly string[]][] => {
    const parts = matchPieces(pieces, text, { isWhole });
    return parts?.every(isPart) === true ? [[at, parts]] : [];
  });
  const parts = new Map(fitting);
  const isNamed = pieces.map((_, at) => {
    const own = [...parts.values()].flatMap((all) => all[at] ?? []);
    return own.every((text) => text.replace(/\D/g, '').length <= MOST_DIGITS) || isCounting(own);
  });
  return { pieces, parts: isNamed.every(Boolean) ? parts : new Map() };
}

/** Fewer different parts are choices, such as "do" and "do not", and none of them is like the others. */
const FEWEST_PARTS = 5;

/** The form of the texts that make the most frequent choice in each gap that is one. */
function withoutFew(form: Form): Form {
  const { pieces, parts } = form;
  const all = [...parts.values()];
  for (const [at] of pieces.slice(1).entries()) {
    const counts = countEach(all.map((own) => own[at] ?? ''));
    const [[most, count] = ['', 0]] = [...counts].sort(([, a], [, b]) => b - a);
    const isChoice = readNumbers([...counts.keys()]) === undefined && counts.size < FEWEST_PARTS;
    if (all.length === 0 || !(isChoice || count * 2 > all.length)) continue;
    const joined = (pieces[at] ?? '') + most + (pieces[at + 1] ?? '');
    const left = [...parts].filter(([, own]) => own[at] === most);
    return withoutFew({
      pieces: pieces.toSpliced(at, 2, joined),
      parts: new Map(left.map(([place, own]) => [place, own.toSpliced(at, 1)])),
    });
  }
  return form;
}

/** Tells a part of a sentence from a sentence. */
function isPart(text: string): boolean {
  return text.trim() !== '' && text.length <= LONGEST_PART && !/[.!?:;]\s|\n/.test(text);
}

const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/;

/** The whole numbers that some texts are; undefined where one of them is none. */
export function readNumbers(texts: readonly string[]): readonly number[] | undefined {
  return texts.every((text) => WHOLE_NUMBER.test(text.trim())) ? texts.map(Number) : undefined;
}

/** Checks that some texts are whole numbers of which none is left out. */
export function isCounting(texts: readonly string[]): boolean {
  const numbers = new Set(readNumbers(texts) ?? []);
  const [least, most] = extremes(numbers);
  return numbers.size > 0 && most - least + 1 === numbers.size;
}

export function extremes(numbers: Iterable<number>): readonly [least: number, most: number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const one of numbers) {
    least = Math.min(least, one);
    most = Math.max(most, one);
  }
  return [least, most];
}

/** Blanks before all parts of a gap belong to the piece before it. */
function trimmed({ pieces, parts }: Form): Form {
  const all = [...parts.values()];
  const blanks = pieces.slice(1).map((_, at) => {
    const [first = ''] = all[0]?.[at]?.match(/^\s+/) ?? [];
    return all.every((own) => own[at]?.startsWith(first) === true) ? first : '';
  });
  return {
    pieces: pieces.map((piece, at) => piece + (blanks[at] ?? '')),
    parts: new Map(
      [...parts].map(([place, own]) => [
        place,
        own.map((text, at) => text.slice(blanks[at]?.length ?? 0)),
      ]),
    ),
  };
}
