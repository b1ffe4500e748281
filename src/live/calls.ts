import type { JsonObject } from '../core/value.ts';
import { PAGE_SIZE } from '../platform/pages.ts';

/** The call logs of an agent, as far as they are wanted. */

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

/** Whether the times seen so far fell, at least once, and never rose. */
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

/** A call of which nobody knows when it was is wanted unless a time is asked for. */
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
