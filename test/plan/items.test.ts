import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { findItem, getNaturalKey, itemsNamed } from '../../src/plan/natural-key.ts';
import { BAY, HARBOR } from '../world.ts';

const agent = kindNamed('agent');
const item = (id: string, record: JsonObject) => ({ id, scope: {}, record: { id, ...record } });
const keyOf = (kind: string, document: JsonObject) =>
  getNaturalKey(kindNamed(kind), document) ?? '';
const named = (name: string, organization_id: string) => keyOf('agent', { name, organization_id });

describe('in a list that is looked through again and again', () => {
  const LIST = [
    item('a-1', { name: 'Desk' }),
    item('a-2', { name: 'Night' }),
    item('a-3', { name: 'Desk' }),
    item('a-2', { name: 'Night again' }),
  ];
  const harbor = { organization_id: HARBOR };
  const bay = { organization_id: BAY };
  const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

  test('an item is found by its id, the first of an id that is there twice', () => {
    expect(findItem(LIST, 'a-2')?.record.name).toBe('Night');
    expect(findItem(LIST, 'a-3')?.record.name).toBe('Desk');
    expect(findItem(LIST, 'a-9')).toBeUndefined();
    expect(findItem([item('a-9', {})], 'a-9')?.id).toBe('a-9');
  });

  test('items of one natural key are found in their order', () => {
    expect(idsOf(itemsNamed(LIST, agent, harbor, named('Desk', HARBOR)))).toEqual(['a-1', 'a-3']);
    expect(idsOf(itemsNamed(LIST, agent, harbor, named('Night', HARBOR)))).toEqual(['a-2']);
    expect(itemsNamed(LIST, agent, harbor, named('Nobody', HARBOR))).toEqual([]);
  });

  test('what was found in one scope is not taken for what is in another', () => {
    expect(itemsNamed(LIST, agent, harbor, named('Desk', BAY))).toEqual([]);
    expect(idsOf(itemsNamed(LIST, agent, bay, named('Desk', BAY)))).toEqual(['a-1', 'a-3']);
  });

  test('what was found of one kind is not taken for what is of another', () => {
    const policy = kindNamed('retry_policy');
    const key = keyOf('retry_policy', { name: 'Desk' });
    const voice = kindNamed('custom_voice');
    expect(idsOf(itemsNamed(LIST, policy, {}, key))).toEqual(['a-1', 'a-3']);
    expect(itemsNamed(LIST, voice, {}, key)).toEqual([]);
  });
});
