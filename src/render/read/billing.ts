import type { JsonObject } from '../../core/value.ts';
import { type Line, paint, type RenderOptions, span } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { type Field, layOut } from './layout.ts';
import { headingLine, leftOutLines, recordLine } from './table.ts';

/** What is shown of an organization's row. */
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

type BillTotals = {
  readonly voice_minutes: number;
  readonly agent_count: number;
  readonly organizations: number;
};

/** What rows come to together. */
export function totalOf(rows: readonly JsonObject[]): BillTotals {
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
  const { width, color } = options;
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
  const layout = layOut(BILLING_FIELDS, [...rows, total, ...subtotals], width - 2);
  const lines: Line[] = [head, [], headingLine(layout, 2)];
  for (const [index, [reseller, members]] of groups.entries()) {
    lines.push([span(sanitiseLine(reseller || 'no reseller'), 'strong')]);
    for (const row of members) lines.push(recordLine(layout, row, { indent: 2 }));
    const subtotal = subtotals[index];
    if (hasSubtotals && subtotal)
      lines.push(recordLine(layout, subtotal, { indent: 2, tone: 'dim' }));
  }
  lines.push(
    [],
    recordLine(layout, total, { indent: 2, tone: 'strong' }),
    [],
    [span(countOf(rows), 'strong')],
    ...leftOutLines(layout),
  );
  return paint(lines, color);
}

/** `12 organizations of 3 resellers.` */
function countOf(rows: readonly JsonObject[]): string {
  const organizations = formatCount(rows.length, 'organization');
  const resellers = new Set(rows.flatMap(({ reseller_id: id }) => (id ? [id] : []))).size;
  return resellers === 0
    ? `${organizations}.`
    : `${organizations} of ${formatCount(resellers, 'reseller')}.`;
}

function sumRow(title: string, rows: readonly JsonObject[]): JsonObject {
  const { voice_minutes, agent_count } = totalOf(rows);
  return { organization_name: title, organization_id: ' ', voice_minutes, agent_count };
}
