/** How many requests the platform takes. The specification gives no figures (Limits). */
export type RateLimit = {
  readonly perSecond: number;
  /** Requests that may come at once; `perSecond`, and at least one, unless given. */
  readonly burst?: number;
  /** Whether a refused request is told when to come again; it is unless this is false. */
  readonly retryAfter?: boolean;
};

/** Counts requests against a limit that may be changed, by a token bucket. */
export type Limiter = {
  /** Undefined: there is no limit. */
  readonly set: (limit: RateLimit | undefined) => void;
  readonly get: () => RateLimit | undefined;
  /** Undefined lets a request pass; otherwise the headers of its 429. */
  readonly refuse: () => { readonly [name: string]: string } | undefined;
};

export function createLimiter(now: () => Date, initial?: RateLimit): Limiter {
  let limit = initial;
  let tokens = sizeOf(limit);
  let last = now().getTime();
  return {
    set: (next) => {
      limit = next;
      tokens = sizeOf(next);
      last = now().getTime();
    },
    get: () => limit,
    refuse: () => {
      if (limit === undefined) return undefined;
      const time = now().getTime();
      tokens = Math.min(sizeOf(limit), tokens + ((time - last) / 1000) * limit.perSecond);
      last = time;
      if (tokens >= 1) {
        tokens -= 1;
        return undefined;
      }
      if (limit.retryAfter === false) return {};
      return { 'retry-after': String(Math.ceil((1 - tokens) / limit.perSecond)) };
    },
  };
}

function sizeOf(limit: RateLimit | undefined): number {
  return limit === undefined ? 0 : (limit.burst ?? Math.max(1, limit.perSecond));
}
