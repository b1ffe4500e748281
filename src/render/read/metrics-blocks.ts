import { isList, isObject, type Json, type JsonObject } from '../../core/value.ts';
import { valueAt } from './figures.ts';
import type { Field } from './layout.ts';
import type { MetricsBlock } from './metrics-block-names.ts';

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
  const records = isObject(value) ? [value] : isList(value) ? value.filter(isRecord) : [];
  return block === 'agents' ? records.toSorted(byCalls) : records;
}

function isRecord(value: Json): value is JsonObject {
  return isObject(value);
}

function byCalls(a: JsonObject, b: JsonObject): number {
  const names = String(a.agentName) < String(b.agentName) ? -1 : 1;
  return numberAt(b, 'totalCalls') - numberAt(a, 'totalCalls') || names;
}

/** A number of a record; 0 where it has none. */
export function numberAt(record: JsonObject, path: string): number {
  const value = valueAt(record, path);
  return typeof value === 'number' ? value : 0;
}
