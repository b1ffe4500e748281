import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isResourceName } from '../../src/core/address.ts';
import { nameAll, toSlug } from '../../src/live/names.ts';
import { oddNames } from '../features/writing/export/odd-names.ts';
import { runs } from '../long.ts';

const ID = '1f2e3d4c-0000-4000-8000-000000000000';
const one = (display: string) => nameAll([{ id: ID, display, createdAt: '' }], 'agent').get(ID);

describe('a name', () => {
  test.each([
    ['Front desk', 'front_desk'],
    ["Women's health", 'womens_health'],
    ['Librería Aurora', 'libreria_aurora'],
    ['前台', 'qian_tai'],
    ['Стол заказов', 'stol_zakazov'],
    ['../../etc/passwd', 'etc_passwd'],
    ['CON', 'agent_con'],
    ['Lpt9', 'agent_lpt9'],
    ['Null', 'agent_null'],
    ['Callsheet', 'agent_callsheet'],
    ['node_modules', 'agent_node_modules'],
    ['3M', 'agent_3m'],
    ['', 'agent_1f2e3d4c'],
    ['\u0000\u0007', 'agent_1f2e3d4c'],
    ['\u202E', 'agent_1f2e3d4c'],
    ['x'.repeat(300), 'x'.repeat(48)],
    [
      'a rather long name of an agent that somebody wrote',
      'a_rather_long_name_of_an_agent_that_somebody',
    ],
  ])('%j is %s', (display, name) => {
    expect(one(display)).toBe(name);
  });

  test('is safe, short and the same again, whatever it is made of', () => {
    fc.assert(
      fc.property(oddNames, (display) => {
        const name = one(display) ?? '';
        expect(isResourceName(name)).toBe(true);
        expect(name).toMatch(/^[a-z][a-z0-9_]{0,59}$/);
        expect(toSlug(toSlug(display))).toBe(toSlug(display));
      }),
      { seed: 4711, numRuns: runs(300) },
    );
  });

  test('is its own, whatever order things come in', () => {
    const things = fc.uniqueArray(
      fc.record({ id: fc.uuid(), display: oddNames, createdAt: fc.constantFrom('', '2026-01-01') }),
      { selector: ({ id }) => id, maxLength: 30 },
    );
    fc.assert(
      fc.property(things, (all) => {
        const names = nameAll(all, 'agent');
        expect(new Set(names.values()).size).toBe(all.length);
        expect(nameAll(all.toReversed(), 'agent')).toEqual(names);
      }),
      { seed: 4711, numRuns: runs(200) },
    );
  });

  test('of several stays with the oldest; the others are numbered around what is called so', () => {
    const thing = (id: string, display: string, createdAt: string) => ({ id, display, createdAt });
    const names = nameAll(
      [
        thing('c', 'front desk', '2026-03'),
        thing('b', 'FRONT DESK', '2026-02'),
        thing('a', 'Front-desk', '2026-04'),
        thing('d', 'Front desk 2', '2026-05'),
      ],
      'agent',
    );
    expect(Object.fromEntries(names)).toEqual({
      b: 'front_desk',
      d: 'front_desk_2',
      c: 'front_desk_3',
      a: 'front_desk_4',
    });
  });
});
