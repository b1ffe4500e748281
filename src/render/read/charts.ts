import type { JsonObject } from '../../core/value.ts';
import { type Line, span } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { padText } from '../width.ts';
import { formatCount } from '../wording.ts';
import { formatDecimal } from './figures.ts';
import { numberAt } from './metrics-blocks.ts';

const INDENT = '  ';
/** What stands before the bars. */
const LABEL = 10;
/** A bar is at most so many columns wide. */
const WIDEST_BAR = 3;

/** Calls and resolved calls of each day, over the same scale, with the days at both ends. */
export function dailyChart(days: readonly JsonObject[], width: number): readonly Line[] {
  if (days.length === 0) return [];
  const room = width - INDENT.length - LABEL;
  const calls = gather(
    days.map((day) => numberAt(day, 'totalCalls')),
    room,
  );
  const resolved = gather(
    days.map((day) => numberAt(day, 'resolvedCalls')),
    room,
  );
  const highest = Math.max(...calls.sums);
  const times = fitting(calls.sums.length, room);
  const peak = days[calls.sums.indexOf(highest) * calls.size];
  const first = sanitiseLine(String(days[0]?.date ?? ''));
  const last = sanitiseLine(String(days.at(-1)?.date ?? ''));
  const when = sanitiseLine(String(peak?.date ?? ''));
  const most =
    calls.size === 1
      ? `most on ${when}`
      : `a bar for every ${formatCount(calls.size, 'day')}, most from ${when}`;
  return [
    [span('Calls a day', 'strong'), span(`  ${most}: ${formatDecimal(highest, 0)}`, 'dim')],
    bars('calls', sparkline(calls.sums, highest), times),
    bars('resolved', sparkline(resolved.sums, highest), times),
    axis([first, last], calls.sums.length * times),
  ];
}

/** Calls of each hour of the day. */
export function hourlyChart(hours: readonly JsonObject[], width: number): readonly Line[] {
  if (hours.length === 0) return [];
  const room = width - INDENT.length - LABEL;
  const calls = hours.map((hour) => numberAt(hour, 'calls'));
  const highest = Math.max(...calls);
  const times = fitting(calls.length, room);
  const labels = hours
    .map(({ hour }) => sanitiseLine(String(hour ?? '')))
    .filter((_, index) => index % 6 === 0);
  const peak = sanitiseLine(String(hours[calls.indexOf(highest)]?.hour ?? ''));
  return [
    [
      span('Calls by hour of the day', 'strong'),
      span(`  most at ${peak}: ${formatDecimal(highest, 0)}`, 'dim'),
    ],
    bars('calls', sparkline(calls, highest), times),
    [span(indented(labels.map((label) => padText(label, times * 6)).join('')), 'dim')],
  ];
}

/** How calls ended: counts, shares, and a bar for each. */
export function outcomeChart(outcomes: JsonObject, width: number): readonly Line[] {
  const rows = ['resolved', 'transferred', 'abandoned', 'other'].map((name) => ({
    name,
    count: numberAt(outcomes, name),
  }));
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  const figures = rows.map(({ count }) => formatDecimal(count, 0));
  const widest = Math.max(...figures.map((text) => text.length));
  const room = Math.min(40, width - INDENT.length - 13 - widest - 10);
  return [
    [span('How calls ended', 'strong')],
    ...rows.map(({ name, count }, index): Line => {
      const share = all === 0 ? 0 : count / all;
      return [
        span(`${INDENT}${name.padEnd(13)}`),
        span((figures[index] ?? '').padStart(widest)),
        span(`${formatDecimal(share * 100, 1)} %`.padStart(9)),
        span(`  ${shareBar(share, room)}`, 'adopted'),
      ];
    }),
  ];
}

function fitting(count: number, room: number): number {
  return Math.max(1, Math.min(WIDEST_BAR, Math.floor(room / count)));
}

function bars(label: string, line: string, times: number): Line {
  return [
    span(`${INDENT}${label.padEnd(LABEL)}`, 'dim'),
    span(stretch(line, times), label === 'calls' ? 'adopted' : 'added'),
  ];
}

function indented(text: string): string {
  return `${INDENT}${' '.repeat(LABEL)}${text}`;
}

/** The first and the last label below the ends of the bars; the first alone where both do not fit. */
function axis([first, last]: readonly [string, string], columns: number): Line {
  const gap = columns - first.length - last.length;
  const text = gap > 0 ? `${first}${' '.repeat(gap)}${last}` : `${first} to ${last}`;
  return [span(indented(text), 'dim')];
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
/** A value of nothing, so that it is told from a little. */
const ZERO = '·';

/** One bar a value, from nothing to the highest of them or to `highest`. */
export function sparkline(values: readonly number[], highest = Math.max(0, ...values)): string {
  return values.map((value) => barOf(value, highest)).join('');
}

function barOf(value: number, highest: number): string {
  if (!(value > 0) || highest <= 0) return ZERO;
  const step = Math.ceil((value / highest) * BARS.length) - 1;
  return BARS[Math.min(step, BARS.length - 1)] ?? ZERO;
}

/** Every bar `times` columns wide. */
export function stretch(bars: string, times: number): string {
  return Array.from(bars, (bar) => bar.repeat(times)).join('');
}

/**
 * Values added up in neighbouring groups, so that there are at most `most`; `size` is how many went into
 * each.
 */
export function gather(
  values: readonly number[],
  most: number,
): { readonly sums: readonly number[]; readonly size: number } {
  const size = Math.max(1, Math.ceil(values.length / Math.max(1, most)));
  const groups = Math.ceil(values.length / size);
  const sums = Array.from({ length: groups }, (_, group) =>
    values.slice(group * size, (group + 1) * size).reduce((sum, value) => sum + value, 0),
  );
  return { sums, size };
}

/** A horizontal bar of at most `width` columns for a share from 0 to 1; the least share is still seen. */
export function shareBar(share: number, width: number): string {
  if (!(share > 0)) return '';
  return '█'.repeat(Math.min(width, Math.max(1, Math.round(share * width))));
}
