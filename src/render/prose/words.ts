import { align, type Budget, gapsBetween } from '../../core/align.ts';

/** The words of a paragraph, and how those of two relate. */

/** A part of a text whose change is called out, and what it is: `number`, `instruction`. */
export type MarkedSpan = { readonly mark: string; readonly start: number; readonly end: number };

/** Finds those parts of a text, in order. */
export type FindMarks = (text: string) => readonly MarkedSpan[];

/** A word, a `{{token}}`, a number or a sign, with the blanks before it. */
export type Word = {
  readonly text: string;
  /** Without the blanks: what is compared. */
  readonly bare: string;
  readonly mark: string | undefined;
};

/** Scripts that leave no blanks between words: each character stands alone. */
export const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';

/** In the order in which they are tried. Every repetition that could be long is bounded, so time is linear. */
const FORMS: readonly (readonly [name: string, pattern: string])[] = [
  ['token', String.raw`\{\{[^{}\n]{0,200}\}\}`],
  ['link', String.raw`https?:\/\/[^\s<>()"'${'`'}]{1,300}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}`],
  ['date', String.raw`(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}-\d{1,2}-\d{4})(?![\d-])`],
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

/** A paragraph of more characters was not written to be read. */
const MOST_MARKED = 20_000;
/** One of more is a single word: it was made of all that differs in texts with too little in common (`diff.ts`). */
export const MOST_READ = 500_000;

/** Words in order; their texts make up the text. `findMarks` finds what each belongs to, which takes a while. */
export function splitWords(text: string, findMarks?: FindMarks): readonly Word[] {
  if (text.length > MOST_READ) return [{ text, bare: text.trimStart(), mark: undefined }];
  const spans = text.length <= MOST_MARKED ? (findMarks?.(text) ?? []) : [];
  let at = 0;
  return Array.from(text.matchAll(WORD), (match): Word => {
    const bare = match[0].trimStart();
    const end = match.index + match[0].length;
    const start = end - bare.length;
    while ((spans[at]?.end ?? Number.POSITIVE_INFINITY) <= start) at += 1;
    const span = spans[at];
    const mark = bare !== '' && span !== undefined && span.start < end ? span.mark : undefined;
    return { text: match[0], bare, mark };
  });
}

/** A word that stayed, as it stood and as it stands: only the blanks before it may differ. */
type Kept = { readonly before: Word; readonly after: Word };

/** A stretch of two paragraphs: words that both have, or words in the place of others. */
export type Stretch =
  | { readonly isSame: true; readonly words: readonly Kept[] }
  | { readonly isSame: false; readonly removed: readonly Word[]; readonly added: readonly Word[] };

/** How the words of two paragraphs relate, blanks aside. Same and changed stretches take turns. */
export function compareWords(
  before: readonly Word[],
  after: readonly Word[],
  budget: Budget,
): readonly Stretch[] {
  const bare = (words: readonly Word[]) => words.map((word) => word.bare);
  const stretches: Stretch[] = [];
  let kept: Kept[] = [];
  const pairs = align(bare(before), bare(after), budget);
  for (const [[a, x], [b, y]] of gapsBetween(pairs, before.length, after.length)) {
    if (a < x || b < y) {
      if (kept.length > 0) stretches.push({ isSame: true, words: kept });
      stretches.push({ isSame: false, removed: before.slice(a, x), added: after.slice(b, y) });
      kept = [];
    }
    const [old, fresh] = [before[x], after[y]];
    if (old !== undefined && fresh !== undefined) kept.push({ before: old, after: fresh });
  }
  if (kept.length > 0) stretches.push({ isSame: true, words: kept });
  return joinCrumbs(stretches);
}

/**
 * A lone sign or a short word between two changes is part of the change: torn apart into single words, a rewritten
 * sentence cannot be read.
 */
function joinCrumbs(stretches: readonly Stretch[]): readonly Stretch[] {
  const joined: Stretch[] = [];
  for (const [at, stretch] of stretches.entries()) {
    const last = joined.at(-1);
    const next = stretches[at + 1];
    const isCrumb =
      stretch.isSame &&
      last?.isSame === false &&
      next?.isSame === false &&
      isSmall(stretch.words, last, next);
    const changed = isCrumb ? torn(stretch.words) : stretch;
    if (last?.isSame === false && !changed.isSame) {
      joined[joined.length - 1] = {
        isSame: false,
        removed: [...last.removed, ...changed.removed],
        added: [...last.added, ...changed.added],
      };
    } else joined.push(changed);
  }
  return joined;
}

type Changed = Stretch & { readonly isSame: false };

function torn(words: readonly Kept[]): Changed {
  return {
    isSame: false,
    removed: words.map(({ before }) => before),
    added: words.map(({ after }) => after),
  };
}

/** As long as an article or a preposition. */
const SHORT = 3;

function isSmall(words: readonly Kept[], above: Changed, below: Changed): boolean {
  const [only, ...others] = words;
  if (only === undefined || others.length > 0 || only.after.bare === '') return false;
  const { bare } = only.after;
  if (hasDigit(bare)) return false;
  // Figures are read one by one: `from 9 to 17`, `9:00 – 17:00`.
  if (!/\p{L}/u.test(bare)) return !(isFigure(above) && isFigure(below));
  const isWordy = (change: Changed) =>
    change.removed.length > 0 && change.added.length > 0 && !isFigure(change);
  return bare.length <= SHORT && isWordy(above) && isWordy(below);
}

function isFigure({ removed, added }: Changed): boolean {
  return [...removed, ...added].every(({ bare }) => hasDigit(bare));
}

function hasDigit(text: string): boolean {
  return /\d/.test(text);
}

/** The same stretches, read in the other direction. */
export function turned(stretches: readonly Stretch[]): readonly Stretch[] {
  return stretches.map((stretch) =>
    stretch.isSame
      ? {
          isSame: true,
          words: stretch.words.map(({ before, after }) => ({ before: after, after: before })),
        }
      : { isSame: false, removed: stretch.added, added: stretch.removed },
  );
}
