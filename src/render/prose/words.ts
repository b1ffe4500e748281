import { align, type Budget } from './align.ts';

/** The words of a paragraph, how those of two relate, and which changes of them are called out. */

/** What a changed word is, where a change of it is called out. */
export type Mark = 'token' | 'tool' | 'phone' | 'number' | 'negation';

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
function isUnit(word: string): boolean {
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

/**
 * Words that turn a rule around, or make one of it. Compared in lower case, so that a word which means something
 * else in another language is at worst called out when it changes.
 */
const NEGATIONS: Readonly<Record<string, readonly string[]>> = {
  English: listed(
    'not no never none nobody nothing nor neither without unless except cannot always must only avoid refuse forbidden prohibited',
  ),
  German: listed(
    'nicht nie niemals kein keine keinen keinem keiner keines nichts niemand ohne ausser außer immer stets nur muss müssen darf dürfen verboten',
  ),
  French: listed(
    'ne pas jamais aucun aucune rien personne sans sauf toujours seulement doit devez interdit',
  ),
  Spanish: listed(
    'nunca jamás tampoco ningún ninguna ninguno nada nadie sin salvo siempre solo sólo debe',
  ),
  Italian: listed(
    'non mai nessun nessuna nessuno niente senza tranne sempre solo soltanto deve vietato',
  ),
  Portuguese: listed('não nunca jamais nenhum nenhuma nada ninguém sem exceto sempre somente deve'),
  Dutch: listed('niet nooit geen niets niemand zonder behalve altijd alleen moet mag verboden'),
};

const ALL: ReadonlySet<string> = new Set(Object.values(NEGATIONS).flat());

/** Verbs that a following `not` belongs to. */
const AUXILIARY: ReadonlySet<string> = new Set(
  listed(
    'do does did must may might can could should would shall will is are was were has have need',
  ),
);

function listed(list: string): readonly string[] {
  return list.split(' ');
}

/** Whether a word, without blanks, says that something is not so, or is always so. */
function isNegation(word: string): boolean {
  const low = word.toLowerCase();
  return ALL.has(low) || /n['’]t$/.test(low);
}

function isAuxiliary(word: string): boolean {
  return AUXILIARY.has(word.toLowerCase());
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
  let [a, b] = [0, 0];
  const pairs = align(bare(before), bare(after), budget);
  for (const [x, y] of [...pairs, [before.length, after.length]] as const) {
    if (a < x || b < y) {
      if (kept.length > 0) stretches.push({ isSame: true, words: kept });
      stretches.push({ isSame: false, removed: before.slice(a, x), added: after.slice(b, y) });
      kept = [];
    }
    const [old, fresh] = [before[x], after[y]];
    if (old !== undefined && fresh !== undefined) kept.push({ before: old, after: fresh });
    [a, b] = [x + 1, y + 1];
  }
  if (kept.length > 0) stretches.push({ isSame: true, words: kept });
  return joinCrumbs(stretches);
}

/**
 * A lone sign or a short word between two changes is part of the change: torn apart into single words, a sentence
 * that was written anew cannot be read.
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
  if (words.some(({ after }) => after.mark !== undefined || after.bare === '')) return false;
  const spoken = words.filter(({ after }) => /[\p{L}\p{N}]/u.test(after.bare));
  if (spoken.length === 0) return words.length === 1;
  if (spoken.length > 1 || words.length > 1) return false;
  const isWordy = ({ removed, added }: Changed) => removed.length > 0 && added.length > 0;
  return (spoken[0]?.after.bare.length ?? 0) <= SHORT && isWordy(above) && isWordy(below);
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

/** A change to be named, and how many lines below the beginning of its paragraph it stands. */
export type Found = {
  readonly mark: Mark;
  readonly before: string | null;
  readonly after: string | null;
  readonly down: number;
};

/** `isJoined`: it begins with the word before the change, as `do not` does where `not` was put in. */
type Phrase = { readonly mark: Mark; readonly text: string; readonly isJoined: boolean };

/** Names that must exist somewhere. Of a whole new or removed paragraph only these are called out. */
export const NAMES: readonly Mark[] = ['token', 'tool', 'phone'];
const MARKS: readonly Mark[] = [...NAMES, 'number', 'negation'];

/** What changed in an edited paragraph that a reviewer must not overlook. */
export function calloutsOf(stretches: readonly Stretch[]): readonly Found[] {
  const found: Found[] = [];
  let down = 0;
  let kept = '';
  for (const [index, stretch] of stretches.entries()) {
    if (stretch.isSame) {
      kept = stretch.words.at(-1)?.after.bare ?? '';
      down += breaksIn(stretch.words.map(({ after }) => after));
      continue;
    }
    const { removed, added } = stretch;
    const next = stretches[index + 1];
    const below = next?.isSame === true ? (next.words[0]?.after.bare ?? '') : '';
    const [old, fresh] = [removed, added].map((words) => phrasesOf(words, kept, below));
    for (const mark of MARKS) {
      const [a, b] = [old, fresh].map((phrases) => phrases?.filter((one) => one.mark === mark));
      for (let at = 0; at < Math.max(a?.length ?? 0, b?.length ?? 0); at += 1) {
        const [was, is] = [a?.[at], b?.[at]];
        const before = was?.text ?? inPlaceOf(is, removed, kept);
        const after = is?.text ?? inPlaceOf(was, added, kept);
        if (!isSame(before, after, mark)) found.push({ mark, before, after, down });
      }
    }
    down += breaksIn(added);
  }
  return found;
}

/** `Do not` at the beginning of a sentence is `do not`. */
function isSame(before: string | null, after: string | null, mark: Mark): boolean {
  return mark === 'negation' ? before?.toLowerCase() === after?.toLowerCase() : before === after;
}

/** What came or went with a whole paragraph. */
export function namesIn(words: readonly Word[], change: 'removed' | 'added'): readonly Found[] {
  return words.flatMap(({ mark, bare }, at): readonly Found[] => {
    if (mark === undefined || !NAMES.includes(mark)) return [];
    const down = breaksIn(words.slice(0, at + 1));
    const [before, after] = change === 'removed' ? [bare, null] : [null, bare];
    return [{ mark, before, after, down }];
  });
}

function breaksIn(words: readonly Word[]): number {
  return words.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
}

/**
 * Marked words. `must not` is one, also where the verb stands before the change, and `two hours`, also where the
 * unit stands below it.
 */
function phrasesOf(words: readonly Word[], kept: string, below: string): readonly Phrase[] {
  const phrases: Phrase[] = [];
  for (const [at, { bare, mark }] of words.entries()) {
    if (mark === undefined) continue;
    const verb = words[at - 1]?.bare ?? (at === 0 ? kept : '');
    const isPair = bare.toLowerCase() === 'not' && isAuxiliary(verb);
    // `must` says something by itself, and is part of the pair.
    if (isPair && phrases.at(-1)?.text === verb) phrases.pop();
    const next = words[at + 1]?.bare ?? below;
    const counted = mark === 'number' && isUnit(next) ? `${bare} ${next}` : bare;
    phrases.push({
      mark,
      text: isPair ? `${verb} ${bare}` : counted,
      isJoined: isPair && at === 0,
    });
  }
  return phrases;
}

/** Words that are few enough to be what a negation stands in the place of. */
const FEW = 3;

/** What stands on the other side, where a negation came or went. */
function inPlaceOf(
  phrase: Phrase | undefined,
  others: readonly Word[],
  kept: string,
): string | null {
  if (phrase?.mark !== 'negation') return null;
  if (others.length === 0) return phrase.isJoined ? kept : null;
  return others.length <= FEW ? others.map(({ bare }) => bare).join(' ') : null;
}
