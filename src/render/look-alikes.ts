import confusables from 'unhomoglyph/data.json' with { type: 'json' };
import { cutText } from './terminal.ts';
import { formatCodePoint, sanitiseLine } from './untrusted.ts';
import { amount, isNamedBlank } from './white-space.ts';

/** Characters that look like others: the form that such texts share, and how they differ, in words. */

/** Tells whether a text is all of ASCII. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

const ASCII = /^[\0-\x7f]*$/;

/** Characters that are shown as signs or escapes look like nothing else. */
const SHOWN = /[\s\p{C}\p{Default_Ignorable_Code_Point}]/u;

const prototypes = new Map<string, string>();

/** Reads Unicode's `confusables.txt`, as the package has it: each character, and the one that it looks like. */
function readPrototypes(): ReadonlyMap<string, string> {
  if (prototypes.size > 0) return prototypes;
  for (const [character, target] of Object.entries<string>(confusables))
    if (!SHOWN.test(character)) prototypes.set(character, target.normalize('NFD'));
  return prototypes;
}

const PASSING = /[01I|%`"m]|[^\0-\x7f]/gu;

/**
 * The form that texts share which look alike (Unicode TR 39, with compatibility decomposition). It is for comparing,
 * not for reading.
 */
export function computeSkeleton(text: string): string {
  const replaced = (one: string) => one.replace(PASSING, (own) => readPrototypes().get(own) ?? own);
  if (ASCII.test(text)) return replaced(text);
  const form = replaced(replaced(text.normalize('NFD')).normalize('NFKD')).normalize('NFD');
  // A font has one box for all characters that it does not know.
  return form.replace(/[\ufe0e\ufe0f\u200d]/g, '').replace(/[\p{Co}\p{Cn}]/gu, '\ufffd');
}

/** Gives the form in which a reader sees a text: escapes, signs for white space and look-alikes read the same. */
export function visibleForm(text: string): string {
  const shown = sanitiseLine(text.replace(/\s+/g, ' ')).replace(/\\[nrt]|[␣⇥⏎]/g, ' ');
  return computeSkeleton(shown).replace(/\s+/g, ' ').trim();
}

/** How two texts differ that look alike, each sort of difference once. */
export function differences(old: string, now: string): readonly string[] {
  const [was, is] = differingCharacters(old, now);
  const [before, after] = [was.join(''), is.join('')];
  if (before.normalize() === after.normalize()) return [composition(before, after)];
  if (was.length !== is.length) return [describeReplacement(before, after)];
  const pairs = is.flatMap((one, at) => {
    const other = was[at] ?? '';
    return one === other ? [] : describeReplacement(other, one);
  });
  return [...new Set(pairs)];
}

/** Characters without those that both begin and end with; a letter stays with its marks. */
function differingCharacters(old: string, now: string): readonly [string[], string[]] {
  const [was, is] = [Array.from(old), Array.from(now)];
  const isMark = (one: string | undefined) => one !== undefined && /\p{M}/u.test(one);
  let head = 0;
  while (head < was.length && was[head] === is[head]) head += 1;
  while (head > 0 && (isMark(was[head]) || isMark(is[head]))) head -= 1;
  let tail = 0;
  const most = Math.min(was.length, is.length) - head;
  while (tail < most && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  while (tail > 0 && isMark(was.at(-tail))) tail -= 1;
  return [was.slice(head, was.length - tail), is.slice(head, is.length - tail)];
}

function describeReplacement(before: string, after: string): string {
  if (before === '') return `${describeCharacters(after)} added`;
  if (after === '') return `${describeCharacters(before)} removed`;
  return `${describeCharacters(after)} instead of ${describeCharacters(before)}`;
}

/** The same letters, put together in another way. The first that differs is the example. */
function composition(before: string, after: string): string {
  const [was, is] = [lettersIn(before), lettersIn(after)];
  const at = is.findIndex((letter, index) => letter !== was[index]);
  const [old = before, now = after] = [was[at], is[at]];
  const form = (text: string) =>
    text === text.normalize('NFC')
      ? 'composed'
      : text === text.normalize('NFD')
        ? 'decomposed'
        : undefined;
  const [from, to] = [form(old), form(now)];
  if (from === undefined || to === undefined || from === to) return describeReplacement(old, now);
  return `${to} (${formatCodePoints(now)}), was ${from} (${formatCodePoints(old)})`;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Letters with their marks. */
function lettersIn(text: string): readonly string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** `e U+0301` */
function formatCodePoints(text: string): string {
  return Array.from(text, (one) => (ASCII.test(one) ? one : formatCodePoint(one))).join(' ');
}

/** ASCII characters that are mistaken for each other. */
const SPELT: { readonly [character: string]: string } = {
  '0': 'zero',
  O: 'capital o',
  '1': 'one',
  I: 'capital i',
  l: 'small L',
  '|': 'bar',
};

/** More characters are not named one by one. */
const MOST_LABELS = 4;

/** `U+0430 (Cyrillic)`, `"rn"`, `a line break` */
export function describeCharacters(text: string): string {
  const parts = text.match(/[!-~]+|\r\n|[\s\S]/gu) ?? [];
  const labels = parts.slice(0, MOST_LABELS).map(describePart);
  return [...labels, ...(parts.length > MOST_LABELS ? ['…'] : [])].join(' ');
}

function describePart(part: string): string {
  if (isNamedBlank(part)) return amount([part]);
  if (/^[!-~]+$/.test(part)) {
    const spelt = SPELT[part];
    return `${quote(part)}${spelt === undefined ? '' : ` (${spelt})`}`;
  }
  const script = findScript(part);
  if (script !== undefined) return `${formatCodePoint(part)} (${script})`;
  const own = sanitiseLine(part);
  const isShown = own === part && !/[\p{M}\p{Co}\p{Cn}\s]/u.test(part);
  return isShown ? `${formatCodePoint(part)} (${part})` : formatCodePoint(part);
}

/** A text in quotes, or the beginning of a long one. */
export function quote(text: string): string {
  return `"${shorten(text)}"`;
}

/** Columns of a text that is named. */
const LONGEST = 40;

export function shorten(text: string): string {
  return cutText(sanitiseLine(text), LONGEST);
}

/** The scripts whose letters are named; all others are "another script". */
const SCRIPTS =
  'Latin Cyrillic Greek Armenian Hebrew Arabic Georgian Han Hiragana Katakana Hangul Bopomofo Thai Lao Khmer Myanmar Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Tibetan Ethiopic Mongolian Syriac Thaana Nko Cherokee Coptic Lisu Tifinagh Vai Canadian_Aboriginal'.split(
    ' ',
  );
const NO_SCRIPT = /[\p{Script=Common}\p{Script=Inherited}\p{Script=Unknown}]/u;
const scriptTests = new Map<string, RegExp>();

/** Tells whether a text has a letter of a script. */
export function isIn(script: string, text: string): boolean {
  const known = scriptTests.get(script) ?? new RegExp(`\\p{Script=${script}}`, 'u');
  scriptTests.set(script, known);
  return known.test(text);
}

/** The script of a letter; undefined for signs, digits and marks, which belong to all. */
export function findScript(character: string): string | undefined {
  if (NO_SCRIPT.test(character)) return undefined;
  const script = SCRIPTS.find((name) => isIn(name, character));
  return script?.replace('_', ' ') ?? 'another script';
}
