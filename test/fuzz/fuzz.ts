import fc from 'fast-check';
import type { Contract } from './document.ts';
import { readAs } from './readings.ts';
import { stepsOf } from './requests.ts';
import { type RunOptions, run, type Tally } from './run.ts';

export type FuzzOptions = RunOptions & {
  readonly seed: number;
  /** How many simulators are worked on, each with a run of requests of its own. */
  readonly runs: number;
  /** Milliseconds after which no further simulator is started. */
  readonly until?: number;
};

/**
 * Works on simulators with random requests until one answers what the document does not have. Throws then,
 * with the shortest list of requests that shows it and the seed. Returns what was answered how often.
 */
export async function fuzz(
  contract: Contract,
  { seed, runs, until, ...options }: FuzzOptions,
): Promise<Tally> {
  const read = readAs(contract, options.simulator?.dialect ?? {});
  const tally: Tally = new Map();
  const property = fc.asyncProperty(stepsOf(contract), (steps) => run(read, steps, options, tally));
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(until === undefined ? {} : { interruptAfterTimeLimit: until }),
  });
  if (details.failed)
    throw new Error(
      `seed ${details.seed}, run ${details.numRuns}, path ${details.counterexamplePath}: ${messageOf(details.errorInstance)}`,
    );
  return tally;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
