import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CODES,
  cutLine,
  cutText,
  lineWidth,
  padText,
  paint,
  renderProse,
  span,
  splitText,
  textWidth,
  wrap,
} from '../../src/render/terminal.ts';

const plain = (lines: ReturnType<typeof wrap>) => paint(lines, false);

test.each([
  ['short', 'one two', 20, 2, 'one two\n'],
  ['at a space', 'one two three', 9, 2, 'one two\n  three\n'],
  [
    'a word wider than the line',
    'one abcdefghijklmnop two',
    10,
    2,
    'one\n  abcdefghijklmnop\n  two\n',
  ],
  ['a path with an umlaut', 'in /tmp/ümlaut/abcdef', 10, 0, 'in\n/tmp/ümlaut/abcdef\n'],
  [
    'a row whose key has blanks',
    'see agent.clinic["Harbor Dental"].',
    10,
    0,
    'see\nagent.clinic["Harbor Dental"].\n',
  ],
  ['a telephone number', 'call +1 900 555 0123 now', 12, 0, 'call\n+1 900 555 0123\nnow\n'],
  [
    'a word that nobody reads',
    'x'.repeat(1030),
    1000,
    0,
    `${'x'.repeat(1000)}\n${'x'.repeat(30)}\n`,
  ],
  ['a blank that ends the line', 'abcdefghij klm', 10, 0, 'abcdefghij\nklm\n'],
  ['blanks between words', 'a   b', 20, 0, 'a   b\n'],
  ['wide characters', '日本語日本語', 10, 0, '日本語日本\n語\n'],
  [
    'wide characters around a host',
    '日本a.example.test本語',
    10,
    0,
    '日本\na.example.test\n本語\n',
  ],
  ['a script without blanks', 'ภาษาไทยภาษาไทย', 10, 0, 'ภาษาไทยภาษ\nาไทย\n'],
  ['a command that fits', 'See `callsheet plan`.', 40, 2, 'See `callsheet plan`.\n'],
  [
    'a command that does not',
    'To see it: `callsheet plan`.',
    20,
    2,
    'To see it:\n    callsheet plan\n',
  ],
  [
    'what follows such a command',
    'Run `callsheet plan`, or wait.',
    12,
    0,
    'Run\n  callsheet plan\nor wait.\n',
  ],
  ['two commands', '`callsheet a` or `callsheet b`', 12, 0, '  callsheet a\nor\n  callsheet b\n'],
  [
    'a command in brackets',
    'late (`callsheet plan --a`).',
    12,
    0,
    'late\n(`callsheet plan --a`).\n',
  ],
  ['a line that is a command', '  `callsheet plan --all`', 12, 4, '  callsheet plan --all\n'],
  ['a command and a comment', '  `callsheet plan`   # why', 20, 4, '  callsheet plan\n    # why\n'],
])('wraps: %s', (_, text, width, hanging, lines) => {
  expect(plain(wrap([span(text)], width, hanging))).toBe(lines);
});

test.each([
  ['a word that a break brings there', [span('one two ::a::x')], 12, 'one two\n  \\x3a:a::x\n'],
  [
    'a word behind blanks of another tone',
    [span('  ', 'strong'), span('::a::')],
    20,
    '  \\x3a:a::\n',
  ],
  ['colons of two pieces', [span(':'), span(':a::', 'strong')], 20, '\\x3a:a::\n'],
  ['colons elsewhere', [span('a '), span('b::c')], 20, 'a b::c\n'],
])('no line begins with a command to a runner: %s', (_, line, width, lines) => {
  expect(plain(wrap(line, width, 2))).toBe(lines);
});

test('a line is wider than asked only where one word alone is, and no word is lost', () => {
  const word = fc.stringMatching(/^[a-z日ü]{1,30}$/);
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 30 }),
      fc.integer({ min: 20, max: 60 }),
      (words, width) => {
        const lines = wrap([span('  '), span(words.join(' '), 'strong')], width, 4);
        for (const line of lines) {
          const text = line.map((one) => one.text).join('');
          if (lineWidth(line) > width) expect(text.trim()).toMatch(/^日?[a-zü]*日?$/);
        }
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
  const line = [span('a'), span('b', 'added'), span('  ')];
  expect(paint([line], true)).toBe('a\x1b[38;5;231;48;5;22mb\x1b[0m\n');
  expect(paint([line], false)).toBe('ab\n');
});

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
  // As tmux has them.
  ['p\u0430ypal', 6],
  ['שלום', 4],
  ['ש\u05c1\u05b8לום', 4],
  ['\u2067שלום\u2069', 4],
  ['لا', 2],
  ['か\u3099', 2],
  ['\uff76\uff9e', 2],
  ['\u1112\u1161\u11ab', 2],
  ['ท\u0e33', 2],
  ['ท\u0e35\u0e48', 1],
  ['नमस्ते', 4],
  ['␣⇥⏎≈', 4],
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

test('items below a sentence stay indented where they are broken', () => {
  expect(
    renderProse('these are there:\n  one two three four', {
      width: 18,
      color: false,
      verbose: false,
    }),
  ).toBe('these are there:\n  one two three\n    four\n');
});

/** Text and background of terminals as they come: xterm, macOS, and the two themes of the most used editor. */
const THEMES = [
  ['white', '#000000', '#ffffff'],
  ['black', '#e5e5e5', '#000000'],
  ['dark of an editor', '#cccccc', '#1e1e1e'],
  ['light of an editor', '#333333', '#ffffff'],
] as const;

/** The colour of one of the 240 that no theme changes: a cube of six levels, then greys. */
function colour(index: number): readonly number[] {
  if (index < 16) throw new Error('a theme says what colour it is');
  if (index >= 232) return Array(3).fill(8 + (index - 232) * 10);
  const levels = [0, 95, 135, 175, 215, 255];
  const at = index - 16;
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) => levels[level] ?? 0);
}

const hex = (text: string) => [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));

/** The relative luminance and the contrast of the Web Content Accessibility Guidelines. */
function contrast(one: readonly number[], other: readonly number[]): number {
  const [high = 0, low = 0] = [one, other]
    .map((rgb) =>
      rgb
        .map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, at) => sum + part * ([0.2126, 0.7152, 0.0722][at] ?? 0), 0),
    )
    .sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

test.each(
  THEMES.flatMap(([theme, text, ground]) =>
    Object.entries(CODES).map(([tone, codes]) => [tone, theme, text, ground, codes] as const),
  ),
)('%s can be read on %s', (_tone, _theme, text, ground, codes) => {
  const shown = { text: hex(text), ground: hex(ground) };
  const given = codes === '' ? [] : codes.split(';').map(Number);
  while (given.length > 0) {
    const code = given.shift() ?? 0;
    if (code === 38 || code === 48) {
      expect(given.shift()).toBe(5);
      shown[code === 38 ? 'text' : 'ground'] = [...colour(given.shift() ?? 0)];
    }
    // Bold, underlined and struck out take nothing of the contrast; faint and the 16 of the theme do.
    else expect([1, 4, 9]).toContain(code);
  }
  expect(contrast(shown.text, shown.ground)).toBeGreaterThanOrEqual(4.5);
});
