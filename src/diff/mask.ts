import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { Blob, isList, isObject, type Json, Ref, Secret, type Value } from '../core/value.ts';

/** Stands in plans where a sensitive value would. */
export const MASK = '(secret)';

/**
 * A value as a plan may show it. Sensitive values are masked wherever the schema says so; references,
 * secrets and files are shown as they are written in the configuration, which holds no value.
 */
export function maskValue(root: FieldSchema, schema: FieldSchema, value: Value | undefined): Json {
  return mask(root, schema, value, false);
}

function mask(
  root: FieldSchema,
  schema: FieldSchema,
  value: Value | undefined,
  above: boolean,
): Json {
  if (value === undefined || value === null) return null;
  if (value instanceof Ref || value instanceof Secret || value instanceof Blob) {
    return value.toJSON();
  }
  const isSensitive = above || schema['x-sensitive'] === true || schema['x-secret'] === true;
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries<Value>(value)
        .filter(([key]) => memberSchema(root, schema, key).readOnly !== true)
        .map(([key, member]) => [
          key,
          mask(root, memberSchema(root, schema, key), member, isSensitive),
        ]),
    );
  }
  if (isList(value)) {
    const items = itemSchema(root, schema);
    return value.map((item) => mask(root, items, item, isSensitive));
  }
  return isSensitive ? MASK : (value as Json);
}
