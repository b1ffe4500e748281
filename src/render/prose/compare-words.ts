import { align, type Budget } from './align.ts';
import type { Word } from './words.ts';

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
