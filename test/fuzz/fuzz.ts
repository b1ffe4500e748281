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
  /** Whether a finding is cut down to what shows it, which takes a while; it is unless this is false. */
  readonly shrink?: boolean;
};

/**
 * Works on simulators with random requests until one answers what the document does not have. Throws then,
 * with the shortest list of requests that shows it and the seed. Returns what was answered how often.
 */
export async function fuzz(
  contract: Contract,
  { seed, runs, until, shrink = true, ...options }: FuzzOptions,
): Promise<Tally> {
  const read = readAs(contract, options.simulator?.dialect ?? {});
  const tally: Tally = new Map();
  const property = fc.asyncProperty(stepsOf(contract), (steps) => run(read, steps, options, tally));
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    endOnFailure: !shrink,
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
