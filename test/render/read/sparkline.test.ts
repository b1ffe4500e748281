import { expect, test } from 'vitest';
import { gather, shareBar, sparkline, stretch } from '../../../src/render/read/charts.ts';

test.each([
  [[], undefined, ''],
  [[0, 0], undefined, '··'],
  [[1, 2, 3, 4, 5, 6, 7, 8], undefined, '▁▂▃▄▅▆▇█'],
  [[0, 1, 1000], undefined, '·▁█'],
  [[5, 5], undefined, '██'],
  [[4, 8], 16, '▂▄'],
  // Nothing but counts is expected; what is not one is no bar.
  [[-1, Number.NaN, 4], 4, '··█'],
])('%j of %s', (values, highest, bars) => {
  expect(sparkline(values, highest)).toBe(bars);
});

test('bars are made wider', () => {
  expect(stretch('▁█', 3)).toBe('▁▁▁███');
});

test.each([
  [[1, 2, 3], 3, { sums: [1, 2, 3], size: 1 }],
  [[1, 2, 3, 4, 5], 3, { sums: [3, 7, 5], size: 2 }],
  [[1, 2, 3], 1, { sums: [6], size: 3 }],
  [[1, 2], 0, { sums: [3], size: 2 }],
  [[], 10, { sums: [], size: 1 }],
])('%j in at most %d', (values, most, gathered) => {
  expect(gather(values, most)).toEqual(gathered);
});

test.each([
  [0, ''],
  [0.001, '█'],
  [0.5, '█████'],
  [1, '██████████'],
])('a share of %d', (share, bar) => {
  expect(shareBar(share, 10)).toBe(bar);
});
