import { expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { isSameJson } from '../../src/core/value.ts';

const values: readonly unknown[] = [
  null,
  0,
  1,
  '1',
  '',
  true,
  [],
  {},
  [1, 2],
  [2, 1],
  [1, [2]],
  ['1'],
  { 0: 1, 1: 2 },
  { a: 1, b: { c: [1, null] } },
  { b: { c: [1, null] }, a: 1 },
  { b: { c: [1, null] }, a: 1, d: undefined },
  { b: { c: [1] }, a: 1 },
  { b: { c: [1, null] }, a: null },
  { a: 1 },
  { e: undefined },
  { toString: null },
];

test('values are the same where their digests are', () => {
  for (const one of values)
    for (const other of values)
      expect(isSameJson(one, other), JSON.stringify([one, other])).toBe(
        computeDigest(one) === computeDigest(other),
      );
});
