import type { Context } from '../../console/context.ts';
import {
  type ReadFlags,
  type ReadFormat,
  show,
  stampDocument,
  streamCsv,
  streamJson,
} from '../../console/show.ts';
import type { Terminal } from '../../console/terminal.ts';
import { parseDay, parseMoment } from '../../core/calendar.ts';
import type { MetricsBlock } from '../../core/documents.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/value.ts';
import { getData, listIn } from '../../kinds/making.ts';
import { type WantedCalls, wantedCalls } from '../../live/calls.ts';
import { valueAt } from '../../render/read/table.ts';
import { type PlatformSession, withPlatform } from '../../run/platform-session.ts';
import { type Found, findAgent, onPlatform, organizationId, type ScopeFlags } from './find.ts';
import {
  CALL_COLUMNS,
  callRecord,
  callRow,
  callSeparator,
  renderCallsText,
  renderCallText,
} from './render/calls.ts';
import {
  BILLING_COLUMNS,
  BLOCKS,
  metricsColumns,
  metricsRecords,
  renderBillingText,
  renderMetricsBlockText,
  renderMetricsText,
  sumBills,
} from './render/metrics.ts';

export type CallsCommandFlags = ReadFlags &
  ScopeFlags &
  CallsFlags & {
    /** An id or the beginning of one. */
    readonly call?: string;
    readonly since?: string;
    readonly until?: string;
    readonly limit?: number;
  };

/** Calls that are shown where neither a time nor a number is asked for. */
const DEFAULT_LIMIT = 50;

/** `callsheet get calls AGENT`: the calls of an agent, newest first, or one of them. */
export async function calls(
  wanted: string,
  flags: CallsCommandFlags,
  context: Context,
): Promise<ExitCode> {
  const window = getWindow(flags, context.now());
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    const listed = session.client.each({
      operation: 'listCallLogs',
      path: { agentId: agent.id },
    });
    await onPlatform('agent', agent, () =>
      flags.call === undefined
        ? showCalls(agent, listed, window, flags, context)
        : showCall(flags.call, agent, listed, flags, context),
    );
    return EXIT.done;
  });
}

function getWindow({ since, until, limit }: CallsCommandFlags, now: Date): WantedCalls {
  const from = since === undefined ? undefined : parseMoment('--since', since, now, 'start');
  const to = until === undefined ? undefined : parseMoment('--until', until, now, 'end');
  if (from !== undefined && to !== undefined) checkOrder(from, to);
  const most = limit ?? (from === undefined ? DEFAULT_LIMIT : undefined);
  return {
    ...(from === undefined ? {} : { since: from.getTime() }),
    ...(to === undefined ? {} : { until: to.getTime() }),
    ...(most === undefined ? {} : { limit: most }),
  };
}

export type MetricsFlags = ReadFlags & {
  readonly since?: string;
  readonly until?: string;
  readonly organization?: string;
  readonly reseller?: string;
  readonly block?: MetricsBlock;
};

/** Days that are looked at where no time is given, today included. */
const DEFAULT_DAYS = 30;

/** `callsheet metrics`: what agents did in a span of time. */
export async function metrics(flags: MetricsFlags, context: Context): Promise<ExitCode> {
  const { block, format } = flags;
  if (format === 'csv' && block === undefined) {
    throw new CallsheetError('usage', 'CSV can hold only one table, and no block is chosen', {
      hint: `Choose one with --block: ${Object.keys(BLOCKS).join(', ')}.`,
    });
  }
  const { start, end } = getSpan(flags, context.now());
  return withPlatform(flags, context, async (session) => {
    const scope = getScope(flags, session);
    const query = { startDate: start.toISOString(), endDate: end.toISOString(), ...scope.query };
    const answer = await session.client.call({ operation: 'getMetrics', query });
    const data = getData(answer);
    const view = { start: query.startDate, end: query.endDate, of: scope.title, data };
    const member = block === undefined ? undefined : BLOCKS[block].member;
    show(
      flags,
      stampDocument('callsheet-metrics', {
        start: view.start,
        end: view.end,
        organization_id: scope.query.organizationId ?? null,
        reseller_id: scope.query.resellerId ?? null,
        data: member === undefined ? data : { [member]: data[member] ?? null },
      }),
      (to) =>
        block === undefined ? renderMetricsText(view, to) : renderMetricsBlockText(view, block, to),
      context,
      {
        columns: metricsColumns(block ?? 'totals'),
        records: metricsRecords(data, block ?? 'totals'),
      },
    );
    return EXIT.done;
  });
}

type Span = { readonly start: Date; readonly end: Date };

/** The time of the flags; without any, the last days up to now, of which the first is whole. */
function getSpan(flags: MetricsFlags, now: Date): Span {
  const { since, until } = flags;
  const end = until === undefined ? now : parseMoment('--until', until, now, 'end');
  const first = new Date(end.getTime() - (DEFAULT_DAYS - 1) * 86_400_000);
  const start =
    since === undefined
      ? new Date(`${first.toISOString().slice(0, 10)}T00:00:00.000Z`)
      : parseMoment('--since', since, now, 'start');
  checkOrder(start, end);
  return { start, end };
}

type MetricsScope = {
  readonly title: string;
  readonly query: { readonly organizationId?: string; readonly resellerId?: string };
};

function getScope(
  { organization, reseller }: MetricsFlags,
  session: PlatformSession,
): MetricsScope {
  if (organization !== undefined && reseller !== undefined) {
    throw new CallsheetError('usage', '--organization and --reseller exclude each other', {
      hint: 'An organization belongs to one reseller: name the organization alone.',
    });
  }
  if (organization !== undefined) {
    const id = organizationId(organization, session.settings?.organizations ?? {});
    return { title: `organization ${organization}`, query: { organizationId: id } };
  }
  if (reseller !== undefined) {
    return { title: `reseller ${reseller}`, query: { resellerId: reseller } };
  }
  return { title: 'every organization of the key', query: {} };
}

export type UsageFlags = ReadFlags & {
  readonly since?: string;
  readonly until?: string;
  readonly reseller?: readonly string[];
  readonly organization?: readonly string[];
};

/** `callsheet get usage`: voice minutes and agents of every organization. */
export async function usage(flags: UsageFlags, context: Context): Promise<ExitCode> {
  const asked = getDays(flags, context.now());
  return withPlatform(flags, context, async ({ client, settings }) => {
    const organizations = (flags.organization ?? []).map((given) =>
      organizationId(given, settings?.organizations ?? {}),
    );
    const query = {
      start_date: asked.start,
      end_date: asked.end,
      ...(flags.reseller === undefined ? {} : { reseller_ids: flags.reseller }),
      ...(organizations.length === 0 ? {} : { organization_ids: organizations }),
    };
    const answer = await client.call({ operation: 'getBillingReport', query });
    const rows = listIn(answer);
    const report = isObject(answer) ? answer : {};
    const start = isoDay(valueAt(report, 'period.start_date')) ?? asked.start;
    const end = isoDay(valueAt(report, 'period.end_date')) ?? asked.end;
    const period = { start_date: start, end_date: end };
    show(
      flags,
      stampDocument('callsheet-billing', { period, totals: sumBills(rows), data: rows }),
      (to) => renderBillingText({ start, end, rows }, to),
      context,
      { columns: BILLING_COLUMNS, records: rows.map((row) => ({ ...period, ...row })) },
    );
    return EXIT.done;
  });
}

type Days = { readonly start: string; readonly end: string };

/** The days of the flags; without any, the last month that is over, as a bill has it. */
function getDays(flags: UsageFlags, now: Date): Days {
  if (flags.since === undefined && flags.until !== undefined) {
    throw new CallsheetError('usage', '--until is given without --since', {
      hint: 'Give both, only --since for the time until today, or neither for the last whole month.',
    });
  }
  if (flags.since === undefined) return lastMonth(now);
  const start = parseDay('--since', flags.since);
  const end = flags.until === undefined ? formatDay(now) : parseDay('--until', flags.until);
  if (start > end) {
    throw new CallsheetError('usage', `--since ${start} is later than the last day, ${end}`, {
      hint: 'Swap the two.',
    });
  }
  return { start, end };
}

function lastMonth(now: Date): Days {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return {
    start: formatDay(new Date(Date.UTC(year, month - 1, 1))),
    end: formatDay(new Date(Date.UTC(year, month, 0))),
  };
}

function formatDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The platform answers with `MM/DD/YYYY` although it is asked with ISO 8601 (Billing report). */
function isoDay(value: unknown): string | undefined {
  const [, month, day, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(String(value)) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}

/** How calls are to be shown. */
type CallsFlags = {
  readonly transcript?: boolean;
  readonly summary?: boolean;
  readonly format: ReadFormat;
};

/** Prints the wanted calls of an agent as a list or, where a part of each is asked for, one after the other. */
async function showCalls(
  agent: Found,
  listed: AsyncIterable<JsonObject>,
  window: WantedCalls,
  flags: CallsFlags,
  context: Context,
): Promise<void> {
  const { format } = flags;
  const { terminal } = context;
  if (format === 'json') {
    const time = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
    const head = stampDocument('callsheet-calls', {
      agent_id: agent.id,
      since: time(window.since),
      until: time(window.until),
      limit: window.limit ?? null,
    });
    return streamJson(head, wantedCalls(listed, window), context);
  }
  if (format === 'csv') {
    return streamCsv(CALL_COLUMNS, eachRecord(wantedCalls(listed, window)), context);
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
    terminal.out(renderCallText(call, listParts(flags), terminal.render));
    count += 1;
  }
  if (count === 0)
    terminal.out(renderCallsText({ label: agent.label, rows: [], isCut: false }, terminal.render));
}

function listParts({ transcript, summary }: CallsFlags) {
  return { transcript: transcript === true, summary: summary === true };
}

/** One call with everything there is of it, unless a part is asked for. */
async function showCall(
  wanted: string,
  agent: Found,
  listed: AsyncIterable<JsonObject>,
  flags: CallsFlags,
  context: Context,
): Promise<void> {
  for await (const call of listed) {
    if (!String(call.id).startsWith(wanted)) continue;
    const parts = listParts(flags);
    const shown = parts.transcript || parts.summary ? parts : { transcript: true, summary: true };
    const document = stampDocument('callsheet-call', { agent_id: agent.id, data: call });
    const table = { columns: CALL_COLUMNS, records: [callRecord(call)] };
    show(flags, document, (to) => renderCallText(call, shown, to), context, table);
    return;
  }
  throw new CallsheetError('usage', `${agent.label} has no call whose id begins with ${wanted}`, {
    hint: '`callsheet get calls AGENT` lists its calls with the beginnings of their ids.',
  });
}

/** Throws where a span ends before it begins. */
function checkOrder(start: Date, end: Date): void {
  if (start.getTime() <= end.getTime()) return;
  const message = `the time ends (${end.toISOString()}) before it begins (${start.toISOString()})`;
  throw new CallsheetError('usage', message, { hint: 'Swap the two, or leave one out.' });
}
