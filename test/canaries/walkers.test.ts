import { expect, test } from 'vitest';
import { throughEveryWalker } from './walkers.ts';

/** `npm run torture` draws more; others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 4711);

test('what one of the walkers masks none shows, wherever it stands and whatever it is called', async () => {
  const { leaks, missing, written } = await throughEveryWalker(SEED, 2, false);
  expect(leaks.slice(0, 9)).toEqual([]);
  expect(missing.slice(0, 9), 'innocent values that get masks').toEqual([]);
  expect(written.pull).toBeGreaterThan(0);
  expect(written.export).toBeGreaterThan(0);
});
