import { elementSegments, type Path } from '../core/path.ts';
import {
  type FieldContext,
  holdsSecret,
  isMoment,
  itemContext,
  memberContext,
  rootContext,
  sensitivity,
} from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';

/** What becomes of what is live. */
type Words = {
  /** What stands for an id of a kind. */
  readonly reference: (kind: string, id: string) => Value;
  /** What stands for a secret; `value` where the platform returns it. */
  readonly secret: (path: Path, value: string | undefined) => Value | undefined;
  /** Told of what the configuration has no place for. */
  readonly leaveOut: (path: Path, reason: string) => void;
};

const NEWER = 'the schema does not know it yet';
export const TELLING = 'it is named like a secret, and no schema says what it is';
export const HOLDS = 'it holds what is named like a secret, or a credential in clear';
const CREDENTIAL =
  'it has a credential in clear, which is never written into a file: write it by hand with the credential in a variable';

/**
 * A live document as the configuration would say it: without what the platform owns, what is empty and what
 * no schema knows; references and secrets in the place of ids and values. Comparing it with what is live
 * finds nothing. Top-level fields that no schema knows are left to the caller.
 */
export function fromLive(kind: Kind, live: JsonObject, words: Words): ValueObject {
  const { schema: root } = kind;

  function take(field: FieldContext, value: Json, path: Path): Value | undefined {
    if (field.node.isWhole && !isDeclared(field)) return takeWhole(field, value, path);
    if (isObject(value)) return takeObject(field, value, path);
    if (isList(value)) return takeList(field, value, path);
    if (value === null) return undefined;
    if (isDeclared(field)) return takeSecret(value, path);
    const found = sensitivity(field, value);
    if (found !== 'open') {
      words.leaveOut(path, found === 'part' ? CREDENTIAL : TELLING);
      return undefined;
    }
    const target = field.node.schema['x-ref'];
    return target !== undefined && typeof value === 'string'
      ? words.reference(target, value)
      : value;
  }

  function takeSecret(value: Json, path: Path): Value | undefined {
    if (value === '') return undefined;
    if (typeof value === 'string') return words.secret(path, value);
    words.leaveOut(path, 'it is a sensitive value and no text');
    return undefined;
  }

  function takeObject(
    field: FieldContext,
    object: JsonObject,
    path: Path,
  ): ValueObject | undefined {
    const { schema } = field.node;
    const members: [string, Value][] = [];
    for (const [key, value] of Object.entries<Json>(object)) {
      const member = memberContext(field, key, object);
      const at = [...path, key];
      if (member.node.isReadOnly || value === null) continue;
      if (!isDeclared(field) && !isKnown(schema, key) && !isTakenAnyway(field, value, at)) continue;
      const taken = take(member, value, at);
      if (taken !== undefined) members.push([key, taken]);
    }
    members.push(...hiddenSecrets(schema, object, path));
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }

  /** Whether a member that the schema does not name is written all the same; told of where it is not. */
  function isTakenAnyway({ node, secrecy }: FieldContext, value: Json, path: Path): boolean {
    if (secrecy.inside) {
      // When a provider was connected is nothing that anybody configures.
      if (typeof value !== 'string' || !isMoment(value))
        words.leaveOut(path, 'it may be a secret: no schema says what it is');
      return false;
    }
    const isNewer = node.schema.additionalProperties === false;
    if (isNewer) words.leaveOut(path, NEWER);
    return !isNewer;
  }

  /** Secrets that the platform never returns, where what stands beside them says that they are set. */
  function hiddenSecrets(schema: FieldSchema, object: JsonObject, path: Path): [string, Value][] {
    return pairsIn(schema).flatMap(([key, beside]): [string, Value][] => {
      if (!object[beside] || Object.hasOwn(object, key)) return [];
      const secret = words.secret([...path, key], undefined);
      return secret === undefined ? [] : [[key, secret]];
    });
  }

  function takeList(field: FieldContext, list: readonly Json[], path: Path): Value | undefined {
    if (list.length === 0) return undefined;
    const items = itemContext(field);
    const { identity } = field.node;
    if (identity === undefined) {
      if (!isDeclared(items)) return takeWhole(field, list, path);
      words.leaveOut(path, 'it is a list of sensitive values');
      return undefined;
    }
    const names = list.map((item) => (isObject(item) ? item[identity] : undefined));
    const isTold = names.every((name) => typeof name === 'string' && name !== '');
    const twin = names.find((name, index) => names.indexOf(name) < index);
    if (!isTold || (twin !== undefined && field.node.schema['x-repeats'] !== true)) {
      // One element left out alone would read as if it were to be taken away.
      const which = isTold ? `: several have ${JSON.stringify(twin)}` : '';
      words.leaveOut(path, `its elements cannot be told apart by their ${identity}${which}`);
      return undefined;
    }
    const segments = elementSegments(identity, list);
    return list.map((item, index) => take(items, item, [...path, segments[index] ?? '']) ?? {});
  }

  /** What is compared as one value: all of it or nothing. */
  function takeWhole(field: FieldContext, value: Json, path: Path): Value | undefined {
    const items = itemContext(field).node.schema;
    const isNewer =
      isList(value) &&
      value.some(
        (item) => isObject(item) && Object.keys(item).some((key) => isUnknown(items, key)),
      );
    if (isNewer || holdsSecret(field, value)) {
      words.leaveOut(path, isNewer ? NEWER : HOLDS);
      return undefined;
    }
    const taken = withoutNulls(value);
    return isObject(taken) && Object.keys(taken).length === 0 ? undefined : taken;
  }

  const entries = Object.entries(live).flatMap(([field, value]): [string, Value][] => {
    const top = memberContext(rootContext(root), field, live);
    // An empty text says no more than nothing at all, and a careful person would not write it.
    if (!isKnown(root, field) || top.node.isReadOnly || value === '') return [];
    const taken = take(top, value, [field]);
    return taken === undefined ? [] : [[field, taken]];
  });
  return Object.fromEntries(entries);
}

/** Whether the schema itself calls it a secret: then the configuration takes a `$secret` there. */
function isDeclared({ secrecy }: FieldContext): boolean {
  return secrecy.hidden === 'schema';
}

const pairs = new WeakMap<FieldSchema, readonly (readonly [string, string])[]>();

/** Secrets that a schema names, each with the member that says whether it is set. */
function pairsIn(schema: FieldSchema): readonly (readonly [secret: string, beside: string])[] {
  const known = pairs.get(schema);
  if (known !== undefined) return known;
  const found = Object.entries(schema.properties ?? {}).flatMap(([key, given]) => {
    const beside = given['x-secret-of'];
    return beside === undefined ? [] : [[key, beside] as const];
  });
  pairs.set(schema, found);
  return found;
}

function isKnown(schema: FieldSchema, key: string): boolean {
  return (
    (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) ||
    typeof schema.additionalProperties === 'object'
  );
}

function isUnknown(schema: FieldSchema, key: string): boolean {
  return schema.additionalProperties === false && !isKnown(schema, key);
}

function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const members = Object.entries<Json>(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}
