import { expect, test } from 'vitest';
import { clip, foldSentences } from '../../src/core/errors.ts';

const gone = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({
    address: `agent.a${from + at}`,
    message: `agent.a${from + at} is gone`,
  }));

test('a few sentences of one reason are told whole', () => {
  expect(foldSentences(gone(4)).split('\n')).toHaveLength(4);
});

test('of many that differ in the address alone the first are told, and the others counted', () => {
  const other = { address: 'agent.b', message: 'agent.b was renamed' };
  expect(foldSentences([...gone(60), other]).split('\n')).toEqual([
    'agent.a0 is gone',
    'agent.a1 is gone',
    'agent.a2 is gone',
    'and 57 more for the same reason',
    'agent.b was renamed',
  ]);
});

test('of many that differ in more, no more than a screen is told, and every one is counted', () => {
  const each = Array.from({ length: 200 }, (_, at) => ({
    address: `agent.a${at}`,
    message: `agent.a${at} was edited at ${at}`,
  }));
  const lines = foldSentences([...each, ...gone(60, 200)]).split('\n');
  expect(lines).toHaveLength(20);
  expect(lines.at(-1)).toBe('and 241 more');
});

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'longe…'],
  // No half of a character: it would be shown as an escape.
  ['📞📞📞', 3, '📞…'],
])('%s in at most %i characters is %s', (text, most, said) => {
  expect(clip(text, most)).toBe(said);
});
