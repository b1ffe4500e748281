import deepDiff from 'deep-diff';
import { formatPath, isIdentity, type Path, startsWith } from '../core/path.ts';
import type { FieldCause } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { Blob, type Json, type JsonObject, type Value, type ValueObject } from '../core/value.ts';
import { matchesApplied } from './applied.ts';
import { type Leaf, type Leaves, leavesOf, normalise } from './leaves.ts';
import { resolveLeaf, Unknown } from './resolve.ts';
import type { Sides, World } from './world.ts';

/**
 * One leaf that plan has something to say about. `before` is live, `after` is desired, both unmasked:
 * they never leave this process. `after` is undefined where the leaf goes away.
 */
export type LeafChange = {
  readonly path: Path;
  readonly text: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly cause: FieldCause;
  readonly sensitive: boolean;
  readonly schema: FieldSchema;
};

/** Causes that write nothing; the plan mentions them. */
const SILENT: ReadonlySet<FieldCause> = new Set(['released', 'unknown_secret', 'unknown_content']);

/** Whether a change is one that apply writes. */
export function isWritten(change: LeafChange): boolean {
  return !SILENT.has(change.cause);
}

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
  const ignored = (path: Path) => sides.ignore.some((prefix) => startsWith(path, prefix));
  const changes = [
    ...compareReadable(wanted, found, sides, world),
    ...compareUnreadable(wanted, sides, world),
    ...surplusElements(wanted, found, sides, world),
    ...(sides.isPartial ? [] : removedLeaves(wanted, found, sides, world)),
  ];
  return changes.filter(({ path }) => !ignored(path));
}

/** Leaves that the platform returns: `deep-diff` over both sides, keyed by path. */
function compareReadable(
  wanted: Leaves,
  found: Leaves,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  const left: Record<string, Json> = {};
  const right: Record<string, Json> = {};
  for (const leaf of wanted.leaves.values()) {
    if (leaf.facts.unreadable || !isTold(leaf, found)) continue;
    const value = resolveLeaf(leaf, world);
    right[leaf.text] = value instanceof Unknown ? UNBORN : normalise(leaf.schema, value);
    left[leaf.text] = liveValue(leaf, found);
  }
  const differing = new Set(
    (deepDiff.diff(left, right) ?? []).map(({ path }) => String(path?.[0])),
  );
  return [...differing].flatMap((text) => {
    const leaf = wanted.leaves.get(text);
    if (leaf === undefined) return [];
    const cause = causeOf(leaf.text, left[text] ?? null, right[text] ?? null, sides, world);
    return [change(leaf, found.leaves.get(text)?.value, leaf.value, cause)];
  });
}

/** Whether the platform tells the field's value now: some are only told while another is true. */
function isTold(leaf: Leaf, found: Leaves): boolean {
  const condition = leaf.schema['x-told-while'];
  return condition === undefined || found.leaves.get(condition)?.value === true;
}

/** Stands for an id that nothing can equal yet. */
const UNBORN = { unborn: true };
/** Stands for whatever lies below a field that the configuration wants empty. */
const PRESENT = { present: true };

function liveValue(leaf: Leaf, found: Leaves): Json {
  const value = normalise(leaf.schema, found.leaves.get(leaf.text)?.value);
  if (value !== null || leaf.value !== null) return value;
  const below = [...found.leaves.values()].some(
    (other) => startsWith(other.path, leaf.path) && normalise(other.schema, other.value) !== null,
  );
  return below ? PRESENT : null;
}

function causeOf(
  path: string,
  live: Json,
  desired: Json,
  { address, applied }: Sides,
  world: World,
): FieldCause {
  const last = applied?.[path];
  if (last === undefined) return 'changed';
  if (matchesApplied(last, live, address, path, world) !== 'different') return 'changed';
  return matchesApplied(last, desired, address, path, world) === 'equal' ? 'drifted' : 'conflict';
}

/** Leaves that the platform never returns: what was last written is all there is to compare with. */
function compareUnreadable(wanted: Leaves, sides: Sides, world: World): readonly LeafChange[] {
  return [...wanted.leaves.values()].flatMap((leaf) => {
    if (!leaf.facts.unreadable || leaf.value === null) return [];
    const cause = unreadableCause(leaf, sides, world);
    return cause === undefined ? [] : [change(leaf, undefined, leaf.value, cause)];
  });
}

function unreadableCause(leaf: Leaf, sides: Sides, world: World): FieldCause | undefined {
  const isFile = leaf.value instanceof Blob;
  const last = sides.applied?.[leaf.text];
  const value = resolveLeaf(leaf, world);
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

/** Elements of owned lists that only the platform has. */
function surplusElements(
  wanted: Leaves,
  found: Leaves,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  return [...wanted.lists].flatMap(([text, list]) =>
    [...(found.lists.get(text)?.elements ?? [])]
      .filter(([segment]) => !list.elements.has(segment))
      .map(([segment, element]) =>
        elementRemoval([...list.path, segment], element, list.items, found, sides, world),
      ),
  );
}

/** An element that goes away: somebody added it, or the configuration no longer has it. */
function elementRemoval(
  path: Path,
  element: Value,
  schema: FieldSchema,
  found: Leaves,
  sides: Sides,
  world: World,
): LeafChange {
  const inside = [...found.leaves.values()].filter((leaf) => startsWith(leaf.path, path));
  const known = inside.filter((leaf) => sides.applied?.[leaf.text] !== undefined);
  const moved = known.some((leaf) => {
    const last = sides.applied?.[leaf.text];
    const value = normalise(leaf.schema, leaf.value);
    return last && matchesApplied(last, value, sides.address, leaf.text, world) === 'different';
  });
  const byHand = sides.applied === undefined ? 'changed' : 'drifted';
  const cause: FieldCause = known.length === 0 ? byHand : moved ? 'conflict' : 'cleared';
  const sensitive = inside.some((leaf) => leaf.facts.sensitive);
  return {
    path,
    text: formatPath(path),
    before: element,
    after: undefined,
    cause,
    sensitive,
    schema,
  };
}

/** Leaves that were written once and that the configuration no longer has. */
function removedLeaves(
  wanted: Leaves,
  found: Leaves,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  const removed = new Map<string, LeafChange>();
  for (const text of Object.keys(sides.applied ?? {})) {
    const last = sides.applied?.[text];
    const leaf = found.leaves.get(text);
    if (last === undefined || wanted.leaves.has(text) || leaf === undefined) continue;
    if (normalise(leaf.schema, leaf.value) === null || coveredBy(wanted, leaf.path)) continue;
    const element = orphanedElement(wanted, found, leaf.path);
    if (element !== undefined) {
      const key = formatPath(element.path);
      const { path, value, items } = element;
      removed.set(key, elementRemoval(path, value, items, found, sides, world));
      continue;
    }
    const value = normalise(leaf.schema, leaf.value);
    const moved = matchesApplied(last, value, sides.address, text, world) === 'different';
    const clearable = leaf.schema['x-clearable'] !== false;
    const cause: FieldCause = !clearable ? 'released' : moved ? 'conflict' : 'cleared';
    removed.set(text, change(leaf, leaf.value, undefined, cause));
  }
  return [...removed.values()];
}

/** Whether the configuration sets something at the path, above it or below it, so that it is not gone. */
function coveredBy(wanted: Leaves, path: Path): boolean {
  const inOwnedList = [...wanted.lists.values()].some(
    (list) => startsWith(path, list.path) && !list.elements.has(path[list.path.length] ?? ''),
  );
  if (inOwnedList) return true;
  for (let length = path.length - 1; length > 0; length -= 1) {
    if (wanted.leaves.has(formatPath(path.slice(0, length)))) return true;
  }
  return false;
}

/** The element of a keyed list that the path lies in, where the configuration has nothing left of the list. */
function orphanedElement(
  wanted: Leaves,
  found: Leaves,
  path: Path,
): { readonly path: Path; readonly value: Value; readonly items: FieldSchema } | undefined {
  const at = path.findIndex(isIdentity);
  if (at < 0 || wanted.lists.has(formatPath(path.slice(0, at)))) return undefined;
  const list = found.lists.get(formatPath(path.slice(0, at)));
  const value = list?.elements.get(path[at] ?? '');
  if (list === undefined || value === undefined) return undefined;
  return { path: path.slice(0, at + 1), value, items: list.items };
}

function change(
  leaf: Leaf,
  before: Value | undefined,
  after: Value | undefined,
  cause: FieldCause,
): LeafChange {
  const sensitive = leaf.facts.sensitive || leaf.facts.unreadable;
  return { path: leaf.path, text: leaf.text, before, after, cause, sensitive, schema: leaf.schema };
}
