import { describe, expect, test } from 'vitest';
import { parseDay, parseMoment } from '../../../src/core/calendar.ts';
import { CallsheetError } from '../../../src/core/errors.ts';

const NOW = new Date('2026-11-21T09:45:00Z');

describe('a moment', () => {
  test.each([
    ['30m', 'start', '2026-11-21T09:15:00.000Z'],
    ['2h', 'start', '2026-11-21T07:45:00.000Z'],
    ['7d', 'start', '2026-11-14T09:45:00.000Z'],
    ['4w', 'end', '2026-10-24T09:45:00.000Z'],
    ['2026-11-20', 'start', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20', 'end', '2026-11-20T23:59:59.999Z'],
    ['2026-11-20T10:00', 'end', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:30', 'start', '2026-11-20T10:00:30.000Z'],
    ['2026-11-20T10:00+02:00', 'start', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T10:00:30.5Z', 'start', '2026-11-20T10:00:30.500Z'],
  ] as const)('%s as %s', (text, edge, time) => {
    expect(parseMoment('--since', text, NOW, edge).toISOString()).toBe(time);
  });

  test.each([
    '',
    'yesterday',
    '7',
    '7y',
    '-7d',
    '2026-02-30',
    '2026-13-01',
    '11/20/2026',
    '2026-11-20 10:00',
    '2026-11-20T25:00',
    '9999999d',
  ])('%j is none', (text) => {
    expect(() => parseMoment('--since', text, NOW, 'start')).toThrow(CallsheetError);
  });
});

test.each(['2026-11-20', '2024-02-29'])('%s is a day', (text) => {
  expect(parseDay('--since', text)).toBe(text);
});

test.each(['2026-02-29', '2026-11', '7d', '11/20/2026'])('%s is none', (text) => {
  expect(() => parseDay('--since', text)).toThrow('is not a day');
});
