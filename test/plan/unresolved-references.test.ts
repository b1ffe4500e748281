import { expect, test } from 'vitest';
import type { Address } from '../../src/core/address.ts';
import type { Change, FieldChange } from '../../src/core/plan-document.ts';
import { refuseUnresolved } from '../../src/plan/references.ts';
import { desiredResource, world } from '../world.ts';

/** A change of `retry_policy.NAME`, and what it refers to. */
type Row = Partial<Change> & { readonly name: string; readonly to?: readonly string[] };

const addressOf = (name: string): Address => `retry_policy.${name}`;
const link = (to: string) => ({ $ref: addressOf(to) });
const writing = (after: FieldChange['after']) => ({
  path: 'rules.next',
  before: null,
  after,
  secret: false,
  cause: 'changed' as const,
});

/** What becomes of changes, as `name verdict why`. `there` are those that exist. */
async function judged(rows: readonly Row[], there: readonly string[] = []) {
  const { plan } = await world()
    .desired({ 'retry_policy.base': { name: 'Base' } })
    .plan();
  const [base] = plan.changes;
  if (base === undefined) throw new Error('a policy is made');
  const changes = rows.map(({ name, to = [], ...more }): Change => {
    const fields = [writing('plain'), ...to.map((one) => writing(link(one)))];
    return { ...base, address: addressOf(name), reason: 'new', fields, ...more };
  });
  const desired = rows.map(({ name, to = [] }) =>
    desiredResource(addressOf(name), { name, rules: { next: to.map(link) } }),
  );
  const ids = new Map(there.map((name) => [addressOf(name), `id-${name}`]));
  return refuseUnresolved(changes, desired, ids).map(({ address, verdict, reason, operations }) => {
    const why = reason.replace(/^new(; it refers to retry_policy\.)?/, '');
    return [`${address.slice('retry_policy.'.length)} ${verdict} ${why}`.trim(), operations.length];
  });
}

const refused = { verdict: 'refused' } as const;
const unsupported = { verdict: 'unsupported', operations: [] } as const;
const NOT_MADE = 'which does not exist and which this plan does not create';
const REFUSED = 'which does not exist and is refused too';

test.each<[string, readonly Row[], readonly string[], readonly string[]]>([
  ['is there', [{ name: 'a', to: ['b'] }], ['b'], ['a ok']],
  ['is made before', [{ name: 'b' }, { name: 'a', to: ['b'] }], [], ['b ok', 'a ok']],
  [
    'is made anew before',
    [
      { name: 'b', action: 'replace' },
      { name: 'a', to: ['b'] },
    ],
    [],
    ['b ok', 'a ok'],
  ],
  ['is left out', [{ name: 'a', to: ['b'] }], [], [`a refused b, ${NOT_MADE}`]],
  [
    'is only taken note of',
    [
      { name: 'b', action: 'forget' },
      { name: 'a', to: ['b'] },
    ],
    [],
    ['b ok', `a refused b, ${NOT_MADE}`],
  ],
  [
    'is refused, and so on down the line',
    [
      { name: 'c', ...refused },
      { name: 'b', to: ['c'] },
      { name: 'a', to: ['b'] },
    ],
    [],
    ['c refused', `b refused c, ${REFUSED}`, `a refused b, ${REFUSED}`],
  ],
  [
    'is there and refused',
    [
      { name: 'b', ...refused },
      { name: 'a', to: ['b'] },
    ],
    ['b'],
    ['b refused', 'a ok'],
  ],
  [
    'is unsupported, and so on down the line',
    [
      { name: 'c', ...unsupported },
      { name: 'b', to: ['c'] },
      { name: 'a', to: ['b'] },
    ],
    [],
    ['c unsupported', `b unsupported c, ${NOT_MADE}`, `a unsupported b, ${NOT_MADE}`],
  ],
  [
    'is missing, where it is refused anyway',
    [{ name: 'a', to: ['b'], ...refused }],
    [],
    ['a refused'],
  ],
  [
    'is missing, where nothing is written',
    [{ name: 'a', to: ['b'], operations: [] }],
    [],
    ['a ok'],
  ],
  [
    'is missing, where something else is written',
    [{ name: 'a', to: ['b', 'c'], fields: [writing(link('c')), writing({ b: 1 })] }],
    ['c'],
    ['a ok'],
  ],
  ['is one of several', [{ name: 'a', to: ['c', 'b'] }], ['c'], [`a refused b, ${NOT_MADE}`]],
])('a change that refers to what %s', async (_title, rows, there, expected) => {
  expect((await judged(rows, there)).map(([told]) => told)).toEqual(expected);
});

test('what is unsupported has nothing to do, what is refused would have', async () => {
  const rows = [
    { name: 'c', ...unsupported },
    { name: 'b', to: ['c'] },
    { name: 'a', to: ['d'] },
  ];
  expect((await judged(rows)).map(([, steps]) => steps)).toEqual([0, 0, 1]);
});
