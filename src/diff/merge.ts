import { elementSegments, formatPath, isWithin, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import {
  getOwn,
  isList,
  isNothing,
  isObject,
  type Json,
  type JsonObject,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { fieldWrittenAs } from '../core/walk.ts';
import { fieldSchema, type Leaf, listLeaves, resolveLeaf, Unknown, type World } from './leaves.ts';

/** The effects of a write beside setting the desired values. Paths are in text form. */
type WriteIntent = {
  /** Secrets to send; every other one is left out, so that the stored one stays (Secrets rules). */
  readonly secrets: ReadonlySet<string>;
  /** Leaves and list elements that go away. */
  readonly cleared: ReadonlySet<string>;
  readonly ignore: readonly Path[];
  /** Leaves that are set: what follows one of them (`x-follows`) is not sent as it was read. */
  readonly written?: ReadonlySet<string>;
};

/**
 * Lays the desired document over the live one, still under the platform's read names.
 *
 * Nested objects come out whole, so the outcome is the same whether the platform merges what it is sent or replaces it;
 * what goes away is null in them. A list, and an object whose keys are data such as `rules`, is always replaced: what
 * goes away is left out of it. Throws if an id is still unknown: the order of a plan's changes rules that out.
 */
export function mergeDocuments(
  root: FieldSchema,
  desired: ValueObject,
  live: JsonObject,
  intent: WriteIntent,
  world: World,
): JsonObject {
  const { leaves } = listLeaves(root, desired);
  const ignored = (path: Path) => isWithin(path, intent.ignore);

  /** `isReplaced`: what the place lies in is sent whole, so that leaving it out removes it. */
  function merge(
    schema: FieldSchema,
    wanted: Value | undefined,
    found: Json | undefined,
    path: Path,
    isReplaced: boolean,
  ): Json | undefined {
    const text = formatPath(path);
    const nothing = isReplaced ? undefined : null;
    if (intent.cleared.has(text)) return nothing;
    const leaf = leaves.get(text);
    // A null that is no change is not sent: it could wipe what the platform does not return.
    const isKept = wanted === undefined || wanted === null || ignored(path);
    if (isKept && intent.written?.has(schema['x-follows'] ?? '') === true) return undefined;
    if (isKept && !isClearedBelow(intent, text)) return found;
    // An empty object is a leaf, yet it owns nothing of what is live below it.
    const isOpen = isObject(wanted) && !schema['x-whole'];
    if (leaf !== undefined && !isKept && !isOpen) {
      // Null would wipe it: it is written like any other value, or not at all. One that no schema names may be returned.
      if (leaf.facts.unreadable && !intent.secrets.has(text))
        return leaf.node.writeOnly ? undefined : found;
      return leafValue(leaf, found);
    }
    const identity = schema['x-identity'];
    if (identity !== undefined && (isList(wanted) || isList(found))) {
      return mergeLists(schema, identity, isKept ? undefined : wanted, found, path);
    }
    if (isObject(wanted) || (isObject(found) && !schema['x-whole'])) {
      return mergeObjects(schema, isKept ? undefined : wanted, found, path, isReplaced);
    }
    return found;
  }

  function leafValue(leaf: Leaf, found: Json | undefined): Json | undefined {
    const value = resolveLeaf(leaf, world);
    if (value instanceof Unknown) throw new Error(`${value.address} has no id yet`);
    // A secret that was not read and that the platform returns in clear stays as it is.
    if (value === undefined) return found;
    // A leaf that is resolved holds no special values: those are scalars, and were just looked up.
    return value as Json;
  }

  function mergeObjects(
    schema: FieldSchema,
    wanted: Value | undefined,
    found: Json | undefined,
    path: Path,
    isReplaced: boolean,
  ): JsonObject {
    const left = isObject(found) ? found : {};
    const right: ValueObject = isObject(wanted) ? wanted : {};
    const isInside = isReplaced || typeof schema.additionalProperties === 'object';
    const merged: [string, Json][] = [];
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const member = memberSchema(root, schema, key);
      const at = [...path, key];
      const [own, before] = [getOwn(right, key), getOwn(left, key)];
      const value = merge(member, own, before, at, isInside);
      const isEmptied = isInside && own === undefined && isEmpty(value) && !isEmpty(before);
      // Nulls alone make no object where none is.
      const isUnmade = before === undefined && isEmpty(value) && !isEmpty(own) && isNothing(own);
      const isUnchanged = value === null && !intent.cleared.has(formatPath(at));
      if (value !== undefined && !isEmptied && !isUnmade && !isUnchanged) merged.push([key, value]);
    }
    return Object.fromEntries(merged);
  }

  function mergeLists(
    schema: FieldSchema,
    identity: string,
    wanted: Value | undefined,
    found: Json | undefined,
    path: Path,
  ): readonly Json[] {
    const items = itemSchema(root, schema);
    const left = indexElements(identity, isList(found) ? found : []);
    const right = isList(wanted) ? indexElements<Value>(identity, wanted) : undefined;
    const segments = [...(right?.keys() ?? []), ...left.keys()].filter((segment, index, all) => {
      const isFirst = all.indexOf(segment) === index;
      const isOwned = right === undefined || right.has(segment) || ignored([...path, segment]);
      return isFirst && isOwned && !intent.cleared.has(formatPath([...path, segment]));
    });
    return segments.flatMap((segment) => {
      const at = [...path, segment];
      // An element that is left alone and absent is not made, nor is one that has no name to be given.
      const isLeft = ignored(at) || ignored([...at, identity]);
      if (isLeft && !left.has(segment)) return [];
      return [merge(items, right?.get(segment), left.get(segment), at, true) ?? null];
    });
  }

  return mergeObjects(root, desired, live, [], false);
}

function isClearedBelow({ cleared }: WriteIntent, text: string): boolean {
  return [...cleared].some((one) => one.startsWith(`${text}.`) || one.startsWith(`${text}[`));
}

function isEmpty(value: Value | undefined): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function indexElements<V extends Value>(identity: string, list: readonly V[]): Map<string, V> {
  const segments = elementSegments(identity, list);
  return new Map(list.map((element, index) => [segments[index] ?? '', element]));
}

/**
 * The part of a document that holds the given top-level fields, as a request body: under the names that
 * the platform is written with, without what it owns and what it never sees, and without files, which go
 * as bytes. A field that must be written together with another brings it along.
 */
export function requestBody(
  root: FieldSchema,
  document: JsonObject,
  fields: Iterable<string>,
): JsonObject {
  const names = new Set<string>();
  for (const field of fields) {
    names.add(field);
    for (const other of fieldSchema(root, field)['x-write-with'] ?? []) names.add(other);
  }
  const chosen = Object.fromEntries(Object.entries(document).filter(([name]) => names.has(name)));
  return renameMembers(root, root, chosen, writeName);
}

/** A facet's value as the body of its own endpoint. */
export function facetBody(root: FieldSchema, facet: string, value: JsonObject): JsonObject {
  return renameMembers(root, fieldSchema(root, facet), value, writeName);
}

/**
 * Returns a request body under the names that the platform is read with: the way back from `requestBody`. Members of no
 * field keep their name.
 */
export function documentInBody(root: FieldSchema, body: JsonObject): JsonObject {
  return renameMembers(root, root, body, readName);
}

/** The same for the body of a facet's endpoint. */
export function facetInBody(root: FieldSchema, facet: string, body: JsonObject): JsonObject {
  return { [facet]: renameMembers(root, fieldSchema(root, facet), body, readName) };
}

/** A member of an object under another name, and its schema; undefined leaves it out. */
type Rename = (
  root: FieldSchema,
  object: FieldSchema,
  name: string,
) => { readonly name: string; readonly schema: FieldSchema } | undefined;

const writeName: Rename = (root, object, key) => {
  const schema = memberSchema(root, object, key);
  const isText = !schema['x-local'] && schema['x-file'] === undefined;
  const isOurs = isText && (!schema.readOnly || schema['x-echo-back'] === true);
  return isOurs ? { name: schema['x-write'] ?? key, schema } : undefined;
};

const readName: Rename = (root, object, written) => {
  const name = fieldWrittenAs(root, object, written);
  return { name, schema: memberSchema(root, object, name) };
};

function renameMembers(
  root: FieldSchema,
  schema: FieldSchema,
  object: JsonObject,
  rename: Rename,
): JsonObject {
  const renamed: Record<string, Json> = {};
  for (const [key, value] of Object.entries(object)) {
    const member = rename(root, schema, key);
    if (member !== undefined)
      renamed[member.name] = renameInside(root, member.schema, value, rename);
  }
  return renamed;
}

function renameInside(root: FieldSchema, schema: FieldSchema, value: Json, rename: Rename): Json {
  if (schema['x-whole']) return value;
  if (isObject(value)) return renameMembers(root, schema, value, rename);
  if (!isList(value)) return value;
  return value.map((item) => renameInside(root, itemSchema(root, schema), item, rename));
}
