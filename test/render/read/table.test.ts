import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/value.ts';
import {
  type Field,
  type Form,
  formatFigure,
  jsonFrame,
  layOut,
  renderCsv,
  tableLines,
  tableWidth,
  valueAt,
} from '../../../src/render/read/table.ts';
import { lineWidth, paint } from '../../../src/render/terminal.ts';
import { jsonText } from '../../../src/render/untrusted.ts';

const FIELDS: readonly Field[] = [
  { path: 'name', title: 'name', least: 12 },
  { path: 'id', title: 'id' },
  { path: 'calls', title: 'calls', form: 'number', drop: 1 },
  { path: 'note', title: 'note', least: 10, drop: 2 },
  { path: 'model', title: 'model', drop: 3 },
];
const RECORDS = [
  {
    name: 'Front desk of the north side',
    id: 'a1',
    calls: 1200,
    note: 'x'.repeat(40),
    model: 'm1',
  },
  { name: '日本語の受付', id: 'b2', calls: 7, note: null, model: 'm2' },
];

describe('columns by width', () => {
  test.each([
    [Number.POSITIVE_INFINITY, 'name 28, id 2, calls 5, note 40, model 5', ''],
    [120, 'name 28, id 2, calls 5, note 40, model 5', ''],
    [60, 'name 28, id 2, calls 5, note 12, model 5', ''],
    // The first column is the last to be cut.
    [51, 'name 28, id 2, calls 5, note 10', 'model'],
    // A column that is worth less may fit where another does not.
    [46, 'name 28, id 2, calls 5, model 5', 'note'],
    [32, 'name 28, id 2', 'calls, note, model'],
    // Words without room beside it stand below it.
    [30, 'name 28, id 2, calls 5, note 10, model 5', ''],
    [16, 'name 16, id 2, calls 5', 'note, model'],
    [13, 'name 13, id 2, calls 5', 'note, model'],
    [5, 'name 8, id 2', 'calls, note, model'],
  ])('%d', (width, columns, left) => {
    const layout = layOut(FIELDS, RECORDS, width);
    const told = layout.columns.map(({ field, width: own }) => `${field.path} ${own}`);
    expect(told.join(', ')).toBe(columns);
    expect(layout.left.map(({ path }) => path).join(', ')).toBe(left);
  });
});

test('a column that says nothing is not shown, and not missed', () => {
  const { columns, left } = layOut(FIELDS, [{ name: 'a', id: 'b' }], 80);
  expect(columns.map(({ field }) => field.path)).toEqual(['name', 'id']);
  expect(left).toEqual([]);
});

test.each([24, 40, 60, 80, 120])('no line is wider than %d', (width) => {
  const lines = tableLines(FIELDS, RECORDS, width, 2);
  expect(lines.filter((line) => lineWidth(line) > width)).toEqual([]);
});

test('numbers stand right, texts left, and what is cut or left out is said', () => {
  expect(paint(tableLines(FIELDS, RECORDS, 51), false).split('\n')).toEqual([
    'name                          id  calls  note',
    'Front desk of the north side  a1  1,200  xxxxxxxxx…',
    '日本語の受付                  b2      7  –',
    'No room for: model.',
    '',
  ]);
});

test('what is the same in every row moves into the heading, but not where a program reads it', () => {
  const records = [1, 2, 3].map((at) => ({ name: `Desk ${at}`, id: at * 1127, model: 'm1' }));
  const fields: readonly Field[] = [
    { path: 'name', title: 'name', least: 12 },
    { path: 'id', title: 'id', form: 'id' },
    { path: 'model', title: 'model' },
  ];
  expect(paint(tableLines(fields, records, 40), false).split('\n')).toEqual([
    'In every row: model m1',
    'name      id',
    'Desk 1  1127',
    'Desk 2  2254',
    'Desk 3  3381',
    '',
  ]);
  const piped = { width: 20, color: false, verbose: false, isPiped: true };
  const lines = tableLines(fields, records, tableWidth(piped));
  expect(paint(lines, false).split('\n').slice(0, 2)).toEqual([
    'name      id  model',
    'Desk 1  1127  m1',
  ]);
});

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

describe('a value is written', () => {
  const rows: readonly (readonly [Json | undefined, Form, string])[] = [
    [undefined, 'text', '–'],
    [null, 'number', '–'],
    ['', 'text', '–'],
    [0, 'number', '0'],
    [5000, 'number', '5,000'],
    [1234567, 'number', '1,234,567'],
    [-1234.5, 'decimal', '-1,234.5'],
    [0.25, 'number', '0.25'],
    [16204.46, 'decimal', '16,204.5'],
    [71.28, 'percent', '71.3 %'],
    [0, 'seconds', '0s'],
    [45.4, 'seconds', '45s'],
    [59.6, 'seconds', '1m 00s'],
    [192, 'seconds', '3m 12s'],
    [3900, 'seconds', '1h 05m'],
    [888.6, 'milliseconds', '889 ms'],
    ['2026-11-21T10:45:12.345+01:00', 'time', '2026-11-21T09:45:12Z'],
    ['soon', 'time', 'soon'],
    ['feature_administration', 'words', 'feature administration'],
    ['feature_administration', 'text', 'feature_administration'],
    [true, 'text', 'yes'],
    [{ a: 1 }, 'text', '{"a":1}'],
    // What is not of the form that was expected is shown as it came.
    ['many', 'number', 'many'],
    ['\u001b[31mred', 'text', '\\x1b[31mred'],
    ['two\nlines', 'text', 'two\\nlines'],
  ];
  test.each(rows)('%j as %s', (value, form, text) => {
    expect(formatFigure(value, form)).toBe(text);
  });
});

test.each([
  ['name', 'Front desk'],
  ['actor.id', 'api:1'],
  ['actor.name', undefined],
  ['name.length', undefined],
  ['constructor', undefined],
])('the value at %s', (path, value) => {
  expect(valueAt({ name: 'Front desk', actor: { id: 'api:1' } }, path)).toBe(value);
});

const HOSTILE = 'a\u001b[31m\u009b2J\u202eb\u200b\u{e0041}\u007f\u2028 Zoë 👍🏽';

test('a terminal finds nothing to act on, and no value changes', () => {
  const text = jsonText({ [HOSTILE]: [HOSTILE] });
  expect(text).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}]/u);
  expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE] });
});

test.each([[[]], [[{ id: 1 }]], [[{ id: 1 }, { id: 2, text: 'a\nb' }, {}]]] satisfies [
  JsonObject[],
][])('a document written item by item: %j', (items) => {
  const frame = jsonFrame({ format: 'callsheet-calls', version: 1 });
  const pieces = [
    frame.open,
    ...items.map((item, index) => frame.item(item, index === items.length - 1)),
    frame.close,
  ];
  expect(pieces.every((piece) => piece.endsWith('\n'))).toBe(true);
  expect(JSON.parse(pieces.join(''))).toEqual({
    format: 'callsheet-calls',
    version: 1,
    data: items,
  });
});
