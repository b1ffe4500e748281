/**
 * `state/` remembers what Callsheet last wrote and which resource an address stands for. It can be
 * thrown away: everything in it is either found again on the platform or does no harm when unknown.
 * It holds no secret and no sensitive value, only fingerprints of them.
 *
 * This file is the model, pure; `store.ts` is what a store must do, `leased-store.ts` is how all of them do it over a
 * small driver each, and `open.ts` opens one: a file (`file/`), or what other machines reach, too (`remote/`, with
 * `http.ts`, `postgres/` and `s3/`).
 */
import type { Address } from '../core/address.ts';
import type { Pin } from '../core/plan-document.ts';
import type { RolloutRecords } from '../core/rollout.ts';
import type { Json } from '../core/value.ts';

export type State = {
  readonly format: 'callsheet-state';
  readonly version: 2;
  /** Made once, with the first write; a state of another lineage belongs to another stack. */
  readonly lineage: string;
  /** Counts the writes. */
  readonly serial: number;
  /** The account that the resources belong to; set by the first run. */
  readonly account_id?: string;
  /** Hex. Salts the fingerprints where no key is given. */
  readonly salt: string;
  readonly resources: { readonly [address: Address]: ResourceState };
  /** The run that wrote last. */
  readonly last_run: string | null;
  /** What was rolled back; absent where nothing is held. */
  readonly holds?: Holds;
  /** Rollouts that are under way, and the last one of each name; absent where there never was one. */
  readonly rollouts?: RolloutRecords;
  /** Where it was moved to: a note for whoever looks here. Such a state is not used any more. */
  readonly moved_to?: string;
};

/**
 * What was rolled back and is not written again until somebody releases it. A hold on a configuration, as earlier
 * versions put it, stands under the digest of that; one on a value under a digest of its address, path and value.
 */
export type Holds = { readonly [key: string]: Hold };

/** A value that was rolled back. */
export type HeldValue = {
  readonly address: Address;
  /** The id of the resource; null where it has another one once it is made again. */
  readonly id: string | null;
  /** Null: the resource as a whole. */
  readonly path: string | null;
  /** A digest, or the fingerprint of a secret. Null: that nothing is there. */
  readonly value: string | null;
};

/** Who rolled something back, and what that undid. One without an address is on a configuration. */
export type Hold = Partial<HeldValue> & {
  /** The run that had applied it. */
  readonly undid: string;
  /** The rollback. */
  readonly by: string;
  readonly at: string;
  readonly user: string | null;
};

/** What is remembered of one resource. */
export type ResourceState = {
  readonly kind: string;
  readonly id: string;
  /** Values of the kind's scope fields, such as the organization's id. */
  readonly scope: { readonly [field: string]: string };
  /** Name for people. */
  readonly name: string;
  /** Owned leaves as last written, by path. */
  readonly leaves: { readonly [path: string]: AppliedLeaf };
  readonly pin: RememberedPin | null;
  readonly protect: boolean;
  /** The rollback that wrote it last; absent where another run did. */
  readonly restored_by?: string;
  /** The fields that this rollback put back; absent in a state of an earlier version. */
  readonly restored_paths?: readonly string[];
  /** Requests of its making that were answered, where a run died before the last of them. */
  readonly unfinished?: readonly string[];
};

/**
 * A pin, and whether a later change is sure to have another `updated_at`. That can only be so where the resource
 * was found to be as the leaves say, and `updated_at` was long over when it was read: platforms may tell time in
 * whole seconds, and two changes of one second have the same. See `plan/refresh.ts`.
 */
export type RememberedPin = Pin & {
  readonly certain?: true;
  /** The version of the state whose form its digest is of, where that is an older one. */
  readonly form?: number;
};

/**
 * A leaf as last written. Short values stand as they are; long ones as a digest, since only equality is
 * ever asked of them; secrets and sensitive values as a keyed fingerprint. `unknown` is a secret that was
 * configured and not written, because its resource was taken over with whatever it has: without it, such
 * a secret could not be told from one that the configuration has only now.
 * `unsettled` stands for what the platform never returns, where nobody knows that it was written: a run died, or a
 * rollback created the resource again without it. It equals nothing, so it is written again.
 * `form`: the version of the state whose form the value is in, where that is an older one.
 */
export type AppliedLeaf =
  | { readonly value: Json; readonly form?: number }
  | { readonly digest: string; readonly form?: number }
  | { readonly fingerprint: string; readonly form?: number }
  | { readonly unknown: true }
  | { readonly unsettled: true };

/** Whether what is remembered of a leaf is only what a secret or sensitive value may leave behind. */
export function isConcealed(leaf: AppliedLeaf): boolean {
  return !('value' in leaf || 'digest' in leaf);
}

/** Any JSON object. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Distinct values that are looked for in other resources: those that many have are met among the first. */
const MOST_SHARED = 5_000;

/**
 * Gives what was just parsed or made of a resource one copy of what many resources have alike: most agents of a fleet speak
 * one language, and a state of a hundred thousand would hold that as often. The resource itself is changed, so nobody else
 * may have it. Nothing is checked here.
 */
export function openSharing(): <T>(resource: T) => T {
  const leaves = new Map<unknown, unknown>();
  const scopes = new Map<string, unknown>();

  function shareLeaf(leaf: unknown): unknown {
    if (!isRecord(leaf) || Object.keys(leaf).length !== 1) return leaf;
    const { value } = leaf;
    if (value === undefined || (typeof value === 'object' && value !== null)) return leaf;
    const known = leaves.get(value);
    if (known !== undefined) return known;
    if (leaves.size < MOST_SHARED) leaves.set(value, leaf);
    return leaf;
  }

  function shareScope(scope: unknown): unknown {
    const text = JSON.stringify(scope) ?? '';
    const known = scopes.get(text) ?? scope;
    scopes.set(text, known);
    return known;
  }

  return (resource) => {
    if (!isRecord(resource) || !isRecord(resource.leaves)) return resource;
    const { leaves, scope } = resource;
    for (const path of Object.keys(leaves)) Reflect.set(leaves, path, shareLeaf(leaves[path]));
    Reflect.set(resource, 'scope', shareScope(scope));
    return resource;
  };
}
