import { CallsheetError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/value.ts';
import { callSeparator, renderCallText } from '../../render/read/call.ts';
import { CALL_COLUMNS, callRecord, callRow, renderCallsText } from '../../render/read/calls.ts';
import { jsonText } from '../../render/read/json.ts';
import type { Terminal } from '../terminal.ts';
import { type WantedCalls, wantedCalls } from './calls.ts';
import type { Found } from './find.ts';
import { type ReadFormat, streamCsv, streamJson } from './show.ts';

/** How calls are to be shown. */
export type CallsFlags = {
  readonly transcript?: boolean;
  readonly summary?: boolean;
  readonly format: ReadFormat;
};

/** Prints the wanted calls of an agent as a list or, where a part of each is asked for, one after the other. */
export async function showCalls(
  agent: Found,
  listed: AsyncIterable<JsonObject>,
  window: WantedCalls,
  flags: CallsFlags,
  terminal: Terminal,
): Promise<void> {
  const { format } = flags;
  if (format === 'json') {
    const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
    const head = {
      format: 'callsheet-calls',
      version: 1,
      agent_id: agent.id,
      since: time(window.since),
      until: time(window.until),
      limit: window.limit ?? null,
    };
    return streamJson(head, wantedCalls(listed, window), terminal);
  }
  if (format === 'csv') {
    return streamCsv(CALL_COLUMNS, eachRecord(wantedCalls(listed, window)), terminal);
  }
  if (flags.transcript || flags.summary) return showWhole(agent, listed, window, flags, terminal);
  const { limit } = window;
  // One more than is shown tells whether there are more.
  const probe = limit === undefined ? window : { ...window, limit: limit + 1 };
  const rows: JsonObject[] = [];
  for await (const call of wantedCalls(listed, probe)) rows.push(callRow(call));
  const isCut = limit !== undefined && rows.length > limit;
  const shown = isCut ? rows.slice(0, limit) : rows;
  terminal.out(renderCallsText({ label: agent.label, rows: shown, isCut }, terminal.render));
}

async function* eachRecord(calls: AsyncIterable<JsonObject>): AsyncGenerator<JsonObject> {
  for await (const call of calls) yield callRecord(call);
}

/** Calls one after the other, as they come, each with what was asked for. */
async function showWhole(
  agent: Found,
  listed: AsyncIterable<JsonObject>,
  window: WantedCalls,
  flags: CallsFlags,
  terminal: Terminal,
): Promise<void> {
  let count = 0;
  for await (const call of wantedCalls(listed, window)) {
    if (count > 0) terminal.out(callSeparator(terminal.render));
    terminal.out(renderCallText(call, partsOf(flags), terminal.render));
    count += 1;
  }
  if (count === 0)
    terminal.out(renderCallsText({ label: agent.label, rows: [], isCut: false }, terminal.render));
}

function partsOf({ transcript, summary }: CallsFlags) {
  return { transcript: transcript === true, summary: summary === true };
}

/** One call with everything there is of it, unless a part is asked for. */
export async function showCall(
  wanted: string,
  agent: Found,
  listed: AsyncIterable<JsonObject>,
  flags: CallsFlags,
  terminal: Terminal,
): Promise<void> {
  for await (const call of listed) {
    if (!String(call.id).startsWith(wanted)) continue;
    const parts = partsOf(flags);
    const all = { transcript: true, summary: true };
    if (flags.format === 'json') {
      terminal.out(
        jsonText({ format: 'callsheet-call', version: 1, agent_id: agent.id, data: call }),
      );
    } else if (flags.format === 'csv') {
      await streamCsv(CALL_COLUMNS, [callRecord(call)], terminal);
    } else {
      const shown = parts.transcript || parts.summary ? parts : all;
      terminal.out(renderCallText(call, shown, terminal.render));
    }
    return;
  }
  throw new CallsheetError('usage', `${agent.label} has no call whose id begins with ${wanted}`, {
    hint: 'callsheet logs AGENT lists its calls with the beginnings of their ids.',
  });
}
