import { countEach, type JsonObject, sum } from '../../core/value.ts';
import type { OperationId } from '../../platform/operations.generated.ts';
import { data, missing, page } from '../answer.ts';
import {
  checkPresigned,
  forbidden,
  namedOrganization,
  namedReseller,
  ownedBy,
  presign,
  reaches,
} from '../auth.ts';
import { drawInventions } from '../dialect.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import type { Organization, Store } from '../store.ts';
import { getRules, invalid, violation } from '../validation.ts';
import {
  type Call,
  type CallBook,
  callId,
  escalatedAfter,
  findMeasurements,
  getEnd,
  type Outcome,
} from './call.ts';
import { DAY, HOUR } from './generate.ts';
import { type Script, transcriptText, writeScript, writeTranscript } from './script.ts';

/** What agents did, and what is charged for: all of it from the same calls (Metrics, Billing report, Call logs). */
export const reports: Routes<'getMetrics' | 'getBillingReport' | 'listCallLogs'> = {
  getMetrics: (input, platform) => {
    const span = readSpan('getMetrics', input, ['startDate', 'endDate']);
    const organizations = measuredOrganizations(platform, input);
    platform.callers.callUntilNow();
    return data(computeMetrics(platform, organizations, span));
  },

  getBillingReport: (input, platform) => {
    const span = readSpan('getBillingReport', input, ['start_date', 'end_date']);
    const { start_date: start, end_date: end } = input.query;
    platform.callers.callUntilNow();
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
  const counts = countEach([...agents.values()].map(({ organizationId }) => organizationId));
  return organizations.map(({ id, name, resellerId }) => ({
    organization_id: id,
    organization_name: name,
    reseller_id: resellerId ?? null,
    reseller_name: resellers.get(resellerId ?? '')?.name ?? null,
    voice_minutes: toMinutes(seconds.get(id) ?? 0),
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
  const organizations = listIds(query, 'organization_ids');
  const resellers = listIds(query, 'reseller_ids');
  if (organizations.some((id) => !store.organizations.has(id))) throw missing('Organization');
  if (resellers.some((id) => !store.resellers.has(id))) throw missing('Reseller');
  return [...store.organizations.values()].filter(
    ({ id, resellerId }) =>
      (organizations.length === 0 || organizations.includes(id)) &&
      (resellers.length === 0 || (resellerId !== undefined && resellers.includes(resellerId))),
  );
}

/** Ids with commas between them and ids in parameters of their own, taken together. An empty one is a 400. */
function listIds(query: Input['query'], name: string): readonly string[] {
  const ids = [query[name], query[`${name}[]`]].flatMap((value) =>
    Array.isArray(value) ? value.map(String) : [],
  );
  if (ids.includes('')) throw invalid('details', [violation(name, 'must not be empty')]);
  return ids;
}

/** A call as its log shows it (Call log). All that is not stored is made up here, the same every time. */
function viewCallLog(platform: Platform, book: CallBook, call: Call): JsonObject {
  const script = writeScript(book, call);
  const { failure } = drawInventions(platform.dialect.inventions);
  const entries = writeTranscript(book, call, script, failure);
  const id = callId(call);
  const ended = isoTime(getEnd(call));
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

/** Spans up to this many days list those without calls, too; longer ones would be mostly such days. */
const MOST_EMPTY_DAYS = 366;

/** Hours that metrics know nothing of a call, where they are late. */
const LATE_HOURS = 6;

/** The figures of some organizations over a span (Metrics). */
function computeMetrics(
  { store, now, dialect }: Platform,
  organizations: ReadonlySet<string>,
  span: Span,
): JsonObject {
  const isLate = dialect.metrics === 'late';
  const latest = isLate ? now().getTime() - LATE_HOURS * HOUR : Number.POSITIVE_INFINITY;
  const books = [...store.calls.values()]
    .filter(({ organizationId }) => organizations.has(organizationId))
    .map((book) => ({
      book,
      calls: callsWithin(book, span).filter((call) => getEnd(call) <= latest),
    }))
    .filter(({ calls }) => calls.length > 0);
  const calls = books.flatMap((entry) => entry.calls);
  const outcomes = countOutcomes(calls);
  const insights = computeInsights(calls);
  return {
    metrics: {
      ...totals(calls, outcomes),
      activeAgents: countActive(store, organizations),
      responseTime: insights.responseLatency,
    },
    dailyVolume: dailyVolume(calls, span),
    hourlyDistribution: hourlyDistribution(calls),
    resolutionBreakdown: outcomes,
    agentPerformance: agentPerformance(store, books).slice(
      0,
      // Those of a part, as where a report stops at a number of rows.
      dialect.metrics === 'partial' ? Math.ceil((2 * books.length) / 3) : undefined,
    ),
    aiInsights: { ...insights, trainingSessions: calls.length },
    escalationReasons: escalationReasons(calls),
  };
}

function totals(calls: readonly Call[], outcomes: OutcomeCounts): JsonObject {
  const seconds = sum(calls.map(({ duration }) => duration));
  return {
    totalCalls: calls.length,
    totalMinutes: toMinutes(seconds),
    resolutionRate: computePercent(outcomes.resolved, calls.length) ?? 0,
    avgDuration: computeMean(seconds, calls.length) ?? 0,
    sentimentPercent: sentimentPercent(calls),
    escalationRate: computePercent(outcomes.transferred, calls.length),
  };
}

function countActive({ agents }: Store, organizations: ReadonlySet<string>): number {
  let count = 0;
  for (const { organizationId, record } of agents.values())
    if (record.status === 'active' && organizations.has(organizationId)) count += 1;
  return count;
}

/** One entry a day in UTC. */
function dailyVolume(calls: readonly Call[], { from, until }: Span): readonly JsonObject[] {
  const [first, last] = [Math.floor(from / DAY), Math.floor((until - 1) / DAY)];
  const days = new Map<number, { totalCalls: number; resolvedCalls: number }>();
  if (last - first < MOST_EMPTY_DAYS)
    for (let day = first; day <= last; day += 1) days.set(day, { totalCalls: 0, resolvedCalls: 0 });
  for (const { startedAt, outcome } of calls) {
    const day = Math.floor(startedAt / DAY);
    const counts = days.get(day) ?? { totalCalls: 0, resolvedCalls: 0 };
    counts.totalCalls += 1;
    if (outcome === 'resolved') counts.resolvedCalls += 1;
    days.set(day, counts);
  }
  return [...days]
    .sort(([a], [b]) => a - b)
    .map(([day, counts]) => ({ date: new Date(day * DAY).toISOString().slice(0, 10), ...counts }));
}

/** The hours of a day in UTC (Limits: exactly 24). */
function hourlyDistribution(calls: readonly Call[]): readonly JsonObject[] {
  const hours = Array.from({ length: 24 }, () => ({ calls: 0, seconds: 0 }));
  for (const { startedAt, duration } of calls) {
    const hour = hours[new Date(startedAt).getUTCHours()];
    if (hour === undefined) continue;
    hour.calls += 1;
    hour.seconds += duration;
  }
  return hours.map(({ calls: count, seconds }, hour) => ({
    hour: `${String(hour).padStart(2, '0')}:00`,
    calls: count,
    minutes: toMinutes(seconds),
  }));
}

/** Means over the calls that were measured. */
function computeInsights(calls: readonly Call[]) {
  const measured = calls.map(findMeasurements).filter((one) => one !== undefined);
  const mean = (name: keyof (typeof measured)[number]) =>
    computeMean(sum(measured.map((one) => one[name])), measured.length);
  const response = mean('responseTime');
  return {
    intentAccuracy: mean('intentAccuracy'),
    contextRetention: mean('contextRetention'),
    speechRecognition: mean('speechRecognition'),
    entityExtraction: mean('entityExtraction'),
    responseLatency: response === null ? null : Math.round(response),
  };
}

/** Why calls were handed to a person, the most frequent reason first. */
function escalationReasons(calls: readonly Call[]): readonly JsonObject[] {
  const reasons = new Map<string, { count: number; seconds: number }>();
  for (const call of calls) {
    if (call.reason === undefined) continue;
    const { count, seconds } = reasons.get(call.reason) ?? { count: 0, seconds: 0 };
    reasons.set(call.reason, { count: count + 1, seconds: seconds + escalatedAfter(call) });
  }
  const sorted = [...reasons].sort(
    ([a, { count: left }], [b, { count: right }]) => right - left || (a < b ? -1 : 1),
  );
  const shares = computeShares(sorted.map(([, { count }]) => count));
  return sorted.map(([reason, { count, seconds }], index) => ({
    reason,
    count,
    percentOfTotal: shares[index] ?? 0,
    avgTimeBeforeEscalation: computeMean(seconds, count) ?? 0,
  }));
}

type BookedCalls = { readonly book: CallBook; readonly calls: readonly Call[] };

/** One entry for each agent that had calls, the busiest first (Metrics, agentPerformance). */
function agentPerformance(store: Store, books: readonly BookedCalls[]): readonly JsonObject[] {
  return [...books]
    .sort((a, b) => b.calls.length - a.calls.length || (a.book.agentId < b.book.agentId ? -1 : 1))
    .map((entry) => performance(store, entry));
}

function performance({ agents, history }: Store, { book, calls }: BookedCalls): JsonObject {
  const { agentId } = book;
  const record = agents.get(agentId)?.record;
  const lastKnown = record ?? history.get(agentId)?.at(-1)?.settings;
  const outcomes = countOutcomes(calls);
  const [resolved = 0, transferred = 0, abandoned = 0, other = 0] = computeShares(
    Object.values(outcomes),
  );
  return {
    agentId,
    agentName: String(lastKnown?.name ?? book.agentName),
    totalCalls: calls.length,
    ...outcomes,
    resolvedPercent: resolved,
    transferredPercent: transferred,
    abandonedPercent: abandoned,
    otherPercent: other,
    avgDuration: computeMean(sum(calls.map(({ duration }) => duration)), calls.length) ?? 0,
    sentimentPercent: sentimentPercent(calls),
    status: record === undefined ? 'deleted' : String(record.status),
  };
}

/**
 * How figures are rounded. Percentages have one decimal; those that make up a whole are rounded so that they
 * add up to exactly 100. Minutes have two decimals, which is less than half a second: the seconds behind
 * them can be had back.
 */

/** Shares of a whole, in percent with one decimal, adding up to 100; all 0 where there is nothing to share. */
export function computeShares(counts: readonly number[]): readonly number[] {
  const total = sum(counts);
  if (total === 0) return counts.map(() => 0);
  const tenths = counts.map((count) => Math.floor((count * 1000) / total));
  // What rounding down left over goes to those that lost most by it.
  const byLoss = counts
    .map((count, index) => ({ index, loss: (count * 1000) % total }))
    .sort((a, b) => b.loss - a.loss);
  for (const { index } of byLoss.slice(0, 1000 - sum(tenths)))
    tenths[index] = (tenths[index] ?? 0) + 1;
  return tenths.map((value) => value / 10);
}

/** A part in percent with one decimal; null where there is no whole. */
function computePercent(part: number, whole: number): number | null {
  return computeMean(part * 100, whole);
}

/** A mean with one decimal; null where nothing was measured. */
function computeMean(total: number, count: number): number | null {
  return count === 0 ? null : Math.round((total * 10) / count) / 10;
}

function toMinutes(seconds: number): number {
  return Math.round((seconds * 100) / 60) / 100;
}

/** Calls by how they ended, in the order in which reports name them. */
type OutcomeCounts = { readonly [outcome in Outcome]: number };

function countOutcomes(calls: readonly Call[]): OutcomeCounts {
  const counts = { resolved: 0, transferred: 0, abandoned: 0, other: 0 };
  for (const { outcome } of calls) counts[outcome] += 1;
  return counts;
}

/** Percent of calls in a good mood, of those in which somebody talked to the agent; null without any. */
function sentimentPercent(calls: readonly Call[]): number | null {
  const moods = calls.filter(({ outcome }) => outcome === 'resolved' || outcome === 'transferred');
  const positive = moods.filter(({ sentiment }) => sentiment === 'Positive');
  return computePercent(positive.length, moods.length);
}

/** From `from` up to, but not including, `until`, in milliseconds since the epoch. */
export type Span = { readonly from: number; readonly until: number };

/**
 * The span that a report is about, both ends included: a day as its end is that whole day in UTC. Ends in reverse
 * have nothing between them. 400 in the operation's shape where an end is no time.
 */
function readSpan(
  operation: OperationId,
  { query }: Input,
  [start, end]: readonly [start: string, end: string],
): Span {
  const [first, last] = [String(query[start]), String(query[end])];
  const from = Date.parse(first);
  const until = Date.parse(last) + (/^[\d-]+$/.test(last) ? DAY : 1);
  const problems = [
    ...(Number.isNaN(from) ? [violation(start, 'is not a time')] : []),
    ...(Number.isNaN(until) ? [violation(end, 'is not a time')] : []),
  ];
  if (problems.length > 0) throw invalid(getRules(operation).invalid, problems);
  return { from, until };
}

/** Calls that began within a span. */
function callsWithin({ calls }: CallBook, { from, until }: Span): readonly Call[] {
  return calls.filter(({ startedAt }) => startedAt >= from && startedAt < until);
}
