import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { fieldSchema } from './leaves.ts';

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
 * What a request body says, under the names that the platform is read with: the way back from `requestBody`.
 * Members of no field keep their name.
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
  const named = Object.entries(object.properties ?? {}).find(
    ([, member]) => dereference(root, member)['x-write'] === written,
  );
  const name = named?.[0] ?? written;
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
