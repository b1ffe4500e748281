import fc from 'fast-check';
import { expect, test } from 'vitest';
import { align, type Stretch } from '../../src/render/align.ts';

/** `same words -removed +added` */
function show(stretches: readonly Stretch[]): string {
  return stretches
    .flatMap((stretch) =>
      stretch.same
        ? stretch.tokens
        : [
            ...stretch.removed.map((token) => `-${token}`),
            ...stretch.added.map((token) => `+${token}`),
          ],
    )
    .join(' ');
}

const words = (text: string) => text.split(' ').filter((word) => word !== '');

test.each([
  ['a b c', 'a b c', 'a b c'],
  ['', 'a', '+a'],
  ['a', '', '-a'],
  ['a b c', 'a c', 'a -b c'],
  ['a c', 'a b c', 'a +b c'],
  ['a b c d e', 'a x c d y e', 'a -b +x c d +y e'],
  ['a b', 'c d', '-a -b +c +d'],
])('%j to %j', (before, after, expected) => {
  expect(show(align(words(before), words(after)))).toBe(expected);
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

test('both sides can be put together again, and as much as can be is shared', () => {
  const tokens = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14 });
  fc.assert(
    fc.property(tokens, tokens, (before, after) => {
      const stretches = align(before, after);
      expect(
        stretches.flatMap((stretch) => (stretch.same ? stretch.tokens : stretch.removed)),
      ).toEqual(before);
      expect(
        stretches.flatMap((stretch) => (stretch.same ? stretch.tokens : stretch.added)),
      ).toEqual(after);
      const shared = stretches.flatMap((stretch) => (stretch.same ? stretch.tokens : []));
      expect(shared).toHaveLength(commonLength(before, after));
      for (const [at, { same }] of stretches.entries())
        expect(same).not.toBe(stretches[at - 1]?.same);
    }),
    { numRuns: 500 },
  );
});

test('texts with nothing in common are given up on, not searched to the end', () => {
  const many = (name: string) => Array.from({ length: 30_000 }, (_, at) => `${name}${at}`);
  expect(align(['x', ...many('a')], ['x', ...many('b')]).map(({ same }) => same)).toEqual([
    true,
    false,
  ]);
});
