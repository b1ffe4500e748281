import type { Address } from '../core/address.ts';
import { type DesiredResource, valuesInClear } from '../core/desired.ts';
import { isWithin, overlaps, type Path, parsePaths, toPath } from '../core/path.ts';
import type { InClear } from '../core/redact.ts';
import { isEchoed } from '../core/schema.ts';
import { Blob, findFilled, getOwn, type JsonObject, Secret } from '../core/value.ts';
import {
  compareApplied,
  digestSource,
  hasOtherSource,
  isFormerProof,
  rememberLeaf,
  withSource,
  withStored,
} from '../diff/applied.ts';
import { compare, isWritten } from '../diff/compare.ts';
import { isEmptyLeaf, type Leaf, listLeaves, type World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import {
  type AppliedLeaf,
  forgetValue,
  getIdentity,
  type RememberedPin,
  type ResourceState,
  type State,
} from '../state/model.ts';
import type { LiveResource } from './reader.ts';

/** The name by which the state knows a resource: its own, or its address where it has none. */
export function nameInState({ address, document }: DesiredResource): string {
  const { name } = document;
  return typeof name === 'string' ? name : address;
}

/**
 * Returns the state's entry of a resource that now equals the configuration. A secret is known only if it was written
 * (`written`) or already known, and nothing new is learned of one that is not at hand. The content of a file that was
 * taken over is marked as assumed: the next version of it is noticed, and it is not taken for the platform's content.
 * `stored`: marks of values that the platform stored as others; an earlier one stays while the written value does.
 */
export function rememberResource(
  kind: Kind,
  desired: DesiredResource,
  live: {
    readonly id: string;
    readonly scope: Scope;
    readonly pin: RememberedPin | null;
    /** The document that was read; undefined if none was. */
    readonly document?: JsonObject;
  } & Pick<ResourceState, 'created_at'>,
  previous: ResourceState | undefined,
  written: ReadonlySet<string>,
  world: World,
  stored: ReadonlyMap<string, string> = new Map(),
): ResourceState {
  const ignore = parsePaths(desired.lifecycle.ignore);
  const owned = listLeaves(kind.schema, desired.document);
  const inClear = valuesInClear(desired);
  const leaves: Record<string, AppliedLeaf> = {};
  // An empty list has no leaves, yet it is owned: what appears in it later was added by hand.
  for (const [text, { path, elements }] of owned.lists) {
    if (elements.size === 0 && !isWithin(path, ignore)) leaves[text] = { value: null };
  }
  for (const leaf of owned.leaves.values()) {
    // Null clears no secret, so that nothing of it is owned.
    const isReleased = leaf.facts.unreadable && leaf.value === null;
    if (isReleased || isWithin(leaf.path, ignore)) continue;
    const isAbsent =
      leaf.value instanceof Secret && world.findSecret(leaf.value.source, leaf.text) === undefined;
    const [field = ''] = leaf.path;
    const isHidden = leaf.facts.unreadable || !isEchoed(kind.schema, field, live.document ?? {});
    const before = getOwn(previous?.leaves, leaf.text) ?? sentBefore(leaf, kind, live.id, world);
    // A leaf that is wanted as null and was never written is no change.
    const isNone = before === undefined && !leaf.facts.unreadable && isEmptyLeaf(leaf);
    const isKept = isAbsent || (isHidden && !written.has(leaf.text) && !isNone);
    const known = isKept ? before : undefined;
    const remembered = !isKept
      ? rememberLeaf(leaf, desired.address, world, inClear)
      : known === undefined && leaf.value instanceof Blob
        ? { digest: `sha256:${leaf.value.sha256}`, assumed: true as const }
        : (provedAnew(leaf, known, desired.address, world, inClear) ??
          withSource(leaf, known ?? UNKNOWN));
    if (remembered === undefined) continue;
    const own = getOwn(previous?.leaves, leaf.text);
    const isAsWritten = () => compareApplied(leaf, own, desired.address, world) === 'equal';
    const mark = own !== undefined && 'stored' in own && isAsWritten() ? own.stored : undefined;
    leaves[leaf.text] = withStored(remembered, stored.get(leaf.text) ?? mark);
  }
  const created = live.created_at ?? previous?.created_at;
  return {
    kind: kind.name,
    id: live.id,
    scope: live.scope,
    name: nameInState(desired),
    leaves,
    pin: live.pin,
    protect: desired.lifecycle.protect,
    ...(created === undefined ? {} : { created_at: created }),
    ...(previous?.asked_at === undefined ? {} : { asked_at: previous.asked_at }),
  };
}

/**
 * The entry of a secret that is not written and whose fingerprint was made before there was a key: where the value is at
 * hand and is the one that it was, it gets a fingerprint with the key.
 */
function provedAnew(
  leaf: Leaf,
  known: AppliedLeaf | undefined,
  address: Address,
  world: World,
  inClear: InClear | undefined,
): AppliedLeaf | undefined {
  if (known === undefined || !isFormerProof(known, world)) return undefined;
  return compareApplied(leaf, known, address, world) === 'equal'
    ? rememberLeaf(leaf, address, world, inClear)
    : undefined;
}

/** The content of a file that was sent to a resource before its address let go of it. */
function sentBefore(
  { text, value }: Leaf,
  { name }: Kind,
  id: string,
  { findContent }: World,
): AppliedLeaf | undefined {
  const digest = value instanceof Blob ? getOwn(findContent?.(name, id), text) : undefined;
  return digest === undefined ? undefined : { digest };
}

/** Resources that a state remembers at most of those that it let go of. What came before is assumed to have its file. */
const MOST_LET_GO = 500;

/**
 * The state with the content of files of the known resources that these do not have any more. Put back into the files,
 * such a resource is found by its name, and nothing but this tells whether its file was edited meanwhile.
 */
export function withLetGo(
  { let_go: before = {}, ...state }: State,
  known: State['resources'],
  resources: State['resources'],
): State {
  const managed = new Set(Object.values(resources).map(getIdentity));
  const gone = Object.values(known).flatMap((one) => {
    const identity = getIdentity(one);
    const sent = managed.has(identity) ? [] : listSent(one);
    return sent.length === 0 ? [] : [[identity, Object.fromEntries(sent)] as const];
  });
  const newer = new Set(gone.map(([identity]) => identity));
  const older = Object.entries(before).filter(
    ([identity]) => !managed.has(identity) && !newer.has(identity),
  );
  const all = [...older, ...gone];
  if (all.length === 0) return state;
  return { ...state, let_go: Object.fromEntries(all.slice(-MOST_LET_GO)) };
}

/** Digests of the files that were sent to a resource, by path. */
function listSent({ kind, leaves }: ResourceState): readonly (readonly [string, string])[] {
  const { properties } = kindNamed(kind).schema;
  return Object.entries(leaves).flatMap(([path, leaf]) => {
    const isFile = getOwn(properties, path)?.['x-file'] !== undefined;
    return isFile && 'digest' in leaf && leaf.assumed !== true
      ? [[path, leaf.digest] as const]
      : [];
  });
}

/** When a resource was created, for who remembers it. */
export function createdIn({
  record,
}: Pick<LiveResource, 'record'>): Pick<ResourceState, 'created_at'> {
  const created = findFilled(record.created_at);
  return created === undefined ? {} : { created_at: created };
}

/**
 * The entry of the state as it would be, had each version of a resource been applied: of the contested paths what a version
 * and live have in common. The same object where they have nothing in common there.
 */
export async function rememberAgreed(
  {
    kind,
    recorded,
    address,
    live,
  }: {
    readonly kind: Kind;
    readonly recorded: ResourceState;
    readonly address: Address;
    readonly live: { readonly id: string; readonly scope: Scope; readonly document: JsonObject };
  },
  contested: readonly Path[],
  versions: AsyncIterable<DesiredResource>,
  world: World,
): Promise<ResourceState> {
  const sides = { address, applied: recorded.leaves, ignore: [], isPartial: false, resend: false };
  let left = contested;
  let known = recorded;
  for await (const { lifecycle, ...version } of versions) {
    const desired = { ...version, address, lifecycle: { ...lifecycle, ignore: [] } };
    const differing = compare(kind.schema, desired.document, live.document, sides, world).filter(
      (one) => isWritten(one) || one.cause === 'released',
    );
    const agreed = left.filter((path) => !differing.some((one) => overlaps(one.path, path)));
    if (agreed.length === 0) continue;
    const at = { ...live, pin: recorded.pin };
    const { leaves } = rememberResource(kind, desired, at, recorded, new Set(), world);
    const isAgreed = ([text]: readonly [string, AppliedLeaf]) => isWithin(toPath(text), agreed);
    const rest = Object.entries(known.leaves).filter((entry) => !isAgreed(entry));
    const taken = Object.entries(leaves).filter(isAgreed);
    known = { ...known, leaves: Object.fromEntries([...rest, ...taken]) };
    left = left.filter((path) => !agreed.includes(path));
    if (left.length === 0) break;
  }
  return known;
}

/** Keeps where earlier kept edits begin, for a new entry of a resource that still has them. */
export function keptSince(
  recorded: Pick<ResourceState, 'kept_since'> | undefined,
): Pick<ResourceState, 'kept_since'> {
  const { kept_since: since } = recorded ?? {};
  return since === undefined ? {} : { kept_since: since };
}

/**
 * The requests of a making that were answered, for who lays an earlier entry down again: a rollback takes none of them
 * back, so the entry of now tells them, not the one of then. A resource that reads as whole lacks none.
 */
export function keepUnfinished(
  kind: Kind,
  recorded: Pick<ResourceState, 'id' | 'unfinished'> | undefined,
  { id, record }: { readonly id: string; readonly record: JsonObject },
): Pick<ResourceState, 'unfinished'> {
  const answered = recorded?.id === id ? recorded.unfinished : undefined;
  return answered === undefined || kind.unready?.(record) === undefined
    ? {}
    : { unfinished: answered };
}

/**
 * Returns the state's entry of a resource for the address that it was moved to. Fingerprints are bound to an address:
 * one that fits the configured value is made again, one that does not is left out, so that the leaf is written. If one
 * cannot be read (another key), or its secret is not at hand, has another source or is no longer configured, only its
 * existence and its source remain.
 */
export function moveEntry(
  kind: Kind,
  desired: Pick<DesiredResource, 'address' | 'document' | 'inClear'>,
  recorded: ResourceState,
  from: Address,
  world: World,
): ResourceState {
  const { leaves: wanted } = listLeaves(kind.schema, desired.document);
  const leaves = Object.entries(recorded.leaves).flatMap(
    ([path, applied]): [string, AppliedLeaf][] => {
      if (!('fingerprint' in applied)) return [[path, applied]];
      const leaf = wanted.get(path);
      if (leaf === undefined || hasOtherSource(leaf, applied))
        return [[path, forgetValue(applied)]];
      const match = compareApplied(leaf, applied, from, world);
      // The value is not at hand, so it cannot be bound to the new address.
      if (match === 'unset' || match === 'unknown') return [[path, forgetValue(applied)]];
      const inClear = 'in_clear' in applied ? valuesInClear(desired) : undefined;
      const bound =
        match === 'equal' ? rememberLeaf(leaf, desired.address, world, inClear) : undefined;
      return bound === undefined ? [] : [[path, bound]];
    },
  );
  return { ...recorded, leaves: Object.fromEntries(leaves) };
}

/** The resource with another source of a secret that was taken over. */
export function renameSource(resource: ResourceState, path: string, secret: Secret): ResourceState {
  const leaf = getOwn(resource.leaves, path);
  if (leaf === undefined || !('unknown' in leaf)) return resource;
  const renamed = { ...leaf, source: digestSource(secret) };
  return { ...resource, leaves: { ...resource.leaves, [path]: renamed } };
}

/** The entry of a secret that was taken over. */
const UNKNOWN: AppliedLeaf = { unknown: true };
