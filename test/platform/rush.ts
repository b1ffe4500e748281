import { createHostLimiter } from '../../src/platform/limiter.ts';
import { fullJitter } from '../../src/platform/send.ts';
import { createLimiter, type RateLimit } from '../../src/simulator/rate-limit.ts';
import { createTimeline } from './timeline.ts';

/** Clients that always have more to send, before a host with a limit that they are not told. */
export type Rush = {
  readonly limit: RateLimit | undefined;
  /** Milliseconds from a request to its answer. */
  readonly latency: number;
  /** Milliseconds for which the host works on a request that it lets in: another time for each. None unless given. */
  readonly work?: { readonly least: number; readonly most: number };
  /** Requests in flight at once, of each client. */
  readonly concurrency: number;
  readonly seconds: number;
  /** They begin a second or two one after the other. */
  readonly clients?: number;
  /** The limit that comes in its place, after so many seconds. */
  readonly then?: { readonly after: number; readonly limit: RateLimit | undefined };
};

/** What came of it, each in the order of time. */
export type Course = {
  /** For each client, when requests of it were let in, in milliseconds. */
  readonly letIn: readonly (readonly number[])[];
  readonly refused: readonly number[];
  /** The longest queue of requests that a client sent and has no answer to. */
  readonly busiest: number;
};

/** A machine without processor time, too, needs some of it for a request. */
const LEAST_MS = 0.2;
const BEGIN_MS = 1700;

/** Runs in virtual time, the same each time. */
export function rush(given: Rush): Course {
  const { limit, latency, work, concurrency, seconds, clients = 1, then } = given;
  const timeline = createTimeline();
  const { now, after } = timeline;
  const random = draws();
  const workTimes = draws();
  const host = createLimiter(() => new Date(now() + 370), limit);
  const letIn: number[][] = [];
  const refused: number[] = [];
  let busiest = 0;

  function begin(mine: number[]): void {
    const limiter = createHostLimiter({ most: concurrency, now, later: after });
    const request = { patience: Number.POSITIVE_INFINITY, stop: new AbortController().signal };
    let underWay = 0;
    const send = (attempt: number): void =>
      limiter.enter(request, ({ answered }) => {
        underWay += 1;
        busiest = Math.max(busiest, underWay);
        const way = Math.max(LEAST_MS, latency) / 2;
        after(way, () => {
          const entry = host.enter();
          const isLetIn = entry.refused === undefined;
          (isLetIn ? mine : refused).push(now());
          const { least, most } = (isLetIn ? work : undefined) ?? { least: 0, most: 0 };
          after(least + (most - least) * workTimes() + way, () => {
            underWay -= 1;
            if (entry.refused === undefined) {
              entry.leave();
              answered();
              return send(1);
            }
            const asked = Number(entry.refused['retry-after'] ?? 0) * 1000;
            let delay = 0;
            answered((row) => {
              delay = Math.max(asked, fullJitter(Math.max(row, attempt), random));
              return delay;
            });
            after(delay, () => send(attempt + 1));
          });
        });
      });
    for (let one = 0; one < concurrency; one += 1) send(1);
  }

  for (let client = 0; client < clients; client += 1) {
    const mine: number[] = [];
    letIn.push(mine);
    after(client * BEGIN_MS, () => begin(mine));
  }
  if (then !== undefined) after(then.after * 1000, () => host.set(then.limit));
  timeline.until(seconds * 1000);
  return { letIn, refused, busiest };
}

/** A generator of Lehmer: poor, and the same everywhere. */
export function draws(seed = 7): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** What came of a span of it, in seconds. */
export type Share = {
  /** Let in per second. */
  readonly perSecond: number;
  /** Of all requests, how many were refused, from 0 to 1. */
  readonly refused: number;
  /** Of what was let in, that of the client that had the least. */
  readonly least: number;
};

export function shareOf({ letIn, refused }: Course, from: number, to: number): Share {
  const within = (times: readonly number[]) =>
    times.filter((time) => time >= from * 1000 && time < to * 1000).length;
  const each = letIn.map(within);
  const all = each.reduce((sum, count) => sum + count, 0);
  const turnedAway = within(refused);
  return {
    perSecond: all / (to - from),
    refused: turnedAway / Math.max(1, all + turnedAway),
    least: Math.min(...each) / Math.max(1, all),
  };
}
