import type { OperationId } from '../api/operations.generated.ts';
import type { JsonObject } from '../core/value.ts';
import type { Answer } from './answer.ts';
import type { Catalogue } from './catalogue.ts';
import type { Dialect } from './dialect.ts';
import type { Faults } from './faults.ts';
import type { Ids } from './ids.ts';
import type { Limiter } from './rate-limit.ts';
import type { Key, Store } from './store.ts';

/** What every operation works on. */
export type Platform = {
  readonly store: Store;
  /** What it offers: features, models, speech providers. */
  readonly catalogue: Catalogue;
  readonly dialect: Dialect;
  readonly faults: Faults;
  readonly limiter: Limiter;
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
  /** Declared defaults are filled in. */
  readonly query: {
    readonly [name: string]: string | number | boolean | readonly string[] | undefined;
  };
  readonly body: JsonObject;
  readonly files: { readonly [field: string]: FormFile };
};

/** How one operation is answered. */
type Answerer = (input: Input, platform: Platform) => Answer | Promise<Answer>;

/** The answers of one area. */
export type Routes<Id extends OperationId> = { readonly [operation in Id]: Answerer };
