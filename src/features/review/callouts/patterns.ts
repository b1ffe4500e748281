import { english } from './english.ts';
import type { Language } from './language.ts';
import { spanish } from './spanish.ts';

/** How the tables of languages become patterns. */

export const LANGUAGES: readonly Language[] = [english, spanish];

/** The places where no longer word may begin or end. */
export const START = String.raw`(?<![\p{L}\p{N}_])`;
export const END = String.raw`(?![\p{L}\p{N}_])`;

/** A pattern of the tables as the source of one of JavaScript: see `Language`. */
export function source(pattern: string): string {
  return pattern
    .replaceAll(' ', String.raw`\s{1,9}`)
    .replace(/[áéíóúü]/g, (letter) => `[${fold(letter)}${letter}]`);
}

export function compile(pattern: string, flags = 'giu'): RegExp {
  return new RegExp(source(pattern), flags);
}

/** One of the words of a list. */
export function matchAny(list: string): string {
  return `(?:${list.split(' ').join('|')})`;
}

export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/[ |]/));
}

/** Joins the values of one member from all languages. */
export function inAny(member: (language: Language) => string): string {
  return `(?:${LANGUAGES.map(member)
    .filter((pattern) => pattern !== '')
    .join('|')})`;
}

/** The table of a member, of all languages. */
export function gather<T>(
  member: (language: Language) => { readonly [key: string]: T },
): readonly (readonly [key: string, value: T])[] {
  return LANGUAGES.flatMap((language) => Object.entries(member(language)));
}

/** Whole words, wherever they stand. */
export function words(pattern: string): string {
  return `${START}(?:${pattern})${END}`;
}

/** A word with the slips of fingers that make no other word of it: a letter is missing or twice, or two are swapped. */
export function mistyped(word: string): string {
  const slips = [...word].flatMap((letter, at) => {
    const [head, tail] = [word.slice(0, at), word.slice(at + 1)];
    const swapped = head + tail.slice(0, 1) + letter + tail.slice(1);
    return at === 0 ? [swapped] : [head + tail, swapped, head + letter + letter + tail];
  });
  return [...new Set([word, ...slips])].join('|');
}

const ASCII = /^[ -~]*$/;

/** Without accents, and in lower case. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Gives the matches of a pattern with the flag `g`. `matchAll` would copy the pattern for each text, which takes longer than to search it. */
export function matchesIn(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found.push(match);
    if (match[0] === '') pattern.lastIndex += 1;
  }
  return found;
}

/** Gives the match of a sticky pattern right at a place; empty where there is none. */
export function readAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
