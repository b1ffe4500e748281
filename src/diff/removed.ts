import { ownOf } from '../core/own.ts';
import { formatPath, isIdentity, type Path, parsePath, startsWith } from '../core/path.ts';
import type { FieldCause } from '../core/plan-document.ts';
import { type FieldSchema, namesField } from '../core/schema.ts';
import { isObject, type JsonObject, type Value } from '../core/value.ts';
import { isConcealed } from '../state/model.ts';
import { schemasAlong, valueAt } from './along.ts';
import { matchesApplied } from './applied.ts';
import { isWritten, type LeafChange, leafChange } from './finding.ts';
import { type Leaves, leafSensitivity, normalise } from './leaves.ts';
import type { Sides, World } from './world.ts';

/** The two sides of a comparison, taken apart. */
export type Compared = {
  readonly root: FieldSchema;
  readonly wanted: Leaves;
  readonly found: Leaves;
  readonly live: JsonObject;
  readonly sides: Sides;
  readonly world: World;
};

/** Elements of owned lists that only the platform has. */
export function surplusElements(compared: Compared): readonly LeafChange[] {
  const { wanted, found } = compared;
  return [...wanted.lists].flatMap(([text, list]) =>
    [...(found.lists.get(text)?.elements ?? [])]
      .filter(([segment]) => !list.elements.has(segment))
      .map(([segment, element]) =>
        elementRemoval([...list.path, segment], element, list.items, compared),
      ),
  );
}

/** An element that goes away: somebody added it, or the configuration no longer has it. */
export function elementRemoval(
  path: Path,
  element: Value,
  schema: FieldSchema,
  { found, sides, world }: Compared,
): LeafChange {
  const inside = [...found.leaves.values()].filter((leaf) => startsWith(leaf.path, path));
  const known = inside.filter((leaf) => ownOf(sides.applied, leaf.text) !== undefined);
  const moved = known.some((leaf) => {
    const last = ownOf(sides.applied, leaf.text);
    const value = normalise(leaf.schema, leaf.value);
    return last && matchesApplied(last, value, sides.address, leaf.text, world) === 'different';
  });
  const byHand = wasOwned(sides, path.slice(0, -1)) ? 'drifted' : 'changed';
  const cause: FieldCause = known.length === 0 ? byHand : moved ? 'conflict' : 'cleared';
  const sensitive = inside.some((leaf) => leafSensitivity(leaf) !== 'open');
  const text = formatPath(path);
  const unreadable = false;
  return { path, text, before: element, after: undefined, cause, sensitive, unreadable, schema };
}

/** Whether a list was owned when it was last written: an empty one is remembered as well. */
function wasOwned({ applied = {} }: Sides, list: Path): boolean {
  const text = formatPath(list);
  return Object.keys(applied).some((leaf) => leaf === text || leaf.startsWith(`${text}[`));
}

/** Leaves that were written once and that the configuration no longer has. */
export function removedLeaves(compared: Compared): readonly LeafChange[] {
  const { wanted, found, sides, world } = compared;
  const removed = new Map<string, LeafChange>();
  for (const [text, last] of Object.entries(sides.applied ?? {})) {
    if (wanted.leaves.has(text)) continue;
    const leaf = found.leaves.get(text);
    if (leaf === undefined) {
      const unseen = unseenLeaf(text, compared);
      if (unseen !== undefined) removed.set(text, unseen);
      continue;
    }
    const value = normalise(leaf.schema, leaf.value);
    if (value === null || isCovered(wanted, leaf.path)) continue;
    const element = orphanedElement(wanted, found, leaf.path);
    if (element !== undefined) {
      const { path, value: whole, items } = element;
      removed.set(formatPath(path), elementRemoval(path, whole, items, compared));
      continue;
    }
    const moved = matchesApplied(last, value, sides.address, text, world) === 'different';
    const clearable = leaf.schema['x-clearable'] !== false;
    const cause: FieldCause = !clearable ? 'released' : moved ? 'conflict' : 'cleared';
    removed.set(text, leafChange(leaf, leaf.value, undefined, cause));
  }
  return [...removed.values()];
}

/**
 * A removed leaf that cannot be seen live, and so cannot be cleared knowingly: a secret, which the
 * platform never returns, or a field of a facet that nothing configures any more, which is not read.
 */
function unseenLeaf(text: string, { root, wanted, live, sides }: Compared): LeafChange | undefined {
  const path = parsePath(text);
  if (path === undefined || isCovered(wanted, path)) return undefined;
  const along = schemasAlong(root, path);
  const [top, ...below] = along;
  const isUnread = top?.['x-facet'] === true && ownOf(live, path[0] ?? '') === undefined;
  const last = ownOf(sides.applied, text);
  const isSecret = last !== undefined && isConcealed(last) && isNeverReturned(along);
  // Newer than the schema, and not returned.
  const isUnechoed = !namesField(root, path[0] ?? '') && !Object.hasOwn(live, path[0] ?? '');
  const isGone = below.length > 0 && !isObject(valueAt(root, live, path.slice(0, -1)));
  if (!isUnread && !isUnechoed && (!isSecret || isGone)) return undefined;
  return {
    path,
    text,
    before: undefined,
    after: undefined,
    cause: isUnechoed ? 'cleared' : 'released',
    sensitive: isSecret,
    unreadable: isSecret || isUnechoed,
    schema: along.at(-1) ?? {},
  };
}

/** Whether what is fingerprinted there is a secret: a sensitive value is returned. */
function isNeverReturned(along: readonly FieldSchema[]): boolean {
  const isSensitive = along.some((schema) => schema['x-sensitive'] === true);
  const isInside = along.some((schema) => schema['x-secrets-inside'] === true);
  return along.some(({ writeOnly }) => writeOnly === true) || (isInside && !isSensitive);
}

/** Whether the configuration sets something at the path, above it or below it, so that it is not gone. */
export function isCovered(wanted: Leaves, path: Path): boolean {
  const inOwnedList = [...wanted.lists.values()].some(
    (list) => startsWith(path, list.path) && !list.elements.has(path[list.path.length] ?? ''),
  );
  return inOwnedList || [...wanted.leaves.values()].some((leaf) => covers(leaf, path));
}

function covers({ path: own, value }: { readonly path: Path; readonly value: Value }, path: Path) {
  // An empty object owns nothing of what lies below it.
  return startsWith(own, path) || (startsWith(path, own) && !isObject(value));
}

/** The element of a keyed list that the path lies in, where the configuration has nothing left of the list. */
export function orphanedElement(
  wanted: Leaves,
  found: Leaves,
  path: Path,
): { readonly path: Path; readonly value: Value; readonly items: FieldSchema } | undefined {
  const at = path.findIndex(
    (segment, index) => isIdentity(segment) && !wanted.lists.has(formatPath(path.slice(0, index))),
  );
  if (at < 0) return undefined;
  const list = found.lists.get(formatPath(path.slice(0, at)));
  const value = list?.elements.get(path[at] ?? '');
  if (list === undefined || value === undefined) return undefined;
  return { path: path.slice(0, at + 1), value, items: list.items };
}

/**
 * The changes with one for each block of which nothing would be left: an object that null takes away as a whole
 * (`x-null-clears`). Null in each member would leave an empty object behind, or one full of nulls. Where something
 * else is live in the block it stays, and only the members go.
 */
export function clearedBlocks(
  changes: readonly LeafChange[],
  { root, wanted, found, live }: Compared,
): readonly LeafChange[] {
  const clears = changes.filter((change) => isWritten(change) && (change.after ?? null) === null);
  const blocks = new Map<string, Path>();
  for (const { path } of clears)
    for (const [at, schema] of schemasAlong(root, path.slice(0, -1)).entries())
      if (schema['x-null-clears'])
        blocks.set(formatPath(path.slice(0, at + 1)), path.slice(0, at + 1));
  return [...blocks].reduce<readonly LeafChange[]>((all, [text, path]) => {
    const inside = clears.filter((change) => startsWith(change.path, path));
    const gone = new Set(inside.map((change) => change.text));
    const isLeft = [...found.leaves.values()].some(
      (leaf) =>
        startsWith(leaf.path, path) &&
        !gone.has(leaf.text) &&
        normalise(leaf.schema, leaf.value) !== null,
    );
    const isWanted = [...wanted.leaves.values()].some(
      (leaf) => startsWith(leaf.path, path) && leaf.value !== null,
    );
    const [first] = inside;
    if (first === undefined || isLeft || isWanted) return all;
    const causes = inside.map(({ cause }) => cause);
    const block: LeafChange = {
      path,
      text,
      before: valueAt(root, live, path),
      after: undefined,
      cause: causes.find((cause) => cause === 'conflict') ?? first.cause,
      sensitive: inside.some(({ sensitive }) => sensitive),
      unreadable: false,
      schema: schemasAlong(root, path).at(-1) ?? {},
    };
    return [...all.filter((change) => !inside.includes(change)), block];
  }, changes);
}
