import { soundsSecret } from '../config/plain-secrets.ts';
import { isSensitive } from '../core/mask.ts';
import { identitySegment, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
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
export type Words = {
  /** What stands for an id of a kind. */
  readonly reference: (kind: string, id: string) => Value;
  /** What stands for a secret; `value` where the platform returns it. */
  readonly secret: (path: Path, value: string | undefined) => Value | undefined;
  /** Told of what the configuration has no place for. */
  readonly leaveOut: (path: Path, reason: string) => void;
};

/** A moment, such as when a provider was connected, is nothing that anybody configures. */
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

const NEWER = 'the schema does not know it yet';
const TELLING = 'it is named like a secret, and no schema says what it is';

/**
 * A live document as the configuration would say it: without what the platform owns, what is empty and what
 * no schema knows; references and secrets in the place of ids and values. Comparing it with what is live
 * finds nothing. Top-level fields that no schema knows are left to the caller.
 */
export function fromLive(kind: Kind, live: JsonObject, words: Words): ValueObject {
  const { schema: root } = kind;

  function take(schema: FieldSchema, value: Json, path: Path, above: boolean): Value | undefined {
    const hidden = above || isSensitive(schema);
    if (schema['x-whole'] === true && !hidden) return takeWhole({}, value, path);
    if (isObject(value)) return takeObject(schema, value, path, hidden);
    if (isList(value)) return takeList(schema, value, path, hidden);
    if (value === null) return undefined;
    if (hidden) return takeSecret(value, path);
    const target = schema['x-ref'];
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
    schema: FieldSchema,
    object: JsonObject,
    path: Path,
    hidden: boolean,
  ): ValueObject | undefined {
    const members: [string, Value][] = [];
    for (const [key, value] of Object.entries<Json>(object)) {
      const member = memberSchema(root, schema, key);
      const at = [...path, key];
      if (member.readOnly === true || value === null) continue;
      if (!hidden && !isKnown(schema, key) && !isTakenAnyway(schema, value, at)) continue;
      const taken = take(member, value, at, hidden);
      if (taken !== undefined) members.push([key, taken]);
    }
    members.push(...hiddenSecrets(schema, object, path));
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }

  /** Whether a member that the schema does not name is written all the same; told of where it is not. */
  function isTakenAnyway(schema: FieldSchema, value: Json, path: Path): boolean {
    if (isInsideSecrets(path)) {
      const isMoment = typeof value === 'string' && MOMENT.test(value);
      if (!isMoment) words.leaveOut(path, 'it may be a secret: no schema says what it is');
      return false;
    }
    const isNewer = schema.additionalProperties === false;
    const isTelling = soundsSecret(path.at(-1) ?? '') && typeof value === 'string';
    if (isNewer || isTelling) words.leaveOut(path, isNewer ? NEWER : TELLING);
    return !isNewer && !isTelling;
  }

  function isInsideSecrets(path: Path): boolean {
    let at: FieldSchema = root;
    for (const key of path.slice(0, -1)) {
      at = memberSchema(root, at, key);
      if (at['x-secrets-inside'] === true) return true;
    }
    return false;
  }

  /** Secrets that the platform never returns, where what stands beside them says that they are set. */
  function hiddenSecrets(schema: FieldSchema, object: JsonObject, path: Path): [string, Value][] {
    return pairsIn(schema).flatMap(([key, beside]): [string, Value][] => {
      if (!object[beside] || Object.hasOwn(object, key)) return [];
      const secret = words.secret([...path, key], undefined);
      return secret === undefined ? [] : [[key, secret]];
    });
  }

  function takeList(
    schema: FieldSchema,
    list: readonly Json[],
    path: Path,
    hidden: boolean,
  ): Value | undefined {
    if (list.length === 0) return undefined;
    const items = itemSchema(root, schema);
    const identity = schema['x-identity'];
    if (identity === undefined) {
      if (!hidden && !isSensitive(items)) return takeWhole(items, list, path);
      words.leaveOut(path, 'it is a list of sensitive values');
      return undefined;
    }
    const names = list.map((item) => (isObject(item) ? item[identity] : undefined));
    const isTold = names.every((name) => typeof name === 'string' && name !== '');
    if (!isTold || new Set(names).size < names.length) {
      // One element left out alone would read as if it were to be taken away.
      words.leaveOut(path, `its elements cannot be told apart by their ${identity}`);
      return undefined;
    }
    return list.map(
      (item, index) =>
        take(items, item, [...path, identitySegment(String(names[index]))], hidden) ?? {},
    );
  }

  /** What is compared as one value: all of it or nothing. */
  function takeWhole(items: FieldSchema, value: Json, path: Path): Value | undefined {
    const isNewer =
      isList(value) &&
      value.some(
        (item) => isObject(item) && Object.keys(item).some((key) => isUnknown(items, key)),
      );
    if (isNewer || holdsSecrets(value)) {
      words.leaveOut(path, isNewer ? NEWER : TELLING);
      return undefined;
    }
    const taken = withoutNulls(value);
    return isObject(taken) && Object.keys(taken).length === 0 ? undefined : taken;
  }

  const entries = Object.entries(live).flatMap(([field, value]): [string, Value][] => {
    const schema = memberSchema(root, root, field);
    // An empty text says no more than nothing at all, and a careful person would not write it.
    if (!isKnown(root, field) || schema.readOnly === true || value === '') return [];
    const taken = take(schema, value, [field], false);
    return taken === undefined ? [] : [[field, taken]];
  });
  return Object.fromEntries(entries);
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

/** Whether something is named like a secret, however deep. */
export function holdsSecrets(value: Json): boolean {
  if (isList(value)) return value.some(holdsSecrets);
  if (!isObject(value)) return false;
  return Object.entries<Json>(value).some(
    ([key, member]) => (typeof member === 'string' && soundsSecret(key)) || holdsSecrets(member),
  );
}

function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const members = Object.entries<Json>(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}
