import { join } from 'node:path';
import type { Benchmark, Program } from './benchmark.ts';
import { writePlain, writeSpread, writeTable } from './validate/stacks.ts';

export const callsheet: Program = {
  argv: () => [join(import.meta.dirname, '../dist/main.js'), 'validate'],
  check: (output, size) => {
    if (output.includes(`valid: ${size.toLocaleString('en')} resources`)) return;
    throw new Error(`validate did not find ${size} agents:\n${output.slice(0, 2000)}`);
  },
};

/** `parseDocument` of the `yaml` package over the same files, without a look at what they hold. */
export const floor: Program = {
  argv: () => [join(import.meta.dirname, 'validate/parse.ts')],
  check: (output) => {
    if (!/^[1-9]\d* files\n$/.test(output)) throw new Error(`nothing was parsed: ${output}`);
  },
};

/** The most that validating may take, as a multiple of parsing the same YAML (DESIGN §11). */
const GOAL = 1.5;

export const validate: Benchmark = {
  name: 'validate',
  sizes: [10_000],
  about: 'callsheet validate against parsing the same files and compiling nothing.',
  cases: [
    { name: 'spread', goal: GOAL, prepare: writeSpread, callsheet, floor },
    { name: 'plain', goal: GOAL, prepare: writePlain, callsheet, floor },
    // There is hardly any YAML to parse, so no goal: the figure is here to be watched.
    { name: 'one table', prepare: writeTable, callsheet, floor },
  ],
};
