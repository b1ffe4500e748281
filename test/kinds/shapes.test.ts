import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTorture, timeFor } from '../long.ts';
import { journeys, sayFinding, travel } from './shapes.ts';

const RUNS = Number(process.env.CALLSHEET_RUNS ?? (isTorture ? 30 : 1));
const SEED = Number(process.env.CALLSHEET_SEED ?? (isTorture ? Date.now() % 2 ** 31 : 41));
/** Changes of each place on one platform. */
const EACH = isTorture ? 4 : 1;

test(
  'whatever a member of an open object is and becomes, it is shown, written, undone, kept and pulled',
  async () => {
    await fc.assert(
      fc.asyncProperty(journeys(EACH), async (journey) => {
        expect((await travel(journey)).map(sayFinding)).toEqual([]);
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
  },
  timeFor(RUNS * 15),
);
