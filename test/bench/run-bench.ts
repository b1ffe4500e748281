import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { benchmarks } from '../../bench/benchmarks.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Runs these benchmarks once, over fifty agents, and holds the figures that they write to their form. */
export function expectFigures(names: readonly string[]): void {
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'figures.json');
  const argv = ['bench/main.ts', '--size', '50', '--runs', '1', '--json', file, ...names];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: inject('compiled') },
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toContain(`npm run bench -- ${argv.slice(1).join(' ')}`);
  const { size, results } = JSON.parse(readFileSync(file, 'utf8'));
  expect(size).toBe(50);
  expect(results).toEqual(
    benchmarks
      .filter(({ name }) => names.includes(name))
      .map(({ name, cases }) => ({
        name,
        figures: cases.map((one) => expect.objectContaining({ name: one.name, runs: 1 })),
      })),
  );
  for (const { ratio, memory } of results.flatMap(({ figures }: { figures: [] }) => figures)) {
    expect(ratio.median).toBeGreaterThan(0);
    expect(memory.callsheet).toBeGreaterThan(10);
  }
}
