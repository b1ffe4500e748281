import type { JsonObject } from '../../core/value.ts';
import { type Line, paint, type RenderOptions, span } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatNumber } from '../wording.ts';
import { dailyChart, hourlyChart, outcomeChart } from './charts.ts';
import { factLines } from './facts.ts';
import { formatFigure, formatTime, valueAt } from './figures.ts';
import type { Field } from './layout.ts';
import type { MetricsBlock } from './metrics-block-names.ts';
import { BLOCKS, metricsRecords } from './metrics-blocks.ts';
import { noteLines } from './note.ts';
import { tableLines } from './table.ts';

type MetricsView = {
  /** First and last moment, ISO 8601. */
  readonly start: string;
  readonly end: string;
  /** Whose figures they are: `every organization that the key reaches`. */
  readonly of: string;
  readonly data: JsonObject;
};

/** Agents that the overview shows; the block of agents has them all. */
const TOP_AGENTS = 10;

/** The figures of a span of time: totals, outcomes, charts, agents, reasons. */
export function renderMetricsText(view: MetricsView, { width, color }: RenderOptions): string {
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
    topAgents(agents, width),
    section('Why calls went on to a person', BLOCKS.reasons.fields, reasons, width),
    [[span('How well agents understood', 'strong')], ...figures(data, 'insights', width)],
  ];
  return paint(joined(sections), color);
}

/** One block of the figures, whole. */
export function renderMetricsBlockText(
  view: MetricsView,
  block: MetricsBlock,
  { width, color }: RenderOptions,
): string {
  const records = metricsRecords(view.data, block);
  const isOne = block === 'totals' || block === 'outcomes' || block === 'insights';
  const lines = isOne
    ? figures(view.data, block, width)
    : tableLines(BLOCKS[block].fields, records, width, 2);
  const body = records.length === 0 ? [[span('  There is nothing in this time.', 'dim')]] : lines;
  return paint([...headLines(view, width), [], ...body], color);
}

function headLines({ start, end, of }: MetricsView, width: number): readonly Line[] {
  return [
    ...noteLines(`Metrics of ${sanitiseLine(of)}`, width),
    ...noteLines(`${formatTime(start)} to ${formatTime(end)}`, width, 'dim'),
  ];
}

function figures(data: JsonObject, block: MetricsBlock, width: number): readonly Line[] {
  const [record = {}] = metricsRecords(data, block);
  const fields: readonly Field[] = BLOCKS[block].fields;
  return factLines(
    fields.map(({ path, title, form }) => ({
      name: title,
      text: formatFigure(valueAt(record, path), form),
    })),
    width,
    2,
  );
}

function section(
  title: string,
  fields: readonly Field[],
  records: readonly JsonObject[],
  width: number,
): readonly Line[] {
  if (records.length === 0) return [];
  return [[span(title, 'strong')], ...tableLines(fields, records, width, 2)];
}

/** The agents with the most calls, and how many others there are. */
function topAgents(agents: readonly JsonObject[], width: number): readonly Line[] {
  const top = agents.slice(0, TOP_AGENTS);
  const more = agents.length - top.length;
  const table = section('Agents with the most calls', BLOCKS.agents.fields, top, width);
  if (more <= 0) return table;
  const note = `  ${formatNumber(more)} more agents took calls: --block agents shows them all.`;
  return [...table, ...noteLines(note, width, 'dim')];
}

/** Sections with an empty line between them. */
function joined(sections: readonly (readonly Line[])[]): readonly Line[] {
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]));
}
