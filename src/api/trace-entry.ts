import type { Json, JsonObject } from '../core/value.ts';

/** One try of a request, as it may be written down: nothing in it is a secret. */
export type TraceEntry = {
  /** When it was sent, ISO 8601. */
  readonly time: string;
  readonly operation: string | null;
  readonly method: string;
  readonly url: string;
  /** Which try it was, counted from 1. */
  readonly attempt: number;
  /** Null where nothing was answered. */
  readonly status: number | null;
  readonly milliseconds: number;
  readonly request_id: string | null;
  readonly request: { readonly headers: JsonObject; readonly body: Json };
  /** Null where nothing was answered; `error` says why. */
  readonly answer: { readonly headers: JsonObject; readonly body: Json } | null;
  readonly error: string | null;
};
