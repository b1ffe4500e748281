import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { benchmarks } from '../../bench/benchmarks.ts';
import { figuresOf, tableOf } from '../../bench/figures.ts';

const ROOT = join(import.meta.dirname, '../..');

function took(ms: number, mb: number) {
  return { ms, cpu: ms, kib: (mb * 1e6) / 1024 };
}

test('every benchmark runs, over fifty agents, and writes its figures', () => {
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'figures.json');
  const argv = ['bench/main.ts', '--size', '50', '--runs', '1', '--json', file];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: inject('compiled') },
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toContain('npm run bench -- --size 50 --runs 1');
  const { size, results } = JSON.parse(readFileSync(file, 'utf8'));
  expect(size).toBe(50);
  expect(results).toEqual(
    benchmarks.map(({ name, cases }) => ({
      name,
      figures: cases.map((one) => expect.objectContaining({ name: one.name, runs: 1 })),
    })),
  );
  for (const { ratio, memory } of results.flatMap(({ figures }: { figures: [] }) => figures)) {
    expect(ratio.median).toBeGreaterThan(0);
    expect(memory.callsheet).toBeGreaterThan(10);
  }
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
