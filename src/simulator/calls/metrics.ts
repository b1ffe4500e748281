import type { JsonObject } from '../../core/value.ts';
import type { Store } from '../store.ts';
import { agentPerformance } from './agent-performance.ts';
import { DAY } from './calendar.ts';
import { type Call, escalatedAfter, measurementsOf } from './call.ts';
import { meanOf, minutesOf, percentOf, sharesOf, sum } from './figures.ts';
import { countOutcomes, type OutcomeCounts, sentimentPercent } from './outcomes.ts';
import { callsWithin, type Span } from './span.ts';

/** Spans up to this many days list those without calls, too; longer ones would be mostly such days. */
const MOST_EMPTY_DAYS = 366;

/** The figures of some organizations over a span (Metrics). */
export function metricsOf(
  store: Store,
  organizations: ReadonlySet<string>,
  span: Span,
): JsonObject {
  const books = [...store.calls.values()]
    .filter(({ organizationId }) => organizations.has(organizationId))
    .map((book) => ({ book, calls: callsWithin(book, span) }))
    .filter(({ calls }) => calls.length > 0);
  const calls = books.flatMap((entry) => entry.calls);
  const outcomes = countOutcomes(calls);
  const insights = insightsOf(calls);
  return {
    metrics: {
      ...totals(calls, outcomes),
      activeAgents: countActive(store, organizations),
      responseTime: insights.responseLatency,
    },
    dailyVolume: dailyVolume(calls, span),
    hourlyDistribution: hourlyDistribution(calls),
    resolutionBreakdown: outcomes,
    agentPerformance: agentPerformance(store, books),
    aiInsights: { ...insights, trainingSessions: calls.length },
    escalationReasons: escalationReasons(calls),
  };
}

function totals(calls: readonly Call[], outcomes: OutcomeCounts): JsonObject {
  const seconds = sum(calls.map(({ duration }) => duration));
  return {
    totalCalls: calls.length,
    totalMinutes: minutesOf(seconds),
    resolutionRate: percentOf(outcomes.resolved, calls.length) ?? 0,
    avgDuration: meanOf(seconds, calls.length) ?? 0,
    sentimentPercent: sentimentPercent(calls),
    escalationRate: percentOf(outcomes.transferred, calls.length),
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
    minutes: minutesOf(seconds),
  }));
}

/** Means over the calls that were measured. */
function insightsOf(calls: readonly Call[]) {
  const measured = calls.map(measurementsOf).filter((one) => one !== undefined);
  const mean = (name: keyof (typeof measured)[number]) =>
    meanOf(sum(measured.map((one) => one[name])), measured.length);
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
  const shares = sharesOf(sorted.map(([, { count }]) => count));
  return sorted.map(([reason, { count, seconds }], index) => ({
    reason,
    count,
    percentOfTotal: shares[index] ?? 0,
    avgTimeBeforeEscalation: meanOf(seconds, count) ?? 0,
  }));
}
