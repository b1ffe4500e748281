import { formatPath, type Path, parsePath } from '../core/path.ts';
import { dereference, type FieldSchema, memberSchema } from '../core/schema.ts';
import { isObject, type Json, type JsonObject } from '../core/value.ts';
import { knownSecrets } from '../diff/known-secrets.ts';
import type { ResourceState } from '../state/model.ts';

/** Stands in the copy wherever the platform holds a secret that it does not return. */
const PLACEHOLDER = 'not the secret: the platform does not return it';

type Filled = { readonly record: JsonObject; readonly count: number };

/**
 * A record with something in place of each secret that the platform may hold: members of the schema that are
 * never returned, and what the state remembers to have written. Only objects that are there are filled, so
 * that nothing gets connected which was not.
 */
export function fillSecrets(
  root: FieldSchema,
  record: JsonObject,
  state: ResourceState | null,
): Filled {
  let count = 0;
  const stand = () => {
    count += 1;
    return PLACEHOLDER;
  };

  const remembered = [...knownSecrets(root, {}, state?.leaves)]
    .map(parsePath)
    .filter((path) => path !== undefined);
  // Where the state knows which secrets an object was given, it was given no others.
  const known = new Set(remembered.map((path) => formatPath(path.slice(0, -1))));

  function fill(schema: FieldSchema, value: Json, path: Path): Json {
    if (!isObject(value)) return value;
    const own = dereference(root, schema);
    const members = Object.entries(value).map(
      ([key, member]) =>
        [key, fill(memberSchema(root, schema, key), member, [...path, key])] as const,
    );
    if (known.has(formatPath(path))) return Object.fromEntries(members);
    const missing = Object.keys(own.properties ?? {}).filter((key) => {
      const { writeOnly, 'x-secret': isSecret } = memberSchema(root, schema, key);
      return isSecret === true && writeOnly === true && (value[key] ?? null) === null;
    });
    return Object.fromEntries([...members, ...missing.map((key) => [key, stand()] as const)]);
  }

  const filled = fill(root, record, []);
  const whole = remembered.reduce((one, path) => put(one, path, stand), filled);
  return { record: isObject(whole) ? whole : record, count };
}

/** Puts something at a path whose parent is there and which is empty; lists are left as they are. */
function put(value: Json, [key, ...rest]: readonly string[], stand: () => string): Json {
  if (!isObject(value) || key === undefined) return value;
  const member = value[key] ?? null;
  if (rest.length === 0) return member === null ? { ...value, [key]: stand() } : value;
  return isObject(member) ? { ...value, [key]: put(member, rest, stand) } : value;
}
