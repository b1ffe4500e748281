import pLimit from 'p-limit';
import { isList, isObject, type Json, type JsonObject, plainId, sum } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { RecentCalls } from '../plan/reader.ts';
import type { Client } from '../platform/client.ts';
import { ApiError } from '../platform/errors.ts';
import { PAGE_SIZE } from '../platform/pages.ts';

/** The calls of agents: how many there were, by metrics, and their logs, as far as they are wanted. */

/** Which calls are wanted: a time, in milliseconds since 1970, and how many, counted from the newest. */
export type WantedCalls = {
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
};

/**
 * The wanted calls out of a list that is read page by page. The platform does not say in which order it
 * lists them (assumption `call_log.order`). As long as every call so far was older than the one before,
 * reading stops once nothing that follows can be wanted; where that does not hold, all is read. Without a
 * limit calls come as they are listed; with one the newest come first.
 */
export async function* wantedCalls(
  listed: AsyncIterable<JsonObject>,
  wanted: WantedCalls,
): AsyncGenerator<JsonObject, void, undefined> {
  const { since = Number.NEGATIVE_INFINITY, limit } = wanted;
  const order = watchOrder();
  const kept: JsonObject[] = [];
  let seen = 0;
  for await (const call of listed) {
    const at = findTime(call);
    order.see(at);
    seen += 1;
    if (isWanted(at, wanted)) {
      if (limit === undefined) yield call;
      else kept.push(call);
      if (limit !== undefined && kept.length > 2 * limit) keepNewest(kept, limit);
    }
    // The rest of a page is there already, and tells more about the order.
    const isPageRead = seen % PAGE_SIZE === 0;
    const isEnough = at !== undefined && at < since;
    const isFull = limit !== undefined && kept.length >= limit;
    if (isPageRead && order.isNewestFirst() && (isEnough || isFull)) break;
  }
  if (limit !== undefined) yield* keepNewest(kept, limit);
}

/** Watches if the times seen so far fell, at least once, and never rose. */
function watchOrder() {
  let last = Number.POSITIVE_INFINITY;
  let hasFallen = false;
  let hasRisen = false;
  return {
    see(at: number | undefined) {
      if (at === undefined) return;
      if (at > last) hasRisen = true;
      if (at < last && last !== Number.POSITIVE_INFINITY) hasFallen = true;
      last = at;
    },
    isNewestFirst: () => hasFallen && !hasRisen,
  };
}

/** Keeps at most `limit` calls, those that began last, in that order. */
function keepNewest(calls: JsonObject[], limit: number): readonly JsonObject[] {
  calls.sort((a, b) => (findTime(b) ?? 0) - (findTime(a) ?? 0));
  calls.length = Math.min(calls.length, limit);
  return calls;
}

/** A call without a known time is wanted unless a time is asked for. */
function isWanted(at: number | undefined, { since, until }: WantedCalls): boolean {
  if (at === undefined) return since === undefined && until === undefined;
  return (since === undefined || at >= since) && (until === undefined || at <= until);
}

/** When a call began, in milliseconds since 1970; undefined where its log does not say it. */
export function findTime(call: JsonObject): number | undefined {
  const start = [call.call_started_at, call.created_at].find((one) => typeof one === 'string');
  const time = Date.parse(String(start));
  return Number.isNaN(time) ? undefined : time;
}

/** From `from` up to, but not including, `until`, in milliseconds since 1970. */
export type Span = { readonly from: number; readonly until: number };

/** Asks for the figures of a span: of one organization, or of all that the key has access to. */
export function buildMetricsCall({ from, until }: Span, organization: string | undefined): Call {
  const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
  return {
    operation: 'getMetrics',
    query: {
      startDate: isoTime(from),
      // Both ends are included.
      endDate: isoTime(until - 1),
      ...(organization === undefined ? {} : { organizationId: organization }),
    },
  };
}

/** The figures of agents in an answer of metrics (Metrics, agentPerformance). */
export type AgentFigures = {
  /** By the id of the agent. */
  readonly agents: ReadonlyMap<string, JsonObject>;
  /** The calls of these agents, and all calls; undefined where the answer does not say how many there were. */
  readonly listed: number;
  readonly total: number | undefined;
};

/** Reads them; undefined where there are none. */
export function agentFiguresIn(answer: Json): AgentFigures | undefined {
  const data: JsonObject = isObject(answer) && isObject(answer.data) ? answer.data : {};
  const { agentPerformance: rows, metrics: totals } = data;
  if (!isList(rows)) return undefined;
  const agents = new Map(
    rows.flatMap((row) => (isObject(row) ? [[String(row.agentId), row] as const] : [])),
  );
  return {
    agents,
    listed: sum([...agents.values()].map((row) => countIn(row) ?? 0)),
    total: isObject(totals) ? countIn(totals) : undefined,
  };
}

function countIn({ totalCalls: calls }: JsonObject): number | undefined {
  return typeof calls === 'number' && Number.isInteger(calls) && calls >= 0 ? calls : undefined;
}

/** As many days as `RecentCalls` counts; the words that views have for it are `formatCalls` (`render/wording.ts`). */
const RECENT_MS = 7 * 86_400_000;

/** Milliseconds that are waited for an answer, and after all else was read for the last of them. */
const PATIENCE_MS = 2_000;

/** Organizations that are asked for at once: most connections are left to what a plan cannot do without. */
const AT_ONCE = 4;

/** A failure that says nothing of the next request: a lock (403) is that of an organization, and faults pass. */
function isOfOne(status: number): boolean {
  return status === 403 || status >= 500;
}

/**
 * The calls of the last seven days by metrics, one request an organization. Where there is no answer nothing is known,
 * and where there are no metrics, or they take too long, no further organization is asked for.
 */
export function openRecentCalls(
  client: Pick<Client, 'callOnce' | 'platformTime'>,
  now: () => Date,
): RecentCalls {
  const turns = pLimit(AT_ONCE);
  const late = new AbortController();
  let isAbsent = false;
  const asked = new Map<string, Promise<void>>();
  const counted = new Map<string, (id: string) => number | undefined>();

  async function read(organization: string): Promise<void> {
    if (isAbsent || late.signal.aborted) return;
    const until = client.platformTime() ?? now().getTime();
    const call = buildMetricsCall({ from: until - RECENT_MS, until }, organization);
    const signal = AbortSignal.any([late.signal, AbortSignal.timeout(PATIENCE_MS)]);
    try {
      const figures = agentFiguresIn((await client.callOnce(call, signal)) ?? null);
      if (figures === undefined) isAbsent = true;
      else counted.set(organization, counter(figures));
    } catch (error) {
      const isOne = error instanceof ApiError ? isOfOne(error.status) : !signal.aborted;
      isAbsent ||= !isOne;
    }
  }

  return {
    ask(organization) {
      if (asked.has(organization)) return;
      const answered = turns(() => read(organization));
      asked.set(organization, answered);
    },
    async counts() {
      if (!late.signal.aborted) await withinPatience(Promise.all(asked.values()), late);
      return (organization, id) => counted.get(organization)?.(id);
    },
  };
}

function counter({ agents, listed, total }: AgentFigures): (id: string) => number | undefined {
  const rows = new Map([...agents].map(([id, row]) => [plainId(id), row]));
  // A list may end with the busiest. An agent that is not in it had no calls only if no call is missing.
  const others = total !== undefined && listed >= total ? 0 : undefined;
  return (id) => {
    const row = rows.get(plainId(id));
    return row === undefined ? others : countIn(row);
  };
}

/** Waits for some work, and aborts it where it takes too long. */
async function withinPatience(work: Promise<unknown>, late: AbortController): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      late.abort();
      resolve();
    }, PATIENCE_MS);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}
