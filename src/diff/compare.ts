import deepDiff from 'deep-diff';
import { ownOf } from '../core/own.ts';
import { type Path, parsePath, startsWith } from '../core/path.ts';
import type { FieldCause } from '../core/plan-document.ts';
import { type FieldSchema, namesField } from '../core/schema.ts';
import {
  Blob,
  isObject,
  type Json,
  type JsonObject,
  Secret,
  type ValueObject,
} from '../core/value.ts';
import { isConcealed } from '../state/model.ts';
import { valueAt } from './along.ts';
import { matchesApplied } from './applied.ts';
import { type LeafChange, leafChange } from './finding.ts';
import { type Leaf, leavesOf, normalise } from './leaves.ts';
import { type Compared, clearedBlocks, removedLeaves, surplusElements } from './removed.ts';
import { resolveLeaf, Unknown } from './resolve.ts';
import { surplusLeaves } from './surplus.ts';
import type { Sides, World } from './world.ts';

export { isWritten, type LeafChange } from './finding.ts';

/**
 * Compares three ways, leaf by owned leaf (DESIGN §4.5):
 *
 * | applied | desired   | live | cause                                         |
 * |---------|-----------|------|-----------------------------------------------|
 * | a       | a         | a    | –                                             |
 * | a       | b         | a    | `changed`                                     |
 * | a       | a         | c    | `drifted`                                     |
 * | a       | b         | c    | `conflict`                                    |
 * | a       | b         | b    | –                                             |
 * | a       | *removed* | a    | `cleared`, or `released` where null is refused |
 * | –       | *not owned* | any | –                                            |
 *
 * A list that the configuration declares is owned as a whole: an element that only the platform has is
 * a change too. Inside an element, as in any object, only the members that are given are owned.
 */
export function compare(
  root: FieldSchema,
  desired: ValueObject,
  live: JsonObject,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  const wanted = leavesOf(root, desired);
  const found = leavesOf(root, live);
  const compared: Compared = { root, wanted, found, live, sides, world };
  const ignored = (path: Path) => sides.ignore.some((prefix) => startsWith(path, prefix));
  const changes = [
    ...compareReadable(compared),
    ...compareUnreadable(compared),
    ...compareUnechoed(compared),
    ...compareUntold(compared),
    ...surplusElements(compared),
    ...(sides.isPartial ? [] : removedLeaves(compared)),
    ...(sides.isExact === true ? surplusLeaves(compared) : []),
  ];
  return clearedBlocks(
    changes.filter(({ path }) => !ignored(path)),
    compared,
  );
}

/** Leaves that the platform returns: `deep-diff` over both sides, keyed by path. */
function compareReadable(compared: Compared): readonly LeafChange[] {
  const { root, wanted, world } = compared;
  const left: Record<string, Json> = {};
  const right: Record<string, Json> = {};
  const unread: LeafChange[] = [];
  for (const leaf of wanted.leaves.values()) {
    if (leaf.facts.unreadable || !isTold(leaf, compared) || isUnechoed(leaf, compared)) continue;
    const value = resolveLeaf(leaf, world);
    if (value === undefined) {
      const live = valueAt(root, compared.live, leaf.path);
      unread.push(leafChange(leaf, live, leaf.value, unreadCause(leaf, compared)));
      continue;
    }
    const wished = value instanceof Unknown ? UNBORN : normalise(leaf.schema, value);
    const live = liveValue(leaf, compared);
    // Nearly all are texts and numbers that are the same.
    if (wished === live) continue;
    right[leaf.text] = wished;
    left[leaf.text] = live;
  }
  const differing = new Set(
    (deepDiff.diff(left, right) ?? []).map(({ path }) => String(path?.[0])),
  );
  const changes = [...differing].flatMap((text) => {
    const leaf = wanted.leaves.get(text);
    if (leaf === undefined) return [];
    const cause = causeOf(leaf, ownOf(left, text) ?? null, ownOf(right, text) ?? null, compared);
    const found = leafChange(leaf, valueAt(root, compared.live, leaf.path), leaf.value, cause);
    return [cause === 'conflict' ? { ...found, ...baseOf(leaf, compared) } : found];
  });
  return [...changes, ...unread];
}

/** Of a secret that is not at hand: what is live can still be held against what was written last. */
function unreadCause(leaf: Leaf, compared: Compared): FieldCause {
  const { sides, world } = compared;
  const last = ownOf(sides.applied, leaf.text);
  const live = liveValue(leaf, compared);
  // The state would know of one that was configured when it was written.
  if (last === undefined)
    return sides.applied === undefined && live !== null ? 'unknown_secret' : 'changed';
  const verdict = matchesApplied(last, live, sides.address, leaf.text, world);
  return verdict === 'different' || live === null ? 'drifted' : 'unknown_secret';
}

/** Whether the platform tells the field's value now: some are only told while another is true. */
function isTold(leaf: Leaf, { found }: Compared): boolean {
  const condition = leaf.schema['x-told-while'];
  return condition === undefined || found.leaves.get(condition)?.value === true;
}

/**
 * Leaves that the platform tells only while another is true, where that one is switched on: they are written with
 * it, whatever is told now, which are defaults.
 */
function compareUntold(compared: Compared): readonly LeafChange[] {
  const { wanted, found } = compared;
  return [...wanted.leaves.values()].flatMap((leaf) => {
    const condition = wanted.leaves.get(leaf.schema['x-told-while'] ?? '');
    if (condition?.value !== true || leaf.value === null || isTold(leaf, compared)) return [];
    const live = normalise(condition.schema, found.leaves.get(condition.text)?.value);
    return [leafChange(leaf, undefined, leaf.value, causeOf(condition, live, true, compared))];
  });
}

/** Stands for an id that nothing can equal yet. */
const UNBORN = { unborn: true };
/** Stands for whatever lies below a field that the configuration wants empty. */
const PRESENT = { present: true };

function liveValue(leaf: Leaf, { found }: Compared): Json {
  const value = normalise(leaf.schema, found.leaves.get(leaf.text)?.value);
  if (value !== null || leaf.value !== null) return value;
  const below = [...found.leaves.values()].some(
    (other) => startsWith(other.path, leaf.path) && normalise(other.schema, other.value) !== null,
  );
  return below ? PRESENT : null;
}

function causeOf(leaf: Leaf, live: Json, desired: Json, compared: Compared): FieldCause {
  const { sides, world } = compared;
  const { address, applied } = sides;
  const last = ownOf(applied, leaf.text);
  if (last === undefined) return hasMovedBelow(leaf, compared) ? 'conflict' : 'changed';
  if (matchesApplied(last, live, address, leaf.text, world) !== 'different') return 'changed';
  return matchesApplied(last, desired, address, leaf.text, world) === 'equal'
    ? 'drifted'
    : 'conflict';
}

/** What both sides came from. */
function baseOf(leaf: Leaf, { sides }: Compared): Pick<LeafChange, 'base'> {
  const last = ownOf(sides.applied, leaf.text);
  return last !== undefined && 'value' in last ? { base: last.value } : {};
}

/** Whether null is to take the place of an object that was written, and that somebody edited since. */
function hasMovedBelow(leaf: Leaf, { found, sides, world }: Compared): boolean {
  if (leaf.value !== null) return false;
  return Object.entries(sides.applied ?? {}).some(([text, last]) => {
    const path = parsePath(text);
    const other = found.leaves.get(text);
    // A secret is never found, so that nothing can be said of it.
    const isUnseen = other === undefined && isConcealed(last);
    if (path === undefined || isUnseen || !startsWith(path, leaf.path)) return false;
    const value = other === undefined ? null : normalise(other.schema, other.value);
    return matchesApplied(last, value, sides.address, text, world) === 'different';
  });
}

/** Leaves that the platform never returns: what was last written is all there is to compare with. */
function compareUnreadable(compared: Compared): readonly LeafChange[] {
  const { wanted, sides, world } = compared;
  return [...wanted.leaves.values()].flatMap((leaf) => {
    if (!leaf.facts.unreadable || leaf.value === null) return [];
    const cause = wasLost(leaf, compared)
      ? lostCause(leaf, sides)
      : unreadableCause(leaf, sides, world);
    return cause === undefined ? [] : [leafChange(leaf, undefined, leaf.value, cause)];
  });
}

/** Whether a field is newer than the schema and the platform, as far as is known, does not return it. */
function isUnechoed({ path: [field = ''] }: Leaf, { root, live }: Compared): boolean {
  return !namesField(root, field) && !Object.hasOwn(live, field);
}

/** Leaves of such fields: what was last written is all there is to compare with, and nobody sees whether it took. */
function compareUnechoed(compared: Compared): readonly LeafChange[] {
  const { wanted, sides, world } = compared;
  return [...wanted.leaves.values()].flatMap((leaf) => {
    if (leaf.facts.unreadable || !isUnechoed(leaf, compared)) return [];
    if (leaf.value instanceof Secret) {
      const found = unreadableCause(leaf, sides, world);
      if (found === undefined) return [];
      return [{ ...leafChange(leaf, undefined, leaf.value, found), unreadable: true }];
    }
    const last = ownOf(sides.applied, leaf.text);
    const resolved = resolveLeaf(leaf, world);
    const value = resolved instanceof Unknown ? UNBORN : normalise(leaf.schema, resolved);
    const isNew = sides.applied !== undefined && last === undefined;
    const verdict =
      last === undefined ? 'unknown' : matchesApplied(last, value, sides.address, leaf.text, world);
    if (verdict === 'equal' || (isNew && value === null)) return [];
    const cause: FieldCause = isNew || verdict === 'different' ? 'changed' : 'unknown_content';
    const before = last !== undefined && 'value' in last ? last.value : undefined;
    return [{ ...leafChange(leaf, before, leaf.value, cause), unreadable: true }];
  });
}

/**
 * Whether the platform cannot have the secret, because it has nothing of the object that holds it. Only
 * said where that object has something else that would be returned.
 */
function wasLost({ path, value }: Leaf, { root, wanted, live }: Compared): boolean {
  const above = path.slice(0, -1);
  if (value instanceof Blob || isObject(valueAt(root, live, above))) return false;
  return [...wanted.leaves.values()].some(
    (other) => !other.facts.unreadable && other.value !== null && startsWith(other.path, above),
  );
}

function lostCause({ text }: Leaf, { applied }: Sides): FieldCause {
  return ownOf(applied, text) === undefined ? 'changed' : 'drifted';
}

function unreadableCause(leaf: Leaf, sides: Sides, world: World): FieldCause | undefined {
  const isFile = leaf.value instanceof Blob;
  const last = ownOf(sides.applied, leaf.text);
  const value = resolveLeaf(leaf, world);
  // The state would know of one that was configured when it was written.
  const isNew = sides.applied !== undefined && last === undefined;
  if (isNew && !isFile && !sides.resend) return 'changed';
  const verdict =
    last === undefined || value === undefined || value instanceof Unknown
      ? 'unknown'
      : isFile
        ? 'digest' in last && last.digest === value
          ? 'equal'
          : 'different'
        : matchesApplied(last, normalise(leaf.schema, value), sides.address, leaf.text, world);
  if (verdict === 'different') return isFile ? 'changed' : 'secret_changed';
  if (sides.resend && !isFile) return 'secret_resent';
  if (verdict === 'equal') return undefined;
  return isFile ? 'unknown_content' : 'unknown_secret';
}
