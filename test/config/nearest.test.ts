import { expect, test } from 'vitest';
import { editDistance, nearest } from '../../src/config/nearest.ts';

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['gentle', 'gentel', 1],
  ['kitten', 'sitting', 3],
  ['ca', 'abc', 3],
  ['same', 'same', 0],
])('from %j to %j it takes %i edits', (from, to, edits) => {
  expect(editDistance(from, to)).toBe(edits);
  expect(editDistance(to, from)).toBe(edits);
});

test.each([
  ['sytem_prompt', 'system_prompt'],
  ['systemPrompt', 'system_prompt'],
  ['modle', 'model'],
  ['nam', 'name'],
  ['x', undefined],
  ['zzzzzz', undefined],
  ['status', 'status'],
])('the nearest to %j is %j', (word, expected) => {
  expect(nearest(word, ['name', 'model', 'status', 'system_prompt', 'voice_model'])).toBe(expected);
});
