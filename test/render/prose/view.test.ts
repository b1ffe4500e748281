import { expect, test } from 'vitest';
import { viewProse } from '../../../src/render/prose/view.ts';

/** The changed rows, words marked as on a terminal. */
function rowsOf(before: string, after: string): readonly string[] {
  return viewProse(before, after, false).rows.flatMap((row) => {
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
])('white space, as what came and went: %s', (_, before, after, row) => {
  expect(rowsOf(before, after)).toEqual([row]);
});

test('the place of a callout is told alike under every heading', () => {
  const text = (hours: number) =>
    `# Safety first\n\nCall back within ${hours} hours.\n\n${'More of it. '.repeat(40)}`;
  const { callouts } = viewProse(text(24), text(48), false);
  expect(callouts.map(({ place }) => place)).toEqual(['under Safety first, line 3']);
});

test('the place of what changed alike in several places is the first', () => {
  const text = (hours: number) =>
    `# Safety\n\nWithin ${hours} hours.\n\n${'More of it. '.repeat(40)}\n\nOr ${hours} hours later.`;
  const { callouts } = viewProse(text(24), text(48), false);
  expect(callouts.map(({ place }) => place)).toEqual(['2 times, first under Safety, line 3']);
});

test('that only white space differs is not told twice on the line of a field', () => {
  const long = 'Some words that go on. '.repeat(30);
  expect(
    viewProse(`${long}\n\na`, `${long}\n\na  b`.replace('  b', '\n'), false).summary,
  ).not.toContain('white space');
});
