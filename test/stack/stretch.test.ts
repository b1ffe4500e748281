import { expect, test } from 'vitest';
import { type SourceRange, toStretch } from '../../src/stack/source.ts';
import { agent, load } from './stack-folder.ts';

function at(text: string, part: string): SourceRange {
  const start = text.indexOf(part);
  return { source: { file: 'x.yaml', text }, start, end: start + part.length };
}

test.each([
  ['a word', at('a: bad\n', 'bad'), [1, 4, 7]],
  ['a word behind pictures', at('😀😀: bad\n', 'bad'), [1, 5, 8]],
  ['pictures', at('a: 😀😀\n', '😀😀'), [1, 4, 6]],
  [
    'several lines: to the end of the first',
    at('a: {\r\n  b: 1 }\r\n', '{\r\n  b: 1 }'),
    [1, 4, 5],
  ],
  ['nothing', at('a:\n', ''), [1, 1, 1]],
])('the stretch of %s', (_, range, [line, column, end_column]) => {
  expect(toStretch(range)).toEqual({ file: 'x.yaml', line, column, end_column });
});

test('what is hidden does not tell by its end how long it is', async () => {
  const { diagnostics } = await load(
    agent('status: on', 'integrations: { smsProvider: { auth_token: hunter2 } }'),
  );
  expect(diagnostics.map(({ rule, position }) => [rule, position])).toEqual([
    ['schema/enum', { file: 'agents.yaml', line: 4, column: 13, end_column: 15 }],
    ['secret/literal', { file: 'agents.yaml', line: 5, column: 48 }],
  ]);
});
