import { diffArrays } from 'diff';
import { commonEnds } from './value.ts';

/** Indexes of what is the same in two sequences, both ascending. */
export type Pair = readonly [number, number];

/** A stretch of indexes: the first, and the one behind the last. */
export type Range = readonly [from: number, to: number];

/** Returns the gaps before each pair and behind the last, on both sides; often empty. A gap ends at its pair. */
export function gapsBetween(
  pairs: readonly Pair[],
  before: number,
  after: number,
): readonly (readonly [before: Range, after: Range])[] {
  const ends: readonly Pair[] = [...pairs, [before, after]];
  return ends.map(([x, y], at) => {
    const [a, b] = pairs[at - 1] ?? [-1, -1];
    return [
      [a + 1, x],
      [b + 1, y],
    ];
  });
}

/**
 * Steps that one comparison may still take. The search for the fewest edits takes as many steps as their number
 * squared, so a limit of edits follows from it; it is spent by what was used, whether anything came of it or not.
 */
export type Budget = { steps: number; isSpent: boolean };

/** Some seconds of an old machine; a prompt of ten thousand words with every second one changed stays below. */
export function newBudget(): Budget {
  return { steps: 6_000_000, isSpent: false };
}

/** More edits than this explain nothing to anybody. */
const MOST_EDITS = 1500;
/** Edits times words of one comparison: with every edit, a text that repeats itself may be run through again. */
const MOST_WORK = 60_000_000;

/**
 * Aligns two sequences by the fewest insertions and deletions. Where too much differs, only their common begin and
 * end are aligned.
 */
export function align(
  before: readonly string[],
  after: readonly string[],
  budget: Budget,
): readonly Pair[] {
  const [head, tail] = commonEnds(before, after);
  const pairs: Pair[] = Array.from({ length: head }, (_, at) => [at, at]);
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  for (const [a, b] of search(old, fresh, budget)) pairs.push([head + a, head + b]);
  for (let at = tail; at > 0; at -= 1) pairs.push([before.length - at, after.length - at]);
  return pairs;
}

function search(
  before: readonly string[],
  after: readonly string[],
  budget: Budget,
): readonly Pair[] {
  if (before.length === 0 || after.length === 0) return [];
  const maxEditLength = Math.min(
    MOST_EDITS,
    before.length + after.length,
    Math.floor(MOST_WORK / (before.length + after.length)),
    Math.floor(Math.sqrt(Math.max(0, budget.steps))),
  );
  // Numbers, so that long texts are not compared again and again.
  const ids = new Map<string, number>();
  const numberTexts = (texts: readonly string[]) =>
    texts.map((text) => {
      const id = ids.get(text) ?? ids.size;
      ids.set(text, id);
      return id;
    });
  const changes = diffArrays(numberTexts(before), numberTexts(after), { maxEditLength });
  if (changes === undefined) {
    budget.steps -= maxEditLength ** 2;
    budget.isSpent = true;
    return [];
  }
  const pairs: Pair[] = [];
  let [a, b, edits] = [0, 0, 0];
  for (const { added, removed, count } of changes) {
    if (added) b += count;
    else if (removed) a += count;
    else for (let step = 0; step < count; step += 1) pairs.push([a++, b++]);
    edits += added || removed ? count : 0;
  }
  budget.steps -= edits ** 2;
  return pairs;
}
