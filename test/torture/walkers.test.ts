import { expect, test } from 'vitest';
import { throughEveryWalker } from '../canaries/walkers.ts';

/** Others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 1);

test.each(Array.from({ length: 8 }, (_, index) => SEED + index))(
  'what one of the walkers masks none shows: seed %d',
  async (seed) => {
    const { leaks, missing, written } = await throughEveryWalker(seed, 12, true);
    expect(leaks.slice(0, 9)).toEqual([]);
    expect(missing.slice(0, 9), 'innocent values that get masks').toEqual([]);
    expect(written.pull).toBeGreaterThan(0);
    expect(written.export).toBeGreaterThan(0);
  },
);
