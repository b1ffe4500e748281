import { afterAll, describe, expect, test } from 'vitest';
import type { PlayedRollouts } from '../../../scripts/reliability/figures.ts';
import { renderRollouts } from '../../../scripts/reliability/render.ts';
import { isTorture } from '../../long.ts';
import { writeResult } from '../../torture/result.ts';
import { openDecisions } from './decide.ts';
import { AGENTS, type Outcome, play, WORLDS } from './worlds.ts';

/** Rollouts of each change in each world. `npm run torture` prints the table of the documentation. */
const ROLLOUTS = isTorture ? Number(process.env.ROLLOUTS ?? 2000) : 4;

const CHANGES = { nothing: 0, '10 % of outcomes': 0.1, '80 % of outcomes': 0.8 };
const table: PlayedRollouts[] = [];

/** The share that may be stopped of harmless changes, and the one that must be of others; fewer rollouts say less. */
const [MOST, LEAST] = isTorture ? [0.05, 0.9] : [0.5, 0.5];
const MOST_HOURS = 12;

describe('rollouts with all rails on, looked at every three hours', () => {
  test.each(WORLDS)(
    '$name',
    (world) => {
      const [harmless = [], careless = [], disaster = []] = Object.values(CHANGES).map((cost) =>
        Array.from({ length: ROLLOUTS }, (_, seed) => play(world, cost, seed, openDecisions())),
      );
      const isStopped = ({ end }: Outcome) => end === 'rolled back' || end === 'held';
      const count = (all: readonly Outcome[]) => {
        const stopped = all.filter(isStopped);
        const finished = all.filter(({ end }) => end === 'finished');
        return {
          stopped: stopped.length,
          early: stopped.filter(({ agents }) => agents < AGENTS / 2).length,
          finished: finished.length,
          hours_to_stop: medianHours(stopped),
          hours_to_finish: medianHours(finished),
        };
      };
      const rows = [harmless, careless, disaster].map(count);
      for (const [index, change] of Object.keys(CHANGES).entries()) {
        const row = rows[index];
        if (row !== undefined)
          table.push({ fleet: world.name, change, rollouts: ROLLOUTS, ...row });
      }
      const share = (row = 0, of: 'stopped' | 'early' | 'finished' = 'stopped') =>
        (rows[row]?.[of] ?? 0) / ROLLOUTS;
      expect(share(0)).toBeLessThanOrEqual(MOST);
      if (world.isFeasible !== false) {
        expect(share(1, 'early')).toBeGreaterThanOrEqual(LEAST);
        expect(rows[2]?.hours_to_stop ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(MOST_HOURS);
      }
      expect(share(1, 'finished')).toBeLessThanOrEqual(1 - LEAST);
      expect(share(2)).toBeGreaterThanOrEqual(LEAST);
    },
    isTorture ? 3_600_000 : 60_000,
  );

  afterAll(async () => {
    if (!isTorture) return;
    process.stdout.write(`${renderRollouts(table)}\n`);
    // A part of the table would look like all of it.
    if (table.length === 3 * WORLDS.length) await writeResult('rollouts', table);
  });
});

function medianHours(outcomes: readonly Outcome[]): number | null {
  const hours = outcomes.map((one) => one.hours).sort((a, b) => a - b);
  return hours[hours.length >> 1] ?? null;
}
