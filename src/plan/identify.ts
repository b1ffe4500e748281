import { type Address, getKind, nameInWords } from '../core/address.ts';
import { commandSpan, quoted } from '../core/command-line.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { SourcePosition } from '../core/diagnostics.ts';
import { CallsheetError } from '../core/errors.ts';
import { isBefore, parseTime } from '../core/moment.ts';
import { isWithin, parsePaths } from '../core/path.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { findFilled, findText, inSeconds } from '../core/value.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { ResourceState, State } from '../state/model.ts';
import {
  findItem,
  getNaturalKey,
  getRecordedKey,
  getRecordKey,
  getScope,
  itemsNamed,
  listKnown,
  listScopes,
} from './natural-key.ts';
import type { ListedResource, LiveResource, Reader } from './reader.ts';
import { referredKinds, usesBy } from './references.ts';

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
  /** True if it was looked for in a list: a resource that is not in it does not exist. */
  readonly isListed: boolean;
  /** The id that the state holds but the platform does not. */
  readonly missing: string | undefined;
  /** The address that the state still has it under, where `moved` gave it this one. */
  readonly movedFrom?: Address | undefined;
  /** The address that the state still has it under, where it was found without it. */
  readonly knownAs?: Address | undefined;
  /** The other live resource that already has the name which the configuration gives this one. */
  readonly takenBy?: string | undefined;
  /** The address that stands for the one which has the name, where that is the stack's own. */
  readonly takenFrom?: Address | undefined;
  /** If this one does not exist, and names are unique: the live resource of another address that has its name. */
  readonly namesake?: { readonly id: string; readonly holder: Address } | undefined;
  /** Other live resources that have the name of one which has another name itself. */
  readonly rivals?: Rivals | undefined;
  /** True if the files name the id themselves: then the state's record of it need not fit. */
  readonly isNamedById?: boolean | undefined;
};

/** Live resources that have the name by which the state or the files know another one. */
type Rivals = {
  readonly name: string;
  readonly by: 'state' | 'files';
  readonly ids: readonly string[];
};

/**
 * Why the record of the state may be about another live resource than the one of its id. Others can write a state, so a
 * record is held against what its resource cannot have changed by itself:
 *
 * | type      | what does not fit                                                     | stands against |
 * |-----------|-----------------------------------------------------------------------|----------------|
 * | `rivals`  | it has another name, and another live resource has its recorded one, or the one that it would be given | every write |
 * | `created` | it was created at another time                                        | every write    |
 * | `unmade`  | it was not created while the run lasted that is said to have made it  | its deletion   |
 * | `scope`   | it is in another organization                                         | its deletion   |
 * | `renamed` | it has another name, and the record does not say when it was created  | its deletion   |
 */
export type Misfit =
  | { readonly type: 'rivals'; readonly live: string; readonly rivals: Rivals }
  | { readonly type: 'created'; readonly recorded: string; readonly live: string }
  | { readonly type: 'unmade'; readonly live: string }
  | {
      readonly type: 'scope';
      readonly field: string;
      readonly recorded: string;
      readonly live: string;
    }
  | { readonly type: 'renamed'; readonly recorded: string; readonly live: string };

/** Why it is unclear which live resource an address stands for. */
export type Ambiguity =
  | {
      readonly type: 'several';
      readonly address: Address;
      readonly candidates: readonly Candidate[];
      readonly position: SourcePosition | undefined;
    }
  /** `lifecycle.adopt` names what does not exist, or what another address holds. */
  | {
      readonly type: 'adopts_nothing';
      readonly address: Address;
      readonly id: string;
      readonly holder: Address | undefined;
    };

/** A live resource that an address may stand for, with what helps to tell it from the others. */
type Candidate = {
  readonly id: string;
  readonly created: string | undefined;
  readonly changed: string | undefined;
};

type Identified = {
  readonly identities: readonly Identity[];
  readonly ambiguities: readonly Ambiguity[];
};

/**
 * Finds each resource's live counterpart (DESIGN §4.2): by the id in the state, by `lifecycle.adopt`, or
 * by its natural key. An id that another address holds is never taken; with `moves`, one that only an
 * address holds which is no longer configured is: the resource got another address. Without `moves`, as
 * for a rollback, `lifecycle.adopt` is what a resource was once, and may be gone. `priorAddresses` gives the
 * addresses that one had before, as `moved` says, the latest first.
 */
export async function identify(
  desired: readonly DesiredResource[],
  state: State | undefined,
  reader: Reader,
  { moves = true, priorAddresses = () => [], onIdentified = () => {} }: IdentifyOptions = {},
): Promise<Identified> {
  const wanted = new Set(desired.map(({ address }) => address));
  const known = state?.resources ?? {};
  /** Who took over an address of before. */
  const takers = new Map<Address, Address>();
  const findPrior = (address: Address): Address | undefined =>
    known[address] === undefined
      ? priorAddresses(address).find(
          (prior) => known[prior] !== undefined && !wanted.has(prior) && !takers.has(prior),
        )
      : undefined;
  // Known of all before any is looked for: what was moved may stand under a name that another one is to have.
  const priors = new Map<Address, Address>();
  for (const { address } of desired) {
    const prior = findPrior(address);
    if (prior === undefined) continue;
    takers.set(prior, address);
    priors.set(address, prior);
  }
  const search: Search = {
    claimed: indexClaims(desired, state, takers, moves ? wanted : undefined),
    reader,
    discover: createDiscovery(desired, state, reader),
    isAdoptionStrict: moves,
  };
  const identities: Identity[] = [];
  const ambiguities: Ambiguity[] = [];
  const managed = new Set(Object.values(known).map((one) => `${one.kind} ${one.id}`));
  const isHeld = (kind: Kind, id: string) =>
    managed.has(`${kind.name} ${id}`) || search.claimed.has(`${kind.name} ${id}`);
  const results = await Promise.all(
    desired.map(async (resource) => {
      const prior = priors.get(resource.address);
      const result = await identifyOne(resource, known[prior ?? resource.address], search);
      if ('type' in result) return result;
      const own = await withRivals(result, { reader, isHeld, isConfigured: moves });
      // A rollback takes names back from the stack's own resources, too, where it does not change those.
      const findHolder = (kind: Kind, id: string) => search.claimed.get(`${kind.name} ${id}`);
      const named = await withHolder(own, {
        reader,
        isHeld: moves ? isHeld : () => false,
        findHolder,
      });
      const identity = prior === undefined ? named : { ...named, movedFrom: prior };
      onIdentified(identity);
      return identity;
    }),
  );
  for (const result of results)
    if ('type' in result) ambiguities.push(result);
    else identities.push(result);
  const found = new Map(
    identities.flatMap((identity, index) =>
      identity.found ? [[`${identity.kind.name} ${identity.found.id}`, index] as const] : [],
    ),
  );
  const orphans: (readonly [Address, ResourceState])[] = [];
  for (const [address, recorded] of Object.entries(known)) {
    if (wanted.has(address)) continue;
    const taker = found.get(`${recorded.kind} ${recorded.id}`);
    const identity = taker === undefined ? undefined : identities[taker];
    // Once another address stands for the resource, the state lets go of this one by itself.
    if (taker === undefined || identity === undefined) orphans.push([address, recorded]);
    else if (identity.by !== 'state') identities[taker] = renamed(identity, recorded, address);
  }
  const left = await Promise.all(
    orphans.map(async ([address, recorded]) =>
      withRivals(await identifyOrphan(address, recorded, reader), {
        reader,
        isHeld,
        isConfigured: false,
      }),
    ),
  );
  return { identities: [...identities, ...left], ambiguities };
}

/** A resource that was found at another address than the state has it at: what is known of it moves along. */
function renamed(identity: Identity, recorded: ResourceState, from: Address): Identity {
  // The resource that this address stood for is gone, and is reported as gone.
  if (identity.recorded !== undefined) return { ...identity, knownAs: from };
  return { ...identity, by: 'state', recorded, movedFrom: from };
}

export type IdentifyOptions = {
  readonly moves?: boolean;
  readonly priorAddresses?: ((address: Address) => readonly Address[]) | undefined;
  /** Called with each configured resource as soon as it is identified, while lists of others are still being read. */
  readonly onIdentified?: (identity: Identity) => void;
};

/**
 * Live resources that nothing here stands for and that have the natural key of one that is managed, by its address: a run
 * that lost its lock may have made them, or they are older versions (`tie`) that are ready and so still answer. They are in
 * the lists that were read to find it.
 */
export async function findNamesakes(
  identities: readonly Identity[],
  reader: Reader,
): Promise<ReadonlyMap<Address, readonly string[]>> {
  const managed = new Set(identities.map(({ kind, found }) => `${kind.name} ${found?.id}`));
  const strangers = new WeakMap<readonly ListedResource[], readonly ListedResource[]>();
  const namesakes = new Map<Address, readonly string[]>();
  for (const { address, kind, scope, found, isListed } of identities) {
    if (found === undefined || !isListed) continue;
    const listed = (await listKnown(reader, kind, scope)) ?? [];
    const others =
      strangers.get(listed) ?? listed.filter(({ id }) => !managed.has(`${kind.name} ${id}`));
    strangers.set(listed, others);
    // Most lists have no unmanaged resources, and computing keys takes time in a large fleet.
    const key = others.length === 0 ? undefined : getRecordKey(kind, found.record, scope);
    const isReady = ({ record }: ListedResource) =>
      kind.tie === 'error' || kind.unready?.(record) === undefined;
    const named = (key === undefined ? [] : itemsNamed(others, kind, scope, key)).filter(isReady);
    if (named.length > 0)
      namesakes.set(
        address,
        named.map(({ id }) => id),
      );
  }
  return namesakes;
}

/** A time, ISO 8601. */
export type Span = { readonly from: string; readonly to: string };

/** Clocks may differ by as much: what is older than a request by more was there before it. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** True if a moment lies in a span, as far as clocks can tell. */
function isWithinSpan(at: string, { from, to }: Span): boolean {
  return !isBefore(at, from, -CLOCK_SKEW_MS) && !isBefore(to, at, -CLOCK_SKEW_MS);
}

/**
 * Returns how the state's record does not fit the live resource of its id; undefined if it is about that resource.
 * `ran`: the span of the run that is said to have made it.
 */
export function findMisfit(
  { kind, by, recorded, found, rivals, isNamedById, desired }: Identity,
  { record }: Pick<LiveResource, 'record'>,
  ran?: Span,
): Misfit | undefined {
  if (by !== 'state' || recorded === undefined || found === undefined || isNamedById)
    return undefined;
  const live = findFilled(record.name) ?? found.id;
  if (rivals !== undefined) return { type: 'rivals', live, rivals };
  const { created_at: known, scope, name } = recorded;
  const created = findText(record.created_at);
  const isDated = known !== undefined && created !== undefined;
  if (isDated && Math.abs(parseTime(known) - parseTime(created)) >= SAME_MOMENT_MS)
    return { type: 'created', recorded: known, live: created };
  if (ran !== undefined && created !== undefined && !isWithinSpan(created, ran))
    return { type: 'unmade', live: created };
  const field = kind.scope.find((one) => {
    const owner = findText(record[one]);
    return owner !== undefined && owner !== scope[one];
  });
  if (field !== undefined) {
    const owner = String(record[field]);
    return { type: 'scope', field, recorded: scope[field] ?? '', live: owner };
  }
  const key = getRecordKey(kind, record, found.scope);
  const names = [getRecordedKey(kind, recorded), desired && getNaturalKey(kind, desired.document)];
  const isKnown = isDated || kind.tie !== 'error' || key === undefined || names.includes(key);
  return isKnown ? undefined : { type: 'renamed', recorded: name, live };
}

/** Two ways of telling one time, as in whole seconds, are no further apart. */
const SAME_MOMENT_MS = 1000;

/**
 * Adds the live resources that have the name of an identity where the one of its id does not. Of a name that the files
 * give it (`isConfigured`), only unmanaged ones count: a managed one may give its name up in the same plan.
 */
async function withRivals(
  identity: Identity,
  {
    reader,
    isHeld,
    isConfigured,
  }: {
    readonly reader: Reader;
    readonly isHeld: (kind: Kind, id: string) => boolean;
    readonly isConfigured: boolean;
  },
): Promise<Identity> {
  const { kind, by, found, recorded, desired } = identity;
  if (by !== 'state' || found === undefined || recorded === undefined) return identity;
  if (isConfigured && desired?.lifecycle.adopt === found.id)
    return { ...identity, isNamedById: true };
  if (kind.tie !== 'error') return identity;
  const own = getRecordKey(kind, found.record, found.scope);
  const wanted = desired && getNaturalKey(kind, desired.document);
  if (own === undefined || own === wanted) return identity;
  const listed = (await listKnown(reader, kind, found.scope)) ?? [];
  const named = (key: string | undefined) =>
    key === undefined || key === own
      ? []
      : itemsNamed(listed, kind, found.scope, key).filter(({ id }) => id !== found.id);
  const recordedAs = named(getRecordedKey(kind, recorded));
  if (recordedAs.length > 0)
    return { ...identity, rivals: asRivals(recorded.name, 'state', recordedAs) };
  const isLeft = desired === undefined || isNameIgnored(kind, desired);
  const free = isConfigured && !isLeft ? named(wanted).filter(({ id }) => !isHeld(kind, id)) : [];
  if (free.length === 0) return identity;
  return { ...identity, rivals: asRivals(String(desired?.document.name), 'files', free) };
}

/** The same with what has the name already that the files give it, where the platform has each name once. */
async function withHolder(
  identity: Identity,
  {
    reader,
    isHeld,
    findHolder,
  }: {
    readonly reader: Reader;
    readonly isHeld: (kind: Kind, id: string) => boolean;
    readonly findHolder: (kind: Kind, id: string) => Address | undefined;
  },
): Promise<Identity> {
  const { kind, found, desired, takenBy } = identity;
  if (takenBy !== undefined || found === undefined || desired === undefined) return identity;
  if (!kind.refusesTwins || isNameIgnored(kind, desired)) return identity;
  const key = getNaturalKey(kind, desired.document);
  if (key === undefined || key === getRecordKey(kind, found.record, found.scope)) return identity;
  const scope = getScope(kind, desired.document);
  const listed = (await listKnown(reader, kind, scope)) ?? [];
  const holder = itemsNamed(listed, kind, scope, key).find(
    ({ id }) => id !== found.id && !isHeld(kind, id),
  );
  if (holder === undefined) return identity;
  return { ...identity, takenBy: holder.id, takenFrom: findHolder(kind, holder.id) };
}

function asRivals(name: string, by: Rivals['by'], items: readonly ListedResource[]): Rivals {
  return { name, by, ids: items.map(({ id }) => id) };
}

/** True if the files leave the name of the resource to the dashboard. */
function isNameIgnored({ naturalKey }: Kind, { lifecycle }: DesiredResource): boolean {
  const ignore = parsePaths(lifecycle.ignore);
  return naturalKey.flat().some((field) => isWithin([field], ignore));
}

/**
 * The live resource of an id within a scope: in its list or, where there is no list or it is not in that, on its own. A
 * list may leave out what is there.
 */
export async function findById(
  kind: Kind,
  id: string,
  scope: Scope,
  reader: Reader,
): Promise<ListedResource | undefined> {
  const listed = await listKnown(reader, kind, scope);
  if (listed === undefined) return lookUp(kind, { id, scope }, reader);
  const found = findItem(listed, id) ?? (await lookUpUnlisted(kind, { id, scope }, reader));
  const isWithin = kind.scope.every((field) => found?.scope[field] === scope[field]);
  return isWithin ? found : undefined;
}

/** Reads a resource by its id that a list lacks, with the scope that it says it is in. */
async function lookUpUnlisted(
  kind: Kind,
  { id, scope }: { readonly id: string; readonly scope: Scope },
  reader: Pick<Reader, 'list' | 'read'>,
): Promise<ListedResource | undefined> {
  if (kind.get === undefined) return undefined;
  const found = await lookUp(kind, { id, scope, isUnlisted: true }, reader);
  if (found === undefined) return undefined;
  const entries = kind.scope.map((field) => [field, findText(found.record[field]) ?? scope[field]]);
  return { ...found, scope: Object.fromEntries(entries) };
}

export function ambiguousIdentityError(
  ambiguities: readonly Ambiguity[],
  {
    purpose,
    environment,
  }: { readonly purpose: PlanDocument['purpose']; readonly environment?: string | undefined },
): CallsheetError {
  const isSeveral = ambiguities.some(({ type }) => type === 'several');
  const lines = ambiguities.map((one) => ambiguityMessage(one, purpose, environment));
  return new CallsheetError('config', lines.join('\n'), {
    hint: isSeveral
      ? purpose === 'restore'
        ? 'Name the state of the restore that created them with --state, rename the duplicates in the dashboard, or restore the other organizations with --organization.'
        : 'Run the command of the right one, set its id in lifecycle.adopt, or rename the others in the dashboard.'
      : 'Correct the id in lifecycle.adopt, or remove it to create a new resource.',
  });
}

/** The inputs of a search for a resource. */
type Search = {
  /** Who holds an id, by kind and id. */
  readonly claimed: ReadonlyMap<string, Address>;
  readonly reader: Reader;
  readonly discover: Discover;
  readonly isAdoptionStrict: boolean;
};

/**
 * Who holds an id: the address in the state, the one that took that over (`takers`) or, where there is none, the first
 * that says it takes it over. Where `wanted` is given, an address that is no longer configured holds nothing.
 */
function indexClaims(
  desired: readonly DesiredResource[],
  state: State | undefined,
  takers: ReadonlyMap<Address, Address>,
  wanted: ReadonlySet<Address> | undefined,
): ReadonlyMap<string, Address> {
  const claimed = new Map<string, Address>();
  for (const [address, { kind, id }] of Object.entries(state?.resources ?? {})) {
    const taker = takers.get(address);
    if (taker !== undefined || wanted?.has(address) !== false)
      claimed.set(`${kind} ${id}`, taker ?? address);
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
  search: Search,
): Promise<Identity | Ambiguity> {
  const { reader, claimed, discover } = search;
  const { address, lifecycle } = desired;
  const kind = kindNamed(desired.kind);
  const scope = getScope(kind, desired.document);
  const listed = await listKnown(reader, kind, scope);
  const common = { address, kind, desired, recorded, isListed: listed !== undefined };
  const findHolder = (id: string) => claimed.get(`${kind.name} ${id}`) ?? address;

  const { adopt } = lifecycle;
  // A rollback puts back the resource that was there, even if another took its place and it stayed.
  if (!search.isAdoptionStrict && adopt !== undefined && adopt !== recorded?.id) {
    const found = findHolder(adopt) === address && (await findById(kind, adopt, scope, reader));
    if (found) return { ...common, scope, found, by: 'adopt', missing: undefined };
  }
  if (recorded !== undefined) {
    const found = await findRecorded(kind, asKnown(recorded), reader, listed);
    if (found) {
      const isHeld = (id: string) => claimed.has(`${kind.name} ${id}`);
      const takenBy = findTaker(desired, found, listed ?? [], isHeld);
      return { ...common, scope: found.scope, found, by: 'state', missing: undefined, takenBy };
    }
  }
  const missing = recorded?.id;
  // A resource that was adopted once and is gone is missing like any other.
  if (search.isAdoptionStrict && adopt !== undefined && adopt !== missing) {
    const holder = findHolder(adopt);
    const found = holder === address ? await findById(kind, adopt, scope, reader) : undefined;
    if (found) return { ...common, scope, found, by: 'adopt', missing };
    const other = holder === address ? undefined : holder;
    return { type: 'adopts_nothing', address, id: adopt, holder: other };
  }
  const candidates = listed ?? (await discover(kind, scope));
  const key = getNaturalKey(kind, desired.document);
  const named = key === undefined ? [] : itemsNamed(candidates, kind, scope, key);
  const matches = named.filter(({ id }) => findHolder(id) === address);
  const [first, ...others] = matches;
  if (first === undefined) {
    const [other] = kind.tie === 'error' ? named : [];
    const namesake = other && { id: other.id, holder: findHolder(other.id) };
    return { ...common, scope, found: undefined, by: 'nothing', missing, namesake };
  }
  if (others.length > 0 && kind.tie === 'error') {
    const candidates = matches.map(({ id, record }) => ({
      id,
      created: findText(record.created_at),
      changed: findText(record.updated_at),
    }));
    return { type: 'several', address, candidates, position: desired.position };
  }
  return { ...common, scope, found: newest(kind, matches) ?? first, by: 'natural_key', missing };
}

/**
 * Finds another resource with the name, if a resource is to be made again as in another organization: two would have
 * that name.
 */
function findTaker(
  { kind: name, document }: DesiredResource,
  found: ListedResource,
  listed: readonly ListedResource[],
  isHeld: (id: string) => boolean,
): string | undefined {
  const kind = kindNamed(name);
  const scope = getScope(kind, document);
  if (kind.scope.every((field) => scope[field] === found.scope[field])) return undefined;
  const key = getNaturalKey(kind, document);
  const named = key === undefined ? [] : itemsNamed(listed, kind, scope, key);
  return named.find(({ id }) => id !== found.id && !isHeld(id))?.id;
}

/** A resource that the configuration no longer has, found by the id in the state. */
async function identifyOrphan(
  address: Address,
  recorded: ResourceState,
  reader: Reader,
): Promise<Identity> {
  const kind = kindNamed(recorded.kind);
  const listed = await listKnown(reader, kind, recorded.scope);
  const found = await findRecorded(kind, asKnown(recorded), reader, listed);
  return {
    address,
    kind,
    scope: recorded.scope,
    desired: undefined,
    recorded,
    found,
    by: found ? 'state' : 'nothing',
    isListed: true,
    missing: found ? undefined : recorded.id,
  };
}

/** A resource by its id, and where it was last seen. */
type KnownResource = {
  readonly id: string;
  readonly scope: Scope;
  /** True if it was never read, so that a 404 of its own says nothing about it. */
  readonly isUnread: boolean;
};

export function asKnown({
  id,
  scope,
  pin,
}: Pick<ResourceState, 'id' | 'scope' | 'pin'>): KnownResource {
  return { id, scope, isUnread: pin === null };
}

/**
 * The live resource of the id in the state: in the list where it is looked for, or where the state last saw it, for
 * those whose scope the configuration changed. Before it is taken for deleted it is asked for by its id.
 */
export async function findRecorded(
  kind: Kind,
  { id, scope, isUnread }: KnownResource,
  reader: Pick<Reader, 'list' | 'read'>,
  listed: readonly ListedResource[] | undefined,
): Promise<ListedResource | undefined> {
  if (listed === undefined) return lookUp(kind, { id, scope, isUnread }, reader);
  const found = findItem(listed, id);
  if (found !== undefined) return found;
  const elsewhere = await listKnown(reader, kind, scope);
  return (elsewhere && findItem(elsewhere, id)) ?? lookUpUnlisted(kind, { id, scope }, reader);
}

/** The newest of some versions; of those of one time one that is all there. */
function newest({ unready }: Kind, items: readonly ListedResource[]): ListedResource | undefined {
  const created = ({ record }: ListedResource) => parseTime(findText(record.created_at)) || 0;
  const lacks = ({ record }: ListedResource) => Number(unready?.(record) !== undefined);
  return [...items].sort((a, b) => created(b) - created(a) || lacks(a) - lacks(b))[0];
}

/** Resources of a kind that the platform cannot be asked to list, as far as they can be known. */
type Discover = (kind: Kind, scope: Scope) => Promise<readonly ListedResource[]>;

/**
 * Without a list, ids come from the state and from the resources that refer to them: agents hold the ids
 * of their retry policies (DESIGN §9). Each is then read on its own.
 */
export function createDiscovery(
  desired: readonly DesiredResource[],
  state: State | undefined,
  reader: Reader,
): Discover {
  const known = new Map<string, Promise<readonly string[]>>();

  async function readIds(kind: Kind): Promise<readonly string[]> {
    const recorded = Object.values(state?.resources ?? {}).filter((one) => one.kind === kind.name);
    const referring = kinds.filter(({ schema }) => referredKinds(schema).has(kind.name));
    const referred = await Promise.all(
      referring.map((other) => usesBy(other, listScopes(other, desired, state), reader)),
    );
    const uses = referred.flat().filter(({ to }) => to.kind === kind.name);
    return [...new Set([...recorded.map(({ id }) => id), ...uses.map(({ to }) => to.id)])];
  }

  return async (kind, scope) => {
    const ids = known.get(kind.name) ?? readIds(kind);
    known.set(kind.name, ids);
    const found = await Promise.all((await ids).map((id) => lookUp(kind, { id, scope }, reader)));
    return found.filter((one) => one !== undefined);
  };
}

/** A resource by its id alone. What cannot be read is taken to exist. */
async function lookUp(
  kind: Kind,
  at: Parameters<Reader['read']>[1],
  reader: Pick<Reader, 'list' | 'read'>,
): Promise<ListedResource | undefined> {
  const live = await reader.read(kind, at, new Set());
  return live && { id: live.id, scope: live.scope, record: live.record };
}

/** Lists several resources on a line each; in a plan of the configuration the line is the command that chooses it. */
function ambiguityMessage(
  ambiguity: Ambiguity,
  purpose: PlanDocument['purpose'],
  env: string | undefined,
): string {
  const { address } = ambiguity;
  if (ambiguity.type === 'several') {
    const { candidates, position } = ambiguity;
    const where = position === undefined ? '' : ` (${position.file}:${position.line})`;
    const lines = candidates.map(({ id, created, changed }) => {
      const command = commandSpan(`import ${quoted(address)} ${id}`, { dir: '.', env });
      const times = [
        ...(created === undefined ? [] : [`created ${inSeconds(created)}`]),
        ...(changed === undefined ? [] : [`changed ${inSeconds(changed)}`]),
      ];
      const about = times.length === 0 ? '' : `   # ${times.join(', ')}`;
      return `  ${purpose === 'restore' ? id : command}${about}`;
    });
    return [
      `${address}${where}: ${candidates.length} live resources have this name:`,
      ...lines,
    ].join('\n');
  }
  const { id, holder } = ambiguity;
  return holder === undefined
    ? `${address}: lifecycle.adopt names ${id}, and the platform has no such ${kindNoun(address)}`
    : `${address}: lifecycle.adopt names ${id}, which already belongs to ${holder}`;
}

function kindNoun(address: Address): string {
  return nameInWords(getKind(address));
}
