import pLimit from 'p-limit';
import { afterAll, expect, test } from 'vitest';
import { CELLS, type CellOutcome, runCell } from '../kill/makings.ts';
import type { Spoken } from '../kill/matrix.ts';
import { writeResult } from './result.ts';

const AT_ONCE = 3;
const HOUR = 3_600_000;

const PLATFORMS: readonly (readonly [name: string, dialect: Spoken])[] = [
  ['the platform as it is', {}],
  [
    'one that keeps one source of a content',
    {
      duplicates: 'uploaded',
      reingestedFile: 'replaced',
      emptyEnqueue: 'failed',
      ingestionReads: 2,
      createAnswer: 'id',
    },
  ],
  [
    'one that takes its time',
    {
      ingestionReads: 3,
      emptyEnqueue: 'failed',
      listOrder: 'newest',
      pageNames: 'none',
      unknownFields: true,
    },
  ],
];

const outcomes: CellOutcome[] = [];

test.each(PLATFORMS)(
  'whatever befalls a request that makes something, on %s',
  async (_, dialect) => {
    const limit = pLimit(AT_ONCE);
    const run = await Promise.all(CELLS.map((cell) => limit(() => runCell(cell, dialect))));
    outcomes.push(...run);
    expect(run.filter(({ converged }) => !converged)).toEqual([]);
  },
  HOUR,
);

afterAll(async () => {
  const requests = new Set(CELLS.map(({ kind, way, operation }) => `${kind} ${way} ${operation}`));
  await writeResult('makings', {
    requests: requests.size,
    cells: CELLS.length,
    platforms: PLATFORMS.length,
    points: outcomes.length,
    converged: outcomes.filter(({ converged }) => converged).length,
  });
});
