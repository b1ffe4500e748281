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
