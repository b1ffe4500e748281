import {
  elementSegments,
  extendPath,
  identityText,
  isIdentity,
  isWithin,
  type Path,
  pathIdentity,
  toPath,
} from './path.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from './schema.ts';
import {
  getOwn,
  isList,
  isObject,
  isUuid,
  type Json,
  type JsonObject,
  LinkedText,
  plainId,
  Ref,
  type Value,
  type ValueObject,
} from './value.ts';

/**
 * Walks along a kind's schema: the schemas on the way to a path, the value at a path and a document with another one
 * there, a document with its members changed, and the facts of each field (`FieldNode`).
 */

/** A document, be it of `Json` alone or of what the configuration wants. */
type Members<V extends Value> = { readonly [field: string]: V };

/** The schemas along a path, from the top-level field down to what the path leads to. */
export function schemasAlong(root: FieldSchema, path: Path): readonly FieldSchema[] {
  const along: FieldSchema[] = [];
  let schema = root;
  for (const segment of path) {
    schema = schemaBelow(root, schema, segment);
    along.push(schema);
  }
  return along;
}

/** Returns true if the history of a resource records a leaf, and a revert brings it back. */
export function isRecorded(root: FieldSchema, path: Path): boolean {
  return schemasAlong(root, path).every((schema) => schema['x-revert'] !== false);
}

/** Tells whether the platform returns a field: some are returned only while a flag is true (`x-told-while`). */
export function isFieldReturned(
  root: FieldSchema,
  { 'x-told-while': flag }: FieldSchema,
  document: ValueObject,
): boolean {
  return flag === undefined || valueAt(root, document, toPath(flag)) === true;
}

/** Leaves out of a document what the platform does not return: only defaults stand in its place. */
export function pickReturned(root: FieldSchema, document: JsonObject): JsonObject {
  return listDependents(root).reduce(
    (part, { path, schema }) =>
      isFieldReturned(root, schema, document)
        ? part
        : placeValue<Json>(root, part, path, undefined),
    document,
  );
}

/** A field that goes along with another: returned only while that is true, or set by the platform with it. */
type Dependent = {
  readonly path: Path;
  readonly schema: FieldSchema;
  /** The field that it goes along with. */
  readonly leader: Path;
};

const dependents = new WeakMap<FieldSchema, readonly Dependent[]>();

/** The fields of a kind that go along with another (`x-told-while`, `x-follows`). */
export function listDependents(root: FieldSchema): readonly Dependent[] {
  const known = dependents.get(root);
  if (known !== undefined) return known;
  const visit = (object: FieldSchema, above: Path): readonly Dependent[] =>
    Object.keys(object.properties ?? {}).flatMap((name) => {
      const schema = memberSchema(root, object, name);
      const path = [...above, name];
      const leader = schema['x-told-while'] ?? schema['x-follows'];
      const own = leader === undefined ? [] : [{ path, schema, leader: toPath(leader) }];
      return [...own, ...visit(schema, path)];
    });
  const found = visit(root, []);
  dependents.set(root, found);
  return found;
}

/** The fields that the platform sets along with those that are written (`x-follows`). */
export function listFollowers(root: FieldSchema, written: readonly Path[]): readonly Dependent[] {
  return listDependents(root).filter(
    ({ schema, leader }) => schema['x-follows'] !== undefined && isWithin(leader, written),
  );
}

/** The schema of what a path leads to. */
export function schemaAt(root: FieldSchema, path: Path): FieldSchema {
  return path.reduce((schema, segment) => schemaBelow(root, schema, segment), root);
}

/** The schema one segment further down. */
export function schemaBelow(root: FieldSchema, schema: FieldSchema, segment: string): FieldSchema {
  return isIdentity(segment) ? itemSchema(root, schema) : memberSchema(root, schema, segment);
}

/** Returns the value at a path, a leaf or not; undefined if there is none. */
export function valueAt<V extends Value>(
  root: FieldSchema,
  document: Members<V>,
  path: Path,
): V | undefined;
export function valueAt(root: FieldSchema, document: ValueObject, path: Path): Value | undefined {
  const along = [root, ...schemasAlong(root, path)];
  return path.reduce<Value | undefined>(
    (value, segment, index) => memberAt(along[index] ?? {}, value, segment),
    document,
  );
}

/** Returns the value at one segment: a member of an object, or an element of a list that is keyed by identity. */
export function memberAt<V extends Value>(
  schema: FieldSchema,
  value: V | undefined,
  segment: string,
): V | undefined;
export function memberAt(
  { 'x-identity': key }: FieldSchema,
  value: Value | undefined,
  segment: string,
): Value | undefined {
  if (isObject(value)) return getOwn(value, segment);
  if (!isList(value) || key === undefined) return undefined;
  return value[elementSegments(key, value).indexOf(segment)];
}

/** Values to add to a document in which a part of a path is missing. */
type Missing<V extends Value> = {
  /** A document that a list which is missing is taken from. */
  readonly lists?: Members<V> | undefined;
  /** True if a missing element is added to its list. */
  readonly adds?: boolean;
};

/**
 * A document with a value at a path; undefined takes away what stands there. Objects on the way are made where they
 * are missing, lists and their elements only as `missing` says.
 */
export function placeValue<V extends Value>(
  root: FieldSchema,
  document: Members<V>,
  path: Path,
  value: V | undefined,
  missing?: Missing<V>,
): Members<V>;
export function placeValue(
  root: FieldSchema,
  document: ValueObject,
  path: Path,
  value: Value | undefined,
  { lists, adds = false }: Missing<Value> = {},
): ValueObject {
  function place(
    schema: FieldSchema,
    at: Value | undefined,
    prior: Value | undefined,
    [segment, ...rest]: Path,
  ): Value | undefined {
    if (segment === undefined) return value;
    // Nothing is made to take something away from it.
    if (value === undefined && !isObject(at) && !isList(at)) return at;
    const list = isObject(at) ? undefined : [at, prior].find(isList);
    const inner = memberAt(schema, prior, segment);
    // A key of an object may begin with a bracket, too.
    if (
      list !== undefined ||
      (isIdentity(segment) && schema['x-identity'] !== undefined && !isObject(at))
    ) {
      const all = list ?? [];
      const index = elementSegments(schema['x-identity'] ?? '', all).indexOf(segment);
      if (index < 0 && !adds) return all;
      const placed = place(itemSchema(root, schema), all[index], inner, rest);
      if (placed === undefined) return all.filter((_, other) => other !== index);
      return index < 0 ? [...all, placed] : all.with(index, placed);
    }
    const object = isObject(at) ? at : {};
    const placed = place(memberSchema(root, schema, segment), getOwn(object, segment), inner, rest);
    if (placed !== undefined) return { ...object, [segment]: placed };
    const { [segment]: _, ...others } = object;
    return others;
  }
  const placed = place(root, document, lists, path);
  return isObject(placed) ? placed : document;
}

/**
 * A document's values at the given paths, put into another document. What it has nothing at becomes null. A
 * list that is keyed by identity goes whole, as it is owned whole; in its elements, too, what the document
 * has nothing at becomes null, so that it is taken away.
 */
export function pickLeaves<V extends Value>(
  root: FieldSchema,
  document: Members<V | null>,
  paths: readonly Path[],
  into: Members<V | null> = {},
): Members<V | null> {
  return paths.reduce(
    (picked, path) =>
      placeValue(root, picked, path, valueAt(root, document, path) ?? null, { lists: document }),
    into,
  );
}

/** A document without what stands at a path, nor the objects around it that have nothing else. */
export function withoutValue(root: FieldSchema, document: JsonObject, path: Path): JsonObject {
  const rest = placeValue(root, document, path, undefined);
  const above = path.slice(0, -1);
  const around = above.length === 0 ? undefined : valueAt(root, rest, above);
  const isEmptied = isObject(around) && Object.keys(around).length === 0;
  return isEmptied ? withoutValue(root, rest, above) : rest;
}

/**
 * Facts of a schema that every value of a document needs, looked up once, as documents come by the thousand. All
 * nodes have the same members in the same order, which engines read several times as fast as schemas, of which hardly
 * two are alike.
 */
export type FieldNode = {
  readonly root: FieldSchema;
  readonly schema: FieldSchema;
  /** True if the schema names it: the schema's facts about the field hold, whatever the name sounds like. */
  readonly isNamed: boolean;
  /** An element of a list. */
  readonly isElement: boolean;
  /** A member of a list's element. */
  readonly isOfElement: boolean;
  /** Nothing at all is said of it. */
  readonly isFree: boolean;
  /** Owned by the platform. */
  readonly isReadOnly: boolean;
  /** Belongs to the platform, or never leaves the configuration. */
  readonly isLeftOut: boolean;
  readonly identity: string | undefined;
  readonly isWhole: boolean;
  /** Masked with everything below it: `x-sensitive` or `x-secret`. */
  readonly hidden: boolean;
  readonly secretsInside: boolean;
  readonly writeOnly: boolean;
  /** Kind of the resources whose id may be given as `$ref`, `ANY_KIND`, or undefined where the field takes none. */
  readonly refersTo: string | undefined;
  /** Ids may stand in its texts: `x-ids-inside` holds for everything below it, and prose names ids, too. */
  readonly holdsIds: boolean;
  /** Members below it that the schema does not name take a `$ref`. */
  readonly takesIds: boolean;
  /** Named members that were met so far, with their segment as paths have it. */
  readonly named: Map<string, { readonly node: FieldNode; readonly text: string }>;
  /** Members that the schema does not name, and elements of a list. */
  others: FieldNode | undefined;
  items: FieldNode | undefined;
};

const roots = new WeakMap<FieldSchema, FieldNode>();

/** The node of a whole document. */
export function rootNode(root: FieldSchema): FieldNode {
  let node = roots.get(root);
  if (node === undefined) {
    node = buildNode(root, root, { isNamed: true });
    roots.set(root, node);
  }
  return node;
}

/** In the place of a kind: a resource of any kind may be meant. */
export const ANY_KIND = '*';

/**
 * The kind whose ids a field takes as `$ref`, `ANY_KIND`, or undefined where it takes none. `isBelow`: it is part of
 * settings in which ids may stand.
 */
export function findReferred(schema: FieldSchema, isBelow: boolean): string | undefined {
  if (schema['x-ref'] !== undefined) return schema['x-ref'];
  const { type, format, enum: values, const: only } = schema;
  const isFree = type === undefined && values === undefined && only === undefined;
  if (isFree) return isBelow || schema['x-ids-inside'] === true ? ANY_KIND : undefined;
  const isText = [type].flat().every((one) => one === 'string' || one === 'null');
  const isPlainText = isText && format === undefined && values === undefined;
  return isPlainText && schema['x-ids-inside'] === true ? ANY_KIND : undefined;
}

const NO_IDS = { holdsIds: false, takesIds: false };
const NEWER = { holdsIds: true, takesIds: true };

function buildNode(
  root: FieldSchema,
  schema: FieldSchema,
  {
    isNamed = false,
    isElement = false,
    isOfElement = false,
    above = NO_IDS,
  }: Partial<Pick<FieldNode, 'isNamed' | 'isElement' | 'isOfElement'>> & {
    readonly above?: Pick<FieldNode, 'holdsIds' | 'takesIds'>;
  },
): FieldNode {
  const holdsIds = above.holdsIds || schema['x-ids-inside'] === true;
  return {
    root,
    schema,
    isNamed,
    isElement,
    isOfElement,
    isFree: !isNamed && Object.keys(schema).length === 0,
    isReadOnly: schema.readOnly === true,
    isLeftOut: schema.readOnly === true || schema['x-local'] === true,
    identity: schema['x-identity'],
    isWhole: schema['x-whole'] === true,
    hidden: schema['x-sensitive'] === true || schema['x-secret'] === true,
    secretsInside: schema['x-secrets-inside'] === true,
    writeOnly: schema.writeOnly === true,
    refersTo: findReferred(schema, above.takesIds),
    holdsIds: holdsIds || schema['x-prose'] !== undefined,
    // An unknown member there may be a secret.
    takesIds:
      holdsIds && schema['x-secrets-inside'] !== true && (above.takesIds || !above.holdsIds),
    named: new Map(),
    others: undefined,
    items: undefined,
  };
}

/** A member's node, and the text of its path. */
export function memberNode(
  above: FieldNode,
  key: string,
  textAbove: string,
): { readonly node: FieldNode; readonly text: string } {
  let known = above.named.get(key);
  if (known === undefined) {
    const { root, schema } = above;
    if (schema.properties === undefined || !Object.hasOwn(schema.properties, key)) {
      // Names that people choose are not kept: there may be any number.
      above.others ??= buildNode(root, memberSchema(root, schema, key), {
        isOfElement: above.isElement,
        // A field that is newer than the schema may hold ids of anything.
        above: schema === root ? NEWER : above,
      });
      return { node: above.others, text: extendPath(textAbove, key) };
    }
    known = {
      node: buildNode(root, memberSchema(root, schema, key), {
        isNamed: true,
        above,
      }),
      text: extendPath('', key),
    };
    above.named.set(key, known);
  }
  return textAbove === '' ? known : { node: known.node, text: `${textAbove}.${known.text}` };
}

/** The node of a list's elements. */
export function elementNode(list: FieldNode): FieldNode {
  const { root, schema } = list;
  list.items ??= buildNode(root, itemSchema(root, schema), {
    isNamed: schema.items !== undefined,
    isElement: true,
    above: list,
  });
  return list.items;
}

/** An id of a resource where it stands in a document. */
export type IdPlace = {
  /** Kind of the resource; `ANY_KIND` where the field does not say one. */
  readonly kind: string;
  readonly id: string;
  /** The top-level field. */
  readonly field: string;
  /** True if it is the value of a field that takes a `$ref`; otherwise it is a part of a text. */
  readonly isValue: boolean;
};

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/**
 * A document with ids of resources replaced: those that fields hold (`x-ref`), and those within settings and texts
 * (`x-ids-inside`, `x-prose`). The search for uses, rollback and restore find ids by this alone. Ids are given in
 * small letters; `change` answers undefined to leave one as it is. What the platform owns and identities stay.
 */
export function mapIds(
  root: FieldSchema,
  document: ValueObject,
  change: (place: IdPlace) => Ref | string | undefined,
): ValueObject {
  const mapped = mapIdsAt(rootNode(root), document, undefined, change);
  return isObject(mapped) ? mapped : document;
}

function mapIdsAt(
  start: FieldNode,
  given: Value,
  top: string | undefined,
  change: (place: IdPlace) => Ref | string | undefined,
  inTexts = true,
): Value {
  function mapText(node: FieldNode, text: string, field: string): Value {
    if (text === '') return text;
    const { refersTo: kind } = node;
    if (kind !== undefined && (kind !== ANY_KIND || isUuid(text)))
      return change({ kind, id: plainId(text), field, isValue: true }) ?? text;
    if (!node.holdsIds || !inTexts) return text;
    const parts: (string | Ref)[] = [];
    let end = 0;
    for (const { 0: id, index } of text.matchAll(ID)) {
      const now = change({ kind: ANY_KIND, id: plainId(id), field, isValue: false });
      if (now === undefined) continue;
      parts.push(text.slice(end, index), now);
      end = index + id.length;
    }
    if (end === 0) return text;
    parts.push(text.slice(end));
    const filled = parts.filter((part) => part !== '');
    const [only, ...others] = filled;
    if (only instanceof Ref && others.length === 0) return only;
    return filled.some((part) => part instanceof Ref) ? new LinkedText(filled) : filled.join('');
  }

  function visit(node: FieldNode, value: Value, field: string): Value {
    if (node.isReadOnly) return value;
    if (typeof value === 'string') return mapText(node, value, field);
    if (isList(value)) {
      const items = elementNode(node);
      return mapEach(value, (one) =>
        isObject(one) ? visitMembers(items, one, field, node.identity) : visit(items, one, field),
      );
    }
    return isObject(value) ? visitMembers(node, value, field) : value;
  }

  function visitMembers(
    node: FieldNode,
    object: ValueObject,
    field?: string,
    identity?: string,
  ): ValueObject {
    const names = Object.keys(object);
    const members = names.map((key) => object[key] ?? null);
    const changed = members.map((member, index) => {
      const key = names[index] ?? '';
      if (key === identity) return member;
      return visit(memberNode(node, key, '').node, member, field ?? key);
    });
    if (changed.every((member, index) => member === members[index])) return object;
    return Object.fromEntries(names.map((key, index) => [key, changed[index] ?? null]));
  }

  return isObject(given) ? visitMembers(start, given, top) : visit(start, given, top ?? '');
}

/** A list with each element changed; the same one where none was. */
function mapEach(list: readonly Value[], change: (value: Value) => Value): readonly Value[] {
  const changed = list.map(change);
  return changed.every((one, index) => one === list[index]) ? list : changed;
}

/** The ids of resources in a document; see `mapIds`. */
export function idsIn(root: FieldSchema, document: ValueObject): readonly IdPlace[] {
  return idsAt(rootNode(root), document);
}

/** The same without the ids in texts, which are not looked through. */
export function idValuesIn(root: FieldSchema, document: ValueObject): readonly IdPlace[] {
  return idsAt(rootNode(root), document, false);
}

/** The ids of resources in the value of a field; see `mapIds`. */
export function idsAt(node: FieldNode, value: Value, inTexts = true): readonly IdPlace[] {
  const found: IdPlace[] = [];
  const take = (place: IdPlace) => {
    found.push(place);
    return undefined;
  };
  mapIdsAt(node, value, '', take, inTexts);
  return found;
}

/** Elements of a keyed list that have the same key. */
export type Twins = {
  readonly list: Path;
  /** The member that they are recognised by. */
  readonly key: string;
  readonly name: string;
  readonly elements: readonly Json[];
};

/** Returns true if a path leads to the identity of a list's element. */
export function isElementName(root: FieldSchema, path: Path): boolean {
  const { 'x-identity': identity } = schemaAt(root, path.slice(0, -2));
  return isIdentity(path.at(-2) ?? '') && path.at(-1) === identity;
}

/**
 * Returns the elements that a path may lead to, where the identity that it names must be unique and several have it:
 * which of them is meant is unknown.
 */
export function twinsOn(root: FieldSchema, document: JsonObject, path: Path): Twins | undefined {
  const along = [root, ...schemasAlong(root, path)];
  for (const [index, segment] of path.entries()) {
    const { 'x-identity': key, 'x-repeats': repeats } = along[index] ?? {};
    if (!isIdentity(segment) || key === undefined || repeats === true) continue;
    const list = path.slice(0, index);
    const name = identityText(segment);
    const found = valueAt(root, document, list);
    const elements = isList(found)
      ? found.filter(
          (element) => isObject(element) && pathIdentity(String(element[key] ?? '')) === name,
        )
      : [];
    if (elements.length > 1) return { list, key, name, elements };
  }
  return undefined;
}

/**
 * A record of the platform in the form of its schema, where the platform may return it in another: a member under the name
 * that it is written under (`x-write`; the field's own name counts where it has both), and null among the elements of a
 * list.
 */
export function canonicaliseRecord(root: FieldSchema, record: JsonObject): JsonObject {
  return canonicaliseMembers(root, root, record);
}

function canonicaliseMembers(
  root: FieldSchema,
  schema: FieldSchema,
  object: JsonObject,
): JsonObject {
  let isRenamed = false;
  const members = Object.entries(object).flatMap(([key, value]): [string, Json][] => {
    const name = fieldWrittenAs(root, schema, key);
    const member = canonicaliseValue(root, memberSchema(root, schema, name), value);
    isRenamed ||= name !== key || member !== value;
    return name !== key && Object.hasOwn(object, name) ? [] : [[name, member]];
  });
  return isRenamed ? Object.fromEntries(members) : object;
}

function canonicaliseValue(root: FieldSchema, schema: FieldSchema, value: Json): Json {
  if (schema['x-whole']) return value;
  if (isObject(value)) return canonicaliseMembers(root, schema, value);
  if (!isList(value)) return value;
  if (schema.items === undefined) return value;
  const there = value.filter((item) => item !== null);
  const items = there.map((item) => canonicaliseValue(root, itemSchema(root, schema), item));
  return items.length < value.length || items.some((item, at) => item !== value[at])
    ? items
    : value;
}

/** The name of the field that an object's schema writes under a name; the same name where it writes none so. */
export function fieldWrittenAs(root: FieldSchema, schema: FieldSchema, written: string): string {
  if (schema.properties === undefined || Object.hasOwn(schema.properties, written)) return written;
  let names = namesByWritten.get(schema);
  if (names === undefined) {
    names = new Map(
      Object.entries(schema.properties).flatMap(([name, member]): [string, string][] => {
        const other = dereference(root, member)['x-write'];
        return other === undefined ? [] : [[other, name]];
      }),
    );
    namesByWritten.set(schema, names);
  }
  return names.get(written) ?? written;
}

const namesByWritten = new WeakMap<FieldSchema, ReadonlyMap<string, string>>();
