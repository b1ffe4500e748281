import { describe, expect, test } from 'vitest';
import { identitySegment } from '../../src/core/path.ts';
import type { Json, JsonObject } from '../../src/core/value.ts';
import {
  elementNode,
  isElementName,
  memberNode,
  placeValue,
  rootNode,
  schemasAlong,
  twinsOn,
  valueAt,
} from '../../src/core/walk.ts';
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

describe('what an element is known by', () => {
  const AT = ['extensions', 'tools', '[crm]'];
  test.each([
    [[...AT, 'name'], true],
    [[...AT, 'headers', '[X-Key]', 'key'], true],
    [[...AT, 'url'], false],
    [[...AT, 'headers', '[X-Key]', 'value'], false],
    [AT, false],
    [['name'], false],
    [['extensions', 'name'], false],
  ])('stands at %j: %s', (path, expected) => {
    expect(isElementName(agent.schema, path)).toBe(expected);
  });
});

describe('what is asked of a schema once', () => {
  const SCHEMA = {
    properties: {
      tools: { 'x-identity': 'name', items: { properties: { name: {} } } },
      anything: {},
      note: { description: 'Whatever somebody wrote.' },
    },
  };
  const facts = ({ isNamed, isElement, isOfElement, isFree }: ReturnType<typeof rootNode>) =>
    Object.entries({ isNamed, isElement, isOfElement, isFree }).flatMap(([fact, is]) =>
      is ? [fact] : [],
    );
  const root = rootNode(SCHEMA);
  const below = (key: string) => memberNode(root, key, '').node;
  const tool = elementNode(below('tools'));

  test.each([
    ['a document', root, ['isNamed']],
    ['a member that is named, though nothing else is said of it', below('anything'), ['isNamed']],
    ['a member that nobody names', below('odd'), ['isFree']],
    ['an element', tool, ['isNamed', 'isElement']],
    [
      'an element of what nobody says is a list',
      elementNode(below('note')),
      ['isElement', 'isFree'],
    ],
    ['a named member of an element', memberNode(tool, 'name', '').node, ['isNamed']],
    ['another member of an element', memberNode(tool, 'odd', '').node, ['isOfElement', 'isFree']],
  ])('says of %s what it is', (_what, node, expected) => {
    expect(facts(node)).toEqual(expected);
  });

  test('gives each member the text of its path', () => {
    expect(['', 'tools[crm]'].map((above) => memberNode(root, 'note', above).text)).toEqual([
      'note',
      'tools[crm].note',
    ]);
    expect(['', 'tools[crm]'].map((above) => memberNode(root, 'odd key', above).text)).toEqual([
      '"odd key"',
      'tools[crm]."odd key"',
    ]);
  });

  test('is not asked again', () => {
    expect(rootNode(SCHEMA)).toBe(root);
    expect(memberNode(root, 'tools', 'above').node).toBe(below('tools'));
    expect(elementNode(below('tools'))).toBe(tool);
  });
});

describe('a value that is put at a path', () => {
  const CRM = { name: 'crm', url: 'https://x.test' };
  const put = (path: readonly string[], value: string | undefined, adds = true) =>
    placeValue<Json>(agent.schema, { name: 'Desk' }, path, value, {
      lists: { extensions: { tools: [CRM] } },
      adds,
    });

  test.each<[string, JsonObject, JsonObject]>([
    [
      'brings the list along that it stands in',
      put(['extensions', 'tools', '[crm]', 'url'], 'new'),
      { name: 'Desk', extensions: { tools: [{ ...CRM, url: 'new' }] } },
    ],
    [
      'adds the element that it stands in',
      put(['extensions', 'tools', '[log]', 'url'], 'new'),
      { name: 'Desk', extensions: { tools: [CRM, { url: 'new' }] } },
    ],
    [
      'adds none unless it is to',
      put(['extensions', 'tools', '[log]', 'url'], 'new', false),
      { name: 'Desk', extensions: { tools: [CRM] } },
    ],
    [
      'makes nothing that it takes away',
      put(['extensions', 'none', 'deep'], undefined),
      { name: 'Desk' },
    ],
  ])('%s', (_what, found, expected) => {
    expect(found).toEqual(expected);
  });
});
