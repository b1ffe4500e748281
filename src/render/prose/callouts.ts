import type { Stretch } from './compare-words.ts';
import { isAuxiliary } from './negations.ts';
import type { Mark } from './prose-diff.ts';
import { isUnit, type Word } from './words.ts';

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
