import fc from 'fast-check';
import { test } from 'vitest';
import { playUndo } from '../worlds/undo.ts';
import { worlds } from '../worlds/world.ts';

/** How many runs are undone, and where they begin: another begin every time unless it is given. */
const count = Number(process.env.CALLSHEET_TORTURE_UNDO ?? 500);
const seed = Number(process.env.CALLSHEET_TORTURE_SEED ?? Date.now() % 2 ** 31);

test(`${count} runs undone from seed ${seed}`, async () => {
  const property = fc.asyncProperty(worlds, async (world) => {
    await playUndo(world);
  });
  await fc.assert(property, { seed, numRuns: count, interruptAfterTimeLimit: 600_000 });
}, 3_600_000);
