import { expect, test } from 'vitest';
import { cutText, padText, splitText, textWidth } from '../../src/render/width.ts';

test.each([
  ['', 0],
  ['abc', 3],
  ['Zoë', 3],
  ['Zoe\u0308', 3],
  ['日本', 4],
  ['한국', 4],
  ['ｆｕｌｌ', 8],
  ['👍🏽', 2],
  ['👩‍⚕️', 2],
  ['✓ → …', 5],
  ['±', 1],
])('the width of %j is %i', (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test.each([
  ['abcdef', 4, 'abc…'],
  ['abcd', 4, 'abcd'],
  ['日本語', 4, '日…'],
  ['日本語', 5, '日本…'],
  ['日本', 4, '日本'],
  ['Zoe\u0308s', 3, 'Zo…'],
  ['👩‍⚕️👩‍⚕️', 3, '👩‍⚕️…'],
])('%j cut to %i is %j', (text, width, cut) => {
  expect(cutText(text, width)).toBe(cut);
});

test.each([
  ['abc', 0, '', 'abc'],
  ['abc', -2, '', 'abc'],
  ['日本', 3, '日', '本'],
  ['ab', 5, 'ab', ''],
])('%j split at %i', (text, width, head, tail) => {
  expect(splitText(text, width)).toEqual([head, tail]);
});

test('padding counts columns, not characters', () => {
  expect(padText('日', 4)).toBe('日  ');
});
