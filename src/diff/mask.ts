import { isSensitive, MASK } from '../core/mask.ts';
import { formatPath, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isHeadersName, isTellingName } from '../core/telling.ts';
import {
  Blob,
  isList,
  isObject,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type Value,
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
  const schema = along.at(-1) ?? {};
  const isHidden = along.some(isSensitive) || isPlainHeaders(path.at(-1) ?? '', schema, value);
  return mask(root, schema, value, isHidden);
}

/** What is live, masked as well at the paths of `secrets`: see `knownSecrets`. */
export function maskLive(root: FieldSchema, live: JsonObject, secrets: ReadonlySet<string>): Json {
  const shown = maskValue(root, root, live);
  return secrets.size === 0 ? shown : maskPaths(shown, [], secrets);
}

function maskPaths(shown: Json, path: Path, secrets: ReadonlySet<string>): Json {
  if (secrets.has(formatPath(path))) return shown === null ? null : MASK;
  if (!isObject(shown)) return shown;
  return Object.fromEntries(
    Object.entries(shown).map(([key, member]: readonly [string, Json]) => [
      key,
      maskPaths(member, [...path, key], secrets),
    ]),
  );
}

/** A list of headers that no schema describes. */
function isPlainHeaders(name: string, schema: FieldSchema, value: Value | undefined): boolean {
  return isHeadersName(name) && schema['x-identity'] === undefined && isList(value);
}

/**
 * `isWhole`: it stands in what is compared as one value. Nothing else tells what its members are, so that those
 * which are named like a secret are hidden; elsewhere they are leaves, of which state and configuration know.
 */
function mask(
  root: FieldSchema,
  schema: FieldSchema,
  value: Value | undefined,
  above: boolean,
  isWhole = false,
): Json {
  if (value === undefined || value === null) return null;
  if (value instanceof Ref || value instanceof Secret || value instanceof Blob) {
    return value.toJSON();
  }
  const isHidden = above || isSensitive(schema);
  if (isObject(value)) {
    const isWithin = isWhole || schema['x-whole'] === true;
    const members = Object.entries<Value>(value).flatMap(([key, member]) => {
      const below = memberSchema(root, schema, key);
      if (below.readOnly === true) return [];
      const isTelling = (isWithin && isTellingName(key)) || isPlainHeaders(key, below, member);
      return [[key, mask(root, below, member, isHidden || isTelling, isWithin)] as const];
    });
    return Object.fromEntries(members);
  }
  if (isList(value)) {
    const items = itemSchema(root, schema);
    const isWithin = isWhole || schema['x-identity'] === undefined;
    return value.map((item) => mask(root, items, item, isHidden, isWithin));
  }
  return isHidden ? MASK : (value as Json);
}
