import type { Json } from '../core/value.ts';

/** One request that reached the simulator. */
export type LoggedRequest = {
  readonly method: string;
  /** Path and query as they came. */
  readonly path: string;
  /** Name of the operation, `upload`, or `unknown`. */
  readonly operation: string;
  /** Whether it brought an Authorization header. */
  readonly authorized: boolean;
  /** 0 where the connection was broken instead of answered. */
  readonly status: number;
  /** The parsed JSON body or the fields of a form, secrets included. */
  readonly body?: Json;
  /** ISO 8601. */
  readonly at: string;
};

/** Requests that are remembered at most; the oldest half goes when there are more. */
const LOG_LIMIT = 200_000;

export type RequestLog = {
  readonly all: readonly LoggedRequest[];
  readonly add: (request: LoggedRequest) => void;
  readonly clear: () => void;
};

export function createRequestLog(): RequestLog {
  const all: LoggedRequest[] = [];
  return {
    all,
    add: (request) => {
      if (all.push(request) > LOG_LIMIT) all.splice(0, LOG_LIMIT / 2);
    },
    clear: () => {
      all.length = 0;
    },
  };
}
