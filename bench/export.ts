import { join } from 'node:path';
import type { Benchmark, Program } from './benchmark.ts';
import { serveAccount } from './export/account.ts';

const MAIN = join(import.meta.dirname, '../dist/main.js');

/** Each run writes a folder of its own. */
let folders = 0;

function exported(...flags: readonly string[]): Program {
  return {
    argv: () => {
      folders += 1;
      return [MAIN, 'export', '--out', `out-${folders}`, '--format', 'json', ...flags];
    },
    check: (output, size) => {
      const agents = JSON.parse(output).resources.find(
        ({ kind }: { kind: string }) => kind === 'agent',
      );
      if (agents?.count !== size) throw new Error(`export did not find ${size} agents`);
    },
  };
}

/** The same requests, as many at once, their answers parsed; files as many and as large. */
const floor: Program = {
  argv: () => {
    folders += 1;
    return [join(import.meta.dirname, 'export/loop.ts'), `out-${folders}`];
  },
  check: (output) => {
    if (!/^[1-9]\d* requests\n$/.test(output)) throw new Error(`nothing was asked: ${output}`);
  },
};

/** The most that an export may take, as a multiple of the bare loop (DESIGN §11). */
const GOAL = 1.3;

export const exporting: Benchmark = {
  name: 'export',
  sizes: [10_000],
  about: 'callsheet export against a bare loop with the same requests and as many bytes.',
  cases: [
    {
      name: 'plain',
      goal: GOAL,
      serve: serveAccount,
      callsheet: exported('--no-factor'),
      floor,
    },
    {
      name: 'no state',
      goal: GOAL,
      serve: serveAccount,
      callsheet: exported('--no-factor', '--no-state'),
      floor,
    },
    // Common values are known only once all resources were read, so everything is written twice: no goal.
    { name: 'factored', serve: serveAccount, callsheet: exported(), floor },
  ],
};
