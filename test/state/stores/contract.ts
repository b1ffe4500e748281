import { vi } from 'vitest';
import { testAway } from './contract/away.ts';
import { testBreaking } from './contract/breaking.ts';
import { testDamage } from './contract/damage.ts';
import type { Loss, StateFixture } from './contract/fixture.ts';
import { testHolding } from './contract/holding.ts';
import { testKeeping } from './contract/keeping.ts';
import { testLeaving } from './contract/leaving.ts';
import { testPruning } from './contract/pruning.ts';

export { type Opening, openViews, type StateFixture } from './contract/fixture.ts';

/** What the way of locking decides, of a store that is another one but for that. */
export function lockContract(makeFixture: () => Promise<StateFixture>): void {
  testKeeping(makeFixture);
  testHolding(makeFixture);
}

/** What every store keeps to. It is broken at every step, or at each `stride` steps where that takes long. */
export function contract(makeFixture: () => Promise<StateFixture>, loss: Loss, stride = 1): void {
  // Many rounds, on machines that are busy with other tests.
  vi.setConfig({ testTimeout: 60_000 });
  testKeeping(makeFixture);
  testHolding(makeFixture);
  testDamage(makeFixture);
  testBreaking(makeFixture, loss, stride);
  testPruning(makeFixture, stride);
  testLeaving(makeFixture, loss);
  if (loss !== undefined) testAway(makeFixture, loss);
}
