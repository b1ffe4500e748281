import type { Json, JsonObject } from '../core/value.ts';

/** One call of the platform, as `schemas/platform.openapi.yaml` describes it. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Begins with a slash; parameters stand in braces: `/v1/agents/{agentId}`. */
  readonly path: string;
  /** True if the specification gives method and path. */
  readonly documented: boolean;
  /** The assumption that it rests on, where it rests on one; an entry of `assumptions`. */
  readonly assumption?: string;
  /** The assumption that the body of its request rests on, wherever it lies; an entry of `assumptions`. */
  readonly assumedBody?: string;
  /** Assumptions that only details of it rest on, such as a status or a default. */
  readonly assumes?: readonly string[];
  /** The rights of a scoped key: everything, what lies in its scope, or nothing (403 `insufficient_scope`). */
  readonly scoped: 'open' | 'narrowed' | 'closed';
  /** True if the answer comes in pages: `page` and `limit` asked, `pagination` answered. */
  readonly paginated: boolean;
  /** True if a POST may be sent again when it is unknown whether the first one arrived. */
  readonly repeatable: boolean;
  /** The credential of the call: nothing, an access token, or the PBX provider's own API token. */
  readonly auth: 'none' | 'bearer' | 'pbx_key';
  /** The form of a good answer: a record or a list under `data`, an object of its own, or nothing certain. */
  readonly answer: 'data-object' | 'data-list' | 'object' | 'any';
  /** Members that a good answer has at its top, beside `data`. */
  readonly requires: readonly string[];
};

/** Callsheet assumes this because the specification is silent. */
export type Assumption = {
  readonly documented: string;
  readonly assumed: string;
  readonly why: string;
};

/** A file on this machine. It is read while it is sent. */
export type LocalFile = {
  /** Absolute, or relative to the working directory. */
  readonly path: string;
  /** Media type, such as `audio/wav`. */
  readonly type: string;
};

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
