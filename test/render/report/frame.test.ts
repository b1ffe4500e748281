import { expect, test } from 'vitest';
import { frameOf } from '../../../src/config/frame.ts';
import { linesOfFrame } from '../../../src/render/report/sarif.ts';

/** The frame of a part of a text, read again. */
function linesOf(text: string, part: string, hidden?: string) {
  const source = { file: 'x.yaml', text };
  const at = (words: string) => {
    const start = text.indexOf(words);
    return { source, start, end: start + words.length };
  };
  return linesOfFrame(frameOf(at(part), hidden === undefined ? [] : [at(hidden)]));
}

test.each([
  ['a word', 'a: 1\nb: two\nc: 3\n', 'two', 'two'],
  ['the last line without a break', 'a: 1\nb: two', 'two', 'two'],
  ['a line behind a tab', '\tb: two\n', 'two', 'two'],
  ['a line with pictures', '😀: 😀😀 x\n', '😀😀', '😀😀'],
  ['several lines', 'a: {\n  b: 1 }\n', '{\n  b: 1 }', '{'],
  ['a line with bars and carets', 'a: "1 | ^^"\n', '"1 | ^^"', '"1 | ^^"'],
  ['a long line that is cut', `${'x'.repeat(200)} bad ${'y'.repeat(200)}\n`, 'bad', 'bad'],
  ['invisible characters', 'a: x\u200by\n', 'x\u200by', 'x\\u{200b}y'],
])('what is marked in %s', (_, text, part, marked) => {
  const found = linesOf(text, part).flatMap((line) => line.marked ?? []);
  expect(found).toEqual([marked]);
});

test('lines have their numbers, and what is hidden stays so', () => {
  const lines = linesOf('a: 1\n\nt: hunter2 # end\nz\n', 'hunter2', 'hunter2');
  expect(lines).toEqual([
    { number: 2, text: '' },
    { number: 3, text: 't: *** # end', marked: '***' },
    { number: 4, text: 'z' },
  ]);
});

test('no frame has no lines', () => {
  expect(linesOfFrame(undefined)).toEqual([]);
});
