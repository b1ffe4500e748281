import { expect, test } from 'vitest';
import { cutPieces, viewProse } from '../../../src/render/prose/view.ts';

const viewTexts = (before: string, after: string) => viewProse(before, after, []);

/** The changed rows, words marked as on a terminal. */
function rowsOf(before: string, after: string): readonly string[] {
  return viewTexts(before, after).rows.flatMap((row) => {
    if (row.type === 'fold' || row.type === 'same') return [];
    const marks = { same: ['', ''], removed: ['[-', '-]'], added: ['{+', '+}'] } as const;
    return row.pieces.map(({ text, change }) => marks[change].join(text)).join('');
  });
}

test.each<[string, string, string, string]>([
  ['blanks at the end of a line', 'a b\n\nc', 'a b  \n\nc', 'a b{+␣␣+}'],
  ['a paragraph that comes nearer', '# a\n\nb', '# a\nb', '# a[-⏎-]'],
  ['a paragraph that moves away', '- a\n- b', '- a\n\n- b', '- a{+⏎+}'],
  ['blanks between words', 'a b\n\nc', 'a  b\n\nc', 'a[-␣-]{+␣␣+}b'],
  [
    'a blank that looks like another',
    'a b\n\nc\n\nd',
    'a\u00a0b\u3000\n\nc\n\nd',
    'a[-␣-]{+\\xa0+}b{+\\u{3000}+}',
  ],
  [
    'a blank less beside a word',
    'tell them the price , then ask',
    'tell them the price, then wait',
    'tell them the price[-␣-], then[- ask-]{+ wait+}',
  ],
  [
    'a blank more beside a word',
    'you are kind',
    'you  are not kind',
    'you[-␣-]{+␣␣+}are{+ not+} kind',
  ],
  ['a word before all others', 'be kind', 'please be kind', '{+please+} be kind'],
])('white space, as what came and went: %s', (_, before, after, row) => {
  expect(rowsOf(before, after)).toEqual([row]);
});

test('that only white space differs is not told twice on the line of a field', () => {
  const long = 'Some words that go on. '.repeat(30);
  expect(viewTexts(`${long}\n\na`, `${long}\n\na  b`.replace('  b', '\n')).summary).not.toContain(
    'white space',
  );
});

test.each([
  [9, ['ab', 'c📞', 'de'], 0],
  [6, ['ab', 'c📞', 'd'], 1],
  // Never half of a character: a telephone has two units.
  [4, ['ab', 'c'], 4],
  [2, ['ab'], 5],
])('pieces cut to %i characters are %j, without %i', (most, texts, rest) => {
  const { shown, rest: left } = cutPieces([{ text: 'ab' }, { text: 'c📞' }, { text: 'de' }], most);
  expect([shown.map(({ text }) => text), left]).toEqual([texts, rest]);
});
