import { expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { createDiscovery } from '../../src/plan/identify.ts';
import { referredKinds } from '../../src/plan/references.ts';
import { world } from '../world.ts';

const policy = (id: string) => ({ id, name: id });
const agent = (id: string, more = {}) => ({ id, name: id, ...more });

/** Agents whose policies nobody can list, and what is asked to find them. */
function searched(applied = {}) {
  const made = world()
    .desired({ 'agent.a': { name: 'a1' }, 'retry_policy.p': { name: 'p1' } })
    .applied(applied)
    .live({
      retry_policy: [policy('p1'), policy('p2'), policy('p3'), policy('a1')],
      custom_voice: [policy('v1')],
      agent: [
        agent('a1', { default_retry_policy_id: 'p1' }),
        agent('a2', { default_retry_policy_id: 'p1', voice_settings: { voice_id: 'v1' } }),
        agent('a3', { default_retry_policy_id: '' }),
        agent('a4', { default_retry_policy_id: null }),
        agent('a5', { default_retry_policy_id: 'gone' }),
      ],
    })
    .lacking({ listRetryPolicies: 'absent' });
  const reader = made.reader();
  const asked: string[] = [];
  const discover = createDiscovery(made.wanted(), made.state(), {
    ...reader,
    list: (kind, ...rest) => {
      asked.push(`list ${kind.name}`);
      return reader.list(kind, ...rest);
    },
    read: (kind, at, ...rest) => {
      asked.push(`read ${at.id}`);
      return reader.read(kind, at, ...rest);
    },
  });
  return { asked, find: () => discover(kindNamed('retry_policy'), {}) };
}

const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

test('without a list, resources are found by what refers to them, each once', async () => {
  const { find, asked } = searched();
  const found = await find();
  expect(found).toEqual([{ id: 'p1', scope: {}, record: policy('p1') }]);
  const agents = ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => `read ${id}`);
  expect(asked).toEqual(['list agent', ...agents, 'read p1', 'read gone']);
});

test('and by the state', async () => {
  const { find } = searched({
    'retry_policy.p': { id: 'p2', name: 'p2' },
    'agent.a': { id: 'a1', name: 'a1' },
  });
  expect(ids(await find())).toEqual(['p2', 'p1']);
});

test('whoever refers to them is asked once, however often they are looked for', async () => {
  const { find, asked } = searched();
  expect(ids(await find())).toEqual(ids(await find()));
  expect(asked.filter((one) => one === 'list agent')).toHaveLength(1);
});

test('a list that cannot be had refers to nothing', async () => {
  const made = world()
    .desired({ 'agent.a': { name: 'A' } })
    .lacking({ listRetryPolicies: 'absent', listAgents: 'absent' });
  const discover = createDiscovery(made.wanted(), undefined, made.reader());
  expect(await discover(kindNamed('retry_policy'), {})).toEqual([]);
});

test.each<[string, FieldSchema, readonly string[]]>([
  ['nothing', { properties: { name: { type: 'string' } } }, []],
  ['a field', { properties: { voice: { 'x-ref': 'custom_voice' } } }, ['custom_voice']],
  [
    'elements of a list',
    { properties: { all: { items: { 'x-ref': 'retry_policy' } } } },
    ['retry_policy'],
  ],
  [
    'definitions',
    { $defs: { step: { properties: { to: { 'x-ref': 'agent' } } } }, properties: {} },
    ['agent'],
  ],
])('the kinds that a schema refers to by %s', (_title, schema, expected) => {
  expect([...referredKinds(schema)]).toEqual(expected);
});
