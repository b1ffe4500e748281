import fc from 'fast-check';
import { test } from 'vitest';
import { playUndo } from './undo.ts';
import { worlds } from './world.ts';

/** Random runs: apply, then rollback, is the identity. `npm run torture` plays many more. */
test('a few runs, undone', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => void (await playUndo(world))),
    {
      seed: 20261121,
      numRuns: 3,
      endOnFailure: true,
    },
  );
});
