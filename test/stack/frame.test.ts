import { expect, test } from 'vitest';
import { codeFrame } from '../../src/stack/diagnostics.ts';
import { type SourceRange, toPosition } from '../../src/stack/source.ts';

/** The place of `part` in a file of that text. */
function at(text: string, part: string): SourceRange {
  const start = text.indexOf(part);
  return { source: { file: 'x.yaml', text }, start, end: start + part.length };
}

const rows: readonly (readonly [string, SourceRange, readonly string[], string])[] = [
  [
    'the line with its neighbours',
    at('a: 1\nb: two\nc: 3\n', 'two'),
    [],
    '  1 | a: 1\n> 2 | b: two\n    |    ^^^\n  3 | c: 3',
  ],
  [
    'no credential, whatever it stands in',
    at('stat: https://u:hush-1@a.test/?token=hush-2\n', 'stat'),
    [],
    '> 1 | stat: https://u:***@a.test/?token=***\n    | ^^^^',
  ],
  ['the first line', at('a: 1\nb: 2\n', 'a'), [], '> 1 | a: 1\n    | ^\n  2 | b: 2'],
  ['the last line', at('a: 1\nb: 2\n', '2'), [], '  1 | a: 1\n> 2 | b: 2\n    |    ^'],
  [
    'line numbers of two widths, tabs and Windows line endings',
    at(`${'x\r\n'.repeat(8)}y\r\n\tz: 1\r\n`, 'z'),
    [],
    '   9 | y\n> 10 | \tz: 1\n     | \t^',
  ],
  [
    'a place that goes on over lines is marked on its first',
    at('a: {\n  b: 1 }\n', '{\n  b: 1 }'),
    [],
    '> 1 | a: {\n    |    ^\n  2 |   b: 1 }',
  ],
  [
    'what is masked, and a caret that stands right after it',
    at('t: hunter2, x: bad # hunter3\nhunter4\n', 'bad'),
    ['hunter2', 'hunter3\nhunter4'],
    '> 1 | t: ***, x: bad # ***\n    |            ^^^\n  2 | ***',
  ],
  [
    'a masked place itself',
    at('t: hunter2\n', 'hunter2'),
    ['hunter2'],
    '> 1 | t: ***\n    |    ^^^',
  ],
  [
    'control characters as what they are: unreadable',
    at('a: \u001b[31m\u202ex', 'a'),
    [],
    '> 1 | a: \uFFFD[31m\uFFFDx\n    | ^',
  ],
  [
    'characters outside the basic plane are one wide for the caret',
    at('😀: bad\n', 'bad'),
    [],
    '> 1 | 😀: bad\n    |    ^^^',
  ],
];

test.each(rows)('a frame shows %s', (_, range, hidden, frame) => {
  const masks = hidden.map((text) => ({ ...at(range.source.text, text), source: range.source }));
  expect(codeFrame(range, masks)).toBe(frame);
});

test('a long line is cut around the place', () => {
  const range = at(`${'a'.repeat(500)}bad${'z'.repeat(500)}`, 'bad');
  const [line, caret] = codeFrame(range, []).split('\n');
  expect(line).toMatch(/^> 1 \| …a+badz+…$/);
  expect(line?.length).toBeLessThan(160);
  expect(caret?.indexOf('^')).toBe(line?.indexOf('bad'));
  expect(caret).toMatch(/ \^\^\^$/);
});

test('a place at the very end of a file has a position and a frame', () => {
  const source = { file: 'x.yaml', text: 'a: 1\n' };
  const place = { source, start: 5, end: 5 };
  expect(toPosition(place)).toEqual({ file: 'x.yaml', line: 2, column: 1 });
  expect(codeFrame(place, [])).toBe('  1 | a: 1\n> 2 |\n    | ^');
});
