import { createHash } from 'node:crypto';
import { CallsheetError } from '../../core/errors.ts';

/** The part of a tree that one job of a pipeline works on: the `index`th of `count`, counted from 1. */
export type Shard = { readonly index: number; readonly count: number };

/** A stack as the split sees it. */
export type Weighed = {
  readonly path: string;
  /** How much work it is, in any unit; see `weigh.ts`. */
  readonly weight: number;
};

/** More jobs than any pipeline's matrix has. A larger number is a slip of the finger. */
export const MAX_SHARDS = 1024;

/** `--shard 2/4`. Throws `CallsheetError('usage')` for anything else. */
export function parseShard(text: string): Shard {
  const [, first = '', second = ''] = /^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  if (second === '') {
    throw wrong(text, 'is not of the form I/N', 'The second of four jobs is --shard 2/4.');
  }
  const [index, count] = [Number(first), Number(second)];
  if (count < 1 || count > MAX_SHARDS) {
    throw wrong(text, 'splits into no such number of parts', `N is 1 to ${MAX_SHARDS}.`);
  }
  if (index < 1 || index > count) {
    throw wrong(
      text,
      `names part ${index} of ${count}`,
      `Parts are counted from 1: 1/${count} to ${count}/${count}.`,
    );
  }
  return { index, count };
}

function wrong(text: string, why: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `--shard ${text} ${why}`, { hint });
}

/** The stacks of one part, in the order in which they were given. */
export function takeShard<T extends Weighed>(stacks: readonly T[], shard: Shard): readonly T[] {
  const shards = assignShards(stacks, shard.count);
  return stacks.filter(({ path }) => shards.get(path) === shard.index);
}

/**
 * Gives each stack the number of its part, by path. Every part is a function of the paths and weights alone, in
 * whatever order they come, so that jobs on different machines agree without a word between them.
 *
 * The heaviest first, each goes to the part that has the least so far (LPT), which keeps parts even. Weights are
 * rounded before: so a stack that changes a little stays where it is, and so do all others. Among equals the order is
 * that of hashes, so that neighbours in the tree, which often are alike, do not all land together.
 */
export function assignShards(
  stacks: readonly Weighed[],
  count: number,
): ReadonlyMap<string, number> {
  const sorted = stacks
    .map(({ path, weight }) => ({ path, weight: roundWeight(weight), hash: hashOf(path) }))
    .sort((a, b) => b.weight - a.weight || compare(a.hash, b.hash) || compare(a.path, b.path));
  const loads = Array.from({ length: count }, () => 0);
  const shards = new Map<string, number>();
  for (const { path, weight } of sorted) {
    const least = leastOf(loads);
    loads[least] = (loads[least] ?? 0) + weight;
    shards.set(path, least + 1);
  }
  return shards;
}

/**
 * A weight to its first three binary digits: 4, 5, 6 or 7 times a power of two. Whole numbers and powers of two alone,
 * which every machine computes alike.
 */
export function roundWeight(weight: number): number {
  let step = 1;
  while (weight / step >= 8) step *= 2;
  return Math.max(1, Math.round(weight / step) * step);
}

function leastOf(loads: readonly number[]): number {
  let least = 0;
  for (const [at, load] of loads.entries()) if (load < (loads[least] ?? 0)) least = at;
  return least;
}

function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
