import { type Call, type CallBook, escalatedAfter } from './call.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Line, type Script, type Speaker, webhookText } from './script.ts';

/** An entry of `transcript_json` (Call log). Times are in seconds: into the call, and since 1970. */
type TranscriptEntry = {
  readonly text: string;
  readonly speaker: Speaker;
  readonly timestamp: number;
  readonly is_partial: boolean;
  readonly created_at: number;
};

type Timed = Line & { readonly at: number; readonly isPartial: boolean };

const TIMING = 11;

/** The entries of a call, in order: what was said, what was still being heard, and what happened. */
export function transcriptOf(
  book: CallBook,
  call: Call,
  script: Script,
): readonly TranscriptEntry[] {
  const { outcome, duration, startedAt } = call;
  const spokenUntil = outcome === 'transferred' ? escalatedAfter(call) : Math.max(0, duration - 1);
  const hooks = (condition: string, at: number) =>
    book.webhooks
      .filter((webhook) => webhook.condition === condition)
      .map((webhook) => event(webhookText(webhook), at));
  const entries = [
    ...hooks('before_call', 0),
    ...spoken(script.lines, spokenUntil, chanceOf(call.number, TIMING)),
    ...(outcome === 'transferred' ? transfer(call, spokenUntil) : []),
    event(`Call ended: ${script.ending}`, duration),
    ...hooks('after_call', duration),
  ];
  return entries.map(({ text, speaker, at, isPartial }) => ({
    text,
    speaker,
    timestamp: tenths(at),
    is_partial: isPartial,
    created_at: tenths(startedAt / 1000 + tenths(at)),
  }));
}

/** One line for each entry that is final: seconds, speaker, words (Call log, transcript_text). */
export function transcriptText(entries: readonly TranscriptEntry[]): string {
  return entries
    .filter(({ is_partial: isPartial }) => !isPartial)
    .map(({ timestamp, speaker, text }) => `[${timestamp.toFixed(1)}s] ${speaker}: ${text}`)
    .join('\n');
}

function event(text: string, at: number): Timed {
  return { speaker: 'system', text, at, isPartial: false };
}

function transfer({ reason, duration }: Call, at: number): readonly Timed[] {
  return [
    event(`Transfer requested: ${reason}`, at),
    event('Transfer completed', Math.min(at + 4, duration)),
  ];
}

/** Lines over the time that there is, each as long as it has words; long ones are first heard in part. */
function spoken(lines: readonly Line[], until: number, chance: Chance): readonly Timed[] {
  const start = Math.min(0.8, until);
  const lengths = lines.map(({ speaker, text }) =>
    speaker === 'system' ? 1 : text.split(' ').length + 4,
  );
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  return lines.flatMap((line, index) => {
    const length = lengths[index] ?? 0;
    const at = start + ((until - start) * before) / total;
    const half = ((until - start) * length) / total / 2;
    before += length;
    const isHeardInPart = line.speaker === 'user' && length > 10 && chance.isLikely(0.5);
    const final = { ...line, at: isHeardInPart ? at + half : at, isPartial: false };
    return isHeardInPart
      ? [{ ...line, text: firstHalf(line.text), at, isPartial: true }, final]
      : [final];
  });
}

function firstHalf(text: string): string {
  const words = text.split(' ');
  return words.slice(0, Math.ceil(words.length / 2)).join(' ');
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
