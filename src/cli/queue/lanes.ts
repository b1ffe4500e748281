import { budgetedLimiter } from '../../api/budget.ts';
import { type Lane, openLane } from '../../api/lane.ts';
import { steadyTime } from '../../api/steady-time.ts';
import type { Lanes } from '../lanes.ts';
import type { Budgets } from './budgets.ts';

/** The lanes of a worker: its stacks share what a tree's do, and the rate with the workers on other machines. */
export function budgetedLanes(budgets: Budgets, most: number): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    at(baseUrl, options) {
      const known = lanes.get(baseUrl);
      if (known !== undefined) return known;
      const { host } = new URL(baseUrl);
      const budget = budgets.at(baseUrl);
      const limit: typeof options.limit = (others) =>
        budgetedLimiter(others, { host, budget, most, now: steadyTime });
      const lane = openLane({ ...options, limit });
      lanes.set(baseUrl, lane);
      return lane;
    },
    async close() {
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
    },
  };
}
