import { expect, test } from 'vitest';
import { figuresOf, tableOf } from '../../bench/figures.ts';
import { expectFigures } from './run-bench.ts';

function took(ms: number, mb: number) {
  return { ms, cpu: ms, kib: (mb * 1e6) / 1024 };
}

// `npm run torture` runs all of them.
test('a benchmark runs, and writes its figures', () => {
  expectFigures(['validate']);
});

test('the ratio is that of runs which followed each other, and the peak that of all runs', () => {
  const figures = figuresOf({
    name: 'a case',
    goal: 1.5,
    pairs: [
      { floor: took(100, 50), callsheet: took(150, 80) },
      // The machine was busy: both took longer.
      { floor: took(400, 60), callsheet: took(560, 70) },
      { floor: took(100, 50), callsheet: took(130, 90) },
    ],
  });
  expect(figures.ratio).toEqual({ median: 1.4, least: 1.3, most: 1.5 });
  expect(figures.cpuRatio).toEqual(figures.ratio);
  expect(figures.callsheet).toEqual({ median: 150, least: 130, most: 560 });
  expect(figures.memory).toEqual({ callsheet: 90, floor: 60 });
  expect(tableOf([figures])).toBe(
    [
      'case    callsheet  floor   ratio (spread)      CPU   goal   peak      runs',
      'a case  0.15 s     0.10 s  1.40 × (1.30–1.50)  1.40  ≤ 1.5  90/60 MB  3',
    ].join('\n'),
  );
});
