import { align, type Budget, type Pair } from './align.ts';
import { likeness, type Subject } from './likeness.ts';
import { pairAlike } from './pair-alike.ts';

/** Which paragraphs are the same ones, edited or not. */
export type Matches = {
  /** Both indexes ascend. */
  readonly inOrder: readonly Pair[];
  readonly moved: readonly Pair[];
};

/** A paragraph with fewer words is repeated by chance, not moved. */
const LEAST_MOVED = 3;
/** The same for one that was edited on its way. */
const LEAST_MOVED_EDITED = 8;
/** How alike it must have stayed. */
const ALIKE_MOVED = 0.6;
/** Comparisons of what is left over with what is left over. */
const MOST_COMPARED = 100_000;

/**
 * Finds the paragraphs that stayed, then those that stand elsewhere as they were, then those that were edited
 * where they are, then those that were edited and moved.
 */
export function matchParagraphs(
  before: readonly Subject[],
  after: readonly Subject[],
  budget: Budget,
): Matches {
  const keysOf = (subjects: readonly Subject[]) => subjects.map(({ key }) => key);
  const taken: Taken = { before: new Set(), after: new Set() };
  const stayed = align(keysOf(before), keysOf(after), budget);
  // Where hardly a paragraph stayed as it was, the steps below find the edited ones all the same.
  budget.isSpent = false;
  take(taken, stayed);
  const movedWhole = sameElsewhere(before, after, taken);
  take(taken, movedWhole);
  const edited = stretchesBetween(stayed, before.length, after.length).flatMap(([old, fresh]) => {
    const [a, b] = [free(old, taken.before), free(fresh, taken.after)];
    const pairs = pairAlike(pick(before, a), pick(after, b), budget);
    return pairs.map(([x, y]): Pair => [a[x] ?? -1, b[y] ?? -1]);
  });
  take(taken, edited);
  return {
    inOrder: [...stayed, ...edited].sort(([x], [y]) => x - y),
    moved: [...movedWhole, ...alikeElsewhere(before, after, taken, budget)],
  };
}

/** Indexes that have found their partner. */
type Taken = { readonly before: Set<number>; readonly after: Set<number> };
/** A stretch of indexes: the first, and the one behind the last. */
type Range = readonly [from: number, to: number];

function take({ before, after }: Taken, pairs: readonly Pair[]): void {
  for (const [a, b] of pairs) {
    before.add(a);
    after.add(b);
  }
}

function free([from, to]: Range, taken: ReadonlySet<number>): readonly number[] {
  return Array.from({ length: to - from }, (_, at) => from + at).filter((at) => !taken.has(at));
}

function pick(subjects: readonly Subject[], indexes: readonly number[]): readonly Subject[] {
  return indexes.flatMap((index) => subjects[index] ?? []);
}

/** What stands on both sides between two neighbouring pairs. */
function stretchesBetween(
  pairs: readonly Pair[],
  before: number,
  after: number,
): readonly (readonly [Range, Range])[] {
  const ends: readonly Pair[] = [...pairs, [before, after]];
  let [a, b] = [0, 0];
  return ends.flatMap(([x, y]) => {
    const stretch = [[a, x] as const, [b, y] as const] as const;
    const isEmpty = a === x || b === y;
    [a, b] = [x + 1, y + 1];
    return isEmpty ? [] : [stretch];
  });
}

function sameElsewhere(
  before: readonly Subject[],
  after: readonly Subject[],
  taken: Taken,
): readonly Pair[] {
  const waiting = Map.groupBy(free([0, after.length], taken.after), (at) => after[at]?.key ?? '');
  return free([0, before.length], taken.before).flatMap((at): readonly Pair[] => {
    const subject = before[at];
    if (subject === undefined || !isOwn(subject)) return [];
    const found = waiting.get(subject.key)?.shift();
    return found === undefined ? [] : [[at, found]];
  });
}

/** Whether a paragraph is known again wherever it stands: a heading is, however short. */
function isOwn({ words, paragraph }: Subject): boolean {
  return words().length >= (paragraph.title === undefined ? LEAST_MOVED : 1);
}

function alikeElsewhere(
  before: readonly Subject[],
  after: readonly Subject[],
  taken: Taken,
  budget: Budget,
): readonly Pair[] {
  const isLong = (subjects: readonly Subject[]) => (at: number) =>
    (subjects[at]?.words().length ?? 0) >= LEAST_MOVED_EDITED;
  const old = free([0, before.length], taken.before).filter(isLong(before));
  const fresh = free([0, after.length], taken.after).filter(isLong(after));
  if (old.length * fresh.length > MOST_COMPARED) {
    budget.isSpent = true;
    return [];
  }
  const found = old.flatMap((a) =>
    fresh.flatMap((b) => {
      const [x, y] = [before[a], after[b]];
      const alike = x && y && budget.steps > 0 ? likeness(x, y, budget) : 0;
      return alike < ALIKE_MOVED ? [] : [{ a, b, alike }];
    }),
  );
  const used: Taken = { before: new Set(), after: new Set() };
  return found
    .sort((x, y) => y.alike - x.alike || x.a - y.a || x.b - y.b)
    .flatMap(({ a, b }): readonly Pair[] => {
      if (used.before.has(a) || used.after.has(b)) return [];
      take(used, [[a, b]]);
      return [[a, b]];
    });
}
