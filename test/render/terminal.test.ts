import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutLine, lineWidth, paint, span, wrap } from '../../src/render/terminal.ts';

const plain = (lines: ReturnType<typeof wrap>) => paint(lines, false);

test.each([
  ['short', 'one two', 20, 2, 'one two\n'],
  ['at a space', 'one two three', 9, 2, 'one two\n  three\n'],
  ['a word wider than the line', 'abcdefghijklmnop', 10, 2, 'abcdefghij\n  klmnop\n'],
  ['a blank that ends the line', 'abcdefghij klm', 10, 0, 'abcdefghij\nklm\n'],
  ['blanks between words', 'a   b', 20, 0, 'a   b\n'],
  ['wide characters', '日本語日本語', 10, 0, '日本語日本\n語\n'],
])('wraps: %s', (_, text, width, hanging, lines) => {
  expect(plain(wrap([span(text)], width, hanging))).toBe(lines);
});

test('no wrapped line is wider than asked, and no word is lost', () => {
  const word = fc.stringMatching(/^[a-z日ü]{1,30}$/);
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 30 }),
      fc.integer({ min: 20, max: 60 }),
      (words, width) => {
        const lines = wrap([span('  '), span(words.join(' '), 'dim')], width, 4);
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
        expect(plain(lines).replace(/\s/g, '')).toBe(words.join(''));
      },
    ),
  );
});

test.each([
  [['abc', 'def'], 6, 'abcdef'],
  [['abc', 'def'], 5, 'abcd…'],
  [['abc', 'def'], 3, 'ab…'],
])('%j cut to %i is %j', (texts, width, cut) => {
  expect(
    cutLine(
      texts.map((text) => span(text)),
      width,
    )
      .map(({ text }) => text)
      .join(''),
  ).toBe(cut);
});

test('colours are codes around each piece, and only when wanted', () => {
  const line = [span('a'), span('b', 'added'), span('  ', 'dim')];
  expect(paint([line], true)).toBe('a\x1b[32mb\x1b[0m\n');
  expect(paint([line], false)).toBe('ab\n');
});
