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
  return renameMembers(root, root, chosen);
}

/** A facet's value as the body of its own endpoint. */
export function facetBody(root: FieldSchema, facet: string, value: JsonObject): JsonObject {
  return renameMembers(root, fieldSchema(root, facet), value);
}

function renameMembers(root: FieldSchema, schema: FieldSchema, value: JsonObject): JsonObject {
  const body: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const facts = memberSchema(root, schema, key);
    const isText = !facts['x-local'] && facts['x-file'] === undefined;
    const isOurs = isText && (!facts.readOnly || facts['x-echo-back'] === true);
    if (isOurs) body[facts['x-write'] ?? key] = rename(root, facts, member);
  }
  return body;
}

function rename(root: FieldSchema, schema: FieldSchema, value: Json): Json {
  if (schema['x-whole']) return value;
  if (isObject(value)) return renameMembers(root, schema, value);
  if (isList(value)) {
    const items = dereference(root, itemSchema(root, schema));
    return value.map((item) => rename(root, items, item));
  }
  return value;
}

/**
 * What a request body says, under the names that the platform is read with: the way back from `requestBody`.
 * Members of no field keep their name.
 */
export function documentInBody(root: FieldSchema, body: JsonObject): JsonObject {
  return readMembers(root, root, body);
}

/** The same for the body of a facet's endpoint. */
export function facetInBody(root: FieldSchema, facet: string, body: JsonObject): JsonObject {
  return { [facet]: readMembers(root, fieldSchema(root, facet), body) };
}

function readMembers(root: FieldSchema, schema: FieldSchema, body: JsonObject): JsonObject {
  const document: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    const key = readName(root, schema, name);
    document[key] = readValue(root, memberSchema(root, schema, key), value);
  }
  return document;
}

function readName(root: FieldSchema, schema: FieldSchema, name: string): string {
  const named = Object.entries(schema.properties ?? {}).find(
    ([, member]) => dereference(root, member)['x-write'] === name,
  );
  return named?.[0] ?? name;
}

function readValue(root: FieldSchema, schema: FieldSchema, value: Json): Json {
  if (schema['x-whole']) return value;
  if (isObject(value)) return readMembers(root, schema, value);
  if (isList(value)) {
    const items = dereference(root, itemSchema(root, schema));
    return value.map((item) => readValue(root, items, item));
  }
  return value;
}
