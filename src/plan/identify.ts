import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { JsonObject, ValueObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { ResourceState, State } from '../state/model.ts';
import type { ListedResource, Reader } from './reader.ts';

/** Which live resource an address stands for, and how that is known. */
export type Identity = {
  readonly address: Address;
  readonly kind: Kind;
  readonly scope: Scope;
  readonly desired: DesiredResource | undefined;
  readonly recorded: ResourceState | undefined;
  /** The list's item; undefined where nothing was found live. */
  readonly found: ListedResource | undefined;
  readonly by: 'state' | 'adopt' | 'natural_key' | 'nothing';
  /** The id that the state holds but the platform does not. */
  readonly missing: string | undefined;
  /** The address that the resource has now, where the configuration gave it another one. */
  readonly movedTo?: Address | undefined;
};

/** An address that several live resources could stand for. */
export type Ambiguity = {
  readonly address: Address;
  readonly key: string;
  readonly ids: readonly string[];
};

export type Identified = {
  readonly identities: readonly Identity[];
  readonly ambiguities: readonly Ambiguity[];
};

/**
 * Finds each resource's live counterpart (DESIGN §4.2): by the id in the state, by `lifecycle.adopt`, or
 * by its natural key. An id that another address holds is never taken; with `moves`, one that only an
 * address holds which is no longer configured is: the resource got another address.
 */
export async function identify(
  desired: readonly DesiredResource[],
  state: State | undefined,
  reader: Reader,
  moves = true,
): Promise<Identified> {
  const wanted = new Set(desired.map(({ address }) => address));
  const claimed = claimsOf(desired, state, moves ? wanted : undefined);
  const identities: Identity[] = [];
  const ambiguities: Ambiguity[] = [];
  for (const resource of desired) {
    const result = await identifyOne(resource, state?.resources[resource.address], claimed, reader);
    if ('ids' in result) ambiguities.push(result);
    else identities.push(result);
  }
  const taken = new Map(
    identities.flatMap(({ kind, found, address }) =>
      found ? [[`${kind.name} ${found.id}`, address] as const] : [],
    ),
  );
  for (const [address, recorded] of Object.entries(state?.resources ?? {})) {
    if (wanted.has(address)) continue;
    const movedTo = taken.get(`${recorded.kind} ${recorded.id}`);
    identities.push(await identifyOrphan(address, recorded, movedTo, reader));
  }
  return { identities, ambiguities };
}

/**
 * Who holds an id: the address in the state or, where none does, the first that says it takes it over.
 * Where `wanted` is given, an address that is no longer configured holds nothing.
 */
function claimsOf(
  desired: readonly DesiredResource[],
  state: State | undefined,
  wanted: ReadonlySet<Address> | undefined,
): ReadonlyMap<string, Address> {
  const claimed = new Map<string, Address>();
  for (const [address, { kind, id }] of Object.entries(state?.resources ?? {})) {
    if (wanted?.has(address) !== false) claimed.set(`${kind} ${id}`, address);
  }
  for (const { address, kind, lifecycle } of desired) {
    const claim = `${kind} ${lifecycle.adopt}`;
    if (lifecycle.adopt !== undefined && !claimed.has(claim)) claimed.set(claim, address);
  }
  return claimed;
}

async function identifyOne(
  desired: DesiredResource,
  recorded: ResourceState | undefined,
  claimed: ReadonlyMap<string, Address>,
  reader: Reader,
): Promise<Identity | Ambiguity> {
  const { address } = desired;
  const kind = kindNamed(desired.kind);
  const scope = scopeOf(kind, desired.document);
  const common = { address, kind, desired, recorded };
  const listed = await reader.list(kind, scope);
  const byId = (id: string) => listed.find((item) => item.id === id);
  const isFree = (id: string) => (claimed.get(`${kind.name} ${id}`) ?? address) === address;

  if (recorded !== undefined) {
    const found = byId(recorded.id) ?? (await findElsewhere(kind, recorded, scope, reader));
    if (found) return { ...common, scope: found.scope, found, by: 'state', missing: undefined };
  }
  const missing = recorded?.id;
  const { adopt } = desired.lifecycle;
  if (adopt !== undefined && isFree(adopt)) {
    const found = byId(adopt);
    if (found) return { ...common, scope, found, by: 'adopt', missing };
  }
  const matches = matchesOf(kind, desired.document, scope, listed).filter(({ id }) => isFree(id));
  const [first, ...others] = matches;
  if (first === undefined) return { ...common, scope, found: undefined, by: 'nothing', missing };
  if (others.length > 0 && kind.tie === 'error') {
    const key = naturalKeyOf(kind, desired.document) ?? '';
    return { address, key, ids: matches.map(({ id }) => id) };
  }
  return { ...common, scope, found: newest(matches) ?? first, by: 'natural_key', missing };
}

/** A resource that the configuration no longer has, found by the id in the state. */
async function identifyOrphan(
  address: Address,
  recorded: ResourceState,
  movedTo: Address | undefined,
  reader: Reader,
): Promise<Identity> {
  const kind = kindNamed(recorded.kind);
  const listed = movedTo === undefined ? await reader.list(kind, recorded.scope) : [];
  const found = listed.find(({ id }) => id === recorded.id);
  return {
    address,
    kind,
    scope: recorded.scope,
    desired: undefined,
    recorded,
    found,
    by: found ? 'state' : 'nothing',
    missing: found || movedTo ? undefined : recorded.id,
    movedTo,
  };
}

/** Looks where the state last saw a resource, for those whose scope the configuration changed. */
async function findElsewhere(kind: Kind, recorded: ResourceState, scope: Scope, reader: Reader) {
  const isSame = kind.scope.every((field) => recorded.scope[field] === scope[field]);
  if (isSame) return undefined;
  const listed = await reader.list(kind, recorded.scope);
  return listed.find(({ id }) => id === recorded.id);
}

/** The values of a kind's scope fields in a document. */
export function scopeOf(kind: Kind, document: ValueObject): Scope {
  return Object.fromEntries(kind.scope.map((field) => [field, String(document[field] ?? '')]));
}

/** The text that names a resource among its kind; undefined where it has none of the fields. */
export function naturalKeyOf(kind: Kind, document: ValueObject): string | undefined {
  const fields = kind.naturalKey.find((names) =>
    names.every((name) => typeof document[name] === 'string' && document[name] !== ''),
  );
  return fields && JSON.stringify(fields.map((name) => [name, document[name]]));
}

function matchesOf(
  kind: Kind,
  document: ValueObject,
  scope: Scope,
  listed: readonly ListedResource[],
): readonly ListedResource[] {
  const key = naturalKeyOf(kind, document);
  if (key === undefined) return [];
  return listed.filter(({ record }) => recordKeyOf(kind, record, scope) === key);
}

/** The natural key of a record as a list gives it, which may leave out what the scope says. */
export function recordKeyOf(kind: Kind, record: JsonObject, scope: Scope): string | undefined {
  return naturalKeyOf(kind, kind.document({ ...scope, ...record }, scope));
}

function newest(items: readonly ListedResource[]): ListedResource | undefined {
  const created = ({ record }: ListedResource) => Date.parse(String(record.created_at)) || 0;
  return [...items].sort((a, b) => created(b) - created(a))[0];
}
