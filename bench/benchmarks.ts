import type { Benchmark } from './benchmark.ts';
import { exporting } from './export.ts';
import { exported, fleet, limited, requests, sealed, secrets, texts } from './fleet.ts';
import { startup } from './startup.ts';
import { validate } from './validate.ts';

export const benchmarks: readonly Benchmark[] = [
  startup,
  validate,
  exporting,
  fleet,
  exported,
  requests,
  limited,
  sealed,
  secrets,
  texts,
];
