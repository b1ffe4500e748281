import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { benchmarks } from '../../bench/benchmarks.ts';
import { temporaryFolder } from '../temporary.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Runs these benchmarks once, over fifty agents, and holds the figures that they write to their form. */
export function expectFigures(names: readonly string[]): void {
  const dir = temporaryFolder();
  const file = join(dir, 'figures.json');
  const argv = ['bench/main.ts', '--size', '50', '--runs', '1', '--json', file, ...names];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: inject('compiled') },
  });
  const wanted = benchmarks.filter(({ name }) => names.includes(name));
  const entries = wanted.map(({ name: benchmark, cases, latencies = [0] }) => ({
    benchmark,
    entries: latencies.flatMap((latency) =>
      cases.map(({ name }) => expect.objectContaining({ name, size: 50, latency, runs: 1 })),
    ),
  }));
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringMatching(/error/i) });
  expect(stdout).toContain(`npm run bench -- ${argv.slice(1).join(' ')}`);
  const { results } = JSON.parse(readFileSync(file, 'utf8'));
  expect(results).toEqual(entries.map((one) => expect.objectContaining(one)));
  for (const { ratio, memory } of results.flatMap(({ entries }: { entries: [] }) => entries)) {
    expect(ratio.median).toBeGreaterThan(0);
    expect(memory.callsheet).toBeGreaterThan(10);
  }
}
