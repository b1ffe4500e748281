/**
 * How figures are rounded. Percentages have one decimal; those that make up a whole are rounded so that they
 * add up to exactly 100. Minutes have two decimals, which is less than half a second: the seconds behind
 * them can be had back.
 */

/** Shares of a whole, in percent with one decimal, adding up to 100; all 0 where there is nothing to share. */
export function sharesOf(counts: readonly number[]): readonly number[] {
  const total = sum(counts);
  if (total === 0) return counts.map(() => 0);
  const tenths = counts.map((count) => Math.floor((count * 1000) / total));
  // What rounding down left over goes to those that lost most by it.
  const byLoss = counts
    .map((count, index) => ({ index, loss: (count * 1000) % total }))
    .sort((a, b) => b.loss - a.loss);
  for (const { index } of byLoss.slice(0, 1000 - sum(tenths)))
    tenths[index] = (tenths[index] ?? 0) + 1;
  return tenths.map((value) => value / 10);
}

/** A part in percent with one decimal; null where there is no whole. */
export function percentOf(part: number, whole: number): number | null {
  return meanOf(part * 100, whole);
}

/** A mean with one decimal; null where nothing was measured. */
export function meanOf(total: number, count: number): number | null {
  return count === 0 ? null : Math.round((total * 10) / count) / 10;
}

export function minutesOf(seconds: number): number {
  return Math.round((seconds * 100) / 60) / 100;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
