import type { Address } from '../core/address.ts';
import type { Path } from '../core/path.ts';
import { Blob, type Json, Ref, Secret, type Value } from '../core/value.ts';
import type { AppliedLeaf } from '../state/model.ts';
import type { Leaf } from './leaves.ts';

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
  /** Whether the resource took the place of one that is gone, which had the secrets: nobody wrote them to this one. */
  readonly isSuccessor?: boolean;
};

/** The sides of a resource that is held against a whole document: whatever is live beside it differs, but what is ignored. */
export function exactSides(address: Address, ignore: readonly Path[]): Sides {
  return { address, applied: undefined, ignore, isPartial: true, isExact: true, resend: false };
}

/** An id that is known only once the resource exists. */
export class Unknown {
  readonly address: string;
  constructor(address: string) {
    this.address = address;
  }
}

/**
 * The value that a leaf stands for: ids and secrets looked up, a file by the digest of its bytes.
 * `Unknown` while the resource that it refers to does not exist; undefined where a secret is not at hand.
 */
export function resolveLeaf(leaf: Leaf, world: World): Value | Unknown | undefined {
  const { value } = leaf;
  if (value instanceof Ref) return world.idOf(value.address) ?? new Unknown(value.address);
  if (value instanceof Secret) return world.secretOf(value.source, leaf.text);
  if (value instanceof Blob) return `sha256:${value.sha256}`;
  return value;
}
