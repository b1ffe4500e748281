import fc from 'fast-check';
import { test } from 'vitest';
import { runs, timeFor } from '../../../long.ts';
import { expectFaithful, openExportStage } from './stage.ts';
import { oddAccounts } from './worlds.ts';

/** More with CALLSHEET_RUNS=500. */
const RUNS = Number(process.env.CALLSHEET_RUNS ?? runs(20));
/** The same cases in every run; others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 4711);

test('whatever is live, its export plans to no changes, with its state and without, and is the same again', {
  timeout: timeFor(RUNS),
}, async () => {
  const property = fc.asyncProperty(oddAccounts, fc.boolean(), async (seed, factor) => {
    const stage = await openExportStage({ seed });
    try {
      await expectFaithful(stage, { factor });
    } finally {
      await stage.close();
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
});
