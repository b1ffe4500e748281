import type { Benchmark } from './benchmark.ts';
import { exporting } from './export.ts';
import { validate } from './validate.ts';

export const benchmarks: readonly Benchmark[] = [validate, exporting];
