import type { Read } from '../../../core/documents.generated.ts';
import type { MetricsBlock } from '../../../core/documents.ts';
import { isObject, type JsonObject, objectsIn } from '../../../core/value.ts';
import {
  type Field,
  formatDecimal,
  formatFigure,
  layOut,
  tableLines,
  tableWidth,
  valueAt,
} from '../../../render/read/table.ts';
import {
  factLines,
  type Line,
  noteLines,
  padText,
  paint,
  type RenderOptions,
  spaced,
  span,
} from '../../../render/terminal.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatCount, formatNumber, formatTime } from '../../../render/wording.ts';

type MetricsView = {
  /** First and last moment, ISO 8601. */
  readonly start: string;
  readonly end: string;
  /** The subject of the figures: `every organization that the key reaches`. */
  readonly of: string;
  readonly data: JsonObject;
};

/** Agents that the overview shows; the block of agents has them all. */
const TOP_AGENTS = 10;

/** The figures of a span of time: totals, outcomes, charts, agents, reasons. */
export function renderMetricsText(view: MetricsView, options: RenderOptions): string {
  const { width, color } = options;
  const { data } = view;
  const agents = metricsRecords(data, 'agents');
  const reasons = metricsRecords(data, 'reasons');
  const [outcomes = {}] = metricsRecords(data, 'outcomes');
  const sections: readonly (readonly Line[])[] = [
    headLines(view, width),
    figures(data, 'totals', width),
    outcomeChart(outcomes, width),
    dailyChart(metricsRecords(data, 'daily'), width),
    hourlyChart(metricsRecords(data, 'hourly'), width),
    topAgents(agents, options),
    section('Why calls were transferred to a person', BLOCKS.reasons.fields, reasons, options),
    [[span('How well agents understood', 'strong')], ...figures(data, 'insights', width)],
  ];
  return paint(spaced(sections), color);
}

/** One block of the figures, whole. */
export function renderMetricsBlockText(
  view: MetricsView,
  block: MetricsBlock,
  options: RenderOptions,
): string {
  const { width, color } = options;
  const records = metricsRecords(view.data, block);
  const isOne = block === 'totals' || block === 'outcomes' || block === 'insights';
  const lines = isOne
    ? figures(view.data, block, width)
    : tableLines(BLOCKS[block].fields, records, tableWidth(options), 2);
  const body = records.length === 0 ? [[span('  There is no data in this time.')]] : lines;
  return paint([...headLines(view, width), [], ...body], color);
}

function headLines({ start, end, of }: MetricsView, width: number): readonly Line[] {
  return [
    ...noteLines(`Metrics of ${of}`, width),
    ...noteLines(`${formatTime(start)} to ${formatTime(end)}`, width),
  ];
}

function figures(data: JsonObject, block: MetricsBlock, width: number): readonly Line[] {
  const [record = {}] = metricsRecords(data, block);
  const fields: readonly Field[] = BLOCKS[block].fields;
  return factLines(
    fields.map(({ path, title, form }) => [title, formatFigure(valueAt(record, path), form)]),
    width,
    2,
  );
}

function section(
  title: string,
  fields: readonly Field[],
  records: readonly JsonObject[],
  options: RenderOptions,
): readonly Line[] {
  if (records.length === 0) return [];
  return [[span(title, 'strong')], ...tableLines(fields, records, tableWidth(options), 2)];
}

/** The agents with the most calls, and how many others there are. */
function topAgents(agents: readonly JsonObject[], options: RenderOptions): readonly Line[] {
  const top = agents.slice(0, TOP_AGENTS);
  const more = agents.length - top.length;
  const table = section('Agents with the most calls', BLOCKS.agents.fields, top, options);
  if (more <= 0) return table;
  const note = `  ${formatNumber(more)} more agents took calls: --block agents shows them all.`;
  return [...table, ...noteLines(note, options.width)];
}

/** One table of a metrics answer: a name for the command line, the platform's member, and its columns. */
type BlockSpec = { readonly member: string; readonly fields: readonly Field[] };

const percent = (path: string, title: string, drop?: number): Field =>
  drop === undefined ? { path, title, form: 'percent' } : { path, title, form: 'percent', drop };

/** The blocks that a metrics answer is made of (Metrics). */
export const BLOCKS = {
  totals: {
    member: 'metrics',
    fields: [
      { path: 'totalCalls', title: 'calls', form: 'number' },
      { path: 'totalMinutes', title: 'minutes', form: 'decimal' },
      { path: 'avgDuration', title: 'average call', form: 'seconds' },
      percent('resolutionRate', 'resolved'),
      percent('escalationRate', 'escalated'),
      percent('sentimentPercent', 'good mood'),
      { path: 'activeAgents', title: 'active agents', form: 'number' },
      { path: 'responseTime', title: 'response time', form: 'milliseconds' },
    ],
  },
  outcomes: {
    member: 'resolutionBreakdown',
    fields: [
      { path: 'resolved', title: 'resolved', form: 'number' },
      { path: 'transferred', title: 'transferred', form: 'number' },
      { path: 'abandoned', title: 'abandoned', form: 'number' },
      { path: 'other', title: 'other', form: 'number' },
    ],
  },
  daily: {
    member: 'dailyVolume',
    fields: [
      { path: 'date', title: 'day' },
      { path: 'totalCalls', title: 'calls', form: 'number' },
      { path: 'resolvedCalls', title: 'resolved', form: 'number' },
    ],
  },
  hourly: {
    member: 'hourlyDistribution',
    fields: [
      { path: 'hour', title: 'hour' },
      { path: 'calls', title: 'calls', form: 'number' },
      { path: 'minutes', title: 'minutes', form: 'decimal' },
    ],
  },
  agents: {
    member: 'agentPerformance',
    fields: [
      { path: 'agentName', title: 'agent', least: 16 },
      { path: 'totalCalls', title: 'calls', form: 'number' },
      percent('resolvedPercent', 'resolved'),
      percent('transferredPercent', 'transferred', 2),
      percent('abandonedPercent', 'abandoned', 3),
      { path: 'avgDuration', title: 'average', form: 'seconds', drop: 1 },
      percent('sentimentPercent', 'good mood', 4),
      { path: 'status', title: 'status', drop: 5 },
      { path: 'agentId', title: 'id', drop: 6 },
    ],
  },
  reasons: {
    member: 'escalationReasons',
    fields: [
      { path: 'reason', title: 'reason', least: 20 },
      { path: 'count', title: 'calls', form: 'number' },
      percent('percentOfTotal', 'of all'),
      { path: 'avgTimeBeforeEscalation', title: 'after', form: 'seconds', drop: 1 },
    ],
  },
  insights: {
    member: 'aiInsights',
    fields: [
      percent('intentAccuracy', 'intents understood'),
      percent('contextRetention', 'thread kept'),
      percent('speechRecognition', 'words heard right'),
      percent('entityExtraction', 'names and numbers caught'),
      { path: 'responseLatency', title: 'response time', form: 'milliseconds' },
      { path: 'trainingSessions', title: 'call sessions', form: 'number' },
    ],
  },
} as const satisfies Readonly<Record<MetricsBlock, BlockSpec>>;

/** Counts behind the shares that a table of agents shows; CSV has them too. */
const MORE_COLUMNS: { readonly [block in MetricsBlock]?: readonly { readonly path: string }[] } = {
  agents: [
    { path: 'resolved' },
    { path: 'transferred' },
    { path: 'abandoned' },
    { path: 'other' },
    { path: 'otherPercent' },
  ],
};

/** The columns of a block in CSV. */
export function metricsColumns(block: MetricsBlock): readonly { readonly path: string }[] {
  return [...BLOCKS[block].fields, ...(MORE_COLUMNS[block] ?? [])];
}

/** The records of a block; a block that is one object is one record. Agents come with most calls first. */
export function metricsRecords(data: JsonObject, block: MetricsBlock): readonly JsonObject[] {
  const value = data[BLOCKS[block].member];
  const records = isObject(value) ? [value] : objectsIn(value);
  return block === 'agents' ? records.toSorted(byCalls) : records;
}

function byCalls(a: JsonObject, b: JsonObject): number {
  const names = String(a.agentName) < String(b.agentName) ? -1 : 1;
  return numberAt(b, 'totalCalls') - numberAt(a, 'totalCalls') || names;
}

/** A number of a record; 0 where it has none. */
function numberAt(record: JsonObject, path: string): number {
  const value = valueAt(record, path);
  return typeof value === 'number' ? value : 0;
}

const INDENT = '  ';
/** Columns before the bars. */
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
  const formatDate = (day: JsonObject | undefined) => sanitiseLine(String(day?.date ?? ''));
  const most =
    calls.size === 1
      ? `most on ${formatDate(peak)}`
      : `a bar for every ${formatCount(calls.size, 'day')}, most from ${formatDate(peak)}`;
  return [
    [span('Calls a day', 'strong'), span(`  ${most}: ${formatDecimal(highest, 0)}`)],
    bars('calls', sparkline(calls.sums, highest, times)),
    bars('resolved', sparkline(resolved.sums, highest, times)),
    axis([formatDate(days[0]), formatDate(days.at(-1))], calls.sums.length * times),
  ];
}

/** Calls of each hour of the day. */
function hourlyChart(hours: readonly JsonObject[], width: number): readonly Line[] {
  if (hours.length === 0) return [];
  const room = width - INDENT.length - LABEL;
  const calls = hours.map((hour) => numberAt(hour, 'calls'));
  const highest = Math.max(...calls);
  const times = fitting(calls.length, room);
  const labels = hours
    .map(({ hour }) => sanitiseLine(String(hour ?? '')))
    .filter((_, index) => index % 6 === 0);
  const peak = String(hours[calls.indexOf(highest)]?.hour ?? '');
  return [
    [
      span('Calls by hour of the day', 'strong'),
      span(`  most at ${peak}: ${formatDecimal(highest, 0)}`),
    ],
    bars('calls', sparkline(calls, highest, times)),
    [span(indented(labels.map((label) => padText(label, times * 6)).join('')))],
  ];
}

/** How calls ended: counts, shares, and a bar for each. */
function outcomeChart(outcomes: JsonObject, width: number): readonly Line[] {
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
        span(`  ${shareBar(share, room)}`),
      ];
    }),
  ];
}

function fitting(count: number, room: number): number {
  return Math.max(1, Math.min(WIDEST_BAR, Math.floor(room / count)));
}

function bars(label: string, line: string): Line {
  return [span(`${INDENT}${label.padEnd(LABEL)}`), span(line)];
}

function indented(text: string): string {
  return `${INDENT}${' '.repeat(LABEL)}${text}`;
}

/** The first and the last label below the ends of the bars; the first alone where both do not fit. */
function axis([first, last]: readonly [string, string], columns: number): Line {
  const gap = columns - first.length - last.length;
  const text = gap > 0 ? `${first}${' '.repeat(gap)}${last}` : `${first} to ${last}`;
  return [span(indented(text))];
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
/** Zero has a sign of its own, so that it does not look like a small value. */
const ZERO = '·';

/** One bar a value, `times` columns wide, from nothing to the highest of them or to `highest`. */
export function sparkline(
  values: readonly number[],
  highest = Math.max(0, ...values),
  times = 1,
): string {
  return values.map((value) => renderBar(value, highest).repeat(times)).join('');
}

function renderBar(value: number, highest: number): string {
  if (!(value > 0) || highest <= 0) return ZERO;
  const step = Math.ceil((value / highest) * BARS.length) - 1;
  return BARS[Math.min(step, BARS.length - 1)] ?? ZERO;
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

/** The columns of an organization's row. */
const BILLING_FIELDS: readonly Field[] = [
  { path: 'organization_name', title: 'organization', least: 16 },
  { path: 'voice_minutes', title: 'minutes', form: 'decimal' },
  { path: 'agent_count', title: 'agents', form: 'number' },
  { path: 'organization_id', title: 'id', drop: 1 },
];

/** The columns of the CSV, with the days in every row. */
export const BILLING_COLUMNS = [
  { path: 'start_date' },
  { path: 'end_date' },
  { path: 'reseller_id' },
  { path: 'reseller_name' },
  { path: 'organization_id' },
  { path: 'organization_name' },
  { path: 'voice_minutes' },
  { path: 'agent_count' },
];

type Bill = {
  /** First and last day, ISO 8601. */
  readonly start: string;
  readonly end: string;
  readonly rows: readonly JsonObject[];
};

type BillTotals = Read.Billing['totals'];

/** Sums up rows. */
export function sumBills(rows: readonly JsonObject[]): BillTotals {
  const sum = (field: string) =>
    rows.reduce((all, row) => all + (typeof row[field] === 'number' ? row[field] : 0), 0);
  return {
    // Sums of fractions would show what binary numbers are like.
    voice_minutes: Math.round(sum('voice_minutes') * 1e6) / 1e6,
    agent_count: sum('agent_count'),
    organizations: rows.length,
  };
}

/** Voice minutes and agents of every organization, by reseller, with what they come to. */
export function renderBillingText({ start, end, rows }: Bill, options: RenderOptions): string {
  const { color } = options;
  const head: Line = [span(`Billing, ${start} to ${end}`, 'strong')];
  if (rows.length === 0) {
    return paint([head, [], [span('Nothing is charged for these days.')]], color);
  }
  const groups = [
    ...Map.groupBy(rows, (row) => String(row.reseller_name ?? row.reseller_id ?? '')),
  ];
  const hasSubtotals = groups.length > 1;
  const total = sumRow('total', rows);
  const subtotals = groups.map(([, members]) => sumRow('together', members));
  const all = [...rows, total, ...subtotals];
  const { heading, row, leftOut } = layOut(BILLING_FIELDS, all, tableWidth(options), 2);
  const lines: Line[] = [head, [], ...heading];
  for (const [index, [reseller, members]] of groups.entries()) {
    lines.push([span(reseller || 'no reseller', 'strong')]);
    lines.push(...members.flatMap((member) => row(member)));
    const subtotal = subtotals[index];
    if (hasSubtotals && subtotal) lines.push(...row(subtotal));
  }
  lines.push([], ...row(total, 'strong'), [], [span(formatTotal(rows), 'strong')], ...leftOut());
  return paint(lines, color);
}

/** `12 organizations of 3 resellers.` */
function formatTotal(rows: readonly JsonObject[]): string {
  const organizations = formatCount(rows.length, 'organization');
  const resellers = new Set(rows.flatMap(({ reseller_id: id }) => (id ? [id] : []))).size;
  return resellers === 0
    ? `${organizations}.`
    : `${organizations} of ${formatCount(resellers, 'reseller')}.`;
}

function sumRow(title: string, rows: readonly JsonObject[]): JsonObject {
  const { voice_minutes, agent_count } = sumBills(rows);
  return { organization_name: title, organization_id: ' ', voice_minutes, agent_count };
}
