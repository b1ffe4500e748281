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

/** A test that `npm run torture` alone goes through. */
export function longTest(...[name, body, timeout]: LongTest): void {
  if (isTorture) test(name, body, timeout);
}

type LongTest = [name: string, body: () => void | Promise<void>, timeout?: number];

/** The name of a test that not every machine can run. Where it is skipped, the name says why. */
export function withReason(name: string, isRun: boolean, why: string): string {
  return isRun ? name : `${name} (skipped: ${why})`;
}
