import { formatCount, formatList, formatNumber } from '../core/errors.ts';
import { escapeOne, formatCodePoint } from './untrusted.ts';

/** White space as signs, and what differs of it as words. */

/** The names that white space has in a sentence. */
const NAMES: { readonly [blank: string]: string } = {
  ' ': 'space',
  '\t': 'tab',
  '\n': 'line break',
  '\r\n': 'CR LF line break',
  '\r': 'carriage return',
  '\v': 'vertical tab',
  '\f': 'form feed',
  '\u00a0': 'no-break space',
  '\u2002': 'en space',
  '\u2003': 'em space',
  '\u2007': 'figure space',
  '\u2009': 'thin space',
  '\u200a': 'hair space',
  '\u202f': 'narrow no-break space',
  '\u3000': 'ideographic space',
  '\ufeff': 'byte order mark',
};

/** Blanks with a sign of their own. All others look like one of them, or like nothing. */
const SIGNS: { readonly [blank: string]: string } = { ' ': '␣', '\t': '⇥', '\n': '⏎' };

/** White space as signs, or as escapes where there is no sign for it. */
export function showBlanks(text: string): string {
  return text.replace(/\s/g, (blank) => SIGNS[blank] ?? escapeOne(blank));
}

/** White space that is not one space between two words. */
const ODD = /^ +| +$| {2,}|[^\S \n\t]/g;

/** White space that a reader does not expect, as `showBlanks` has it. */
export function showOddBlanks(text: string): string {
  return text.replace(ODD, showBlanks);
}

/** The white space of a text that a reader does not expect. */
export function oddBlanksIn(text: string): readonly string[] {
  return text.match(ODD) ?? [];
}

/** White space within words that came or went which looks like a space, or like less of it. */
const ODD_WITHIN = /(?<=\S) {2,}(?=\S)|[^\S \n\t\u3000]/g;

/** Words that came or went, with the white space between them as signs where it is not a space. */
export function showOddWithin(words: string): string {
  return words.replace(ODD_WITHIN, showBlanks);
}

/** White space between two words, in place of other white space. */
export type BlankChange = {
  readonly gone: readonly string[];
  readonly fresh: readonly string[];
  readonly place: 'start' | 'end' | 'line start' | 'line end' | 'within';
  /** The line in the new text, from 1; null in a text of one line. */
  readonly line: number | null;
};

function blanksIn(gap: string): readonly string[] {
  return gap.match(/\r\n|\s/g) ?? [];
}

/** Compares the white space between two words. `end`: the end of the text that it stands at. */
export function blankChange(
  before: string,
  after: string,
  end: 'start' | 'end' | undefined,
): Omit<BlankChange, 'line'> {
  const [was, is] = [blanksIn(before), blanksIn(after)];
  let head = 0;
  while (head < was.length && head < is.length && was[head] === is[head]) head += 1;
  let tail = 0;
  const most = Math.min(was.length, is.length) - head;
  while (tail < most && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  const gone = was.slice(head, was.length - tail);
  const fresh = is.slice(head, is.length - tail);
  const breaks = (blanks: readonly string[]) => blanks.some((one) => one.endsWith('\n'));
  const isInLine = !breaks(gone) && !breaks(fresh);
  // One sort of line break for another: the same in all places.
  if (breaks(gone) && breaks(fresh) && gone.length === fresh.length)
    return { gone, fresh, place: 'within' };
  const place =
    isInLine && breaks(is.slice(is.length - tail))
      ? 'line end'
      : isInLine && breaks(is.slice(0, head))
        ? 'line start'
        : (end ?? 'within');
  return { gone, fresh, place };
}

/** That which looks like other white space, and what stands at the end of a line. */
const RARE = /\r\n|[^\S \n\t\u3000]|(?<![ \t])[ \t]+(?=\r?\n|$)/g;

/** White space that looks like other white space or like nothing, by its sort; that at the end of a line with it. */
export function rareBlanksIn(text: string): readonly string[] {
  return (text.match(RARE) ?? []).flatMap((blanks) =>
    /^[ \t]/.test(blanks) ? Array.from(blanks, (blank) => `${blank}\n`) : blanks,
  );
}

/** So much more or less of one sort of rare white space, wherever it stands. */
export function rareChange(sort: string, count: number, isGone: boolean): BlankChange {
  const isAtEnd = /^[ \t]\n$/.test(sort);
  const blanks = Array.from({ length: count }, () => (isAtEnd ? sort.slice(0, 1) : sort));
  const [gone, fresh] = isGone ? [blanks, []] : [[], blanks];
  return { gone, fresh, place: isAtEnd ? 'line end' : 'within', line: null };
}

/** `3 line breaks added at the end`, `12 spaces became no-break spaces` */
export function blankPhrase({ gone, fresh, place, line }: BlankChange, count: number): string {
  const isOneSort = [gone, fresh].every((blanks) => new Set(blanks).size <= 1);
  const times = isOneSort && (gone.length === fresh.length || gone.length * fresh.length === 0);
  const of = (blanks: readonly string[]) => amount(blanks, times ? count : 1);
  const isPlural = times && fresh.length * count > 1;
  const what =
    gone.length === 0
      ? `${of(fresh)} added`
      : fresh.length === 0
        ? `${of(gone)} removed`
        : `${of(gone)} became ${isPlural ? `${getBlankName(fresh[0] ?? '')}s` : of(fresh)}`;
  const places = times || count === 1 ? '' : ` in ${formatNumber(count)} places`;
  return `${what}${where(place, line, count)}${place === 'within' ? places : ''}`;
}

function where(place: BlankChange['place'], line: number | null, count: number): string {
  switch (place) {
    case 'start':
      return ' at the start';
    case 'end':
      return ' at the end';
    case 'line start':
    case 'line end': {
      const side = place === 'line end' ? 'end' : 'start';
      if (count > 1) return ` at the ${side} of ${formatNumber(count)} lines`;
      return line === null ? ` at the ${side} of lines` : ` at the ${side} of line ${line}`;
    }
    case 'within':
      return count === 1 && line !== null ? ` in line ${formatNumber(line)}` : '';
  }
}

/** Tells whether a character is white space that has a name. */
export function isNamedBlank(character: string): boolean {
  return NAMES[character] !== undefined;
}

function getBlankName(blank: string): string {
  return NAMES[blank] ?? formatCodePoint(blank);
}

/** `3 line breaks`, `a space and a tab` */
export function amount(blanks: readonly string[], times = 1): string {
  const runs: { readonly blank: string; count: number }[] = [];
  for (const blank of blanks) {
    const last = runs.at(-1);
    if (last?.blank === blank) last.count += 1;
    else runs.push({ blank, count: 1 });
  }
  return formatList(
    runs.map(({ blank, count }) => {
      const name = getBlankName(blank);
      const all = count * times;
      if (all > 1) return formatCount(all, name);
      return `${/^[aei]/.test(name) ? 'an' : 'a'} ${name}`;
    }),
  );
}
