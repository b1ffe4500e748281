import fc from 'fast-check';
import { expect, test } from 'vitest';
import { playSent } from './sent.ts';
import { worlds } from './world.ts';

/** Nothing reaches the platform that its plan does not show. `npm run torture` plays many more. */
test('a few worlds, body by body', async () => {
  let looked = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      looked += await playSent(world);
    }),
    { seed: 20261122, numRuns: 2, endOnFailure: true },
  );
  expect(looked).toBeGreaterThan(20);
});
