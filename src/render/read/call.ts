import { isList, isObject, type Json, type JsonObject } from '../../core/value.ts';
import { type Line, paint, type RenderOptions, span, wrap } from '../terminal.ts';
import { sanitise, sanitiseLine } from '../untrusted.ts';
import { startOf } from './calls.ts';
import { type Fact, factLines } from './facts.ts';
import { formatFigure, valueAt } from './figures.ts';

type CallParts = { readonly transcript: boolean; readonly summary: boolean };

/** One call: its facts and, where wanted, its summary and what was said. */
export function renderCallText(
  call: JsonObject,
  parts: CallParts,
  { width, color }: RenderOptions,
): string {
  const facts: readonly Fact[] = [
    { name: 'call', text: formatFigure(call.id), tone: 'strong' },
    { name: 'started', text: formatFigure(startOf(call), 'time') },
    { name: 'lasted', text: formatFigure(call.call_duration, 'seconds') },
    { name: 'caller', text: formatFigure(valueAt(call, 'session_data.caller_id')) },
    // The address is signed: whoever reads it may fetch the recording.
    ...(typeof call.recording_url === 'string'
      ? [{ name: 'recording', text: 'there is one; --format json has its address' }]
      : []),
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
    return [[], [span('No summary.', 'dim')]];
  }
  const text = sanitise(summary).trim().split('\n');
  return [
    [],
    ...text.flatMap((line) => wrap([span(`  ${line}`)], width, /^\s*[-*+] /.test(line) ? 4 : 2)),
  ];
}

/** What was said, a line an utterance: when, who, what. Utterances that were still transcribed are left out. */
function transcriptLines(call: JsonObject, width: number): readonly Line[] {
  const { transcript_json: entries, transcript_text: text } = call;
  const said = isList(entries) ? entries.flatMap((entry) => utterance(entry)) : [];
  if (said.length > 0) {
    return [[], ...said.flatMap((one) => utteranceLines(one, width))];
  }
  if (typeof text !== 'string' || text.trim() === '') return [[], [span('No transcript.', 'dim')]];
  const lines = sanitise(text).trim().split('\n');
  return [[], ...lines.flatMap((line) => wrap([span(`  ${line}`)], width, 4))];
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
    span(`${at.padStart(AT)}  `, 'dim'),
    span(sanitiseLine(who).padEnd(SPEAKER), isEvent ? 'dim' : 'adopted'),
  ];
  const words = span(sanitiseLine(text), isEvent ? 'dim' : 'plain');
  return wrap([...head, words], width, AT + 2 + SPEAKER);
}

/** A line between two calls that are shown one after the other. */
export function callSeparator({ width, color }: RenderOptions): string {
  return paint([[], [span('─'.repeat(Math.min(width, 60)), 'dim')], []], color);
}
