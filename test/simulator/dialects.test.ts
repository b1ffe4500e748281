import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFAULT_DIALECT, DIALECT_OPTIONS, type Dialect } from '../../src/simulator/index.ts';
import { answersReadings } from './readings/answers.ts';
import { knowledgeReadings } from './readings/knowledge.ts';
import { listsReadings } from './readings/lists.ts';
import type { Readings } from './readings/reading.ts';
import { writesReadings } from './readings/writes.ts';
import { createWorld, SEED } from './world.ts';

const READINGS: Readings<keyof Dialect> = {
  ...writesReadings,
  ...listsReadings,
  ...knowledgeReadings,
  ...answersReadings,
};

const rows = Object.entries(READINGS).flatMap(([name, { seed = SEED, look, shows }]) =>
  shows.map(([value, expected]) => ({ name, value, seed, look, expected })),
);

test.each(rows)('$name: $value', async ({ name, value, seed, look, expected }) => {
  await using world = await createWorld({
    seed,
    dialect: { [name]: value },
    outsideContract: true,
  });
  expect(await look(world)).toEqual(expected);
});

test('every value of every option is looked at', () => {
  const count = (entries: readonly (readonly [string, number])[]) =>
    Object.fromEntries(entries.toSorted());
  const shown = Object.entries(READINGS).map(([name, { shows }]) => [name, shows.length] as const);
  const accepted = Object.entries(DIALECT_OPTIONS).map(
    ([name, { accepts }]) => [name, Math.max(2, accepts.split(' or ').length)] as const,
  );
  expect(count(shown)).toEqual(count(accepted));
});

test('the documentation lists every option with its default and what it accepts', () => {
  const text = readFileSync(new URL('../../docs/reference/simulator.md', import.meta.url), 'utf8');
  const section = /## Dialects\n(.*?)\n## /s.exec(text)?.[1] ?? '';
  const listed = [...section.matchAll(/^\| `(\w+)` \| `([^`]+)` \| (.*?) \|/gm)].map(
    ([, name, value, accepts]) => [name, value, accepts?.replaceAll('`', '')],
  );
  const options = Object.entries(DEFAULT_DIALECT).map(([name, value]) => [
    name,
    Array.isArray(value) ? '[]' : String(value),
    DIALECT_OPTIONS[name as keyof Dialect].accepts,
  ]);
  expect(listed).toEqual(options);
});
