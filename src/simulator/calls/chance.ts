/** Draws that depend on their seed alone. */
export type Chance = {
  /** From 0 up to 1. */
  readonly next: () => number;
  readonly isLikely: (probability: number) => boolean;
  /** A whole number, both ends included. */
  readonly between: (least: number, most: number) => number;
  /** A member of a list that is not empty. */
  readonly pick: <T>(list: readonly T[]) => T;
};

/** Draws for a whole number; another stream of the same number draws independently (mulberry32). */
export function chanceOf(seed: number, stream = 0): Chance {
  let state = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    isLikely: (probability) => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: <T>(list: readonly T[]): T => {
      const picked = list[Math.floor(next() * list.length)];
      if (picked === undefined) throw new Error('there is nothing to pick from');
      return picked;
    },
  };
}

/** Draws indexes of a list of weights, each as often as its weight says. */
export function weightedIndex(weights: readonly number[]): (chance: Chance) => number {
  let total = 0;
  const sums = weights.map((weight) => {
    total += weight;
    return total;
  });
  return ({ next }) => {
    const wanted = next() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? total) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
