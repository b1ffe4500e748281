import type { Address } from '../core/address.ts';
import type { Path } from '../core/path.ts';
import type { Json } from '../core/value.ts';
import type { AppliedLeaf } from '../state/model.ts';

/** What a comparison needs to know beside the documents. All of it is passed in: nothing is looked up. */
export type World = {
  /** The id of a resource, or undefined while it does not exist. */
  readonly idOf: (address: Address) => string | undefined;
  /** The value behind the `$secret` that stands at a path; undefined where it is not at hand, or not to be written. */
  readonly secretOf: (source: string, path: string) => string | undefined;
  readonly fingerprints: Fingerprints;
};

/** Keyed fingerprints of values that must not be stored. See `state/fingerprint.ts`. */
type Fingerprints = {
  readonly of: (address: Address, path: string, value: Json) => string;
  /** `unknown` where the fingerprint was made with another key or method. */
  readonly matches: (
    fingerprint: string,
    address: Address,
    path: string,
    value: Json,
  ) => 'equal' | 'different' | 'unknown';
};

/** One resource's three sides and what was asked for. */
export type Sides = {
  readonly address: Address;
  /** Leaves as last written; undefined where there is no state. */
  readonly applied: Readonly<Record<string, AppliedLeaf>> | undefined;
  readonly ignore: readonly Path[];
  /** Whether leaves that are no longer desired are left as they are. */
  readonly isPartial: boolean;
  /** Whether whatever is live beside what is desired is to go. */
  readonly isExact?: boolean;
  /** Whether secrets are written even where nothing says that they changed. */
  readonly resend: boolean;
};
