import fc from 'fast-check';
import { expect, test } from 'vitest';
import { align, newBudget, type Pair } from '../../src/core/align.ts';
import { runs } from '../long.ts';

const letters = (text: string) => text.split('');

test.each<[string, string, readonly Pair[]]>([
  ['', '', []],
  ['ab', '', []],
  [
    'ab',
    'ab',
    [
      [0, 0],
      [1, 1],
    ],
  ],
  [
    'abc',
    'axc',
    [
      [0, 0],
      [2, 2],
    ],
  ],
])('%j and %j', (before, after, pairs) => {
  expect(align(letters(before), letters(after), newBudget())).toEqual(pairs);
});

/** Length of the longest common subsequence, the plain way. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = b.map(() => 0);
  for (const token of a) {
    const next: number[] = [];
    for (const [at, other] of b.entries()) {
      const diagonal = at > 0 ? (row[at - 1] ?? 0) : 0;
      next.push(token === other ? diagonal + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test('pairs ascend, join what is equal, and are as many as can be', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 14 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const pairs = align(before, after, newBudget());
      let [x, y] = [-1, -1];
      for (const [a, b] of pairs) {
        expect(before[a]).toBe(after[b]);
        expect(a > x && b > y).toBe(true);
        [x, y] = [a, b];
      }
      expect(pairs).toHaveLength(commonLength(before, after));
    }),
    { numRuns: runs(300) },
  );
});

test('without steps left, only the beginning and the end are paired, and it is told', () => {
  const budget = { steps: 0, isSpent: false };
  expect(align(letters('abxcd'), letters('abycd'), budget)).toEqual([
    [0, 0],
    [1, 1],
    [3, 3],
    [4, 4],
  ]);
  expect(budget.isSpent).toBe(true);
});

test('a text that repeats itself costs no more for it', () => {
  const budget = newBudget();
  align(letters('ab'.repeat(50_000)), letters('bc'.repeat(50_000)), budget);
  expect(budget.isSpent).toBe(true);
});
