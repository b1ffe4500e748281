import { type FieldSchema, itemSchema, memberSchema } from './schema.ts';
import { isList, isObject, type Value, type ValueObject } from './value.ts';

type Change = (schema: FieldSchema, value: Value, key: string) => Value;

/** An object with each member changed; `key` is that of the member. */
export function mapMembers(
  root: FieldSchema,
  schema: FieldSchema,
  object: ValueObject,
  change: Change,
): ValueObject {
  const changed = Object.entries(object).map(
    ([key, member]) => [key, change(memberSchema(root, schema, key), member, key)] as const,
  );
  return Object.fromEntries(changed);
}

/** A value with what stands right inside it changed; any other than a list or an object as it is. */
export function mapInside(
  root: FieldSchema,
  schema: FieldSchema,
  value: Value,
  change: (schema: FieldSchema, value: Value) => Value,
): Value {
  if (isList(value)) return value.map((item) => change(itemSchema(root, schema), item));
  return isObject(value) ? mapMembers(root, schema, value, change) : value;
}
