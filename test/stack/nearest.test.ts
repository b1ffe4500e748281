import { describe, expect, test } from 'vitest';
import { editDistance, nearest, suggestInstead } from '../../src/core/nearest.ts';

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

test.each([
  ['kitten', 'sitting', 3],
  ['ab', 'ba', 1],
  ['xyab', 'xyba', 1],
  ['abxy', 'baxy', 1],
])('from %j to %j it takes no more than %i edits, and that is found', (from, to, most) => {
  expect(editDistance(from, to, most)).toBe(most);
});

test('beyond what is of interest it only says that it is more', () => {
  expect(editDistance('kitten', 'sitting', 2)).toBeGreaterThan(2);
  expect(editDistance('a'.repeat(1000), 'b'.repeat(1000), 2)).toBe(Number.POSITIVE_INFINITY);
});

describe('what to write instead', () => {
  const many = [
    'greeting_message',
    'model',
    'name',
    'language',
    'timezone',
    'status',
    'email',
    'sip',
    'config',
    'transfer_rules',
    'transfer_enabled',
  ];
  const say = (word: string, names: readonly string[] = many) =>
    suggestInstead(word, names, 'The fields', 'callsheet explain agent lists them');

  test.each([
    ['a slip', 'greting_message', 'Did you mean greeting_message?'],
    ['the beginning of one name', 'greeting', 'Did you mean greeting_message?'],
    [
      'the beginning of two, which come first',
      'transfer',
      'The nearest are transfer_rules, transfer_enabled, ',
    ],
    ['a word of one', 'my_rules', 'The nearest are transfer_rules, '],
  ])('of %s', (_, word, said) => {
    expect(say(word).startsWith(said)).toBe(true);
  });

  test('lists all of a few, and eight of many', () => {
    expect(say('xyz', ['a', 'b'])).toBe('The fields are a, b');
    const said = say('xyz');
    expect(said.split(', ')).toHaveLength(8);
    expect(said.endsWith('; callsheet explain agent lists them')).toBe(true);
  });
});
