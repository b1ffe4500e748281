import type { Json, JsonObject } from '../core/value.ts';
import type { OperationId } from '../platform/operations.generated.ts';
import type { Answer, Query } from './answer.ts';
import type { Dialect } from './dialect.ts';
import type { Faults } from './faults.ts';
import type { Ids } from './ids.ts';
import type { Limiter } from './rate-limit.ts';
import type { Catalogue, Key, Level, SentText, Store, TextOrder } from './store.ts';

/** Who calls the agents. */
export type Callers = {
  /**
   * Has agents called up to now as they are set now: the one named, or all. Called before an agent is changed or
   * deleted, so that each call meets the settings of its own time, and before anybody reads calls.
   */
  readonly callUntilNow: (agentId?: string) => void;
};

/** Everything that an operation reads and changes. */
export type Platform = {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly dialect: Dialect;
  readonly faults: Faults;
  readonly limiter: Limiter;
  /** Callers of the agents as time goes on; none until it starts. */
  callers: Callers;
  /** Milliseconds that every request waits. */
  latencyMs: number;
  /** Ends the process as a crash would. */
  readonly kill: () => void;
  readonly ids: Ids;
  readonly now: () => Date;
  /** The time of a change: later than that of every change before it, so that `updated_at` tells them apart. */
  readonly stamp: () => string;
  /** `http://host:port`, known once the server listens. */
  url: string;
  /** Signs presigned addresses. */
  readonly signingKey: string;
};

/** A file of a form. */
export type FormFile = { readonly name: string; readonly mime: string; readonly bytes: Buffer };

/** A request whose parameters and body keep to the contract. */
export type Input = {
  readonly key: Key;
  readonly path: { readonly [name: string]: string };
  readonly query: Query;
  readonly body: JsonObject;
  readonly files: { readonly [field: string]: FormFile };
};

/** How one operation is answered. */
export type Answerer = (input: Input, platform: Platform) => Answer | Promise<Answer>;

/** The answers of one area. */
export type Routes<Id extends OperationId> = { readonly [operation in Id]: Answerer };

/** One request that reached the simulator. */
export type LoggedRequest = {
  readonly method: string;
  /** Path and query as they came. */
  readonly path: string;
  /** Name of the operation, `upload`, or `unknown`. */
  readonly operation: string;
  /** True if it had an Authorization header, valid or not. */
  readonly authorized: boolean;
  /** 0 where the connection was broken instead of answered. */
  readonly status: number;
  /** The parsed JSON body or the fields of a form, secrets included. */
  readonly body?: Json;
  /** ISO 8601. */
  readonly at: string;
};

/** A simulated platform that runs. */
export type Simulator = {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  /** Secrets are as they are stored. The next request sees changes to it. */
  readonly store: Store;
  /** Can be changed while the simulator runs. */
  readonly dialect: Dialect;
  readonly faults: Faults;
  /** The rate limit, which can be changed as well. */
  readonly limiter: Limiter;
  /** The requests since the start, in the order in which they ended; the oldest of very many are forgotten. */
  readonly requests: readonly LoggedRequest[];
  /** Empties `requests`. */
  readonly forgetRequests: () => void;
  /** The whole store as plain JSON. */
  readonly dump: () => JsonObject;
  /**
   * Edits an agent in the dashboard, in the names that reads use: nested objects are merged, null clears.
   * History records it with a person's id and the source `dashboard`. Returns the entry.
   */
  readonly edit: (agentId: string, patch: JsonObject, actor?: string) => JsonObject;
  /** Places a lock on a level; `id` is ignored for the account. Throws where there is no such feature. */
  readonly lock: (level: Level, id: string, feature: string) => void;
  readonly unlock: (level: Level, id: string, feature: string) => void;
  /** Gives a key, the account's own unless named, a new secret, which ends its tokens. Returns the secret. */
  readonly rotateSecret: (clientId?: string) => string;
  /** Moves the clock on by milliseconds. */
  readonly advance: (milliseconds: number) => void;
  /** The registrar picks a changed flag up later. */
  readonly isRegistered: (agentId: string) => boolean;
  /** Has an agent send a text message, as the carrier takes or rejects it. */
  readonly sendText: (order: TextOrder) => SentText;
  readonly close: () => Promise<void>;
};
