import { test } from 'vitest';

/**
 * `npm test` has three minutes. What is longer stands beside the short tests of the same matter and is run by
 * `npm run torture`, which sets this.
 */
export const isTorture = process.env.CALLSHEET_TORTURE === '1';

/** Of so many runs of a property `npm test` takes one. */
const EVERY = 5;

/** How often a property is tried: all of it in `npm run torture`, a fixed part of that in `npm test`. */
export function runs(all: number): number {
  return isTorture ? all : Math.ceil(all / EVERY);
}

/** Milliseconds for so many runs of a property, on a machine that is busy with others. */
export function timeFor(count: number): number {
  return Math.max(60_000, count * 2_000);
}

/** Rows of a matrix that take the same paths: all of them in `npm run torture`, the short ones in `npm test`. */
export function longRows<T>(all: readonly T[], isShort: (row: T, index: number) => boolean): T[] {
  return all.filter((row, index) => isTorture || isShort(row, index));
}

/**
 * Rows of a product, of which `npm run torture` takes all, and `npm test` the same few each time: so many that each value
 * of each axis is among them, or with `width` 2 each two values of two axes that some row has together.
 */
export function coveringRows<T>(
  all: readonly T[],
  axesOf: (row: T) => readonly unknown[],
  width: 1 | 2 = 1,
): readonly T[] {
  if (isTorture) return all;
  const groups = all.map((row) => groupsOf(axesOf(row), width));
  const open = new Set(groups.flat());
  const taken = new Set<number>();
  while (open.size > 0) {
    const gains = groups.map((group) => group.filter((one) => open.has(one)).length);
    const best = gains.indexOf(Math.max(...gains));
    taken.add(best);
    for (const one of groups[best] ?? []) open.delete(one);
  }
  return all.filter((_, at) => taken.has(at));
}

/** The values of a row, or each two of them, with the axes that they are of. */
function groupsOf(values: readonly unknown[], width: 1 | 2): readonly string[] {
  const single = values.map((value, axis) => JSON.stringify([axis, value]));
  if (width === 1) return single;
  return single.flatMap((one, axis) => single.slice(axis + 1).map((other) => `${one} ${other}`));
}

/** A test that `npm run torture` alone goes through. */
export function longTest(...[name, body, timeout]: LongTest): void {
  if (isTorture) test(name, body, timeout);
}

type LongTest = [name: string, body: () => void | Promise<void>, timeout?: number];

/** The name of a test that not every machine can run. Where it is skipped, the name says why. */
export function withReason(name: string, isRun: boolean, why: string): string {
  return isRun ? name : `${name} (skipped: ${why})`;
}
