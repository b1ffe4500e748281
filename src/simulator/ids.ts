import { hash } from 'node:crypto';

/** Identifiers are counted, not drawn, so that the same calls give the same ones. */
export type Ids = {
  /** A UUID of version 4 in form. */
  readonly uuid: (kind: string) => string;
  /** Hex digits that cannot be guessed by accident, such as a token. */
  readonly token: (kind: string) => string;
  /** Whole numbers from 1, as history entries have them. */
  readonly number: () => number;
};

/** Starts a count of its own; another `salt` gives other identifiers. */
export function countIds(salt = ''): Ids {
  let count = 0;
  let numbers = 0;
  const next = (kind: string) => {
    count += 1;
    return hash('sha256', `${salt}${kind}:${count}`);
  };
  return {
    uuid: (kind) => shapeUuid(next(kind)),
    token: next,
    number: () => {
      numbers += 1;
      return numbers;
    },
  };
}

/** A UUID that depends on a text alone. */
export function makeUuid(text: string): string {
  return shapeUuid(hash('sha256', text));
}

function shapeUuid(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The platform's time: that of another clock, moved on as far as anybody asked. */
type Clock = {
  readonly now: () => Date;
  /** Moves it on by milliseconds. */
  readonly advance: (milliseconds: number) => void;
  /** The time of a change: later than that of every change before it, so that `updated_at` tells them apart. */
  readonly stamp: () => string;
};

export function createClock(source: () => Date): Clock {
  let ahead = 0;
  let last = 0;
  const now = () => new Date(source().getTime() + ahead);
  return {
    now,
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
    stamp: () => {
      // A clock that stands still is pushed on by a millisecond.
      last = Math.max(now().getTime(), last + 1);
      return new Date(last).toISOString();
    },
  };
}

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
export function seedChance(seed: number, stream = 0): Chance {
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
export function weightedIndex(
  weights: readonly number[],
): (chance: Pick<Chance, 'next'>) => number {
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
