import { join } from 'node:path';
import type { Benchmark, Case, Program } from './benchmark.ts';
import { CONCURRENCY } from './fleet/concurrency.ts';
import { removeFleets, serveApply, servePlan } from './fleet/served.ts';
import { CHANGED, ROUND_FILE } from './fleet/stack.ts';

const MAIN = join(import.meta.dirname, '../dist/main.js');
const AT_ONCE = ['--concurrency', String(CONCURRENCY)];

/** Nothing to change: every agent is read and compared. */
function planned(...flags: readonly string[]): Program {
  return {
    argv: () => [MAIN, 'plan', '--format', 'json', ...AT_ONCE, ...flags],
    check: (output, size) => {
      const { changes, summary } = JSON.parse(output);
      if (changes.length !== 0 || summary.no_op !== size)
        throw new Error(`not ${size} agents without a change: ${JSON.stringify(summary)}`);
    },
  };
}

/** The plan lies there already, as in a pipeline that waited for a review. */
const applied: Program = {
  argv: () => [
    MAIN,
    'apply',
    'plan.json',
    '--var-file',
    ROUND_FILE,
    '--format',
    'json',
    ...AT_ONCE,
  ],
  check: (output, size) => {
    const done = JSON.parse(output).ledger.filter(
      ({ action, status }: { action: string; status: string }) =>
        action === 'update' && status === 'done',
    );
    if (done.length !== Math.min(size, CHANGED)) throw new Error(`${done.length} were updated`);
  },
};

/** The requests that Callsheet made just before, as many at once, their answers parsed. */
const floor: Program = {
  argv: () => [join(import.meta.dirname, 'fleet/loop.ts')],
  check: (output) => {
    if (!/^[1-9]\d* requests\n$/.test(output)) throw new Error(`nothing was asked: ${output}`);
  },
};

/** The same of a fleet that the state knows to be as it was: list pages alone are read. */
const fastPlan: Case = {
  name: 'fast plan',
  goal: 1.3,
  serve: servePlan,
  callsheet: planned('--refresh', 'fast'),
  floor,
};

export const fleet: Benchmark = {
  name: 'fleet',
  about: `callsheet plan and apply against a bare loop over undici with the same requests, ${CONCURRENCY} at a time.`,
  sizes: [100, 1000, 10_000, 100_000],
  latencies: [0, 20],
  cases: [
    {
      name: 'cold plan',
      goal: 1.25,
      serve: servePlan,
      callsheet: planned('--refresh', 'full'),
      floor,
    },
    fastPlan,
    { name: 'apply', goal: 1.3, serve: serveApply, callsheet: applied, floor },
  ],
  tidy: removeFleets,
};
