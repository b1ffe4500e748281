import type { JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';

/**
 * What the platform says of what it takes. Nothing is asked before a change raises the question, and
 * nothing is asked twice.
 */
export type Terms = {
  /** Locked features, by key; null asks for what the account locks for everybody. */
  readonly locks: (organization: string | null) => Promise<Answer<ReadonlyMap<string, Lock>>>;
  /** Ids that stand in a catalogue; see `kinds/catalogues.ts`. */
  readonly offers: (
    catalogue: string,
    organization: string | null,
  ) => Promise<Answer<ReadonlySet<string>>>;
  /** What a call about one resource answers. */
  readonly about: (call: Call) => Promise<Answer<JsonObject>>;
  /** What the key is limited to where that closes an operation to it; undefined: the operation is open. */
  readonly closedTo: (operation: string) => Promise<Answer<KeyLevel | undefined>>;
};

/** What was asked, or why the platform does not say. */
export type Answer<T> =
  | { readonly type: 'told'; readonly value: T }
  | { readonly type: 'untold'; readonly why: string };

/** A locked feature (Feature entry). */
export type Lock = {
  /** `here` or `inherited`; null where the platform does not say. */
  readonly scope: string | null;
  /** Whether older settings decide, not the feature matrix. */
  readonly isLegacy: boolean;
};

/** What a scoped key is limited to (Authentication 5). */
export type KeyLevel = 'reseller' | 'organization';
