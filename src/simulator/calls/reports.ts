import { type JsonObject, sum } from '../../core/value.ts';
import { data, missing, page, type Query } from '../answer.ts';
import { forbidden, namedOrganization, namedReseller, ownedBy, presign, reaches } from '../auth.ts';
import { drawInventions } from '../dialect.ts';
import { makeUuid } from '../ids.ts';
import type { Platform, Routes } from '../platform.ts';
import type { Store } from '../store.ts';
import { invalid, violation } from '../validation.ts';
import { type Call, type CallBook, escalatedAfter, getEnd, isTalk, OUTCOMES } from './call.ts';
import { DAY, HOUR } from './callers.ts';
import { writeTranscript } from './transcript.ts';

/** Metrics, billing report and call logs are computed from the same calls. */
export const reports: Routes<'getMetrics' | 'getBillingReport' | 'listCallLogs'> = {
  getMetrics: ({ key, query }, platform) => {
    const { organizationId, resellerId } = query;
    if (organizationId !== undefined) namedOrganization(platform, key, String(organizationId));
    if (resellerId !== undefined) namedReseller(platform, key, String(resellerId));
    const organizations = [...platform.store.organizations.values()].filter(
      (one) =>
        (organizationId ?? one.id) === one.id &&
        (resellerId ?? one.resellerId) === one.resellerId &&
        reaches(key, one),
    );
    const span = readSpan(query.startDate, query.endDate);
    return data(computeMetrics(platform, new Set(organizations.map(({ id }) => id)), span));
  },

  getBillingReport: ({ query }, platform) => {
    const { organizations, resellers, agents } = platform.store;
    const isBilled = filterIds(query, 'organization_ids', organizations);
    const isResold = filterIds(query, 'reseller_ids', resellers);
    const held = callsWithin(platform, readSpan(query.start_date, query.end_date));
    const books = Map.groupBy(held, ({ book }) => book.organizationId);
    const owned = Map.groupBy(agents.values(), ({ organizationId }) => organizationId);
    const rows = [...organizations.values()]
      .filter(({ id, resellerId }) => isBilled(id) && isResold(resellerId))
      .map(({ id, name, resellerId }) => ({
        organization_id: id,
        organization_name: name,
        reseller_id: resellerId ?? null,
        reseller_name: resellers.get(resellerId ?? '')?.name ?? null,
        voice_minutes: countMinutes((books.get(id) ?? []).flatMap(({ calls }) => calls)),
        agent_count: owned.get(id)?.length ?? 0,
      }));
    // Days are asked for in ISO 8601, and answered in US notation.
    const usDate = (day: unknown) => String(day).replace(/(\d+)-(\d+)-(\d+)/, '$2/$3/$1');
    const period = { start_date: usDate(query.start_date), end_date: usDate(query.end_date) };
    return { status: 200, body: { data: rows, period } };
  },

  /** An agent that is there but out of reach is 403 here, unlike everywhere else (Call logs). */
  listCallLogs: (input, platform) => {
    const { store, dialect } = platform;
    const agent = store.agents.get(input.path.agentId ?? '');
    if (agent === undefined) throw missing('Agent');
    if (!ownedBy(platform, input.key, agent.organizationId))
      throw forbidden('No access to this agent');
    const book = store.calls.get(agent.id);
    if (book === undefined) return page(dialect, [], input, () => null);
    const now = platform.now().getTime();
    const calls = book.calls.filter((call) => getEnd(call) <= now);
    calls.sort((a, b) => a.startedAt - b.startedAt);
    if (dialect.callLogOrder === 'newest') calls.reverse();
    return page(dialect, calls, input, (call) => viewCallLog(platform, book, call));
  },
};

/**
 * Tells the ids that a list of the query names, with commas between them or in parameters of their own; any without
 * a list. An empty id is a 400, one outside the account a 404.
 */
function filterIds(query: Query, name: string, known: ReadonlyMap<string, unknown>) {
  const ids = [query[name] ?? [], query[`${name}[]`] ?? []].flat().map(String);
  if (ids.includes('')) throw invalid('details', [violation(name, 'must not be empty')]);
  if (ids.some((id) => !known.has(id))) throw missing(`An id of ${name}`);
  return (id: string | undefined) => ids.length === 0 || (id !== undefined && ids.includes(id));
}

/** A call as its log shows it (Call log). All that is not stored is made up here, the same every time. */
function viewCallLog(platform: Platform, book: CallBook, call: Call): JsonObject {
  const { failure } = drawInventions(platform.dialect.inventions);
  const { entries, summary } = writeTranscript(book, call, failure);
  const final = entries.filter(({ is_partial: isPartial }) => !isPartial);
  const id = call.id ?? makeUuid(`call ${call.number}`);
  const recording = `${RECORDING_PATH}${encodeURIComponent(id)}`;
  const room = `call-${id.slice(0, 8)}`;
  const ended = new Date(getEnd(call)).toISOString();
  return {
    id,
    agent_id: book.agentId,
    room_name: room,
    transcript_text: final
      .map(({ timestamp, speaker, text }) => `[${timestamp.toFixed(1)}s] ${speaker}: ${text}`)
      .join('\n'),
    transcript_json: entries,
    entry_count: entries.length,
    call_duration: call.duration,
    call_started_at: new Date(call.startedAt).toISOString(),
    call_ended_at: ended,
    session_data: {
      room_name: room,
      agent_id: book.agentId,
      total_entries: entries.length,
      final_entries: final.length,
      caller_id: call.callerId,
    },
    summary_text: summary,
    ...(call.agent.isRecorded ? { recording_url: presign(platform, recording, HOUR) } : {}),
    created_at: ended,
    updated_at: ended,
  };
}

/** Path under which recordings lie. It is no operation: only call logs hand it out. */
export const RECORDING_PATH = '/recordings/';

/** A second of silence as a WAV file: a head, and 8,000 samples of a byte. */
export const RECORDING = Buffer.concat([
  Buffer.from('UklGRmQfAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YUAfAAA=', 'base64'),
  Buffer.alloc(8000, 0x80),
]);

/** The figures of some organizations over a span (Metrics). */
function computeMetrics(
  platform: Platform,
  organizations: ReadonlySet<string>,
  span: Span,
): JsonObject {
  const { store, dialect } = platform;
  const books = callsWithin(platform, span, dialect.metrics === 'late' ? 6 * HOUR : 0)
    .filter(({ book, calls }) => calls.length > 0 && organizations.has(book.organizationId))
    .sort((a, b) => b.calls.length - a.calls.length || (a.book.agentId < b.book.agentId ? -1 : 1));
  const calls = books.flatMap((held) => held.calls);
  const agents = books.map(({ book, calls }) => performance(store, book, calls));
  const hours = Map.groupBy(calls, ({ startedAt }) => Math.floor(startedAt / HOUR) % 24);
  const { outcomes, ...figures } = summarize(calls);
  // Somebody must have talked to an agent. Nothing reads more than that they are numbers.
  const measured = (value: number) => (calls.some(isTalk) ? value : null);
  const responseTime = measured(880);
  return {
    metrics: {
      ...figures,
      totalMinutes: countMinutes(calls),
      resolutionRate: computeMean(100 * outcomes.resolved, calls.length) ?? 0,
      escalationRate: computeMean(100 * outcomes.transferred, calls.length),
      activeAgents: [...store.agents.values()].filter(
        (one) => one.record.status === 'active' && organizations.has(one.organizationId),
      ).length,
      responseTime,
    },
    dailyVolume: dailyVolume(calls, span),
    // Exactly 24 (Limits).
    hourlyDistribution: Array.from({ length: 24 }, (_, hour) => {
      const held = hours.get(hour) ?? [];
      const name = `${String(hour).padStart(2, '0')}:00`;
      return { hour: name, calls: held.length, minutes: countMinutes(held) };
    }),
    resolutionBreakdown: outcomes,
    // A partial report stops at a number of rows.
    agentPerformance:
      dialect.metrics === 'partial' ? agents.slice(0, Math.ceil((2 * agents.length) / 3)) : agents,
    aiInsights: {
      intentAccuracy: measured(92.5),
      contextRetention: measured(90.1),
      speechRecognition: measured(94.6),
      entityExtraction: measured(90.8),
      responseLatency: responseTime,
      trainingSessions: calls.length,
    },
    escalationReasons: escalationReasons(calls),
  };
}

/** The figures that metrics have of an agent as of all of them. */
function summarize(calls: readonly Call[]) {
  const outcomes = { resolved: 0, transferred: 0, abandoned: 0, other: 0 };
  for (const { outcome } of calls) outcomes[outcome] += 1;
  const talks = calls.filter(isTalk);
  const positive = talks.filter(({ sentiment }) => sentiment === 'Positive');
  return {
    outcomes,
    totalCalls: calls.length,
    avgDuration: computeMean(countSeconds(calls), calls.length) ?? 0,
    sentimentPercent: computeMean(100 * positive.length, talks.length),
  };
}

/** An agent that had calls (Metrics, agentPerformance). */
function performance(store: Store, { agentId }: CallBook, calls: readonly Call[]): JsonObject {
  const record = store.agents.get(agentId)?.record;
  const lastKnown = record ?? store.history.get(agentId)?.at(-1)?.settings;
  const { outcomes, ...figures } = summarize(calls);
  const percents = OUTCOMES.map((outcome) => [
    `${outcome}Percent`,
    computeMean(100 * outcomes[outcome], calls.length),
  ]);
  return {
    agentId,
    agentName: String(lastKnown?.name ?? agentId),
    ...figures,
    ...outcomes,
    ...Object.fromEntries(percents),
    status: record === undefined ? 'deleted' : String(record.status),
  };
}

/** One entry a day in UTC. Days without calls are left out of spans of more than a year. */
function dailyVolume(calls: readonly Call[], { from, until }: Span): readonly JsonObject[] {
  const dayOf = (time: number) => Math.floor(time / DAY);
  const held = Map.groupBy(calls, ({ startedAt }) => dayOf(startedAt));
  const days = new Set(held.keys());
  const first = dayOf(from);
  if (until - first * DAY <= 366 * DAY)
    for (let day = first; day * DAY < until; day += 1) days.add(day);
  const sorted = [...days].sort((a, b) => a - b);
  return sorted.map((day) => {
    const { totalCalls, outcomes } = summarize(held.get(day) ?? []);
    const date = new Date(day * DAY).toISOString().slice(0, 10);
    return { date, totalCalls, resolvedCalls: outcomes.resolved };
  });
}

/** Why calls were handed to a person, the most frequent reason first. */
function escalationReasons(calls: readonly Call[]): readonly JsonObject[] {
  const transferred = calls.filter(({ outcome }) => outcome === 'transferred');
  return [...Map.groupBy(transferred, ({ reason = '' }) => reason)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([reason, held]) => ({
      reason,
      count: held.length,
      percentOfTotal: computeMean(100 * held.length, transferred.length),
      avgTimeBeforeEscalation: computeMean(sum(held.map(escalatedAfter)), held.length),
    }));
}

/** A mean with one decimal; null where nothing was measured. */
function computeMean(total: number, count: number): number | null {
  return count === 0 ? null : Math.round((total * 10) / count) / 10;
}

function countSeconds(calls: readonly Call[]): number {
  return sum(calls.map(({ duration }) => duration));
}

/** Two decimals are less than half a second: the seconds behind them can be had back. */
function countMinutes(calls: readonly Call[]): number {
  return Math.round((countSeconds(calls) * 100) / 60) / 100;
}

/** From `from` up to, but not including, `until`, in milliseconds since the epoch. */
type Span = ReturnType<typeof readSpan>;

/** Both ends are included: a day as the end is that whole day in UTC. Ends in reverse have nothing between them. */
function readSpan(start: unknown, end: unknown) {
  // ISO 8601 has leap seconds, which JavaScript has not.
  const parse = (time: unknown) => Date.parse(String(time).replace(':60', ':59'));
  return { from: parse(start), until: parse(end) + (/^[\d-]+$/.test(String(end)) ? DAY : 1) };
}

/** Calls by book that began within a span and are known by now, which may be some milliseconds after their end. */
function callsWithin(platform: Platform, { from, until }: Span, late = 0) {
  platform.callers.callUntilNow();
  const known = platform.now().getTime() - late;
  return [...platform.store.calls.values()].map((book) => ({
    book,
    calls: begunWithin(book.calls, from, until).filter((call) => getEnd(call) <= known),
  }));
}

/** Calls that began within a span. Callers enter theirs as time goes on: most books are searched and not gone through. */
function begunWithin(calls: readonly Call[], from: number, until: number): readonly Call[] {
  if (!isInOrder(calls))
    return calls.filter(({ startedAt }) => startedAt >= from && startedAt < until);
  return calls.slice(countBefore(calls, from), countBefore(calls, until));
}

/** How many calls were looked at for their order, and whether they had one. Calls are only ever added. */
const ordered = new WeakMap<readonly Call[], { readonly seen: number; readonly isKept: boolean }>();

function isInOrder(calls: readonly Call[]): boolean {
  const { seen, isKept } = ordered.get(calls) ?? { seen: 0, isKept: true };
  let still = isKept;
  for (let at = Math.max(1, seen); still && at < calls.length; at += 1)
    still = (calls[at - 1]?.startedAt ?? 0) <= (calls[at]?.startedAt ?? 0);
  ordered.set(calls, { seen: calls.length, isKept: still });
  return still;
}

/** How many calls, in the order of time, began before then. */
function countBefore(calls: readonly Call[], time: number): number {
  let [low, high] = [0, calls.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((calls[middle]?.startedAt ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
