import fc from 'fast-check';
import type { Dialect } from '../../src/simulator/index.ts';
import { VALUES } from '../e2e/dialect-table.ts';
import { story } from './commands.ts';
import type { Sequence } from './play.ts';

/**
 * Readings that this model does not draw: a platform that refuses nulls or lacks a list cannot be brought to what files
 * say (`test/worlds` shows what is said then), and the others change what is read and not what is stored.
 */
const LEFT_OUT = [
  ...['absent', 'nulls', 'emptyText', 'nestedDefaults', 'metrics', 'historyLagMs'],
  // They have a property of their own (`test/apply/stored.test.ts`).
  ...['stores', 'counters'],
];

const dialect: fc.Arbitrary<Partial<Dialect>> = fc
  .record(
    Object.fromEntries(
      Object.entries(VALUES)
        .filter(([name]) => !LEFT_OUT.includes(name))
        .map(([name, values]) => [name, fc.constantFrom<unknown>(...values)]),
    ),
  )
  // Names and values come from one table.
  .map((drawn) => drawn as Partial<Dialect>);

/** The commands of a sequence. */
const LENGTH = 20;

/** Sequences of commands. What fails is made smaller by leaving stories out, and steps of them. */
export const sequences: fc.Arbitrary<Sequence> = fc.record({
  dialect,
  pace: fc.constantFrom(2_000, 61_000, 61_000),
  commands: fc
    .array(fc.option(story, { freq: 1_000 }), { minLength: LENGTH, maxLength: LENGTH })
    .map((stories) =>
      stories
        .flatMap((one) => one ?? [])
        .filter((one) => one !== null)
        .slice(0, LENGTH),
    ),
});
