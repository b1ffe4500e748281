import { isSensitive, MASK } from '../core/mask.ts';
import type { Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import {
  Blob,
  isList,
  isObject,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { schemasAlong } from './along.ts';

/**
 * A value as a plan may show it. Sensitive values are masked wherever the schema says so; references,
 * secrets and files are shown as they are written in the configuration, which holds no value.
 */
export function maskValue(root: FieldSchema, schema: FieldSchema, value: Value | undefined): Json {
  return mask(root, schema, value, false);
}

/** The same for what stands at a path: below a sensitive field everything is. */
export function maskAt(root: FieldSchema, path: Path, value: Value | undefined): Json {
  const along = schemasAlong(root, path);
  return mask(root, along.at(-1) ?? {}, value, along.some(isSensitive));
}

/**
 * What is live, masked as well where the configuration gives a secret: the specification does not name
 * every secret that an integration may have (DESIGN §10).
 */
export function maskLive(root: FieldSchema, live: JsonObject, wanted: ValueObject): Json {
  return maskBeside(maskValue(root, root, live), wanted);
}

function maskBeside(shown: Json, wanted: Value | undefined): Json {
  if (wanted instanceof Secret) return shown === null ? null : MASK;
  if (!isObject(shown) || !isObject(wanted)) return shown;
  return Object.fromEntries(
    Object.entries(shown).map(([key, member]: readonly [string, Json]) => [
      key,
      maskBeside(member, wanted[key]),
    ]),
  );
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
  const isHidden = above || isSensitive(schema);
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries<Value>(value)
        .filter(([key]) => memberSchema(root, schema, key).readOnly !== true)
        .map(([key, member]) => [
          key,
          mask(root, memberSchema(root, schema, key), member, isHidden),
        ]),
    );
  }
  if (isList(value)) {
    const items = itemSchema(root, schema);
    return value.map((item) => mask(root, items, item, isHidden));
  }
  return isHidden ? MASK : (value as Json);
}
