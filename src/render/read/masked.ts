import { isSensitive, MASK } from '../../core/mask.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import { isHeadersName, isTellingName } from '../../core/telling.ts';
import { isList, isObject, type Json, type JsonObject } from '../../core/value.ts';

/** A moment, such as when a provider was connected, gives nothing away. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/**
 * A record as it may be shown: whatever its schema calls a secret or sensitive is masked, and so is what the
 * schema does not know, where it is named like a secret or where anything may be one (`x-secrets-inside`).
 * Nothing is left out.
 */
export function maskRecord(root: FieldSchema, record: JsonObject): JsonObject {
  return maskMembers(root, root, record, false);
}

const UNKNOWN: FieldSchema = {};

/** A record of which no schema is known, such as a history entry. */
export function maskUnknown(record: JsonObject): JsonObject {
  return maskMembers(UNKNOWN, UNKNOWN, record, false);
}

function maskMembers(
  root: FieldSchema,
  schema: FieldSchema,
  object: JsonObject,
  above: boolean,
): JsonObject {
  const isInside = above || schema['x-secrets-inside'] === true;
  return Object.fromEntries(
    Object.entries(object).map(([name, value]: readonly [string, Json]) => {
      const member = memberSchema(root, schema, name);
      if (isHidden(name, member, value, isInside)) return [name, maskAll(value)];
      if (isUnknown(member) && isHeadersName(name)) return [name, maskHeaders(value)];
      return [name, maskValue(root, member, value, isInside)];
    }),
  );
}

function maskValue(root: FieldSchema, schema: FieldSchema, value: Json, above: boolean): Json {
  if (isList(value)) {
    const items = itemSchema(root, schema);
    return value.map((item) =>
      isSensitive(items) ? maskAll(item) : maskValue(root, items, item, above),
    );
  }
  return isObject(value) ? maskMembers(root, schema, value, above) : value;
}

function isHidden(name: string, schema: FieldSchema, value: Json, isInside: boolean): boolean {
  if (isSensitive(schema)) return true;
  if (!isUnknown(schema)) return false;
  const isMoment = typeof value === 'string' && TIMESTAMP.test(value);
  return isTellingName(name) || (isInside && !isMoment);
}

function isUnknown(schema: FieldSchema): boolean {
  return Object.keys(schema).length === 0;
}

function maskHeaders(value: Json): Json {
  if (!isList(value)) return maskAll(value);
  return value.map((item) =>
    isObject(item) && 'value' in item ? { ...item, value: maskAll(item.value ?? null) } : item,
  );
}

/** Every text and number below is masked; names and flags give nothing away. */
function maskAll(value: Json): Json {
  if (value === '') return value;
  if (typeof value === 'string' || typeof value === 'number') return MASK;
  if (isList(value)) return value.map(maskAll);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: readonly [string, Json]) => [name, maskAll(member)]),
  );
}
