import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { kinds } from '../../src/kinds/index.ts';
import { coveringRows, longRows } from '../long.ts';
import { CELLS, runCell, runWayBack, stepsOf, WAYS_BACK } from './makings.ts';
import { isIdle, killAt, type Moment, momentsOf, stepOf } from './matrix.ts';
import { SCENARIOS } from './scenarios.ts';

/** Some twenty commands killed and gone on with, seconds on a machine that is not busy. */
const TIMEOUT = 120_000;

// Every moment of every scenario is longer: npm run torture. Here every third step that changes something is taken once.
test(
  'killed once at every step, an apply converges without a duplicate',
  async () => {
    const [scenario] = SCENARIOS;
    if (scenario === undefined) throw new Error('there is no scenario');
    const moments = (await momentsOf(scenario)).filter((moment) => !isIdle(moment));
    const steps = new Map<string, Moment>(moments.map((moment) => [stepOf(moment), moment]));
    // What a run does on the disk and on the wire: if this falls, some steps are no longer seen.
    expect(steps.size).toBeGreaterThan(15);
    const limit = pLimit(4);
    const taken = longRows([...steps.values()], (_, at) => at % 3 === 0);
    const killed = taken.map((moment) => limit(() => killAt(scenario, moment)));
    const outcomes = await Promise.all(killed);
    expect(outcomes.filter(({ converged }) => !converged)).toEqual([]);
  },
  TIMEOUT,
);

test(
  'killed while it puts back, a rollback is gone on with by the same command',
  async () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'rollback of that apply');
    if (scenario === undefined) throw new Error('there is no scenario');
    const moments = (await momentsOf(scenario)).filter(({ name }) => /request POST/.test(name));
    expect(moments.length).toBeGreaterThan(7);
    const limit = pLimit(4);
    // The one that makes the former one again beside what the apply made in its place, and others.
    const few = moments.filter(
      ({ name, nth }, index) =>
        index % 4 === 2 || (name === 'after request POST createSmsTemplate' && nth === 1),
    );
    const outcomes = await Promise.all(few.map((moment) => limit(() => killAt(scenario, moment))));
    expect(outcomes.filter(({ converged }) => !converged)).toEqual([]);
  },
  TIMEOUT,
);

test(
  'killed beside a write, an apply that takes resources over writes none of the secrets that it left alone',
  async () => {
    const scenario = SCENARIOS.find(({ env }) => env !== undefined);
    if (scenario === undefined) throw new Error('there is no scenario');
    const moments = await momentsOf(scenario);
    const writes = moments.filter(({ name }) => /request (PUT|PATCH)/.test(name));
    expect(writes.length).toBeGreaterThan(7);
    const limit = pLimit(4);
    const few = writes.filter((_, index) => index % 4 === 0);
    const outcomes = await Promise.all(few.map((moment) => limit(() => killAt(scenario, moment))));
    expect(outcomes.filter(({ converged }) => !converged)).toEqual([]);
  },
  TIMEOUT,
);

// The whole matrix on several platforms is longer: npm run torture.
const TAKEN = CELLS.filter(
  ({ way, mishap }) =>
    (way === 'document' && ['answer lost three times', 'killed after'].includes(mishap)) ||
    (way === 'replacement' && mishap === 'answered 500'),
);

test(
  'whatever befalls a request of a document or a replacement, it is made once and whole',
  async () => {
    expect(TAKEN).toHaveLength(14);
    const limit = pLimit(4);
    const outcomes = await Promise.all(TAKEN.map((cell) => limit(() => runCell(cell))));
    expect(outcomes.filter(({ converged }) => !converged)).toEqual([]);
  },
  TIMEOUT,
);

test(
  'a rollback of a run that went on with a making leaves what the platform has in the state',
  async () => {
    const limit = pLimit(4);
    const taken = coveringRows(WAYS_BACK, ({ kind, way, mishap, dies }) => [
      kind,
      way,
      mishap,
      dies,
    ]);
    const outcomes = await Promise.all(taken.map((one) => limit(() => runWayBack(one))));
    expect(outcomes.filter(({ converged }) => !converged)).toEqual([]);
  },
  TIMEOUT,
);

test('the table of what makes something names every request that creates', () => {
  const named = new Set(
    kinds.flatMap((kind) => stepsOf(kind).flatMap(({ operations }) => operations)),
  );
  const creating = kinds.flatMap((kind) => kind.operations.create);
  expect(creating.filter((operation) => !named.has(operation))).toEqual([]);
});
