import { expect, test } from 'vitest';
import { Secret, type ValueObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import {
  findItem,
  getNaturalKey,
  getRecordKey,
  getScope,
  itemsNamed,
  listKnown,
  listScopes,
} from '../../src/plan/natural-key.ts';
import type { Reader } from '../../src/plan/reader.ts';
import { BAY, HARBOR, world } from '../world.ts';

const place = { knowledge_base_id: 'kb' };
const agent = { organization_id: HARBOR, name: 'Desk' };

/** Names that each stand for one resource alone, by kind; undefined: it has no name. */
test.each<[string, string, ValueObject, string | undefined]>([
  ['all fields of the key', 'agent', agent, `organization_id ${HARBOR}, name Desk`],
  ['nothing without one of them', 'agent', { name: 'Desk' }, undefined],
  ['nothing where one is empty', 'agent', { ...agent, name: '' }, undefined],
  ['nothing where one is no text', 'agent', { ...agent, name: new Secret('env:NAME') }, undefined],
  [
    'the first key that is there',
    'knowledge_source',
    { ...place, url: 'https://a.example.test', name: 'A' },
    'knowledge_base_id kb, url https://a.example.test',
  ],
  ['or the next', 'knowledge_source', { ...place, name: 'A' }, 'knowledge_base_id kb, name A'],
  [
    'or the next where the first is empty',
    'knowledge_source',
    { ...place, url: '', name: 'A' },
    'knowledge_base_id kb, name A',
  ],
])('a resource is named by %s', (_title, kind, document, expected) => {
  const key = getNaturalKey(kindNamed(kind), document);
  const told = key && JSON.parse(key).map((part: readonly string[]) => part.join(' '));
  expect(told?.join(', ')).toBe(expected);
});

test('a resource is named alike wherever a comparison finds its name and its place the same', () => {
  const kind = kindNamed('agent');
  const live = { organization_id: HARBOR.toUpperCase(), name: 'Desk' };
  expect(getRecordKey(kind, live, { organization_id: HARBOR })).toBe(getNaturalKey(kind, agent));
  expect(getNaturalKey(kind, { ...agent, name: 'Desk\n' })).toBe(getNaturalKey(kind, agent));
});

test('a record of a list is named as the configuration names it, by the list that it stands in', () => {
  const kind = kindNamed('agent');
  const scope = { organization_id: HARBOR };
  const key = getNaturalKey(kind, agent);
  expect(getRecordKey(kind, { id: 'a1', name: 'Desk' }, scope)).toBe(key);
  expect(getRecordKey(kind, { id: 'a1', ...agent }, { organization_id: BAY })).toBe(key);
});

test('a kind is looked for where the configuration or the state has one of it, each place once', () => {
  const made = world()
    .desired({
      'agent.a': { name: 'A' },
      'agent.b': { name: 'B' },
      'retry_policy.p': { name: 'P' },
      'knowledge_source.s': { ...place, name: 'S' },
    })
    .applied({
      'agent.c': { id: 'a3', name: 'C' },
      'agent.d': { id: 'a4', name: 'D', organization_id: BAY },
      'knowledge_source.t': { id: 's2', knowledge_base_id: 'other', name: 'T' },
    });
  const scopes = (kind: string, state = made.state()) =>
    listScopes(kindNamed(kind), made.wanted(), state);
  expect(scopes('agent')).toEqual([{ organization_id: HARBOR }, { organization_id: BAY }]);
  expect(scopes('knowledge_source')).toEqual([place, { knowledge_base_id: 'other' }]);
  expect(scopes('email_template')).toEqual([]);
  expect(listScopes(kindNamed('agent'), made.wanted(), undefined)).toEqual([
    { organization_id: HARBOR },
  ]);
});

test('a resource that says no place stands in none', () => {
  expect(getScope(kindNamed('agent'), { name: 'Desk' })).toEqual({ organization_id: '' });
});

test('of a list is kept what tells resources apart; all of it where they have no read of their own', async () => {
  const kept = async (name: string) => {
    const asked: Parameters<Reader['list']>[] = [];
    const list: Reader['list'] = async (...of) => {
      asked.push(of);
      return [];
    };
    await listKnown({ list }, kindNamed(name), { organization_id: HARBOR });
    return asked.map(([, , , fields]) => fields);
  };
  const [agents] = await kept('agent');
  expect(agents).toEqual(
    expect.arrayContaining(['organization_id', 'name', 'created_at', 'updated_at']),
  );
  expect(agents).not.toContain('system_prompt');
  expect(await kept('custom_voice')).toEqual([undefined]);
});

test('a fleet is looked for in a list that is gone through once, by ids and by names', () => {
  const kind = kindNamed('agent');
  const scope = { organization_id: HARBOR };
  const seen = { ids: 0, names: 0 };
  const items = Array.from({ length: 200 }, (_, at) => ({
    get id() {
      seen.ids += 1;
      return `a${at}`;
    },
    scope,
    record: {
      get name() {
        seen.names += 1;
        return `Desk ${at}`;
      },
    },
  }));
  for (const [at, item] of items.entries()) {
    const key = getNaturalKey(kind, { ...scope, name: `Desk ${at}` }) ?? '';
    expect(findItem(items, `a${at}`)).toBe(item);
    expect(itemsNamed(items, kind, scope, key)).toEqual([item]);
  }
  expect(seen.ids).toBeLessThan(2000);
  expect(seen.names).toBeLessThan(2000);
});
