import { describe, expect, test } from 'vitest';
import { type Field, layOut } from '../../../src/render/read/layout.ts';
import { tableLines } from '../../../src/render/read/table.ts';
import { lineWidth, paint } from '../../../src/render/terminal.ts';

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
    [120, 'name 28, id 2, calls 5, note 40, model 5', ''],
    [60, 'name 28, id 2, calls 5, note 12, model 5', ''],
    [45, 'name 15, id 2, calls 5, note 10, model 5', ''],
    [38, 'name 15, id 2, calls 5, note 10', 'model'],
    // A column that is worth less may fit where another does not.
    [30, 'name 12, id 2, calls 5, model 5', 'note'],
    [16, 'name 12, id 2', 'calls, note, model'],
    [13, 'name 9, id 2', 'calls, note, model'],
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
  expect(paint(tableLines(FIELDS, RECORDS, 38), false).split('\n')).toEqual([
    'name             id  calls  note',
    'Front desk of …  a1  1,200  xxxxxxxxx…',
    '日本語の受付     b2      7  –',
    'No room for: model.',
    '',
  ]);
});
