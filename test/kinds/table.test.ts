import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTorture, timeFor } from '../long.ts';
import {
  cellsOf,
  dialects,
  FIELDS,
  type Field,
  fillTable,
  type Outcome,
  sayWrong,
  WAYS,
} from './table.ts';

/** `npm test` fills the same cells each time; torture draws all of them anew. CALLSHEET_SEED draws others. */
const SEED = Number(process.env.CALLSHEET_SEED ?? (isTorture ? Date.now() % 2 ** 31 : 41));
/** Of so many fields of a kind `npm test` takes one. */
const EVERY = 9;
/** Fields on one platform. */
const TOGETHER = 41;

/** Other fields with CALLSHEET_FIELD, which is a pattern: `^agent\.config`. */
const { CALLSHEET_FIELD: pattern } = process.env;
const taken = FIELDS.filter(({ kind, name }, at) =>
  pattern === undefined
    ? isTorture || (at - FIELDS.findIndex((one) => one.kind === kind)) % EVERY === 0
    : new RegExp(pattern).test(name),
);
const batches = Array.from({ length: Math.ceil(taken.length / TOGETHER) }, (_, at) => ({
  at,
  // Each platform has fields of every kind.
  fields: taken.filter((_, index) => index % Math.ceil(taken.length / TOGETHER) === at),
}));

async function fill(fields: readonly Field[], seed: number): Promise<readonly Outcome[]> {
  const [drawn] = fc.sample(fc.record({ dialect: dialects, cells: cellsOf(fields) }), {
    seed,
    numRuns: 1,
  });
  if (drawn === undefined) throw new Error('nothing was drawn');
  const outcomes = await fillTable(drawn);
  const wrong = outcomes.flatMap(sayWrong);
  expect(wrong, `CALLSHEET_SEED=${seed}, ${JSON.stringify(drawn.dialect)}`).toEqual([]);
  return outcomes;
}

const filled: Outcome[] = [];

test.each(batches)(
  `every field and every way: live as the files say, or a sentence that forbids it (seed ${SEED}, part $at)`,
  async ({ at, fields }) => {
    const outcomes = await fill(fields, SEED + at);
    for (const { name } of fields) {
      const own = outcomes.filter(({ cell }) => cell.name === name);
      expect(own.map(({ way }) => way).sort(), name).toEqual([...WAYS].sort());
    }
    filled.push(...outcomes);
  },
  timeFor(600),
);

test('the table has a cell for each of them', () => {
  const kinds = [...new Set(taken.map(({ kind }) => kind.name))];
  const rows = WAYS.map((way) => {
    const counts = kinds.map((kind) => {
      const own = filled.filter(({ cell, way: other }) => cell.kind.name === kind && other === way);
      return `${own.filter(({ is }) => is === 'live').length}+${own.filter(({ is }) => is === 'said').length}`;
    });
    return [way, ...counts];
  });
  const lines = [['live + said', ...kinds], ...rows].map((row) =>
    row.map((text) => text.padEnd(24)).join(''),
  );
  if (isTorture) process.stdout.write(`${lines.join('\n')}\n`);
  expect(filled.length).toBe(taken.length * WAYS.length);
});
