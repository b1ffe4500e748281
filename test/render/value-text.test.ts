import { expect, test } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import { areVersions, blockValue, firstWords, formatExtent } from '../../src/render/value-text.ts';

test.each<[Json, Json, boolean]>([
  ['Thank you for calling Harbor.', 'Thank you for calling Elm.', true],
  ['Thank you for calling Harbor.', 'Elm Street, what is it?', false],
  ['Open at nine.', 'Open at ten.', false],
  ['https://crm.example.test/a/b', 'https://crm.example.test/a/c', false],
  [1, 2, false],
])('%j and %j are versions of one sentence: %j', (before, after, are) => {
  expect(areVersions(before, after)).toBe(are);
});

test.each<[string, Json, readonly string[]]>([
  ['a text as it is', 'a\nb', ['a', 'b']],
  ['a flat list one item a line', ['a', 1, null], ['"a"', '1', '(none)']],
  ['members by name', { b: 1, a: 'x' }, ['a: "x"', 'b: 1']],
  [
    'what is nested',
    { a: { b: [{ c: 1, d: 2 }], e: ['x', 'y'] } },
    ['a:', '  b:', '    - c: 1', '      d: 2', '  e: ["x", "y"]'],
  ],
  ['what is empty', { a: {}, b: [] }, ['a: {}', 'b: []']],
])('%s', (_, value, lines) => {
  expect(blockValue(value).split('\n')).toEqual(lines);
});

test.each([
  ['abc', '3 B'],
  ['a\nb\n', '2 lines, 4 B'],
  ['ü'.repeat(600), '1.2 KB'],
])('%#: the extent is %s', (text, extent) => {
  expect(formatExtent(text)).toBe(extent);
});

test('the beginning of a text leaves empty lines out', () => {
  expect(firstWords('\n# Role\n\n  You answer.\n')).toBe('# Role ⏎ You answer.');
});
