/**
 * `state/` remembers what Callsheet last wrote and which resource an address stands for. It can be
 * thrown away: everything in it is either found again on the platform or does no harm when unknown.
 * It holds no secret and no sensitive value, only fingerprints of them.
 *
 * This file is the model, pure; `store.ts` is what a store must do, `leased-store.ts` is how all of them do it over a
 * small driver each, and `open.ts` opens one: a file (`file/`), or what a feature keeps
 * states in.
 */
import type { Address } from '../core/address.ts';
import type { Runs, State as StateFile } from '../core/documents.generated.ts';
import { getOwn } from '../core/value.ts';

/** The file of the state, without its checksum, its seal and who wrote it. Its schema says less of leaves than these types. */
export type State = Omit<StateFile.Document, 'checksum' | 'seal' | 'made_by' | 'resources'> & {
  readonly resources: { readonly [address: Address]: ResourceState };
};

/** Features keep entries in a state, by feature and name; the data of each is in the form of its feature. */
export type Kept = NonNullable<StateFile.Document['kept']>;

export type KeptEntries = Kept[string];
export type KeptEntry = KeptEntries[string];

export type Owner = NonNullable<StateFile.Document['owner']>;

/**
 * `vouched`: it has the seal of another key or place, and the reader vouches for it. Without a key a state is
 * `unsealed`.
 */
export type Trust = 'sealed' | 'vouched' | 'unsealed';

/** The commit of a stack that was applied last. */
export type AppliedCommit = NonNullable<StateFile.Document['applied']>;

/** An owner in words: `the stack harbor, the environment production`. */
export function describeOwner({ stack, environment }: Owner): string {
  const place = environment === null ? 'no environment' : `the environment ${environment}`;
  return `${stack === null ? 'the stack in its folder' : `the stack ${stack}`}, ${place}`;
}

/** Content of files that was sent to resources which no address stands for any more, by their identity. */
type LetGo = NonNullable<StateFile.Document['let_go']>;

/** Tells what a state knows of files that were sent to a resource before its address let go of it. */
export function contentIn({ let_go: known = {} }: Pick<State, 'let_go'>) {
  return (kind: string, id: string): LetGo[string] | undefined =>
    getOwn(known, getIdentity({ kind, id }));
}

/** Returns the identity that only one address may have: `agent 3c6e…`. */
export function getIdentity({ kind, id }: Pick<ResourceState, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** The address that stands for each, by its identity. */
export function ownersIn({ resources }: Pick<State, 'resources'>): Map<string, Address> {
  return new Map(Object.entries(resources).map(([address, one]) => [getIdentity(one), address]));
}

/**
 * Values that were rolled back and are not written again until somebody releases them, each under a digest of its
 * address, path and value.
 */
export type Holds = Runs.Holds;

/** A value that was rolled back. */
export type HeldValue = Required<Pick<Hold, 'address' | 'id' | 'path' | 'value'>>;

/** Who rolled something back, and what that undid. */
export type Hold = Holds[string];

/** Resources that runs deleted and that are not there again, by address, the newest last. */
export type Deletions = NonNullable<StateFile.Document['deleted']>;

export type ResourceState = Runs.Resource;

/**
 * A pin, and whether a later change is sure to have another `updated_at`. That can only be so where the resource
 * was found to be as the leaves say, and `updated_at` was long over when it was read: platforms may tell time in
 * whole seconds, and two changes of one second have the same. See `plan/refresh.ts`.
 */
export type RememberedPin = Runs.Pin;

/**
 * A leaf as last written. Short values stand as they are; long ones as a digest, since only equality is
 * ever asked of them; secrets and sensitive values as a keyed fingerprint. `unknown` is a secret that was
 * configured and not written, because its resource was taken over with whatever it has: without it, such
 * a secret would look like one that the configuration has only now.
 * `unsettled` stands for what the platform never returns, where it may not have been written: a run died, or a
 * rollback created the resource again without it. It equals nothing, so it is written again.
 * `source`: a digest of where a concealed value came from (`diff/applied.ts`), so that another source is noticed
 * where there is no value to compare.
 */
export type AppliedLeaf = Runs.Leaf;

/** A leaf that the next apply writes whatever its value is. */
export function isUnsettled(leaf: AppliedLeaf | undefined): boolean {
  return leaf !== undefined && 'unsettled' in leaf;
}

/** Keeps of a leaf whose value is unknown from now on only where it came from, if that was recorded. */
export function forgetValue(leaf: AppliedLeaf): AppliedLeaf {
  const source = 'source' in leaf ? leaf.source : undefined;
  return { unknown: true, ...(source === undefined ? {} : { source }) };
}

/** Returns true if only so much is remembered of a leaf as a secret or sensitive value may leave behind. */
export function isConcealed(leaf: AppliedLeaf): boolean {
  return !('value' in leaf || 'digest' in leaf);
}

/** Paths of the leaves of which no more is remembered than a secret may leave behind. */
export function concealedPaths(leaves: ResourceState['leaves'] = {}): readonly string[] {
  return Object.entries(leaves).flatMap(([path, leaf]) => (isConcealed(leaf) ? path : []));
}

/** Any JSON object. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Distinct values that are looked for in other resources: those that many have are met among the first. */
const MOST_SHARED = 5_000;

/**
 * Gives what was just parsed or made of a resource one copy of what many resources have alike: most agents of a fleet speak
 * one language, and a state of a hundred thousand would hold that as often. The resource itself is changed, so no
 * other code may have it. Nothing is checked here.
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
