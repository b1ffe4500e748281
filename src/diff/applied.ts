import { computeDigest } from '../core/digest.ts';
import { toPath } from '../core/path.ts';
import { contextAt, type InClear, isInClear } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import {
  Blob,
  isSameJson,
  type Json,
  Secret,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { type AppliedLeaf, concealedPaths } from '../state/model.ts';
import {
  type Leaf,
  leafSensitivity,
  leafTexts,
  normalise,
  resolveLeaf,
  Unknown,
  type World,
} from './leaves.ts';

/**
 * How the state remembers a leaf that was written. Undefined where its value is not known. `inClear`: the values that
 * the files have in clear.
 */
export function rememberLeaf(
  leaf: Leaf,
  address: string,
  world: World,
  inClear?: InClear,
): AppliedLeaf | undefined {
  if (leaf.value instanceof Blob) return { digest: `sha256:${leaf.value.sha256}` };
  const resolved = resolveLeaf(leaf, world);
  if (resolved === undefined || resolved instanceof Unknown) return undefined;
  const value = normalise(leaf.schema, resolved);
  if (isConcealedAs(leaf, value)) {
    const fingerprint = world.fingerprints.of(address, leaf.text, value);
    const source = digestSource(leaf.value);
    return isLeafInClear(leaf, inClear)
      ? {
          fingerprint,
          source,
          in_clear: world.fingerprints.of(address, placeInClear(leaf.text), value),
        }
      : { fingerprint, source };
  }
  // A prompt need not be quoted to see that it is long.
  if (typeof value === 'string' && value.length > LONGEST_PLAIN_VALUE)
    return { digest: computeDigest(value) };
  const plain = JSON.stringify(value);
  if (plain.length > LONGEST_PLAIN_VALUE) return { digest: computeDigest(value) };
  return { value: typeof value === 'object' ? JSON.parse(plain) : value };
}

/**
 * A digest of where a concealed value comes from: of the text of `$secret`, or of null for a value in the files. The
 * command of an `exec:` source may hold a credential, so the text itself is not stored. The digest has no key and no
 * address, unlike a fingerprint: a job without the key must see another source, and a move keeps it.
 */
export function digestSource(value: Value): string {
  return value instanceof Secret ? computeDigest(value.source) : FROM_FILES;
}

const FROM_FILES = computeDigest(null);

/** True if a secret is read from another source than the one that the state recorded. */
export function hasOtherSource(leaf: Leaf, last: AppliedLeaf | undefined): boolean {
  if (!(leaf.value instanceof Secret) || last === undefined) return false;
  // A value that is remembered in clear stood in the files.
  if ('value' in last || 'digest' in last)
    return isOpen(leaf, 'value' in last ? last.value : undefined);
  return 'source' in last && last.source !== digestSource(leaf.value);
}

/** True if the remembered value stood in the files itself. */
export function isFromFiles(last: AppliedLeaf | undefined): boolean {
  if (last === undefined) return false;
  if ('value' in last || 'digest' in last) return true;
  return 'source' in last && last.source === FROM_FILES;
}

/** True if a value from the files is remembered in clear at a leaf; undefined: a long one. */
function isOpen(leaf: Leaf, value: Json | undefined): boolean {
  const isFree = leaf.facts.secrecy.hidden !== 'schema';
  return isFree && (value === undefined || leafSensitivity(leaf, value) === 'open');
}

/** True if the state already names the source of a leaf's value, as far as it does so for any such value. */
export function isSourceRecorded(leaf: Leaf, last: AppliedLeaf): boolean {
  const isConcealing = 'fingerprint' in last || 'unknown' in last;
  return !isConcealing || last.source === digestSource(leaf.value);
}

/** True if the fingerprint of a leaf was made before there was a key, which confirms it and makes another. */
export function isFormerProof(
  last: AppliedLeaf,
  { fingerprints }: Pick<World, 'fingerprints'>,
): boolean {
  return 'fingerprint' in last && fingerprints.isFormer(last.fingerprint);
}

/** Returns the entry of a leaf that is not written: the earlier one, with the source if it had none. */
export function withSource(leaf: Leaf, last: AppliedLeaf): AppliedLeaf {
  const isWithout = 'unknown' in last && last.source === undefined;
  return isWithout && leaf.value instanceof Secret
    ? { ...last, source: digestSource(leaf.value) }
    : last;
}

/** Checks that the files have a leaf in clear, and that its name or those inside make a secret of it. */
export function isLeafInClear(leaf: Leaf, inClear: InClear | undefined): boolean {
  const { node, facts, value, text } = leaf;
  if (inClear === undefined || facts.unreadable || facts.secrecy.hidden === 'schema') return false;
  const isNamed = facts.secrecy.hidden === 'name' || typeof value === 'object';
  return isNamed && isInClear({ node, secrecy: facts.secrecy }, value, text, inClear);
}

/**
 * Tells whether a value is the one that was last written, and the files had it in clear. A second fingerprint says so, and not
 * a mark: a mark could be set by anybody who can write the state, to have a plan show a secret.
 */
export function wasInClear(
  applied: AppliedLeaf | undefined,
  value: Json,
  address: string,
  path: string,
  { fingerprints }: Pick<World, 'fingerprints'>,
): boolean {
  if (applied === undefined || !('fingerprint' in applied)) return false;
  const { in_clear: seal } = applied;
  return (
    seal !== undefined && fingerprints.matches(seal, address, placeInClear(path), value) === 'equal'
  );
}

/** The second fingerprint is bound to this text in the place of the path. No path reads so. */
function placeInClear(path: string): string {
  return `${path} in clear`;
}

/** A digest of what the state remembers, or its fingerprint; undefined where its value is not known. */
export function digestOfApplied(leaf: AppliedLeaf): string | undefined {
  if ('value' in leaf) return computeDigest(leaf.value);
  if ('digest' in leaf) return leaf.digest;
  return 'fingerprint' in leaf ? leaf.fingerprint : undefined;
}

/** True if the state has a fingerprint in place of the value, and nothing that the value could be read from. */
export function isConcealedAs(leaf: Leaf, value: Json): boolean {
  const { unreadable, secrecy } = leaf.facts;
  return (
    unreadable ||
    secrecy.hidden === 'schema' ||
    leaf.value instanceof Secret ||
    leafSensitivity(leaf, value) !== 'open'
  );
}

/** Tells whether a fingerprinted value is a secret: a sensitive value is returned. */
export function isNeverReturned(along: readonly FieldSchema[]): boolean {
  const isSensitive = along.some((schema) => schema['x-sensitive'] === true);
  const isInside = along.some((schema) => schema['x-secrets-inside'] === true);
  return along.some(({ writeOnly }) => writeOnly === true) || (isInside && !isSensitive);
}

/** Tells whether the state remembers that value. `unknown` where a fingerprint cannot be read. */
export function matchesApplied(
  applied: AppliedLeaf,
  value: Json,
  address: string,
  path: string,
  world: World,
): 'equal' | 'different' | 'unknown' {
  if ('unknown' in applied) return 'unknown';
  if ('unsettled' in applied) return 'different';
  if ('fingerprint' in applied)
    return world.fingerprints.matches(applied.fingerprint, address, path, value);
  const equal =
    'digest' in applied
      ? applied.digest === computeDigest(value)
      : isSameJson(applied.value, value);
  return equal ? 'equal' : 'different';
}

/**
 * Tells whether a live value is what the state remembers: the value that was written, or the one that the platform stored
 * in its place.
 */
export function matchesLive(
  applied: AppliedLeaf,
  live: Json,
  address: string,
  path: string,
  world: World,
): 'equal' | 'different' | 'unknown' {
  const verdict = matchesApplied(applied, live, address, path, world);
  if (verdict === 'equal' || !('stored' in applied) || applied.stored === undefined) return verdict;
  return isMarked(applied.stored, live, address, path, world) ? 'equal' : verdict;
}

/**
 * Tells whether the platform stored a value as the one that is live: the configuration still has what was written, and the
 * platform what it returned then. A mark that somebody forged fits these two values alone, and whatever differs in more
 * than platforms change on the way is said by each plan that reads it (decision 10).
 */
export function isStoredAs(
  applied: AppliedLeaf | undefined,
  desired: Json,
  live: Json,
  address: string,
  path: string,
  world: World,
): boolean {
  return (
    applied !== undefined &&
    'stored' in applied &&
    applied.stored !== undefined &&
    isMarked(applied.stored, live, address, path, world) &&
    matchesApplied(applied, desired, address, path, world) === 'equal'
  );
}

function isMarked(mark: string, live: Json, address: string, path: string, world: World): boolean {
  return mark.startsWith(DIGEST)
    ? mark === computeDigest(live)
    : world.fingerprints.matches(mark, address, path, live) === 'equal';
}

const DIGEST = 'sha256:';

/** The mark of a value that the platform stored in the place of the written one. */
export function markStored(
  live: Json,
  isSensitive: boolean,
  address: string,
  path: string,
  { fingerprints }: Pick<World, 'fingerprints'>,
): string {
  return isSensitive ? fingerprints.of(address, path, live) : computeDigest(live);
}

/** A remembered leaf with the mark of the value that the platform stored. Nothing can be said of an unknown one. */
export function withStored(leaf: AppliedLeaf, stored: string | undefined): AppliedLeaf {
  const isKnown = !('unknown' in leaf || 'unsettled' in leaf);
  return stored === undefined || !isKnown ? leaf : { ...leaf, stored };
}

/**
 * A leaf that is wanted, held against what the state remembers of it: `unset` where its secret is not at hand, `new`
 * where nothing is remembered, `unborn` where the resource that it refers to does not exist.
 */
export function compareApplied(
  leaf: Leaf,
  last: AppliedLeaf | undefined,
  address: string,
  world: World,
): 'unset' | 'new' | 'unborn' | 'equal' | 'different' | 'unknown' {
  const value = resolveLeaf(leaf, world);
  if (value === undefined) return 'unset';
  if (last === undefined) return 'new';
  if (value instanceof Unknown) return 'unborn';
  if (leaf.value instanceof Blob)
    return 'digest' in last && last.digest === value ? 'equal' : 'different';
  return matchesApplied(last, normalise(leaf.schema, value), address, leaf.text, world);
}

/**
 * Paths of values that are secret although no schema says so, as the specification does not name every secret
 * that an integration may have (DESIGN §10): the configuration gives a `$secret` there, or the state has a
 * fingerprint of what was written there once, whatever the configuration says today.
 */
export function knownSecrets(
  root: FieldSchema,
  wanted: ValueObject = {},
  applied: Readonly<Record<string, AppliedLeaf>> = {},
): ReadonlySet<string> {
  const given = leafTexts(root, wanted, (value) => value instanceof Secret);
  // Elsewhere it is a credential within a value that has a fingerprint, and is found there again.
  const written = concealedPaths(applied).filter(
    (text) => contextAt(root, toPath(text)).secrecy.hidden !== 'no',
  );
  return new Set([...given, ...written]);
}

/** Values whose JSON is longer are remembered as a digest: only equality is ever asked of them. */
const LONGEST_PLAIN_VALUE = 80;
