import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/value.ts';
import { type Form, formatFigure, valueAt } from '../../../src/render/read/figures.ts';

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
