import { describe, expect, test } from 'vitest';
import {
  Blob,
  inSeconds,
  isList,
  isObject,
  millisecondsIn,
  Ref,
  Secret,
  type Value,
} from '../../src/core/value.ts';

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

test.each([
  ['10s', 10_000],
  ['30m', 1_800_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['4w', 2_419_200_000],
  ['0s', 0],
  ['7', undefined],
  ['1.5h', undefined],
  ['7 d', undefined],
  ['-7d', undefined],
  ['', undefined],
])('%j is %s milliseconds', (text, milliseconds) => {
  expect(millisecondsIn(text)).toBe(milliseconds);
});

test.each([
  ['2026-11-21T09:45:12.123Z', '2026-11-21T09:45:12Z'],
  ['2026-11-21T09:45:12.123456Z', '2026-11-21T09:45:12Z'],
  ['2026-11-21T09:45:12Z', '2026-11-21T09:45:12Z'],
  ['2026-11-21T09:45:12.123+00:00', '2026-11-21T09:45:12Z'],
  ['2026-11-21T01:45:12+02:00', '2026-11-20T23:45:12Z'],
  // Nobody knows the zone of these.
  ['2026-11-21T09:45:12', '2026-11-21T09:45:12'],
  ['2026-11-21', '2026-11-21'],
  ['yesterday', 'yesterday'],
])('the time %s is told as %s', (time, said) => {
  expect(inSeconds(time)).toBe(said);
});
