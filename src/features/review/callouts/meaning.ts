import type { Language } from './language.ts';
import { compile, END, fold, LANGUAGES, matchesIn, START } from './patterns.ts';

/** This module looks up the meanings of words in the language of a sentence. */

/** The table of a language made ready. */
export type Lexicon = {
  readonly language: Language;
  /** The meaning of a word; undefined where it has none by itself. */
  readonly findMeaning: (word: string) => Meaning | undefined;
  /** Phrases that stand for a word, each in a group `p` with the number of the word. */
  readonly phrases: RegExp;
  readonly words: readonly string[];
};

type Meaning = {
  readonly word: string;
  /** It stands for the opposite of its word, as `decline` does of `accept`. */
  readonly isOpposite: boolean;
  /** Who takes part in a call. */
  readonly isRole: boolean;
  /** It could stand for any other verb. */
  readonly isLight: boolean;
};

const LEXICONS: readonly Lexicon[] = LANGUAGES.map((language) => {
  const { meaning } = language;
  const functions = new Set(meaning.function.split(' '));
  const roles = new Set(meaning.roles.split(' '));
  const getStem = (word: string) => {
    return meaning.stem(meaning.irregular[word] ?? word);
  };
  const light = new Set(meaning.light.split(' ').map(getStem));
  const same = new Map(
    meaning.same.flatMap((list) => {
      const [first = '', ...others] = list.split(' ').map(getStem);
      return [first, ...others].map((word) => [word, first] as const);
    }),
  );
  const opposites = new Map(
    Object.entries(meaning.opposites).flatMap(([word, list]) =>
      list.split(' ').map((other) => [getStem(other), getStem(word)] as const),
    ),
  );
  const cache = new Map<string, Meaning | undefined>();
  const read = (word: string): Meaning | undefined => {
    if (functions.has(word) || meaning.isManner(word)) return undefined;
    const own = getStem(word);
    const opposite = opposites.get(own);
    const found = opposite ?? own;
    return {
      word: same.get(found) ?? found,
      isOpposite: opposite !== undefined,
      isRole: roles.has(word),
      isLight: light.has(own),
    };
  };
  return {
    language,
    findMeaning: (word) => {
      if (!cache.has(word)) {
        if (cache.size > MOST_KNOWN) cache.clear();
        cache.set(word, read(word));
      }
      return cache.get(word);
    },
    words: Object.keys(meaning.phrases),
    phrases: compile(
      `${START}(?:${Object.values(meaning.phrases)
        .map((pattern, at) => `(?<p${at}>${pattern})`)
        .join('|')})${END}`,
    ),
  };
});

/** Words whose meaning is remembered. */
const MOST_KNOWN = 10_000;

/** Words that only one of the languages has. */
const TELLING = LANGUAGES.map(({ meaning }, at) => {
  const others = LANGUAGES.filter((_, other) => other !== at).flatMap((other) =>
    other.meaning.function.split(' '),
  );
  const own = [...meaning.function.split(' '), ...meaning.roles.split(' '), ...meaning.orders];
  return new Set(own.filter((word) => !others.includes(word) && word.length > 1));
});

/** The lexicon of the language that most words are of; `otherwise` where that is none. */
export function findLexicon(texts: readonly string[], otherwise?: () => Lexicon): Lexicon {
  const counts = LEXICONS.map(() => 0);
  for (const text of texts) {
    for (const [word] of matchesIn(text.slice(0, MOST_LOOKED_AT), LETTERS)) {
      const own = fold(word);
      for (const [at, telling] of TELLING.entries())
        if (telling.has(own)) counts[at] = (counts[at] ?? 0) + 1;
    }
  }
  const most = Math.max(...counts);
  const best = LEXICONS.filter((_, at) => counts[at] === most);
  const found = best.length > 1 ? (otherwise?.() ?? best[0]) : best[0];
  if (found === undefined) throw new Error('there is no language');
  return found;
}

/** Characters that tell the language of a text. */
const MOST_LOOKED_AT = 2000;

/** Words of a text where they stand, each as one: phrases stand for theirs. */
export type Token = { readonly word: string; readonly start: number; readonly end: number };

const LETTERS = /\p{L}+/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;

export function tokensIn(text: string, { phrases, words }: Lexicon): readonly Token[] {
  const kept = matchesIn(text, phrases).map(({ 0: own, index, groups = {} }): Token => {
    const word = words.find((_, at) => groups[`p${at}`] !== undefined) ?? own;
    return { word, start: index, end: index + own.length };
  });
  const isKept = spanFinder(kept);
  const tokens = matchesIn(text, WORD)
    .map(({ 0: own, index }) => ({ word: fold(own), start: index, end: index + own.length }))
    .filter(({ start }) => !isKept(start));
  return [...kept, ...tokens].sort((a, b) => a.start - b.start);
}

export type Span = { readonly start: number; readonly end: number };

/** Tells whether one of some spans covers a place. They ascend, and none overlaps another. */
export function spanFinder(spans: readonly Span[]): (place: number) => boolean {
  return (place) => {
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((spans[middle]?.end ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return (spans[low]?.start ?? Number.POSITIVE_INFINITY) <= place;
  };
}

/** Shorter words may differ in a letter and mean something else. */
const LEAST_TYPED = 5;

/** Tells whether one word is the other, mistyped: a letter is missing or twice, two are swapped, or in a long one some are wrong. */
export function isMistyped(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  if (a[0] !== b[0] || a === b) return a === b;
  if (a.length === b.length && isSwapped(a, b)) return true;
  if (shorter < LEAST_TYPED || (shorter === LEAST_TYPED && a.length === b.length)) return false;
  return distance(a, b) <= (shorter > 7 ? 2 : 1);
}

/** Tells whether two letters beside each other changed places. */
function isSwapped(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, place) => letter !== b[place]);
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** Letters to put in, take out or replace (Levenshtein). */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2 || a.length > 40) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
