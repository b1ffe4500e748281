import type { Address } from '../../core/address.ts';
import { elementSegments, formatPath, isIdentity, type Path, parsePath } from '../../core/path.ts';
import type { Change } from '../../core/plan-document.ts';
import { contextAt, redact } from '../../core/redact.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  Secret,
  type Value,
  type ValueObject,
} from '../../core/value.ts';
import { placeValue, schemaAt, valueAt } from '../../core/walk.ts';
import { kindNamed } from '../../kinds/index.ts';
import { nameSecrets, openSecrets } from '../../live/secrets.ts';
import { findDestination } from '../../plan/secrets.ts';
import type { Held, Target } from './held.ts';

/** A secret that a resource had and that no snapshot holds. One of the paths is enough. */
export type Need = {
  readonly address: Address;
  readonly paths: readonly string[];
  /** The environment variable that is looked at for each. */
  readonly variables: readonly string[];
};

/** A need whose variables are not named yet. */
type Lack = Pick<Need, 'address' | 'paths'>;

/**
 * The secrets that a resource had: those that a state recorded and the sensitive values that were left out.
 * Without a record, the secrets that a connected provider may have: one of them is enough, as some replace
 * others.
 */
function listNeeds(
  held: Held,
  address: Address,
  document: JsonObject = held.document(),
): readonly Lack[] {
  const { schema } = kindNamed(held.kind);
  const recorded = held.secrets?.filter((text) => isLacking(schema, document, text)) ?? [];
  const single = [...new Set([...recorded, ...held.withheld])].map((path) => [path]);
  const likely = held.secrets === undefined ? likelySecrets(schema, document) : [];
  return [...single, ...likely].map((paths) => ({ address, paths }));
}

function isLacking(schema: FieldSchema, document: JsonObject, text: string): boolean {
  const path = parsePath(text);
  return path !== undefined && valueAt(schema, document, path) === undefined;
}

/** The secrets that each object of a document has room for, as its schema names them. */
function likelySecrets(root: FieldSchema, document: JsonObject): readonly string[][] {
  const found: string[][] = [];

  function visit(schema: FieldSchema, value: Json, path: Path): void {
    if (schema.readOnly) return;
    if (isList(value)) {
      const items = itemSchema(root, schema);
      const segments = elementSegments(schema['x-identity'] ?? '', value);
      for (const [index, item] of value.entries())
        visit(items, item, [...path, segments[index] ?? '']);
      return;
    }
    if (!isObject(value) || Object.keys(value).length === 0) return;
    const secrets = Object.entries(schema.properties ?? {})
      .filter(([key, member]) => member['x-secret'] === true && value[key] === undefined)
      .map(([key]) => formatPath([...path, key]));
    if (secrets.length > 0) found.push(secrets);
    for (const [key, member] of Object.entries(value))
      visit(memberSchema(root, schema, key), member, [...path, key]);
  }

  visit(root, document, []);
  return found;
}

/** A value that may be a secret although no schema names it, as an encrypted snapshot holds it. */
type HeldSecret = { readonly path: string; readonly source: string; readonly value: string };

/**
 * Finds values below `integrations` that no schema names: they are written as secrets, so that they are neither
 * shown nor recorded. Values that a schema calls sensitive need none of
 * that, as they are known for what they are, and what is compared as one value goes back as one.
 */
export function heldSecrets(
  held: Held,
  address: Address,
  document: JsonObject = held.document(),
): readonly HeldSecret[] {
  const { schema } = kindNamed(held.kind);
  return redact(schema, document, { how: 'withhold' }).withheld.flatMap((text) => {
    const path = parsePath(text) ?? [];
    if (!contextAt(schema, path).secrecy.inside) return [];
    const value = valueAt(schema, document, path);
    return typeof value === 'string'
      ? [{ path: text, source: `snapshot:${address} ${text}`, value }]
      : [];
  });
}

/** The environment variable of each secret, by address and path. */
export type Variables = ReadonlyMap<Address, ReadonlyMap<string, string>>;

/**
 * Names the variables of secrets as an export of the same resources would: one for all places that hold the same
 * secret. Each value that the snapshot leaves out has a variable of its own: it cannot be compared with others.
 */
export function nameVariables(
  addresses: ReadonlyMap<Held, Address>,
  organizations: ReadonlyMap<string, string | null>,
  isTaken: (name: string) => boolean,
): Variables {
  const { standIn } = openSecrets();
  const places = [...addresses].flatMap(([held, address]) => {
    const document = held.document();
    const { schema } = kindNamed(held.kind);
    return listNeeds(held, address, document).flatMap(({ paths }) =>
      paths.map((text) => {
        const path = parsePath(text) ?? [];
        const { 'x-secret-of': member } = schemaAt(schema, path);
        const beside =
          typeof member === 'string'
            ? valueAt(schema, document, [...path.slice(0, -1), member])
            : undefined;
        const place = {
          address,
          own: held.name,
          organization: organizations.get(held.organization ?? '') ?? '',
          path,
          destination: findDestination(schema, [document], path),
          beside: beside === undefined ? address : String(beside),
          value: undefined,
        };
        return { ...place, text, secret: standIn(place) };
      }),
    );
  });
  const names = nameSecrets(places, isTaken);
  const variables = new Map<Address, Map<string, string>>();
  for (const { address, text, secret } of places) {
    const own = variables.get(address) ?? new Map<string, string>();
    variables.set(address, own.set(text, names.get(secret.source) ?? secret.source));
  }
  return variables;
}

/** A document with the secrets that are at hand. */
type Filled = {
  readonly document: ValueObject;
  readonly missing: readonly Need[];
  /** Paths of which nothing can be said without them. */
  readonly ignore: readonly string[];
};

/** Puts secrets into their places. What lacks its secret is left as it is, or is not made. */
export function fillSecrets(
  {
    held,
    address,
    own,
  }: { readonly held: Held; readonly address: Address; readonly own: JsonObject },
  document: ValueObject,
  target: Target,
): Filled {
  const { schema } = kindNamed(held.kind);
  const missing: Need[] = [];
  const ignore: string[] = [];
  let filled = document;
  for (const { path, source } of heldSecrets(held, address, own))
    filled = withText(schema, filled, path, new Secret(source));
  for (const need of listNeeds(held, address, own)) {
    const given = need.paths.flatMap((path) => {
      const secret = target.secretAt(address, path);
      return secret === undefined ? [] : [[path, secret] as const];
    });
    for (const [path, secret] of given) filled = withText(schema, filled, path, secret);
    if (given.length > 0) continue;
    missing.push({
      ...need,
      variables: need.paths.map((path) => target.variableAt(address, path)),
    });
    for (const path of need.paths) {
      // An element of a list that lacks its value says nothing; one that is there already keeps it.
      const text = isThere(path, address, target) ? path : elementText(path);
      filled = withText(schema, filled, text, undefined);
      ignore.push(text);
    }
  }
  return { document: filled, missing, ignore };
}

function withText(
  schema: FieldSchema,
  document: ValueObject,
  text: string,
  value: Value | undefined,
): ValueObject {
  const path = parsePath(text);
  return path === undefined ? document : placeValue(schema, document, path, value);
}

/**
 * Finds needed secrets that no live resource has any more, as the plan creates their parent: the live side of its
 * change lacks their object, or their element of a list.
 */
export function listPlacesGone(
  needs: readonly Pick<Need, 'address' | 'paths'>[],
  changes: readonly Change[],
): readonly (readonly [Address, string])[] {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  return needs.flatMap(({ address, paths }) => {
    const change = byAddress.get(address);
    if (change === undefined || change.action === 'create') return [];
    const { schema } = kindNamed(change.kind);
    const { before } = change;
    const isGone = (text: string) => {
      const above = (parsePath(text) ?? []).slice(0, -1);
      if (change.action === 'replace' || above.length === 0) return change.action === 'replace';
      return !isObject(before) || valueAt(schema, before, above) === undefined;
    };
    return paths.filter(isGone).map((path) => [address, path] as const);
  });
}

/** The element that a path ends in, or the path itself. */
function elementText(text: string): string {
  const element = findElement(parsePath(text) ?? []);
  return element === undefined ? text : formatPath(element);
}

/** True if the platform already has the list element of a missing secret. */
function isThere(
  text: string,
  address: Address,
  { recorded, exists, isPlaceGone }: Target,
): boolean {
  if (isPlaceGone(address, text)) return false;
  const known = recorded(address);
  if (known === undefined) return exists(address);
  const element = elementText(text);
  return element !== text && Object.keys(known.leaves).some((path) => path.startsWith(element));
}

/** The list element whose own member a path leads to; undefined where that is no element's. */
function findElement(path: Path): Path | undefined {
  const above = path.slice(0, -1);
  return isIdentity(above.at(-1) ?? '') ? above : undefined;
}
