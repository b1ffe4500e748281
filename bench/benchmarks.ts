import type { Benchmark } from './benchmark.ts';
import { validate } from './validate.ts';

export const benchmarks: readonly Benchmark[] = [validate];
