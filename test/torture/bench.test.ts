import { test } from 'vitest';
import { benchmarks } from '../../bench/benchmarks.ts';
import { expectFigures } from '../bench/run-bench.ts';

test('every benchmark runs, and writes its figures', () => {
  expectFigures(benchmarks.map(({ name }) => name));
});
