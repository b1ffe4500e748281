/**
 * `plan/` works out what to do: which live resource each address stands for, how it differs, in which
 * steps that is mended, and whether a guard objects. It is pure: what it needs to know of the platform
 * it asks of a `Reader`, which `live/` provides.
 */
import type { JsonObject } from '../core/value.ts';
import type { Kind, Scope } from '../kinds/kind.ts';

/** An item of a list: enough to recognise a resource, not always all of it. */
export type ListedResource = {
  readonly id: string;
  readonly scope: Scope;
  readonly record: JsonObject;
};

/** A live resource, whole. */
export type LiveResource = {
  readonly id: string;
  readonly scope: Scope;
  /** In the shape of the configuration, facets included. */
  readonly document: JsonObject;
  /** As the platform returned it. */
  readonly record: JsonObject;
};

export type Reader = {
  /** Every resource of a kind in a scope. Listed once; asked again, the same answer. */
  readonly list: (kind: Kind, scope: Scope) => Promise<readonly ListedResource[]>;
  /**
   * One resource, read afresh; `facets` names those to read too. Undefined: there is none. Where a kind's
   * list items are whole, a `record` from the list is taken as it is.
   */
  readonly read: (
    kind: Kind,
    at: { readonly id: string; readonly scope: Scope; readonly record?: JsonObject },
    facets: ReadonlySet<string>,
  ) => Promise<LiveResource | undefined>;
  /** The newest history entries, newest first; empty for kinds without a history. */
  readonly history: (kind: Kind, id: string, limit: number) => Promise<readonly HistoryEntry[]>;
};

/** What is known of a history entry (Agent history entry). */
export type HistoryEntry = {
  /** Addresses the version. */
  readonly id: number;
  readonly action: string | null;
  readonly actor: string | null;
  readonly source: string | null;
  readonly at: string | null;
  readonly reverted_from_id: number | null;
};
