import { describe, expect, test } from 'vitest';
import { liveOn } from './dialect-life.ts';
import { DIALECTS } from './dialect-table.ts';

/** The first one has most pairs of readings; `npm run torture` goes through all. */
const TRIED = 1;

describe('whatever the specification leaves open, Callsheet comes to the same end', () => {
  test.each(DIALECTS.slice(0, TRIED))('on a platform with $name', ({ dialect }) => liveOn(dialect));

  test('every two readings meet in one of the dialects', () => {
    const met = new Set<string>();
    const readings = new Map<string, Set<string>>();
    for (const { dialect } of DIALECTS) {
      const chosen = Object.entries(dialect).map(([name, value]) => {
        const reading = `${name} ${JSON.stringify(value)}`;
        readings.set(name, (readings.get(name) ?? new Set()).add(reading));
        return reading;
      });
      for (const one of chosen) for (const other of chosen) met.add(`${one}, ${other}`);
    }
    const unmet = [...readings].flatMap(([name, ones]) =>
      [...readings]
        .filter(([other]) => other !== name)
        .flatMap(([, others]) =>
          [...ones].flatMap((one) => [...others].map((other) => `${one}, ${other}`)),
        )
        .filter((pair) => !met.has(pair)),
    );
    expect(readings.size).toBeGreaterThan(40);
    expect(unmet).toEqual([]);
  });
});
