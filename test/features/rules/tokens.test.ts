import { expect, test } from 'vitest';
import { findUnbalanced } from '../../../src/features/rules/prose.ts';

test.each([
  'plain text',
  'Hi {{name}}, see you {{day|tomorrow}}.',
  '{{ spaced }} {{{html}}} {{a.b}}',
  'JSON {"a": {"b": {}}} and {{name}}',
  '@media print { p { color: red }} {{name}}',
  'a smile :} and }} alone',
  'one { brace',
])('%j is balanced', (text) => {
  expect(findUnbalanced(text)).toEqual([]);
});

test.each([
  ['Hi {{name', 3],
  ['Hi {{name}', 3],
  ['Hi {{name\n}}', 3],
  ['Hi {{first {{last}}', 3],
  ['Hi {name}}', 3],
  ['Hi {name|you}}', 3],
  ['{{ok}} {{', 7],
])('%j is not, at %i', (text, offset) => {
  expect(findUnbalanced(text).map(({ span }) => span.start)).toEqual([offset]);
});

test('a large text on one line is looked through once', () => {
  expect(findUnbalanced('{{a}} {b} '.repeat(500_000))).toEqual([]);
});

test('a text that is all mistakes says so a few times', () => {
  expect(findUnbalanced('{{a '.repeat(500_000))).toHaveLength(10);
});
