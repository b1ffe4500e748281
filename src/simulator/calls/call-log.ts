import type { JsonObject } from '../../core/value.ts';
import type { Platform } from '../platform.ts';
import { type Call, type CallBook, callId, endOf } from './call.ts';
import { presignRecording } from './recordings.ts';
import { type Script, scriptOf } from './script.ts';
import { transcriptOf, transcriptText } from './transcript.ts';

/** A call as its log shows it (Call log). All that is not stored is made up here, the same every time. */
export function viewCallLog(platform: Platform, book: CallBook, call: Call): JsonObject {
  const script = scriptOf(book, call);
  const entries = transcriptOf(book, call, script);
  const id = callId(call);
  const ended = isoTime(endOf(call));
  const room = `call-${id.slice(0, 8)}`;
  return {
    id,
    agent_id: book.agentId,
    room_name: room,
    transcript_text: transcriptText(entries),
    transcript_json: entries,
    entry_count: entries.length,
    call_duration: call.duration,
    call_started_at: isoTime(call.startedAt),
    call_ended_at: ended,
    session_data: {
      room_name: room,
      agent_id: book.agentId,
      total_entries: entries.length,
      final_entries: entries.filter(({ is_partial: isPartial }) => !isPartial).length,
      caller_id: call.callerId,
    },
    summary_text: summaryText(script, call),
    ...(call.isRecorded ? { recording_url: presignRecording(platform, id) } : {}),
    created_at: ended,
    updated_at: ended,
  };
}

/** Topic, summary, action items and mood, in Markdown (Call log, summary_text). */
function summaryText({ topic, summary, actions }: Script, { sentiment }: Call): string {
  const items = actions.length === 0 ? ['None'] : actions;
  return [
    `## ${topic}`,
    '',
    summary,
    '',
    '### Action Items',
    ...items.map((item) => `- ${item}`),
    '',
    `**Sentiment:** ${sentiment}`,
  ].join('\n');
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
