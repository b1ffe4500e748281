import { expect, test } from 'vitest';
import { editCell, textAfter } from '../../../../src/features/writing/pull/texts.ts';
import { parseCsv } from '../../../../src/stack/csv.ts';
import type { Source } from '../../../../src/stack/source.ts';

/** The file with another text in the cell of the first row and second column. */
function after(text: string, value: string): string {
  const source: Source = { file: 'clinics.csv', text };
  const cell = parseCsv(source).rows[0]?.members.get('greeting')?.value;
  if (cell === undefined) throw new Error('there is no such cell');
  const { range } = cell;
  const splice = editCell(range, value);
  return textAfter(source, [{ type: 'cell', file: source.file, range, splice }]);
}

test.each<[string, string, string, string]>([
  ['a plain one', 'slug,greeting\na,hi\nb,x\n', 'hello', 'slug,greeting\na,hello\nb,x\n'],
  ['one that gets quotes', 'slug,greeting\na,hi\n', 'a "b", c', 'slug,greeting\na,"a ""b"", c"\n'],
  ['one that keeps its quotes', 'slug,greeting\na,"h,i"\n', 'x', 'slug,greeting\na,"x"\n'],
  ['an empty one', 'slug;greeting\na;\n', 'x;y', 'slug;greeting\na;"x;y"\n'],
  [
    'line breaks are those of the text, not those of the file',
    'slug,greeting\r\na,hi\r\n',
    'one\ntwo\r\nthree',
    'slug,greeting\r\na,"one\ntwo\r\nthree"\r\n',
  ],
])('a cell: %s', (_title, before, value, expected) => {
  expect(after(before, value)).toBe(expected);
});
