import type { Kind, Scope } from '../kinds/kind.ts';
import { recordKeyOf } from './natural-key.ts';
import type { ListedResource } from './reader.ts';

type Items = readonly ListedResource[];

/**
 * What was found in lists, by list: a fleet of thousands is looked for one by one in a list as long. A list is
 * never changed once it was read, and forgotten together with what is known of it.
 */
const byId = new WeakMap<Items, ReadonlyMap<string, ListedResource>>();
const byKey = new WeakMap<Items, Map<string, ReadonlyMap<string | undefined, Items>>>();

/** The item of an id. */
export function itemOf(items: Items, id: string): ListedResource | undefined {
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
    scopes.get(within) ?? Map.groupBy(items, ({ record }) => recordKeyOf(kind, record, scope));
  scopes.set(within, known);
  return known.get(key) ?? [];
}
