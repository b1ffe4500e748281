import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Case, Program } from '../../bench/benchmark.ts';
import { curvesOf } from '../../bench/curves.ts';
import { figuresOf } from '../../bench/figures.ts';
import { measure } from '../../bench/measure.ts';
import { curvesText, pageText } from '../../bench/pages.ts';
import { tableOf } from '../../bench/table.ts';
import { longTest } from '../long.ts';
import { expectFigures } from './run-bench.ts';

function took(ms: number, mb: number) {
  return { ms, cpu: ms, kib: (mb * 1e6) / 1024 };
}

const A_CASE = { name: 'a case', size: 100, latency: 0 };

// `npm run torture` runs all of them.
longTest('a benchmark runs, and writes its figures', () => {
  expectFigures(['validate']);
});

test('the ratio is that of runs which followed each other, and the peak that of all runs', () => {
  const figures = figuresOf({
    ...A_CASE,
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

test('sizes and latencies have a column where there are several, and what failed says why', () => {
  const pairs = [{ floor: took(100, 50), callsheet: took(120, 80) }];
  const entries = [
    figuresOf({ ...A_CASE, pairs }),
    figuresOf({ ...A_CASE, size: 10_000, latency: 20, pairs }),
    { ...A_CASE, size: 100_000, latency: 20, problem: 'main.js plan ended with SIGTERM:' },
  ];
  expect(tableOf(entries)).toBe(
    [
      'case    agents   latency  callsheet  floor   ratio (spread)      CPU   goal  peak      runs',
      'a case  100      0 ms     0.12 s     0.10 s  1.20 × (1.20–1.20)  1.20        80/50 MB  1',
      'a case  10,000   20 ms    0.12 s     0.10 s  1.20 × (1.20–1.20)  1.20        80/50 MB  1',
      'a case  100,000  20 ms    not measured: main.js plan ended with SIGTERM:',
    ].join('\n'),
  );
});

test('requests have a column where they were counted', () => {
  const pairs = [
    { floor: took(100, 50), callsheet: took(120, 80), requests: { callsheet: 304, floor: 304 } },
    { floor: took(100, 50), callsheet: took(120, 80), requests: { callsheet: 306, floor: 304 } },
  ];
  expect(tableOf([figuresOf({ ...A_CASE, pairs })]).split('\n')).toEqual([
    'case    requests  callsheet  floor   ratio (spread)      CPU   goal  peak      runs',
    'a case  306/304   0.12 s     0.10 s  1.20 × (1.20–1.20)  1.20        80/50 MB  2',
  ]);
});

test.each([
  [20, undefined],
  [21, '21 requests, where at most 20 are allowed'],
])('%d requests of ten agents with a bound of two each: %s', async (callsheet, problem) => {
  const program: Program = { argv: () => ['-e', '0'], check: () => {} };
  const counted: Case = {
    name: 'counted',
    requests: (size) => 2 * size,
    serve: async () => ({
      env: {},
      requests: async () => ({ callsheet, floor: 0 }),
      close: async () => {},
    }),
    callsheet: program,
    floor: program,
  };
  const measured = measure(counted, { size: 10, latency: 0 }, { runs: 1, seconds: 60 });
  if (problem !== undefined) return expect(measured).rejects.toThrow(problem);
  expect((await measured).pairs).toMatchObject([{ requests: { callsheet, floor: 0 } }]);
});

test.each([
  [1000, undefined],
  [1, / MB, where at most 1 are allowed/],
])('a run may hold %d MB: %s', async (most, problem) => {
  const program: Program = { argv: () => ['-e', '0'], check: () => {} };
  const held: Case = { name: 'held', memory: () => most, callsheet: program, floor: program };
  const measured = measure(held, { size: 10, latency: 0 }, { runs: 1, seconds: 60 });
  if (problem !== undefined) return expect(measured).rejects.toThrow(problem);
  const [line = ''] = tableOf([figuresOf(await measured)])
    .split('\n')
    .slice(1);
  expect(line).toMatch(/ MB \(≤ 1000\) +1$/);
});

test('ten times the fleet and ten times the time are as long on the curves', () => {
  const sizes = [100, 1000, 10_000];
  const entries = sizes.map((size) =>
    figuresOf({
      ...A_CASE,
      name: 'cold plan',
      size,
      pairs: [{ floor: took(size, 100), callsheet: took(size * 2, 100) }],
    }),
  );
  const [line = ''] = /(?<=class="line floor" d=")M0 .*?(?=")/.exec(curvesOf(entries)) ?? [];
  const points = line
    .slice(1)
    .split('L')
    .map((point) => point.split(' ').map(Number));
  expect(points.map(([x]) => x)).toEqual([0, 145, 290]);
  const [first = 0, second = 0, third = 0] = points.map(([, y]) => y);
  expect(first - second).toBeCloseTo(second - third);
  expect(second).toBeLessThan(first);
});

test('the page and the curves show the figures that are kept', () => {
  const read = (file: string) =>
    readFileSync(new URL(`../../docs/contributing/${file}`, import.meta.url), 'utf8');
  const page = read('performance.md');
  expect(pageText(page)).toBe(page);
  expect(read('performance.svg')).toBe(curvesText());
});
