import { vi } from 'vitest';
import { testAway } from './contract/away.ts';
import { testBreaking } from './contract/breaking.ts';
import { testDamage } from './contract/damage.ts';
import { testHolding } from './contract/holding.ts';
import { testKeeping } from './contract/keeping.ts';
import { testLeaving } from './contract/leaving.ts';
import type { Loss, Spot } from './contract/spot.ts';

export { type Opening, openViews, type Spot } from './contract/spot.ts';

/** What the way of locking decides, of a store that is another one but for that. */
export function lockContract(makeSpot: () => Promise<Spot>): void {
  testKeeping(makeSpot);
  testHolding(makeSpot);
}

/** What every store keeps to. It is broken at every step, or at each `stride` steps where that takes long. */
export function contract(makeSpot: () => Promise<Spot>, loss: Loss, stride = 1): void {
  // Many rounds, on machines that are busy with other tests.
  vi.setConfig({ testTimeout: 60_000 });
  testKeeping(makeSpot);
  testHolding(makeSpot);
  testDamage(makeSpot);
  testBreaking(makeSpot, loss, stride);
  testLeaving(makeSpot, loss);
  if (loss !== undefined) testAway(makeSpot, loss);
}
