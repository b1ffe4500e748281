import type { Simulation } from './documents.generated.ts';

export type RateLimit = Simulation.RateLimit;

/** Counts requests against a limit that may be changed. */
export type Limiter = {
  /** Undefined: there is no limit. */
  readonly set: (limit: RateLimit | undefined) => void;
  readonly get: () => RateLimit | undefined;
  readonly enter: () => Entry;
};

/** A request that came in: it was refused with these headers, or let in until it leaves. */
type Entry =
  | { readonly refused: { readonly [name: string]: string } }
  | { readonly refused?: undefined; readonly leave: () => void };

/** Takes a request at a time in milliseconds, or says how many of them it comes too early. */
type Counter = (time: number) => number;

export function createLimiter(now: () => Date, initial?: RateLimit): Limiter {
  let [limit, counter, inFlight] = [initial, openCounter(initial), 0];

  /** Milliseconds that a request comes too early. */
  function early(): number {
    if (inFlight >= (limit?.inFlight ?? Number.POSITIVE_INFINITY)) return 1;
    return counter(now().getTime());
  }

  return {
    set: (next) => {
      [limit, counter] = [next, openCounter(next)];
    },
    get: () => limit,
    enter: () => {
      const wait = early();
      if (wait > 0) {
        const seconds = String(Math.ceil(wait / 1000));
        return { refused: limit?.retryAfter === false ? {} : { 'retry-after': seconds } };
      }
      inFlight += 1;
      return {
        leave: () => {
          inFlight -= 1;
        },
      };
    },
  };
}

function openCounter(limit: RateLimit | undefined): Counter {
  if (limit?.perSecond === undefined) return () => 0;
  const { perSecond, shape = 'bucket', burst = Math.max(1, perSecond), windowSeconds = 1 } = limit;
  const most = Math.max(1, perSecond * windowSeconds);
  if (shape === 'bucket') return bucket(perSecond / 1000, burst);
  return shape === 'fixed'
    ? fixed(most, windowSeconds * 1000)
    : sliding(most, windowSeconds * 1000);
}

/** Filled when the first request comes. */
function bucket(perMillisecond: number, burst: number): Counter {
  let tokens = burst;
  let last: number | undefined;
  return (time) => {
    tokens = Math.min(burst, tokens + (time - (last ?? time)) * perMillisecond);
    last = time;
    if (tokens < 1) return (1 - tokens) / perMillisecond;
    tokens -= 1;
    return 0;
  };
}

function fixed(most: number, length: number): Counter {
  let [window, count] = [-1, 0];
  return (time) => {
    const current = Math.floor(time / length);
    if (current !== window) [window, count] = [current, 0];
    if (count + 1 > most) return (current + 1) * length - time;
    count += 1;
    return 0;
  };
}

function sliding(most: number, length: number): Counter {
  const taken: number[] = [];
  return (time) => {
    const over = taken.findIndex((one) => one > time - length);
    taken.splice(0, over < 0 ? taken.length : over);
    const [first] = taken;
    if (first !== undefined && taken.length + 1 > most) return first + length - time;
    taken.push(time);
    return 0;
  };
}
