import { describe, expect, test } from 'vitest';
import { identitySegment } from '../../src/core/path.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { schemasAlong, twinsOn, valueAt } from '../../src/core/walk.ts';
import { listLeaves } from '../../src/diff/leaves.ts';
import { agent } from '../../src/kinds/agent.ts';

const DOCUMENT = {
  name: 'Desk',
  voice_settings: { speed: 1, 'odd key': { deep: true } },
  email: ['a@x.test'],
  extensions: {
    tools: [
      { name: 'crm', headers: [{ key: 'X-Key', value: 'v' }] },
      { name: 'look up', url: 'https://x.test' },
    ],
  },
};

describe('what stands at a path', () => {
  test.each([
    [['name'], 'Desk'],
    [['voice_settings', 'odd key', 'deep'], true],
    [['voice_settings', 'odd key'], { deep: true }],
    [['extensions', 'tools', '[crm]', 'headers', '[X-Key]', 'value'], 'v'],
    [['extensions', 'tools', '["look up"]', 'url'], 'https://x.test'],
    [['extensions', 'tools', '[crm]', 'headers'], [{ key: 'X-Key', value: 'v' }]],
    [['extensions', 'tools', '[none]', 'url'], undefined],
    [['name', 'deeper'], undefined],
    [['email', '[a@x.test]'], undefined],
    [['email', '[""]'], undefined],
    [['voice_settings', 'constructor'], undefined],
    [['absent'], undefined],
  ])('%j', (path, expected) => {
    expect(valueAt(agent.schema, DOCUMENT, path)).toEqual(expected);
  });

  test('is what its leaf holds, for every leaf', () => {
    for (const { path, value, schema } of listLeaves(agent.schema, DOCUMENT).leaves.values()) {
      expect(valueAt(agent.schema, DOCUMENT, path)).toEqual(value);
      expect(schemasAlong(agent.schema, path).at(-1)).toEqual(schema);
    }
  });
});

describe('elements that nobody can tell apart', () => {
  const CRM = { name: 'crm', url: 'https://crm.example.test' };
  const OTHER = { name: 'crm', url: 'https://other.example.test' };
  const LOG = { name: 'log', headers: [{ key: 'Cookie' }, { key: 'Cookie' }] };
  const of = (tools: readonly JsonObject[], path: readonly string[]) =>
    twinsOn(agent.schema, { name: 'Desk', email: ['a', 'a'], extensions: { tools } }, path);
  const AT = ['extensions', 'tools'];

  test('are those that share the identity on the way', () => {
    expect(of([CRM, LOG, OTHER], [...AT, '[crm]', 'url'])).toEqual({
      list: AT,
      key: 'name',
      name: 'crm',
      elements: [CRM, OTHER],
    });
  });

  test('are those of one identity whichever of them is meant', () => {
    expect(of([CRM, OTHER], [...AT, '[crm#2]', 'url'])?.elements).toEqual([CRM, OTHER]);
  });

  test('are those without an identity, too', () => {
    const nameless = [{ url: 'https://a.example.test' }, { name: null }];
    expect(of([CRM, ...nameless], [...AT, '[""]', 'url'])).toMatchObject({
      name: '',
      elements: nameless,
    });
  });

  test('are those that only a credential in their identity tells apart', () => {
    const [one, other] = ['one', 'two'].map((token) => ({
      name: `https://a.test/?token=${token}`,
    }));
    const path = [...AT, identitySegment('https://a.test/?token=two')];
    expect(of([one ?? {}, other ?? {}], path)?.elements).toEqual([one, other]);
  });

  test.each<[string, readonly JsonObject[], readonly string[]]>([
    ['the only one of its identity', [CRM, LOG], [...AT, '[crm]', 'url']],
    ['one that is not there', [CRM, OTHER], [...AT, '[log]', 'url']],
    ['one of a list in which identities repeat', [LOG], [...AT, '[log]', 'headers', '[Cookie]']],
    ['a list that holds twins', [CRM, OTHER], AT],
    ['an element of a list without identities', [CRM, OTHER], ['email', '[a]']],
    ['a field beside the list', [CRM, OTHER], ['name']],
  ])('are not found for %s', (_what, tools, path) => {
    expect(of(tools, path)).toBeUndefined();
  });

  test('are not found where there is no list', () => {
    expect(twinsOn(agent.schema, { name: 'Desk' }, [...AT, '[crm]'])).toBeUndefined();
  });
});
