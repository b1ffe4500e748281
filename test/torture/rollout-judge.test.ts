import { afterAll, describe, expect, test } from 'vitest';
import type { PlayedRollouts } from '../../scripts/reliability/figures.ts';
import { renderRollouts } from '../../scripts/reliability/render.ts';
import { findErrors } from '../../src/rollout/judge.ts';
import { seedChance } from '../../src/simulator/ids.ts';
import {
  MEASURES,
  ORDINARY,
  type Outcome,
  playRollout,
  type Scenario,
} from '../rollout/callers.ts';
import { writeResult } from './result.ts';

/** The shares that were asked for: of harmless rollouts stopped at most, of careless ones stopped early at least. */
const [FALSE_ALARMS, CAUGHT] = [0.05, 0.9];

const COSTS = { nothing: 0, 'a twentieth of good outcomes': 0.05, 'a tenth of good outcomes': 0.1 };

/** Each with how many rollouts are played, and whether a change that costs a tenth must be caught in it. */
const FLEETS: readonly (readonly [string, Partial<Scenario>, number, boolean])[] = [
  ['40 agents, `resolved` (margin 5)', {}, 2000, true],
  ['first step of 8 agents', { steps: [8, 20, 40] }, 400, true],
  ['first agents at random', { first: 'random' }, 400, false],
  ['two measures: and `errors` (3)', { measures: MEASURES.slice(0, 2) }, 400, true],
  ['three measures: and `duration` (20 %)', { measures: MEASURES }, 200, true],
  ['three measures, first step of 8 agents', { measures: MEASURES, steps: [8, 20, 40] }, 200, true],
  ['agents that do not wander', { drift: 0 }, 400, true],
  ['agents that wander twice as much', { drift: 2 }, 400, false],
  ['these, first step of 8 agents', { drift: 2, steps: [8, 20, 40] }, 400, true],
  ['400 agents, steps of 3, 40, 200', { agents: 400, steps: [3, 40, 200, 400] }, 100, true],
  ['12 agents, steps of 3 and 4', { agents: 12, steps: [3, 4, 12] }, 400, false],
  ['1 to 8 calls a day', { volume: [1, 8] }, 200, false],
  ['these, first step of 15 agents', { volume: [1, 8], steps: [15, 20, 40] }, 200, false],
];

const rows = FLEETS.flatMap(([fleet, part, rollouts, isCaught]) =>
  Object.entries(COSTS).map(([change, cost]) => ({
    fleet,
    part,
    rollouts,
    isCaught,
    change,
    cost,
  })),
);
const table: PlayedRollouts[] = [];

describe('rollouts, looked at every hour', () => {
  test.each(rows)('$fleet; the change costs $change: $rollouts', async (row) => {
    const { fleet, part, rollouts, isCaught, change, cost } = row;
    const scenario = { ...ORDINARY, ...part, cost };
    const all = Array.from({ length: rollouts }, (_, seed) => playRollout(scenario, seed));
    const stopped = all.filter(({ end }) => end === 'stopped');
    const finished = all.filter(({ end }) => end === 'finished');
    const early = stopped.filter(({ agents }) => agents < scenario.agents / 2);
    table.push({
      fleet,
      change,
      rollouts,
      stopped: stopped.length,
      early: early.length,
      finished: finished.length,
      hours_to_stop: medianHours(stopped),
      hours_to_finish: medianHours(finished),
    });
    if (cost === 0) expect(stopped.length / rollouts).toBeLessThanOrEqual(FALSE_ALARMS);
    // A change that costs more than is tolerated never gets through, however long it takes to be stopped.
    if (cost === 0.1) expect(finished.length / rollouts).toBeLessThanOrEqual(FALSE_ALARMS);
    if (cost === 0.1 && isCaught) expect(early.length / rollouts).toBeGreaterThanOrEqual(CAUGHT);
  });

  afterAll(async () => {
    process.stdout.write(`${renderRollouts(table)}\n`);
    // A part of the table would look like all of it.
    if (table.length === rows.length) await writeResult('rollouts', table);
  });
});

function medianHours(outcomes: readonly Outcome[]): number | null {
  const hours = outcomes.map((one) => one.hours).sort((a, b) => a - b);
  return hours[hours.length >> 1] ?? null;
}

test('of agents with as many errors as are allowed, looked at after each call, at most one in twenty is stopped', () => {
  const [agents, calls, allowed] = [3, 400, 5];
  let stopped = 0;
  const rollouts = 500;
  for (let seed = 0; seed < rollouts; seed++) {
    const chance = seedChance(seed);
    const changed = Array.from({ length: agents }, (_, index) => ({
      address: `agent.a${index}`,
      before: { calls: 0, sum: 0 },
      after: { calls: 0, sum: 0 },
    }));
    for (let call = 0; call < calls; call++) {
      const { after } = chance.pick(changed);
      after.calls++;
      if (!chance.isLikely(allowed / 100)) continue;
      after.sum++;
      if (findErrors({ changed, others: [] }, allowed, 95) === null) continue;
      stopped++;
      break;
    }
  }
  expect(stopped / rollouts).toBeLessThanOrEqual(FALSE_ALARMS);
});
