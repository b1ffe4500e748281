import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/value.ts';
import {
  BLOCKS,
  dailyChart,
  gather,
  renderMetricsText,
  shareBar,
  sparkline,
} from '../../../src/features/reading/render/metrics.ts';
import { HISTORY_FIELDS } from '../../../src/render/read/records.ts';
import { type Field, formatFigure } from '../../../src/render/read/table.ts';
import { lineWidth, paint, textWidth } from '../../../src/render/terminal.ts';
import { expectGolden } from '../../render/golden.ts';
import { METRICS } from './read-documents.ts';

const view = (data: JsonObject) => ({
  start: '2026-11-19T00:00:00.000Z',
  end: '2026-11-21T09:45:00.000Z',
  of: 'organization harbor',
  data,
});

test.each([
  ['metrics.60.txt', { width: 60, color: false, verbose: false }],
  ['metrics.color.txt', { width: 80, color: true, verbose: false }],
])('%s', (name, options) => {
  expectGolden(`read/${name}`, renderMetricsText(view(METRICS), options));
});

test.each([60, 80, 120])('no line is wider than %d', (width) => {
  const text = renderMetricsText(view(METRICS), { width, color: false, verbose: false });
  expect(text.split('\n').filter((line) => textWidth(line) > width)).toEqual([]);
});

test('an overview shows ten agents and says how many more there are', () => {
  const agents = Array.from({ length: 1210 }, (_, index) => ({
    agentName: `Desk ${index}`,
    totalCalls: index,
  }));
  const text = renderMetricsText(view({ ...METRICS, agentPerformance: agents }), {
    width: 80,
    color: false,
    verbose: false,
  });
  expect(text.match(/Desk \d+/g)).toEqual(
    Array.from({ length: 10 }, (_, index) => `Desk ${1209 - index}`),
  );
  expect(text).toContain('  1,200 more agents took calls: --block agents shows them all.\n');
});

test('what there is nothing of is left out', () => {
  const text = renderMetricsText(view({}), { width: 80, color: false, verbose: false });
  expect(text).not.toMatch(/Calls a day|Calls by hour|Agents with|Why calls/);
  expect(text).toContain('  calls          –\n');
});

describe('a chart of days', () => {
  const days = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      date: new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
      totalCalls: index,
      resolvedCalls: Math.floor(index / 2),
    }));

  test.each([
    [1, 3, '2026-01-01 to 2026-01-01'],
    [30, 60, '2026-01-01                                        2026-01-30'],
    [365, 61, '2026-01-01                                         2026-12-31'],
  ])('of %d days', (count, columns, axis) => {
    const lines = dailyChart(days(count), 80);
    const [, calls, , labels] = paint(lines, false).split('\n');
    expect(textWidth(calls ?? '') - 12).toBe(columns);
    expect(labels?.trim()).toBe(axis);
    expect(lines.filter((line) => lineWidth(line) > 80)).toEqual([]);
  });

  test('says how many days a bar stands for', () => {
    expect(paint(dailyChart(days(365), 80), false)).toContain(
      'Calls a day  a bar for every 6 days, most from 2026-12-21: 2,139\n',
    );
  });
});

test.each([
  [[], undefined, ''],
  [[0, 0], undefined, '··'],
  [[1, 2, 3, 4, 5, 6, 7, 8], undefined, '▁▂▃▄▅▆▇█'],
  [[0, 1, 1000], undefined, '·▁█'],
  [[5, 5], undefined, '██'],
  [[4, 8], 16, '▂▄'],
  // Nothing but counts is expected; what is not one is no bar.
  [[-1, Number.NaN, 4], 4, '··█'],
])('%j of %s', (values, highest, bars) => {
  expect(sparkline(values, highest)).toBe(bars);
});

test('bars are made wider', () => {
  expect(sparkline([1, 8], 8, 3)).toBe('▁▁▁███');
});

test.each([
  [[1, 2, 3], 3, { sums: [1, 2, 3], size: 1 }],
  [[1, 2, 3, 4, 5], 3, { sums: [3, 7, 5], size: 2 }],
  [[1, 2, 3], 1, { sums: [6], size: 3 }],
  [[1, 2], 0, { sums: [3], size: 2 }],
  [[], 10, { sums: [], size: 1 }],
])('%j in at most %d', (values, most, gathered) => {
  expect(gather(values, most)).toEqual(gathered);
});

test.each([
  [0, ''],
  [0.001, '█'],
  [0.5, '█████'],
  [1, '██████████'],
])('a share of %d', (share, bar) => {
  expect(shareBar(share, 10)).toBe(bar);
});

test('no field of a table that is an id is written as a number', () => {
  const fields: readonly Field[] = [...HISTORY_FIELDS, ...BLOCKS.agents.fields];
  const ids = fields.filter(({ path }) => /(?:^|[._])id$|Id$/.test(path));
  expect(ids.length).toBeGreaterThan(2);
  for (const { form } of ids) expect(formatFigure(1127, form)).toBe('1127');
});
