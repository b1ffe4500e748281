import type { Callout } from '../../core/plan-document.ts';
import { commonEnds } from '../../core/value.ts';
import { sanitiseLine } from '../untrusted.ts';

/** Call-outs in words, which the page, Markdown and the terminal lay out. */
export type CalloutWords = {
  /** The words before the values: `new:`, `instruction removed:`; empty where one value became another. */
  readonly lead: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Both are sentences in quotes, and no values. */
  readonly isSentence: boolean;
};

/** A call-out with the place where it is. */
export type CalloutRow = CalloutWords & { readonly place: string };

/** Characters of a sentence that is read at a glance. */
const MOST_SENTENCE = 120;
/** Words that stay around what changed in a longer one. */
const AROUND = 4;

const LEADS: { readonly [sort in Callout['sort']]?: string } = {
  reversed: 'rule reversed:',
  removed: 'instruction removed:',
  added: 'instruction added:',
  changed: 'instruction changed:',
  moved: 'instruction moved:',
};

/** `24 hours → 48 hours`, `gone: crm_lookup`, `instruction added: "Never give a price."` Sanitised. */
export function calloutRow(callout: Callout): CalloutRow {
  const { heading, line, times, after } = callout;
  const where = [
    ...(heading === null ? [] : [`under ${sanitiseLine(heading)}`]),
    `${after === null ? 'old line' : 'line'} ${line}`,
  ];
  const often = times > 1 ? `${times} times, first ` : '';
  return { ...calloutWords(callout), place: often + where.join(', ') };
}

export function calloutWords({
  sort,
  ...sides
}: Pick<Callout, 'sort' | 'before' | 'after'>): CalloutWords {
  const clean = (text: string | null) => (text === null ? null : sanitiseLine(text));
  const [before, after] = [clean(sides.before), clean(sides.after)];
  const rule = LEADS[sort];
  if (rule !== undefined) {
    const isMoved = sort === 'moved';
    const [old, fresh] = shortSentences(isMoved ? null : before, after);
    return { lead: rule, before: quoted(old), after: quoted(fresh), isSentence: true };
  }
  const isSentence = false;
  const what = sort === 'transfer' ? ' transfer to' : '';
  const [old, fresh] = [cutSentence(before), cutSentence(after)];
  if (before === null) return { lead: `new:${what}`, before: old, after: fresh, isSentence };
  if (after === null) return { lead: `gone:${what}`, before: old, after: fresh, isSentence };
  if (before === after) return { lead: 'moved:', before: null, after: fresh, isSentence };
  return { lead: what.trim(), before: old, after: fresh, isSentence };
}

function quoted(text: string | null): string | null {
  return text === null ? null : `"${text}"`;
}

/** Long sentences cut to what changed in them. */
function shortSentences(
  before: string | null,
  after: string | null,
): readonly [before: string | null, after: string | null] {
  if (before === null || after === null) return [cutSentence(before), cutSentence(after)];
  if (Math.max(before.length, after.length) <= MOST_SENTENCE) return [before, after];
  const [old, fresh] = [before.split(' '), after.split(' ')];
  const [head, tail] = commonEnds(old, fresh);
  const from = head > AROUND + 2 ? head - AROUND : 0;
  const left = tail > AROUND + 2 ? tail - AROUND : 0;
  const shown = (words: readonly string[]) =>
    cutSentence(
      [
        ...(from > 0 ? ['…'] : []),
        ...words.slice(from, words.length - left),
        ...(left > 0 ? ['…'] : []),
      ].join(' '),
    );
  return [shown(old), shown(fresh)];
}

function cutSentence(text: string): string;
function cutSentence(text: string | null): string | null;
function cutSentence(text: string | null): string | null {
  if (text === null || text.length <= MOST_SENTENCE) return text;
  const cut = text.slice(0, MOST_SENTENCE);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MOST_SENTENCE / 2))} …`;
}
