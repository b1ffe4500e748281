import { formatPath, type Path } from '../core/path.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isList, type JsonObject, Ref, type Value } from '../core/value.ts';
import { schemasAlong, valueAt } from '../core/walk.ts';
import { isWritten, type LeafChange } from '../diff/compare.ts';
import { leavesOf } from '../diff/leaves.ts';
import type { Kind, Readiness } from '../kinds/kind.ts';

/** What a change needs the platform to allow. `path` is null where the resource itself needs it. */
export type Requirement =
  | { readonly type: 'feature'; readonly path: string | null; readonly feature: string }
  /** The feature, if the id turns out to be one of that kind. */
  | {
      readonly type: 'feature_of_id';
      readonly path: string;
      readonly feature: string;
      readonly kind: string;
      readonly id: string;
    }
  /** A resource of the stack, which must belong to the same organization. */
  | { readonly type: 'reference'; readonly path: string; readonly address: string }
  | {
      readonly type: 'offer';
      readonly path: string;
      readonly catalogue: string;
      readonly value: string;
    }
  | { readonly type: 'readiness'; readonly path: string; readonly readiness: Readiness };

/** What is written to one resource. */
export type Writing = {
  readonly kind: Kind;
  readonly operations: readonly PlannedOperation[];
  /** What differs. Of a resource that is made, everything does. */
  readonly leaves: readonly LeafChange[];
  readonly document: { readonly [field: string]: Value };
  /** What is live, or nothing. */
  readonly live: JsonObject;
};

/**
 * What a change needs, as the schemas say: only what it switches on or moves to another value. What is on
 * already may stay on, and switching off needs nothing (Revert, rule 2; Features, notes).
 */
export function requirementsOf(writing: Writing): readonly Requirement[] {
  const { kind, operations } = writing;
  const isMade = operations.some(({ step }) => step === 'create');
  const live = isMade ? {} : writing.live;
  const leaves = isMade ? madeLeaves(writing) : writing.leaves.filter(isWritten);
  const lock = kind.schema['x-lock'];
  const isSent = operations.some(({ step }) => step !== 'delete');
  const own: readonly Requirement[] =
    lock === undefined || !isSent ? [] : [{ type: 'feature', path: null, feature: lock }];
  const all = [...own, ...leaves.flatMap((leaf) => leafRequirements(leaf, kind, live))];
  return [...new Map(all.map((requirement) => [keyOf(requirement), requirement])).values()];
}

/** A leaf that comes to have another value, `after`. */
type Moved = Pick<LeafChange, 'path' | 'text' | 'schema' | 'after'>;

function madeLeaves({ kind, document }: Writing): readonly Moved[] {
  const { leaves } = leavesOf(kind.schema, document);
  return [...leaves.values()].map((leaf) => ({ ...leaf, after: leaf.value }));
}

/** Several leaves of one integration need its feature once. */
function keyOf({ type, path }: Requirement): string {
  return `${type} ${path}`;
}

function leafRequirements(leaf: Moved, kind: Kind, live: JsonObject): readonly Requirement[] {
  if (leaf.after === undefined || leaf.after === null) return [];
  const locks = schemasAlong(kind.schema, leaf.path).flatMap((schema, index) =>
    lockRequirements({ schema, path: leaf.path.slice(0, index + 1) }, leaf, kind, live),
  );
  return [...locks, ...valueRequirements(leaf, kind, live)];
}

/** A schema on the way to a leaf, and the path that leads to it. */
type Place = { readonly schema: FieldSchema; readonly path: Path };

function lockRequirements(
  { schema, path }: Place,
  leaf: Moved,
  { schema: root }: Kind,
  live: JsonObject,
): readonly Requirement[] {
  const lock = schema['x-lock'];
  const kind = schema['x-ref'];
  const { after } = leaf;
  if (lock === undefined) return [];
  if (kind !== undefined) {
    return typeof after === 'string'
      ? [{ type: 'feature_of_id', path: leaf.text, feature: lock, kind, id: after }]
      : [{ type: 'feature', path: leaf.text, feature: lock }];
  }
  if (lock.includes('{key}')) {
    const key = leaf.path[path.length];
    if (key === undefined) return [];
    const unit = [...path, key];
    const isThere = (valueAt(root, live, unit) ?? null) !== null;
    return isThere ? [] : [feature(unit, lock.replace('{key}', key))];
  }
  if (lock.includes('{value}')) {
    return typeof after === 'string' ? [feature(path, lock.replace('{value}', after))] : [];
  }
  return switchesOn(valueAt(root, live, path), after) ? [feature(path, lock)] : [];
}

function feature(path: Path, key: string): Requirement {
  return { type: 'feature', path: formatPath(path), feature: key };
}

function valueRequirements(
  { text, after, path, schema }: Moved,
  { schema: root, facets }: Kind,
  live: JsonObject,
): readonly Requirement[] {
  const catalogue = schema['x-one-of'];
  const readiness = facets.find(({ field }) => field === path[0])?.readiness;
  return [
    ...(after instanceof Ref
      ? [{ type: 'reference' as const, path: text, address: after.address }]
      : []),
    ...(catalogue !== undefined && typeof after === 'string'
      ? [{ type: 'offer' as const, path: text, catalogue, value: after }]
      : []),
    ...(schema['x-ready'] && readiness && switchesOn(valueAt(root, live, path), after)
      ? [{ type: 'readiness' as const, path: text, readiness }]
      : []),
  ];
}

/** Whether something goes from off to on. Of a list, every element is something of its own. */
function switchesOn(before: Value | undefined, after: Value | undefined): boolean {
  if (!isList(after)) return isOn(after) && !isOn(before);
  const had = new Set(isList(before) ? before.map(String) : []);
  return after.some((element) => !had.has(String(element)));
}

function isOn(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}
