import { describe, expect, test } from 'vitest';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../src/core/schema.ts';

const root: FieldSchema = {
  properties: {
    first: { $ref: '#/$defs/rule', description: 'mine' },
    list: { type: 'array', items: { $ref: '#/$defs/rule' } },
    rules: {
      properties: { known: { type: 'string' } },
      additionalProperties: { $ref: '#/$defs/rule' },
    },
    open: { additionalProperties: true },
    closed: { additionalProperties: false },
  },
  $defs: {
    rule: { $ref: '#/$defs/base', 'x-sensitive': true },
    base: { type: 'object', description: 'theirs', 'x-clearable': false },
  },
};
const member = (key: string) => memberSchema(root, root, key);

describe('a schema', () => {
  test('follows references to their end, and what stands beside one wins', () => {
    expect(member('first')).toEqual({
      type: 'object',
      description: 'mine',
      'x-clearable': false,
      'x-sensitive': true,
    });
    expect(itemSchema(root, member('list'))).toMatchObject({ 'x-sensitive': true });
  });

  test.each([
    ['rules', 'known', { type: 'string' }],
    [
      'rules',
      'any',
      { type: 'object', description: 'theirs', 'x-clearable': false, 'x-sensitive': true },
    ],
    ['open', 'any', {}],
    ['closed', 'any', {}],
    [
      'rules',
      'constructor',
      { type: 'object', description: 'theirs', 'x-clearable': false, 'x-sensitive': true },
    ],
    ['open', '__proto__', {}],
  ])('of %s.%s', (object, key, expected) => {
    expect(memberSchema(root, member(object), key)).toEqual(expected);
  });

  test('that is missing is named', () => {
    expect(() => dereference(root, { $ref: '#/$defs/none' })).toThrow('#/$defs/none');
  });

  test('of a list without one for its elements allows anything', () => {
    expect(itemSchema(root, { type: 'array' })).toEqual({});
  });
});
