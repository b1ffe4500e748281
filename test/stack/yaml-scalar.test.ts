import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isPlain } from '../../src/stack/tree.ts';
import { runs } from '../long.ts';

describe('a text without quotes', () => {
  test.each([
    ['one word', 'front_desk', true],
    ['several words', 'Front desk of the clinic', true],
    ['a word that some reader takes for a truth value', 'No', false],
    ['a word that begins like one', 'nothing', true],
    ['a number', '1e5', false],
    ['a date', '2026-01-05', false],
    ['two spaces, which folding would lose', 'a  b', true],
    ['a space at its end', 'a ', false],
    ['a comment in it', 'a #b', false],
    ['a colon at its end', 'a:', false],
    ['a line feed at its end', 'words\n', false],
    ['a character that nobody sees', 'a\u200bb', false],
  ])('%s', (_title, text, expected) => {
    expect(isPlain(text, 'block')).toBe(expected);
  });

  test('as a key is no longer than 120 characters', () => {
    expect(isPlain('k'.repeat(120), 'key')).toBe(true);
    expect(isPlain('k'.repeat(121), 'key')).toBe(false);
  });

  test('means itself, whichever YAML reads it', () => {
    const word = fc.stringMatching(/^[\w~.-]{1,6}$/);
    const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '));
    fc.assert(
      fc.property(words, (text) => {
        if (!isPlain(text, 'block')) return;
        for (const version of ['1.1', '1.2'] as const) {
          expect(parse(`a: ${text}\n`, { version })).toEqual({ a: text });
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
