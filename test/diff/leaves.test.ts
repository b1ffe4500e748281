import { describe, expect, test } from 'vitest';
import { Blob, Ref, Secret, type Value } from '../../src/core/value.ts';
import { leafTexts, listLeaves, normalise } from '../../src/diff/leaves.ts';
import { agent } from '../../src/kinds/agent.ts';

const SECRET = new Secret('env:TOKEN');
const REF = new Ref('agent.desk');
const BLOB = new Blob('a.pdf', 'ab12', 3, 'application/pdf');

const textsIn = (document: { readonly [key: string]: Value }) => [
  ...listLeaves(agent.schema, document).leaves.keys(),
];

describe('the leaves of a document', () => {
  test.each<[string, { readonly [key: string]: Value }, readonly string[]]>([
    ['an explicit null', { config: null }, ['config']],
    ['an empty object', { config: {} }, ['config']],
    ['no object that has members', { config: { a: { b: 1 } } }, ['config.a.b']],
    ['a list without identities as one', { email: ['a', 'b'] }, ['email']],
    ['nothing of an empty list that is keyed by identity', { extensions: { tools: [] } }, []],
    ['nothing of what the platform owns', { id: 'a-1', is_active: true }, []],
    [
      'an object that is owned whole as one',
      { extensions: { mcp_servers: [{ initialization_options: { a: 1 } }] } },
      ['extensions.mcp_servers[""].initialization_options'],
    ],
  ])('have %s', (_what, document, texts) => {
    expect(textsIn(document)).toEqual(texts);
  });

  test('are found by their value', () => {
    const document = {
      name: 'Desk',
      greeting_message: SECRET,
      extensions: { tools: [{ name: 'crm', headers: [{ key: 'X', value: SECRET }] }] },
    };
    expect(leafTexts(agent.schema, document, (value) => value instanceof Secret)).toEqual([
      'greeting_message',
      'extensions.tools[crm].headers[X].value',
    ]);
    expect(leafTexts(agent.schema, document, () => false)).toEqual([]);
  });
});

describe('the form that is compared', () => {
  test.each<[string, Value | undefined, Value]>([
    ['of nothing', undefined, null],
    ['of a secret that was not looked up', SECRET, null],
    ['of a reference that was not looked up', REF, null],
    ['of a file that was not looked up', BLOB, null],
    ['of special values in a list', [SECRET, 1, [REF]], [null, 1, [null]]],
    ['of special values in an object', { a: SECRET, b: BLOB, c: 1 }, { a: null, b: null, c: 1 }],
    ['of lists in a list is without nulls', [[{ a: null, b: 1 }]], [[{ b: 1 }]]],
    ['of an object in an object is without nulls', { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['of an object of nulls', { a: null }, null],
    ['of a text with two final newlines', 'a\n\n', 'a\n'],
    ['of zero', 0, 0],
    ['of an empty text', '', ''],
  ])('%s', (_what, value, expected) => {
    expect(normalise({}, value)).toEqual(expected);
  });
});
