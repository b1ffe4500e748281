import type { JsonObject } from '../../core/value.ts';
import type { Store } from '../store.ts';
import type { Call, CallBook } from './call.ts';
import { meanOf, sharesOf, sum } from './figures.ts';
import { countOutcomes, sentimentPercent } from './outcomes.ts';

type BookedCalls = { readonly book: CallBook; readonly calls: readonly Call[] };

/** One entry for each agent that had calls, the busiest first (Metrics, agentPerformance). */
export function agentPerformance(
  store: Store,
  books: readonly BookedCalls[],
): readonly JsonObject[] {
  return [...books]
    .sort((a, b) => b.calls.length - a.calls.length || (a.book.agentId < b.book.agentId ? -1 : 1))
    .map((entry) => performance(store, entry));
}

function performance({ agents, history }: Store, { book, calls }: BookedCalls): JsonObject {
  const { agentId } = book;
  const record = agents.get(agentId)?.record;
  const lastKnown = record ?? history.get(agentId)?.at(-1)?.settings;
  const outcomes = countOutcomes(calls);
  const [resolved = 0, transferred = 0, abandoned = 0, other = 0] = sharesOf(
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
    avgDuration: meanOf(sum(calls.map(({ duration }) => duration)), calls.length) ?? 0,
    sentimentPercent: sentimentPercent(calls),
    status: record === undefined ? 'deleted' : String(record.status),
  };
}
