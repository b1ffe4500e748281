import { expect, test } from 'vitest';
import { escapeInJson, sanitise, sanitiseLine } from '../../src/render/untrusted.ts';

test.each([
  ['plain text', 'Hello, Zoë! 日本', 'Hello, Zoë! 日本'],
  ['line breaks and tabs', 'a\n\tb', 'a\n\tb'],
  ['an escape sequence', '\u001b[31mred', '\\x1b[31mred'],
  ['a C1 control', 'a\u009bb', 'a\\x9bb'],
  ['a carriage return', 'a\r\n', 'a\\r\n'],
  ['a bell and a null', '\u0007\u0000', '\\x07\\x00'],
  ['a direction override', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
  [
    'zero-width characters',
    'a\u200bb\u200dc\ufeffd\u00ade',
    'a\\u{200b}b\\u{200d}c\\u{feff}d\\xade',
  ],
  ['invisible tag characters', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['invisible variation selectors', 'a\u{e0101}b\ufe01', 'a\\u{e0101}b\\u{fe01}'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['half a surrogate pair', 'a\ud83db', 'a\\u{d83d}b'],
  ['a filler that looks empty', 'a\u3164b', 'a\\u{3164}b'],
  ['a joined picture', '👩‍⚕️ 👍🏽', '👩‍⚕️ 👍🏽'],
  ['a command to a runner', 'a ##[group]b', 'a ##\\x5bgroup]b'],
  ['a heading', '## [Opening hours]', '## [Opening hours]'],
  ['a command at the beginning of a line', 'a\n  ::add-mask::b', 'a\n  \\x3a:add-mask::b'],
  ['a token with two colons inside a line', 'a::b', 'a::b'],
  ['a combining accent', 'e\u0301', 'e\u0301'],
])('shows %s', (_, text, shown) => {
  expect(sanitise(text)).toBe(shown);
});

test('a single line has no break and no tab left', () => {
  expect(sanitiseLine('a\n\tb\r')).toBe('a\\n\\tb\\r');
});

test('JSON reads the same and holds no command to a runner', () => {
  const document = { text: 'a ##[group]b \u202e' };
  const shown = escapeInJson(JSON.stringify(document));
  expect(shown).not.toMatch(/##\[|\u202e/);
  expect(JSON.parse(shown)).toEqual(document);
});
