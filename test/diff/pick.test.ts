import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/core/path.ts';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { pickLeaves, placeValue } from '../../src/core/walk.ts';
import { kindNamed } from '../../src/kinds/index.ts';

const { schema } = kindNamed('agent');
const CRM = { name: 'crm', url: 'https://x.test' };

test.each<[string, JsonObject, readonly string[], JsonObject]>([
  ['a value', { model: 'm', name: 'n' }, ['model'], { model: 'm' }],
  ['a value in an object', { config: { a: 1, b: 2 } }, ['config.a'], { config: { a: 1 } }],
  ['nothing', {}, ['model', 'config.a'], { model: null, config: { a: null } }],
  [
    'an element: the list whole',
    { extensions: { tools: [CRM, { name: 'log' }] } },
    ['extensions.tools[crm].url'],
    { extensions: { tools: [CRM, { name: 'log' }] } },
  ],
  [
    'a member that an element did not have: null in it',
    { extensions: { tools: [CRM] } },
    ['extensions.tools[crm].description', 'extensions.tools[crm].url'],
    { extensions: { tools: [{ ...CRM, description: null }] } },
  ],
  [
    'an element that was not there: the list without it',
    { extensions: { tools: [CRM] } },
    ['extensions.tools[new].url', 'extensions.tools[new].name'],
    { extensions: { tools: [CRM] } },
  ],
  [
    'a list that was not there: an empty one',
    { extensions: { tools: [CRM] } },
    ['extensions.tools[crm].headers[X].value'],
    { extensions: { tools: [{ ...CRM, headers: [] }] } },
  ],
  [
    'no list at all: an empty one',
    {},
    ['extensions.tools[crm].url'],
    { extensions: { tools: [] } },
  ],
])('%s', (_what, document, paths, expected) => {
  const parsed = paths.flatMap((text) => [parsePath(text) ?? []]);
  expect(pickLeaves(schema, document, parsed)).toEqual(expected);
});

test('what is in the other document stays', () => {
  const into = { name: 'n', config: { b: 2 } };
  expect(pickLeaves<Json>(schema, { config: { a: 1 } }, [['config', 'a']], into)).toEqual({
    name: 'n',
    config: { b: 2, a: 1 },
  });
});

describe('a value is put into a document', () => {
  const place = (document: JsonObject, text: string) =>
    placeValue(schema, document, parsePath(text) ?? [], 'new');
  const LOG = { name: 'log', url: 'https://log.test' };

  test.each<[string, JsonObject, string, JsonObject]>([
    ['over a field', { model: 'old', name: 'n' }, 'model', { model: 'new', name: 'n' }],
    ['beside other members', { config: { b: 2 } }, 'config.a', { config: { b: 2, a: 'new' } }],
    ['below what was not there', { name: 'n' }, 'config.a', { name: 'n', config: { a: 'new' } }],
    [
      'into one element of a list',
      { extensions: { tools: [LOG, CRM] } },
      'extensions.tools[crm].url',
      { extensions: { tools: [LOG, { ...CRM, url: 'new' }] } },
    ],
    [
      'in place of a whole element',
      { extensions: { tools: [LOG, CRM] } },
      'extensions.tools[log]',
      { extensions: { tools: ['new', CRM] } },
    ],
    [
      'into an element of an element',
      { extensions: { tools: [{ ...CRM, headers: [{ key: 'X' }, { key: 'Y' }] }] } },
      'extensions.tools[crm].headers[Y].value',
      {
        extensions: { tools: [{ ...CRM, headers: [{ key: 'X' }, { key: 'Y', value: 'new' }] }] },
      },
    ],
  ])('%s', (_what, document, text, expected) => {
    const before = structuredClone(document);
    expect(place(document, text)).toEqual(expected);
    expect(document).toEqual(before);
  });

  test('not into an element that is not there', () => {
    const document = { extensions: { tools: [CRM] } };
    expect(place(document, 'extensions.tools[log].url')).toEqual(document);
  });

  test('not in place of the document', () => {
    expect(placeValue(schema, { name: 'n' }, [], 'new')).toEqual({ name: 'n' });
  });
});
