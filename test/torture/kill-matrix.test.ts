import pLimit from 'p-limit';
import { afterAll, describe, expect, test } from 'vitest';
import { killAt, momentsOf, type Outcome, type Spoken } from '../kill/matrix.ts';
import { SCENARIOS } from '../kill/scenarios.ts';
import { matrixResult, matrixTable } from '../kill/table.ts';
import { writeResult } from './result.ts';

/** Kills under way at once: each waits for disk and sockets most of its time. */
const AT_ONCE = 3;
const HOUR = 3_600_000;

/** A platform that shows as little as it may, shows it late, and keeps what was announced. */
const SPARSE: Spoken = {
  listFields: 'fewest',
  listUpdatedAt: false,
  listOrder: 'newest',
  createAnswer: 'id',
  updateAnswer: 'success',
  merge: 'shallow',
  duplicates: 'uploaded',
  historyOrder: 'oldest',
  facetEntries: true,
  historyLagMs: 100,
};

const PLATFORMS: readonly (readonly [name: string, dialect: Spoken, every: number])[] = [
  ['the platform as it is', {}, 1],
  ['a platform that shows little', SPARSE, 3],
];

const outcomes: Outcome[] = [];

for (const [platform, dialect, every] of PLATFORMS)
  describe(platform, () => {
    test.each(SCENARIOS)(
      'killed at every moment: $name',
      async (scenario) => {
        const moments = await momentsOf(scenario, dialect);
        const limit = pLimit(AT_ONCE);
        const killed = await Promise.all(
          moments
            .filter((_, index) => index % every === 0)
            .map((moment) => limit(() => killAt(scenario, moment, dialect))),
        );
        outcomes.push(...killed);
        expect(killed.filter(({ converged }) => !converged)).toEqual([]);
      },
      HOUR,
    );
  });

afterAll(async () => {
  process.stdout.write(`${matrixTable(outcomes)}\n`);
  await writeResult('kill_matrix', matrixResult(outcomes));
});
