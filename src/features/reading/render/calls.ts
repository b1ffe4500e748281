import { isList, isObject, type Json, type JsonObject } from '../../../core/value.ts';
import {
  type Field,
  formatFigure,
  tableLines,
  tableWidth,
  valueAt,
} from '../../../render/read/table.ts';
import {
  type Fact,
  factLines,
  type Line,
  liveSpan,
  noteLines,
  paint,
  type RenderOptions,
  sentence,
  span,
  wrap,
} from '../../../render/terminal.ts';
import { sanitise } from '../../../render/untrusted.ts';
import { formatCount } from '../../../render/wording.ts';

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

/** Returns the row of a call in a list; small, so that transcripts need not be kept. */
export function callRow(call: JsonObject): JsonObject {
  return {
    short_id: String(call.id ?? '').slice(0, SHORT_ID),
    started: getStart(call) ?? null,
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
function getStart(call: JsonObject): string | undefined {
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
  /** The display name of the agent. */
  readonly label: string;
  /** Rows of `callRow`. */
  readonly rows: readonly JsonObject[];
  /** True if there may be more calls than were asked for. */
  readonly isCut: boolean;
};

/** Calls of an agent, one a line. */
export function renderCallsText(list: CallList, options: RenderOptions): string {
  const { label, rows, isCut } = list;
  const { width, color } = options;
  if (rows.length === 0) return sentence(`No call of ${label} in this time.`, options);
  const count = isCut
    ? `The newest ${formatCount(rows.length, 'call')}`
    : formatCount(rows.length, 'call');
  const lines: Line[] = [
    ...tableLines(CALL_FIELDS, rows, tableWidth(options)),
    [],
    ...noteLines(`${count} of ${label}.`, width),
    ...(isCut ? noteLines('--limit or --since shows more.', width) : []),
  ];
  return paint(lines, color);
}

type CallParts = { readonly transcript: boolean; readonly summary: boolean };

/** One call: its facts and, where wanted, its summary and what was said. */
export function renderCallText(
  call: JsonObject,
  parts: CallParts,
  { width, color }: RenderOptions,
): string {
  const facts: readonly Fact[] = [
    ['call', formatFigure(call.id), 'strong'],
    ['started', formatFigure(getStart(call), 'time')],
    ['lasted', formatFigure(call.call_duration, 'seconds')],
    ['caller', formatFigure(valueAt(call, 'session_data.caller_id'))],
    // The address is signed: its readers may fetch the recording.
    [
      'recording',
      typeof call.recording_url === 'string' ? 'there is one; --format json has its address' : null,
    ],
  ];
  const lines = [
    ...factLines(facts, width),
    ...(parts.summary ? summaryLines(call, width) : []),
    ...(parts.transcript ? transcriptLines(call, width) : []),
  ];
  return paint(lines, color);
}

function summaryLines({ summary_text: summary }: JsonObject, width: number): readonly Line[] {
  if (typeof summary !== 'string' || summary.trim() === '') {
    return [[], [span('No summary.')]];
  }
  const text = sanitise(summary).trim().split('\n');
  return [[], ...text.flatMap((line) => textLines(line, width, /^\s*[-*+] /.test(line) ? 4 : 2))];
}

/**
 * Shows the transcript, a line an utterance: time, speaker, text. Utterances that were still transcribed are left out.
 */
function transcriptLines(call: JsonObject, width: number): readonly Line[] {
  const { transcript_json: entries, transcript_text: text } = call;
  const said = isList(entries) ? entries.flatMap((entry) => utterance(entry)) : [];
  if (said.length > 0) {
    return [[], ...said.flatMap((one) => utteranceLines(one, width))];
  }
  if (typeof text !== 'string' || text.trim() === '') return [[], [span('No transcript.')]];
  const lines = sanitise(text).trim().split('\n');
  return [[], ...lines.flatMap((line) => textLines(line, width, 4))];
}

/** A line of a text that is sanitised as a whole: its tabs stay. */
function textLines(line: string, width: number, hanging: number): readonly Line[] {
  return wrap([{ text: `  ${line}`, tone: 'plain', of: 'live' }], width, hanging);
}

type Utterance = { readonly at: string; readonly speaker: string; readonly text: string };

function utterance(entry: Json): readonly Utterance[] {
  if (!isObject(entry) || entry.is_partial === true) return [];
  const at = typeof entry.timestamp === 'number' ? clock(entry.timestamp) : '';
  const speaker = String(entry.speaker ?? '');
  return [{ at, speaker, text: typeof entry.text === 'string' ? entry.text : '' }];
}

/** `3:07` into the call. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

const SPEAKER = 8;
const AT = 7;

function utteranceLines({ at, speaker, text }: Utterance, width: number): readonly Line[] {
  const isEvent = speaker === 'system';
  const who = speaker === 'user' ? 'caller' : speaker;
  const head = [
    span(`${at.padStart(AT)}  `),
    span(who.padEnd(SPEAKER), isEvent ? 'plain' : 'strong'),
  ];
  return wrap([...head, liveSpan(text)], width, AT + 2 + SPEAKER);
}

/** A line between two calls that are shown one after the other. */
export function callSeparator({ width, color }: RenderOptions): string {
  return paint([[], [span('─'.repeat(Math.min(width, 60)))], []], color);
}
