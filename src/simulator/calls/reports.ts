import type { JsonObject } from '../../core/value.ts';
import { data, missing, page } from '../answer.ts';
import { forbidden, namedOrganization, namedReseller, ownedBy, reaches } from '../auth.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import { checkPresigned, presign } from '../presigned.ts';
import type { Organization, Store } from '../store.ts';
import { invalid, violation } from '../validation.ts';
import { type Call, type CallBook, callId, endOf } from './call.ts';
import { callsWithin, metricsOf, minutesOf, readSpan, type Span, sum } from './metrics.ts';
import { type Script, scriptOf, transcriptOf, transcriptText } from './script.ts';

/** What agents did, and what is charged for: all of it from the same calls (Metrics, Billing report, Call logs). */
export const reports: Routes<'getMetrics' | 'getBillingReport' | 'listCallLogs'> = {
  getMetrics: (input, platform) => {
    const span = readSpan('getMetrics', input, ['startDate', 'endDate']);
    const organizations = measuredOrganizations(platform, input);
    return data(metricsOf(platform.store, organizations, span));
  },

  getBillingReport: (input, platform) => {
    const span = readSpan('getBillingReport', input, ['start_date', 'end_date']);
    const { start_date: start, end_date: end } = input.query;
    return {
      status: 200,
      body: {
        data: billingRows(platform.store, billedOrganizations(platform, input), span),
        period: { start_date: usDate(String(start)), end_date: usDate(String(end)) },
      },
    };
  },

  /** An agent that is there but out of reach is 403 here, unlike everywhere else (Call logs). */
  listCallLogs: (input, platform) => {
    const agent = platform.store.agents.get(input.path.agentId ?? '');
    if (agent === undefined) throw missing('Agent');
    if (!ownedBy(platform, input.key, agent.organizationId))
      throw forbidden('No access to this agent');
    const book = platform.store.calls.get(agent.id);
    if (book === undefined) return page(platform.dialect, [], input, () => null);
    const { callLogOrder } = platform.dialect;
    const calls = callLogOrder === 'newest' ? book.calls : book.calls.toReversed();
    return page(platform.dialect, calls, input, (call) => viewCallLog(platform, book, call));
  },
};

/** One row for each organization, those without calls included (Billing report). */
function billingRows(
  { resellers, agents, calls }: Store,
  organizations: readonly Organization[],
  span: Span,
): readonly JsonObject[] {
  const seconds = new Map<string, number>();
  for (const book of calls.values()) {
    const talked = sum(callsWithin(book, span).map(({ duration }) => duration));
    seconds.set(book.organizationId, (seconds.get(book.organizationId) ?? 0) + talked);
  }
  const counts = new Map<string, number>();
  for (const { organizationId } of agents.values())
    counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
  return organizations.map(({ id, name, resellerId }) => ({
    organization_id: id,
    organization_name: name,
    reseller_id: resellerId ?? null,
    reseller_name: resellers.get(resellerId ?? '')?.name ?? null,
    voice_minutes: minutesOf(seconds.get(id) ?? 0),
    agent_count: counts.get(id) ?? 0,
  }));
}

/** A date of ISO 8601 in US notation, which the report answers in although it is asked in the other. */
function usDate(date: string): string {
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year}`;
}

/**
 * The organizations that metrics are about: those of `organizationId` and `resellerId`, and by default all
 * that the key reaches. 403 where a scoped key names one outside its scope, 404 outside the account.
 */
function measuredOrganizations(platform: Platform, { key, query }: Input): Set<string> {
  const { organizationId, resellerId } = query;
  if (organizationId !== undefined) namedOrganization(platform, key, String(organizationId));
  if (resellerId !== undefined) namedReseller(platform, key, String(resellerId));
  const ids = new Set<string>();
  for (const organization of platform.store.organizations.values()) {
    const isNamed = organizationId === undefined || organization.id === organizationId;
    const isResold = resellerId === undefined || organization.resellerId === resellerId;
    if (isNamed && isResold && reaches(key, organization)) ids.add(organization.id);
  }
  return ids;
}

/**
 * The organizations of a billing report: those that `organization_ids` and `reseller_ids` have in common, in
 * either form of the query. 404 where an id is none of the account's.
 */
function billedOrganizations({ store }: Platform, { query }: Input): readonly Organization[] {
  const organizations = idsOf(query, 'organization_ids');
  const resellers = idsOf(query, 'reseller_ids');
  if (organizations.some((id) => !store.organizations.has(id))) throw missing('Organization');
  if (resellers.some((id) => !store.resellers.has(id))) throw missing('Reseller');
  return [...store.organizations.values()].filter(
    ({ id, resellerId }) =>
      (organizations.length === 0 || organizations.includes(id)) &&
      (resellers.length === 0 || (resellerId !== undefined && resellers.includes(resellerId))),
  );
}

/** Ids with commas between them and ids in parameters of their own, taken together. An empty one is a 400. */
function idsOf(query: Input['query'], name: string): readonly string[] {
  const ids = [query[name], query[`${name}[]`]].flatMap((value) =>
    Array.isArray(value) ? value.map(String) : [],
  );
  if (ids.includes('')) throw invalid('details', [violation(name, 'must not be empty')]);
  return ids;
}

/** A call as its log shows it (Call log). All that is not stored is made up here, the same every time. */
function viewCallLog(platform: Platform, book: CallBook, call: Call): JsonObject {
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
    ...(call.isRecorded ? { recording_url: presign(platform, recordingPath(id), LIFETIME) } : {}),
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

/** Path under which recordings lie. It is no operation: only call logs hand it out. */
export const RECORDING_PATH = '/recordings/';

/** Milliseconds that an address of a recording holds. The specification gives no figure. */
const LIFETIME = 60 * 60_000;

/** Samples a second of what is played: silence, since nobody spoke. */
const SAMPLE_RATE = 8000;

/** A GET of an address of a recording. */
type Request = {
  readonly id: string;
  readonly query: { readonly [name: string]: string };
  readonly authorization: string | undefined;
};

/**
 * A second of silence as a WAV file. 403 where the address was altered or has expired, 400 where a token
 * came along: the signature stands for it.
 */
export function readRecording(platform: Platform, { id, query, authorization }: Request): Buffer {
  checkPresigned(platform, recordingPath(id), query, { authorization });
  return silence(SAMPLE_RATE);
}

function recordingPath(id: string): string {
  return `${RECORDING_PATH}${encodeURIComponent(id)}`;
}

/** A WAV file of one channel with a byte a sample. */
function silence(samples: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 0x80)]);
}
