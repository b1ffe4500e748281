import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coveringRows, isTorture } from './long.ts';

const table = fc
  .array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }), { minLength: 1 })
  .map((rows) => [...new Map(rows.map((row) => [row.join(), row])).values()]);

/** Each two values that a row has, with their axes. */
const pairsOf = (rows: readonly (readonly number[])[]) =>
  new Set(rows.flatMap(([a, b, c]) => [`a${a} b${b}`, `a${a} c${c}`, `b${b} c${c}`]));
const valuesOf = (rows: readonly (readonly number[])[]) =>
  new Set(rows.flatMap((row) => row.map((value, axis) => `${axis} ${value}`)));

test('what npm test takes of a table has each value, or each pair of them, that the whole has', () => {
  fc.assert(
    fc.property(table, (rows) => {
      const once = coveringRows(rows, (row) => row);
      expect(valuesOf(once)).toEqual(valuesOf(rows));
      const twice = coveringRows(rows, (row) => row, 2);
      expect(pairsOf(twice)).toEqual(pairsOf(rows));
      expect(rows).toEqual(expect.arrayContaining([...once, ...twice]));
      expect(coveringRows(rows, (row) => row)).toEqual(once);
      if (isTorture) expect(once).toEqual(rows);
    }),
  );
});
