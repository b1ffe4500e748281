import type { JsonObject } from '../../core/value.ts';
import { type Line, paint, type RenderOptions } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { valueAt } from './figures.ts';
import type { Field } from './layout.ts';
import { noteLines } from './note.ts';
import { tableLines } from './table.ts';

/** Characters of an id that a list shows; `--call` takes the beginning of one. */
const SHORT_ID = 8;

const CALL_FIELDS: readonly Field[] = [
  { path: 'short_id', title: 'id' },
  { path: 'started', title: 'started', form: 'time' },
  { path: 'duration', title: 'lasted', form: 'seconds' },
  { path: 'caller', title: 'caller', least: 12, drop: 2 },
  {
    path: 'sentiment',
    title: 'mood',
    drop: 3,
    tone: (mood) => (mood === 'Negative' ? 'warning' : 'plain'),
  },
  { path: 'topic', title: 'topic', least: 20, drop: 1 },
];

/** The columns of calls in CSV, in the platform's names; the last two are read out of the summary. */
export const CALL_COLUMNS = [
  { path: 'id' },
  { path: 'agent_id' },
  { path: 'call_started_at' },
  { path: 'call_ended_at' },
  { path: 'call_duration' },
  { path: 'session_data.caller_id' },
  { path: 'entry_count' },
  { path: 'topic' },
  { path: 'sentiment' },
  { path: 'recording_url' },
];

/** What a list tells of a call; small, so that transcripts need not be kept. */
export function callRow(call: JsonObject): JsonObject {
  return {
    short_id: String(call.id ?? '').slice(0, SHORT_ID),
    started: startOf(call) ?? null,
    duration: call.call_duration ?? null,
    caller: valueAt(call, 'session_data.caller_id') ?? null,
    ...summaryFacts(call),
  };
}

/** A call with its topic and mood beside the platform's fields, for CSV. */
export function callRecord(call: JsonObject): JsonObject {
  return { ...call, ...summaryFacts(call) };
}

/** When a call began, or was written down where that is not said. */
export function startOf(call: JsonObject): string | undefined {
  const [start] = [call.call_started_at, call.created_at].filter(
    (value) => typeof value === 'string',
  );
  return start;
}

/** The summary is Markdown: a topic first, and a line with the sentiment (Call log). */
function summaryFacts({ summary_text: summary }: JsonObject): JsonObject {
  if (typeof summary !== 'string') return { topic: null, sentiment: null };
  const topic = summary
    .split('\n')
    .map(plainText)
    .find((line) => line !== '');
  const sentiment = /sentiment\W+(positive|neutral|negative)/i.exec(summary)?.[1];
  return { topic: topic ?? null, sentiment: sentiment ?? null };
}

/** A line of Markdown without its marks. */
function plainText(line: string): string {
  return line
    .replace(/^\s*(?:#+|[-*+]|\d+\.)\s+/, '')
    .replace(/\*\*|__|`/g, '')
    .replace(/^topic:\s*/i, '')
    .trim();
}

type CallList = {
  /** What people call the agent. */
  readonly label: string;
  /** Rows of `callRow`. */
  readonly rows: readonly JsonObject[];
  /** Whether there may be more than were asked for. */
  readonly isCut: boolean;
};

/** Calls of an agent, one a line. */
export function renderCallsText(list: CallList, { width, color }: RenderOptions): string {
  const { label, rows, isCut } = list;
  const of = sanitiseLine(label);
  if (rows.length === 0) return `No call of ${of} in this time.\n`;
  const count = isCut
    ? `The newest ${formatCount(rows.length, 'call')}`
    : formatCount(rows.length, 'call');
  const lines: Line[] = [
    ...tableLines(CALL_FIELDS, rows, width),
    [],
    ...noteLines(`${count} of ${of}.`, width),
    ...(isCut ? noteLines('--limit or --since shows more.', width, 'dim') : []),
  ];
  return paint(lines, color);
}
