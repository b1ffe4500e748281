import { expect, test } from 'vitest';
import { type DiffRow, diffTexts, FOLDED, WHOLE } from '../../src/render/text-diff.ts';

/** One row a line; words that differ stand in angle brackets. */
function show(rows: readonly DiffRow[]): readonly string[] {
  return rows.map((row) => {
    if (row.type === 'fold') return `(${row.lines})`;
    if (row.type === 'same') return `  ${row.text}`;
    const isWhole = row.pieces.length === 1;
    const text = row.pieces.map((piece) =>
      piece.differs && !isWhole ? `<${piece.text}>` : piece.text,
    );
    return `${row.type === 'added' ? '+' : '-'} ${text.join('')}`;
  });
}

const lines = (...all: readonly string[]) => all.join('\n');
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

test.each<[string, string, string, readonly string[]]>([
  [
    'a changed word',
    'Offer two times.',
    'Offer three times.',
    ['- Offer< two> times.', '+ Offer< three> times.'],
  ],
  ['an inserted word', 'Call me', 'Call me back', ['- Call me', '+ Call me< back>']],
  [
    'a token of the platform as one word',
    'Hi {{name|there}}, bye',
    'Hi {{first_name|there}}, bye',
    ['- Hi< {{name|there}}>, bye', '+ Hi< {{first_name|there}}>, bye'],
  ],
  [
    'a lone mark between changes',
    'a one, two z y x',
    'a uno, dos z y x',
    ['- a< one, two> z y x', '+ a< uno, dos> z y x'],
  ],
  ['white space alone', 'a  b c', 'a b c', ['- a<  b> c', '+ a< b> c']],
  [
    'lines with little in common',
    'Never quote prices.',
    'Be kind.',
    ['- Never quote prices.', '+ Be kind.'],
  ],
  ['an added line', lines('a', 'b'), lines('a', 'x', 'b'), ['  a', '+ x', '  b']],
  ['a removed line', lines('a', 'x', 'b'), lines('a', 'b'), ['  a', '- x', '  b']],
  ['a final line break', 'a\nb\n', 'a\nbe', ['  a', '- b', '+ be']],
  ['nothing but a final line break', 'a\nb\n', 'a\nb', ['(2)']],
  [
    'an edited line among new ones',
    lines('Say hello to them.'),
    lines('New first.', 'Say hello to all of them.', 'New last.'),
    ['+ New first.', '- Say hello to them.', '+ Say hello to< all of> them.', '+ New last.'],
  ],
])('%s', (_, before, after, rows) => {
  expect(show(diffTexts(before, after, FOLDED))).toEqual(rows);
});

test('unchanged lines are folded but for those next to a change', () => {
  const before = lines(...numbered(1, 10), 'old', ...numbered(11, 20));
  const after = lines(...numbered(1, 10), 'new and other', ...numbered(11, 20));
  expect(show(diffTexts(before, after, FOLDED))).toEqual([
    '(8)',
    '  line 9',
    '  line 10',
    '- old',
    '+ new and other',
    '  line 11',
    '  line 12',
    '(8)',
  ]);
  expect(diffTexts(before, after, WHOLE)).toHaveLength(22);
});

test('a fold never hides one line alone', () => {
  const before = lines(...numbered(1, 3), 'old');
  expect(show(diffTexts(before, lines(...numbered(1, 3), 'new'), FOLDED))[0]).toBe('  line 1');
});

test('long unchanged stretches inside a line are left out, the change never is', () => {
  const filler = Array.from({ length: 100 }, (_, at) => `w${at}`).join(' ');
  const [removed, added] = show(
    diffTexts(`${filler} two ${filler}`, `${filler} three ${filler}`, FOLDED),
  );
  expect(removed).toBe('- … w92 w93 w94 w95 w96 w97 w98 w99< two> w0 w1 w2 w3 w4 w5 w6 w7 …');
  expect(added).toBe('+ … w92 w93 w94 w95 w96 w97 w98 w99< three> w0 w1 w2 w3 w4 w5 w6 w7 …');
});
