import { describe, expect, test } from 'vitest';
import { Blob, isList, isObject, Ref, Secret, type Value } from '../../src/core/value.ts';

const values: readonly (readonly [string, Value | undefined, 'object' | 'list' | 'neither'])[] = [
  ['an object', { a: 1 }, 'object'],
  ['an empty object', {}, 'object'],
  ['an object that looks like a reference', { $ref: '#/$defs/a' }, 'object'],
  ['an object that looks like a secret', { $secret: 'env:A' }, 'object'],
  ['a list', [1], 'list'],
  ['an empty list', [], 'list'],
  ['null', null, 'neither'],
  ['undefined', undefined, 'neither'],
  ['a text', 'a', 'neither'],
  ['a reference', new Ref('agent.a'), 'neither'],
  ['a secret', new Secret('env:A'), 'neither'],
  ['a file', new Blob('a.pdf', 'ab', 2, 'application/pdf'), 'neither'],
];

describe('a value', () => {
  test.each(values)('that is %s', (_title, value, expected) => {
    expect(isObject(value)).toBe(expected === 'object');
    expect(isList(value)).toBe(expected === 'list');
  });
});
