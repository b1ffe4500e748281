import type { Budget, Pair } from './align.ts';
import { ALIKE, LEAST_ALIKE, likeness, type Subject } from './likeness.ts';

/** How far from the same place the edited form of a paragraph is looked for, at least. */
const LEAST_BAND = 25;
/** Comparisons of one stretch before it is only looked at near the same place. */
const MOST_COMPARED = 40_000;

/** One paragraph before against those after it from `low` on: the best sum so far, and whether they are a pair. */
type Row = { readonly low: number; readonly sums: Float64Array; readonly paired: Uint8Array };

/**
 * Pairs up the paragraphs of two stretches, in their order, so that those which are most alike come together
 * (Needleman and Wunsch, within a band around the diagonal).
 */
export function pairAlike(
  before: readonly Subject[],
  after: readonly Subject[],
  budget: Budget,
): readonly Pair[] {
  if (before.length === 0 || after.length === 0) return [];
  const least = before.length === 1 && after.length === 1 ? LEAST_ALIKE : ALIKE;
  const band = Math.max(LEAST_BAND, Math.floor(MOST_COMPARED / before.length / 2));
  const rows: Row[] = [];
  for (const [at, subject] of before.entries()) {
    const centre = Math.round((at * after.length) / before.length);
    const low = Math.max(0, centre - band);
    const others = after.slice(low, centre + band);
    const row = fillRow(rows.at(-1), low, others.length, (column) => {
      const other = after[column];
      if (other === undefined || budget.steps <= 0) return 0;
      const alike = likeness(subject, other, budget);
      return alike < least ? 0 : alike;
    });
    rows.push(row);
  }
  if (budget.steps <= 0) budget.isSpent = true;
  return retrace(rows);
}

function fillRow(
  above: Row | undefined,
  low: number,
  length: number,
  alikeAt: (column: number) => number,
): Row {
  const row = { low, sums: new Float64Array(length), paired: new Uint8Array(length) };
  for (let at = 0; at < length; at += 1) {
    const skipped = Math.max(sumAt(above, low + at), at > 0 ? (row.sums[at - 1] ?? 0) : 0);
    const alike = alikeAt(low + at);
    const joined = alike === 0 ? 0 : sumAt(above, low + at - 1) + alike;
    row.sums[at] = Math.max(skipped, joined);
    row.paired[at] = joined > skipped ? 1 : 0;
  }
  return row;
}

/** Beyond its band a row has nothing to add. */
function sumAt(row: Row | undefined, column: number): number {
  if (row === undefined || column < row.low) return 0;
  return row.sums[Math.min(column - row.low, row.sums.length - 1)] ?? 0;
}

function retrace(rows: readonly Row[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let at = rows.length - 1;
  let column = Number.POSITIVE_INFINITY;
  while (at >= 0) {
    const row = rows[at];
    if (row === undefined || column < row.low) break;
    column = Math.min(column, row.low + row.sums.length - 1);
    if (row.paired[column - row.low] === 1) {
      pairs.push([at, column]);
      at -= 1;
      column -= 1;
    } else if (sumAt(rows[at - 1], column) >= sumAt(row, column)) at -= 1;
    else column -= 1;
  }
  return pairs.reverse();
}
