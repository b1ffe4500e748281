import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/value.ts';
import { renderCsv } from '../../../src/render/read/csv.ts';

const rows: readonly (readonly [string, Json | undefined, string])[] = [
  ['plain text', 'Front desk', 'Front desk'],
  ['nothing', undefined, ''],
  ['null', null, ''],
  ['a number', -12.5, '-12.5'],
  ['a flag', false, 'false'],
  ['a comma', 'a,b', '"a,b"'],
  ['a quote', 'say "hi"', '"say ""hi"""'],
  ['a line break', 'a\nb', '"a\nb"'],
  ['an object', { a: 'b,c' }, '"{""a"":""b,c""}"'],
  ['a formula', '=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"'],
  ['a formula that begins with a sign', '+cmd|calc', "'+cmd|calc"],
  ['a formula that begins with a minus', '-2+3', "'-2+3"],
  ['a formula that begins with an at', '@SUM(A1)', "'@SUM(A1)"],
  ['a formula behind a tab', '\t=1', "'\t=1"],
  ['a formula behind a carriage return', '\r=1', "'\\r=1"],
  ['a phone number', '+15550100', '+15550100'],
  ['a negative number given as text', '-3.5', '-3.5'],
  ['an escape sequence', 'a\u001b[2Jb', 'a\\x1b[2Jb'],
];

test.each(rows)('%s', (_, value, cell) => {
  const record = value === undefined ? {} : { inner: { value } };
  expect(renderCsv([{ path: 'inner.value' }], [record])).toBe(`inner.value\n${cell}\n`);
});

test('headings alone where there is no record', () => {
  expect(renderCsv([{ path: 'id' }, { path: 'name' }], [])).toBe('id,name\n');
});
