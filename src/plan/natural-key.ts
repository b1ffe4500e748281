import { reduceText } from '../core/alike.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { JsonObject, ValueObject } from '../core/value.ts';
import { fieldSchema, normalise } from '../diff/leaves.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { ResourceState, State } from '../state/model.ts';
import type { ListedResource, Reader } from './reader.ts';

/** How a resource is recognised in the lists of the platform: by its scope, and by its id or natural key there. */

/** The values of a kind's scope fields in a document. */
export function getScope(kind: Kind, document: ValueObject): Scope {
  return Object.fromEntries(kind.scope.map((field) => [field, String(document[field] ?? '')]));
}

/** The text that names a resource among its kind; undefined where it has none of the fields. */
export function getNaturalKey(kind: Kind, document: ValueObject): string | undefined {
  const fields = kind.naturalKey.find((names) =>
    names.every((name) => typeof document[name] === 'string' && document[name] !== ''),
  );
  // As it is compared: what is no difference between two resources names none apart.
  const keyed = (name: string) => {
    const schema = fieldSchema(kind.schema, name);
    const value = normalise(schema, document[name]);
    if (typeof value !== 'string') return value;
    // The platform may have changed it on the way.
    return schema['x-address'] === true ? value.replace(/\/$/, '') : reduceText(value);
  };
  return fields && JSON.stringify(fields.map((name) => [name, keyed(name)]));
}

/** The natural key of a record as a list gives it, which may leave out what the scope says. */
export function getRecordKey(kind: Kind, record: JsonObject, scope: Scope): string | undefined {
  return getNaturalKey(kind, kind.document({ ...scope, ...record }, scope));
}

/** The natural key of a resource as the state knows it, which has its name and where it was. */
export function getRecordedKey(
  kind: Kind,
  { scope, name }: Pick<ResourceState, 'scope' | 'name'>,
): string | undefined {
  return getNaturalKey(kind, { ...scope, name });
}

/** Returns the scopes of a kind in which the stack has resources. */
export function listScopes(
  kind: Kind,
  desired: readonly DesiredResource[],
  state: State | undefined,
): readonly Scope[] {
  const scopes = [
    ...desired.filter((one) => one.kind === kind.name).map((one) => getScope(kind, one.document)),
    ...Object.values(state?.resources ?? {})
      .filter((one) => one.kind === kind.name)
      .map(({ scope }) => scope),
  ];
  return [...new Map(scopes.map((scope) => [JSON.stringify(scope), scope])).values()];
}

/**
 * The list that resources are recognised in. Of kinds that have a read of their own only what tells them apart is
 * kept: of a large fleet the rest would fill the memory and be read again anyway.
 */
export function listKnown(
  reader: Pick<Reader, 'list'>,
  kind: Kind,
  scope: Scope,
  fresh = false,
): Promise<readonly ListedResource[] | undefined> {
  return reader.list(kind, scope, fresh, knownFields(kind));
}

/**
 * Begins to read the lists in which the resources of a stack are recognised. Planning gets them from the reader; a list that
 * cannot be read is asked for again there, which says why.
 */
export function listAhead(
  reader: Pick<Reader, 'list'>,
  desired: readonly DesiredResource[],
  state: State,
): void {
  for (const kind of kinds)
    for (const scope of listScopes(kind, desired, state))
      listKnown(reader, kind, scope).catch(() => {});
}

function knownFields(kind: Kind): readonly string[] | undefined {
  const { get, naturalKey, columns, scope } = kind;
  if (get === undefined) return undefined;
  return [...new Set([...naturalKey.flat(), ...scope, ...columns, 'created_at', 'updated_at'])];
}

type Items = readonly ListedResource[];

/**
 * Indexes of lists, kept by list: a fleet of thousands is looked for one by one in a list as long. A list never changes
 * once it was read, and its index is forgotten with it.
 */
const byId = new WeakMap<Items, ReadonlyMap<string, ListedResource>>();
const byKey = new WeakMap<Items, Map<string, ReadonlyMap<string | undefined, Items>>>();

/** The item of an id. */
export function findItem(items: Items, id: string): ListedResource | undefined {
  let known = byId.get(items);
  if (known === undefined) {
    // The first of an id that is there twice, as nothing else tells them apart.
    known = new Map(items.toReversed().map((item) => [item.id, item]));
    byId.set(items, known);
  }
  return known.get(id);
}

/** The items of a natural key, in the order of the list. */
export function itemsNamed(items: Items, kind: Kind, scope: Scope, key: string): Items {
  const scopes = byKey.get(items) ?? new Map<string, ReadonlyMap<string | undefined, Items>>();
  byKey.set(items, scopes);
  const within = `${kind.name} ${JSON.stringify(scope)}`;
  const known =
    scopes.get(within) ?? Map.groupBy(items, ({ record }) => getRecordKey(kind, record, scope));
  scopes.set(within, known);
  return known.get(key) ?? [];
}
