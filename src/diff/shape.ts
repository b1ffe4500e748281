/**
 * Shapes: a member that is one value on one side and an object on the other, as `calling_windows: [..]` and
 * `calling_windows: { mon: .. }`. No leaf of the one side has a path of the other then, so that a comparison leaf by
 * leaf would show what comes and not what goes. It is one change of the shorter path, with all that either side has
 * there:
 *
 * | wanted            | live              | the change                               |
 * |-------------------|-------------------|------------------------------------------|
 * | `a: [x]`          | `a: { b: 1 }`     | `a` from `{ b: 1 }` to `[x]`             |
 * | `a: { b: 1 }`     | `a: [x]`          | `a` from `[x]` to `{ b: 1 }`             |
 *
 * An empty object owns nothing of what is below it, and null is compared as such, so neither displaces an object. A field
 * that the platform does not return is taken to be as it was last written.
 */
import {
  extendPath,
  formatPath,
  isWithin,
  overlaps,
  type Path,
  startsWith,
  toPath,
} from '../core/path.ts';
import type { FieldCause } from '../core/plan-document.ts';
import { contextAt } from '../core/redact.ts';
import { type FieldSchema, isEchoed } from '../core/schema.ts';
import {
  getOwn,
  isObject,
  type Json,
  type JsonObject,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { placeValue, schemasAlong, valueAt } from '../core/walk.ts';
import { type AppliedLeaf, isConcealed } from '../state/model.ts';
import { compareApplied, hasOtherSource, isNeverReturned, matchesLive } from './applied.ts';
import {
  isEmptyLeaf,
  type Leaf,
  type Leaves,
  normalise,
  type Sides,
  type World,
} from './leaves.ts';

/** Both sides of a comparison, as documents and taken apart. */
type Compared = {
  readonly root: FieldSchema;
  readonly desired: ValueObject;
  readonly live: JsonObject;
  readonly wanted: Leaves;
  readonly found: Leaves;
  readonly sides: Sides;
  readonly world: World;
};

/** A path where one side has a value and the other an object. */
export type Shape = {
  /** The value of the side that has one. */
  readonly leaf: Leaf;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly cause: FieldCause;
  /** Leaves of the wanted object that the platform never returns. None of them can be live. */
  readonly hidden: readonly Leaf[];
};

/** Finds every shape that differs. No path of one lies in another. */
export function findShapes(compared: Compared): readonly Shape[] {
  const { wanted, found, sides } = compared;
  const shapes = new Map<string, Leaf>();
  for (const leaf of wanted.leaves.values()) {
    // Nearly all leaves are on both sides.
    if (found.leaves.has(leaf.text) || isWithin(leaf.path, sides.ignore)) continue;
    const shape =
      displacedAbove(leaf, compared) ?? (displacesBelow(leaf, compared) ? leaf : undefined);
    if (shape !== undefined) shapes.set(shape.text, shape);
  }
  return [...shapes.values()].flatMap((leaf) => {
    const inside = [...wanted.leaves.values()].filter(({ path }) => startsWith(path, leaf.path));
    // A rollback takes away members alone, whatever stands in the place of their object by now.
    const isPart = sides.isPartial && sides.isExact !== true;
    const isGone = ({ path, value }: Leaf) => value === null && path.length > leaf.path.length;
    return isPart && inside.every(isGone) ? [] : [shapeAt(leaf, inside, compared)];
  });
}

/** The value that is live where a path has an object around what it leads to. */
export function displacedBy({ leaves }: Leaves, path: Path): Leaf | undefined {
  let text = '';
  for (const segment of path.slice(0, -1)) {
    text = extendPath(text, segment);
    const leaf = leaves.get(text);
    if (leaf !== undefined) return isEmptyLeaf(leaf) ? undefined : leaf;
  }
  return undefined;
}

/** The same or, of what is never returned, what was last written there. */
function displacedAbove({ path }: Leaf, compared: Compared): Leaf | undefined {
  const { found, sides, live, root } = compared;
  const displaced = displacedBy(found, path);
  if (displaced !== undefined || sides.applied === undefined) return displaced;
  let text = '';
  for (const [at, segment] of path.slice(0, -1).entries()) {
    text = extendPath(text, segment);
    const last = getOwn(sides.applied, text);
    if (last === undefined || isNull(last) || isUnknownContent(root, path, last, live)) continue;
    const above = path.slice(0, at + 1);
    const isNone = (valueAt(root, live, above) ?? null) === null;
    if (isNone && isUnreturned(above, last, compared)) return appliedLeaf(root, above, last);
  }
  return undefined;
}

/** Tells whether an object stands where a leaf is wanted. */
function displacesBelow({ path, value }: Leaf, compared: Compared): boolean {
  const { found, sides, live, root } = compared;
  if (isObject(value)) return false;
  const isBelow = (other: Path) => other.length > path.length && startsWith(other, path);
  if (isEchoed(root, path[0] ?? '', live)) {
    return (
      value !== null &&
      isObject(valueAt(root, live, path)) &&
      [...found.leaves.values()].some((other) => isBelow(other.path) && !isEmptyLeaf(other))
    );
  }
  return Object.entries(sides.applied ?? {}).some(
    ([text, last]) => !isNull(last) && isBelow(toPath(text)),
  );
}

function isNull(last: AppliedLeaf): boolean {
  return 'value' in last && last.value === null;
}

/** Tells whether the value of a field that is not returned is unknown since it was adopted. */
function isUnknownContent(
  root: FieldSchema,
  [field = '']: Path,
  last: AppliedLeaf,
  live: JsonObject,
) {
  return 'unknown' in last && !isEchoed(root, field, live);
}

/** A leaf of which no more is known than what was last written. */
function appliedLeaf(root: FieldSchema, path: Path, last: AppliedLeaf): Leaf {
  return buildLeaf(root, path, 'value' in last ? last.value : null, isConcealed(last));
}

/** The leaf that a value would be at a path, where a document has none. */
export function buildLeaf(root: FieldSchema, path: Path, value: Value, unreadable = false): Leaf {
  const { node, secrecy } = contextAt(root, path);
  const text = formatPath(path);
  return { path, text, value, schema: node.schema, node, facts: { secrecy, unreadable } };
}

function shapeAt(leaf: Leaf, inside: readonly Leaf[], compared: Compared): Shape {
  const { root, desired, live, sides } = compared;
  const { path } = leaf;
  const ignored = sides.ignore.filter((one) => startsWith(one, path));
  const given = ignored.reduce<ValueObject>(
    (document, one) => placeValue<Value>(root, document, one, undefined),
    desired,
  );
  return {
    leaf,
    before: isEchoed(root, path[0] ?? '', live)
      ? valueAt(root, live, path)
      : lastWritten(root, path, sides),
    after: valueAt<Value>(root, given, path),
    cause: findCause(path, inside, compared),
    hidden: inside.filter(
      (one) => one.facts.unreadable && one.value !== null && one.path.length > path.length,
    ),
  };
}

/** Gives the value that was last written at a path and below it; undefined where the state has digests alone. */
export function lastWritten(
  root: FieldSchema,
  path: Path,
  { applied = {} }: Pick<Sides, 'applied'>,
): Json | undefined {
  const inside = Object.entries(applied).flatMap(([text, last]) => {
    const at = toPath(text);
    return startsWith(at, path) ? [{ at, last }] : [];
  });
  const known = inside.flatMap(({ at, last }) =>
    'value' in last ? [{ at, value: last.value }] : [],
  );
  if (known.length === 0 || known.length < inside.length) return undefined;
  const whole = known.reduce<JsonObject>(
    (document, { at, value }) => placeValue(root, document, at, value, { adds: true }),
    {},
  );
  return valueAt<Json>(root, whole, path);
}

/** The table of `compare`, asked of all that either side has at the path and that was last written there. */
function findCause(path: Path, inside: readonly Leaf[], compared: Compared): FieldCause {
  const { found, sides, world, live, root } = compared;
  const { address } = sides;
  const written = Object.entries(sides.applied ?? {}).filter(([text]) =>
    overlaps(toPath(text), path),
  );
  if (written.length === 0) return 'changed';
  const last = new Map(written);
  if (!isEchoed(root, path[0] ?? '', live)) return 'changed';
  const standing = [...found.leaves.values()].filter(
    (one) => startsWith(one.path, path) && !isEmptyLeaf(one),
  );
  const isLive = standing.every((one) => {
    const own = last.get(one.text);
    const value = normalise(one.schema, one.value);
    return own && matchesLive(own, value, address, one.text, world) !== 'different';
  });
  const texts = new Set(standing.map(({ text }) => text));
  const isAllLive = written.every(
    ([text, own]) =>
      isNull(own) ||
      texts.has(text) ||
      isUnreturned(toPath(text), own, compared) ||
      matchesLive(own, null, address, text, world) === 'equal',
  );
  if (isLive && isAllLive) return 'changed';
  const isWanted = inside.every((one) => {
    const own = last.get(one.text);
    if (hasOtherSource(one, own)) return false;
    const verdict = compareApplied(one, own, address, world);
    if (verdict === 'new') return isEmptyLeaf(one);
    return verdict !== 'different' && verdict !== 'unborn';
  });
  const wants = new Set(inside.map(({ text }) => text));
  const isAllWanted = written.every(([text, own]) => isNull(own) || wants.has(text));
  return isWanted && isAllWanted ? 'drifted' : 'conflict';
}

/** Tells whether no answer of the platform has the value that was written there. */
function isUnreturned(path: Path, last: AppliedLeaf, { root, live }: Compared): boolean {
  if (!isEchoed(root, path[0] ?? '', live)) return true;
  return isConcealed(last) && isNeverReturned(schemasAlong(root, path));
}
