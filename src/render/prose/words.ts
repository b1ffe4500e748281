import { isNegation } from './negations.ts';
import type { Mark } from './prose-diff.ts';

/** A word, a `{{token}}`, a number or a sign, with the blanks before it. */
export type Word = {
  readonly text: string;
  /** Without the blanks: what is compared. */
  readonly bare: string;
  readonly mark: Mark | undefined;
};

/** Scripts that leave no blanks between words: each character stands alone. */
export const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';

/** In the order in which they are tried. Every repetition that could be long is bounded, so time is linear. */
const FORMS: readonly (readonly [name: string, pattern: string])[] = [
  ['token', String.raw`\{\{[^{}\n]{0,200}\}\}`],
  ['link', String.raw`https?:\/\/[^\s<>()"'${'`'}]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}`],
  [
    'phone',
    String.raw`\+\d[\d ()./-]{5,20}\d|\(\d{2,4}\) ?\d{3,4}[ .-]\d{3,4}|(?:\d{3}[ .-])?\d{3}[.-]\d{4}(?![\d-])|0\d{1,4}(?: |\/)\d[\d ]{3,14}\d(?!\d)`,
  ],
  ['number', String.raw`[$€£¥]?\d{1,40}(?:[.,:/]\d{1,20}){0,9}%?(?![\p{L}\p{N}_])`],
  [
    'tool',
    String.raw`${'`'}[\w.-]{2,80}${'`'}|\b[a-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,9}\b|\b[a-z]{2,40}(?:[A-Z][a-z0-9]{1,40}){1,9}\b`,
  ],
  [
    'picture',
    String.raw`\p{Regional_Indicator}{2}|\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f|\u200d\p{Extended_Pictographic}){0,12}`,
  ],
  ['unspaced', `[${UNSPACED}]\\p{M}{0,20}`],
  [
    'word',
    String.raw`(?:(?![${UNSPACED}])[\p{L}\p{M}\p{N}_]){1,2000}(?:['’][\p{L}\p{M}]{1,200}){0,20}`,
  ],
  ['sign', String.raw`\S\p{M}{0,20}`],
];

const WORD = new RegExp(
  `\\s*(?:${FORMS.map(([name, pattern]) => `(?<${name}>${pattern})`).join('|')})|\\s+$`,
  'gsu',
);

/** Numbers that are written out. `one` is left out: it hardly ever counts anything. */
const NUMERALS: ReadonlySet<string> = new Set(
  'zero two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety hundred thousand once twice thrice'.split(
    ' ',
  ),
);

/** What is counted or measured on the phone: a number says little without it. */
const UNIT =
  /^(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|times?|attempts?|calls?|visits?|people|persons?|words?|sentences?|dollars?|euros?|pounds?|francs?|cents?|percent|am|pm)$/i;

/** Whether a word is what a number before it counts. */
export function isUnit(word: string): boolean {
  return UNIT.test(word);
}

/** The number of a list's item says which it is, and counts nothing. */
const ITEM = /^\s*\d{1,9}(?=[.)]\s)/;

/** Words in order; their texts make up the text. `tools`: names that are tools though they do not look it. */
export function wordsOf(text: string, tools: ReadonlySet<string>): readonly Word[] {
  const isItem = ITEM.test(text);
  return Array.from(text.matchAll(WORD), (match, at): Word => {
    const bare = match[0].trimStart();
    const mark = isItem && at === 0 ? undefined : markOf(bare, match.groups ?? {}, tools);
    return { text: match[0], bare, mark };
  });
}

/** Whether two texts consist of the same words, and differ only in the blanks between them. */
export function onlyBlanksDiffer(before: string, after: string): boolean {
  if (before === after || before.replace(/\s+/g, '') !== after.replace(/\s+/g, '')) return false;
  const bare = (text: string) => wordsOf(text, new Set()).flatMap(({ bare: word }) => word || []);
  const [old, fresh] = [bare(before), bare(after)];
  return old.length === fresh.length && old.every((word, at) => word === fresh[at]);
}

function markOf(
  bare: string,
  { token, phone, number, tool, word }: Readonly<Record<string, string | undefined>>,
  tools: ReadonlySet<string>,
): Mark | undefined {
  if (token !== undefined) return 'token';
  if (phone !== undefined) return 'phone';
  if (number !== undefined) return 'number';
  if (tool !== undefined || tools.has(bare)) return 'tool';
  if (word === undefined) return undefined;
  if (/^\p{Nd}/u.test(word) || NUMERALS.has(word.toLowerCase())) return 'number';
  return isNegation(word) ? 'negation' : undefined;
}
