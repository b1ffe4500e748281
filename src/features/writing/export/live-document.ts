import { elementSegments, type Path, pointerParts } from '../../../core/path.ts';
import {
  type FieldContext,
  holdsSecret,
  itemContext,
  memberContext,
  rootContext,
  sensitivity,
} from '../../../core/redact.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../../../core/schema.ts';
import {
  isList,
  isMoment,
  isObject,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  type ValueObject,
  valuesIn,
} from '../../../core/value.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { configName, resourceSchema } from '../../../stack/schema.ts';
import { isStated, schemaErrors } from '../../../stack/validate.ts';

/** The treatment of secrets, and of values that the configuration has no place for. */
type Words = {
  /** Returns the value that stands for a secret; `value` if the platform returns it, otherwise `beside` is set. */
  readonly secret: (
    path: Path,
    value: string | undefined,
    beside: string | undefined,
  ) => Value | undefined;
  /** Called for what the configuration has no place for. */
  readonly leaveOut: (path: Path, reason: string) => void;
};

const NEWER = 'the schema does not know it yet';
export const TELLING = 'it is named like a secret, and no schema says what it is';
export const HOLDS = 'it holds what is named like a secret, or a credential in clear';
const CREDENTIAL =
  'it has a credential in clear, which is never written into a file: write it by hand with the credential in a variable';

/**
 * A live document as the configuration would say it: without what the platform owns, what is empty and what
 * no schema knows; secrets in the place of values, and ids as they are. Comparing it with what is live
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
    return value;
  }

  function takeSecret(value: Json, path: Path): Value | undefined {
    if (value === '') return undefined;
    if (typeof value === 'string') return words.secret(path, value, undefined);
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

  /** True if a member that the schema does not name is written all the same; reports it if not. */
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
      const secret = words.secret([...path, key], undefined, String(object[beside]));
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
    const isNamed = names.every((name) => typeof name === 'string');
    const twin = names.find((name, index) => names.indexOf(name) < index);
    if (!isNamed || (twin !== undefined && field.node.schema['x-repeats'] !== true)) {
      // One element left out alone would read as if it were to be taken away.
      const which = isNamed ? `: several have ${JSON.stringify(twin)}` : '';
      words.leaveOut(path, `its elements cannot be told apart by their ${identity}${which}`);
      return undefined;
    }
    const segments = elementSegments(identity, list);
    return list.map((item, index) => take(items, item, [...path, segments[index] ?? '']) ?? {});
  }

  /** Takes a field that is compared as one value: all of it or nothing. */
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
    const taken = withoutNulls(root, field.node.schema, value);
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

/** True if the schema itself calls it a secret: then the configuration takes a `$secret` there. */
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
    return typeof beside === 'string' ? [[key, beside] as const] : [];
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

/**
 * A value that is sent whole, without the nulls of members that the schema names: they are not set. Of any other member
 * the meaning of null is unknown, and a list that is written without it would take it away.
 */
function withoutNulls(root: FieldSchema, schema: FieldSchema, value: Json): Json {
  if (isList(value)) return value.map((item) => withoutNulls(root, itemSchema(root, schema), item));
  if (!isObject(value)) return value;
  const members = Object.entries<Json>(value).filter(
    ([key, member]) => member !== null || !isKnown(schema, key),
  );
  return Object.fromEntries(
    members.map(([key, member]) => [
      key,
      withoutNulls(root, memberSchema(root, schema, key), member),
    ]),
  );
}

/** A part of a document that the configuration would refuse, and why. */
export type Fault = { readonly path: Path; readonly reason: string };

/** Stands for an id or a secret, of which a schema knows nothing. */
const STAND_IN = '00000000-0000-4000-8000-000000000000';

/**
 * Returns what `validate` would call an error in a document, as far as that depends on the document alone. A fault of
 * the document as a whole, such as a field that is required and missing, has an empty path.
 */
export function faultsIn(kind: Kind, document: ValueObject): readonly Fault[] {
  const written: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(document)) {
    const name = getName(kind, field);
    if (name !== undefined) written[name] = plain(value);
  }
  return schemaErrors(resourceSchema(kind), written)
    .filter((error) => isStated(error) && !/(?<!\/properties)\/contains\//.test(error.schemaPath))
    .map((error): Fault => {
      const [first, ...rest] = pointerParts(error.instancePath);
      const field = Object.keys(document).find((one) => getName(kind, one) === first);
      const path = first === undefined ? [] : [field ?? first, ...rest];
      return { path, reason: describeSchemaError(error) };
    });
}

function getName({ schema }: Kind, field: string): string | undefined {
  return configName(field, memberSchema(schema, schema, field));
}

/** Says what is wrong, for people who cannot change what the platform has. */
function describeSchemaError({ keyword, params }: ReturnType<typeof schemaErrors>[number]): string {
  switch (keyword) {
    case 'required':
      return `it has no ${String(params.missingProperty)}`;
    case 'enum':
    case 'const':
      return 'its value is none that the schema knows';
    case 'type':
      return `it is no ${[params.type].flat().join(' or ')}`;
    case 'format':
      return `it does not read as ${String(params.format)}`;
    default:
      return `it breaks the rule ${keyword} of the schema`;
  }
}

/** Most fields have neither ids nor secrets, and are looked at as they are. */
function plain(value: Value): unknown {
  if (value instanceof Ref || value instanceof Secret) return STAND_IN;
  if (!valuesIn(value).some((one) => one instanceof Ref || one instanceof Secret)) return value;
  if (isList(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value ?? {}).map(([key, one]) => [key, plain(one)]));
}

export function without(root: FieldSchema, document: ValueObject, path: Path): ValueObject {
  return withoutMember(root, root, document, path) ?? {};
}

function withoutMember(
  root: FieldSchema,
  schema: FieldSchema,
  object: ValueObject,
  [key = '', ...rest]: Path,
): ValueObject | undefined {
  const inner = memberSchema(root, schema, key);
  const members = Object.entries(object).flatMap(([name, value]): [string, Value][] => {
    if (name !== key) return [[name, value]];
    const kept = rest.length === 0 ? undefined : withoutInside(root, inner, value, rest);
    return kept === undefined ? [] : [[name, kept]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Leaves out the whole list, unless its elements are compared one by one: the rest would mean something else. */
function withoutInside(
  root: FieldSchema,
  schema: FieldSchema,
  value: Value,
  path: Path,
): Value | undefined {
  if (isObject(value) && !schema['x-whole']) return withoutMember(root, schema, value, path);
  const [index = '', ...rest] = path;
  if (!isList(value) || schema['x-identity'] === undefined || rest.length === 0) return undefined;
  const items = itemSchema(root, schema);
  return value.map((item, at) =>
    at === Number(index) && isObject(item) ? (withoutMember(root, items, item, rest) ?? {}) : item,
  );
}
