import { resolve } from 'node:path';
import { nameInWords } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { computeDigest } from '../../core/digest.ts';
import { CallsheetError, formatFirst } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { getOwn, isUuid, plainId } from '../../core/value.ts';
import { buildFeaturesCall } from '../../kinds/catalogues.ts';
import { kindNamed } from '../../kinds/index.ts';
import { getScope } from '../../plan/natural-key.ts';
import type { ListedResource, Reader } from '../../plan/reader.ts';
import type { Client } from '../../platform/client.ts';
import { ApiError, describeApiError } from '../../platform/errors.ts';
import type { Stack } from '../../stack/index.ts';
import type { State } from '../../state/model.ts';
import { findPlace, type Held, type Holding, type IdMap, mappedId, scopeAt } from './held.ts';

/** Flags that say what goes where. */
export type PlaceFlags = {
  /** Organizations of the snapshot that are restored, by name or id; all of them unless given. */
  readonly organization?: readonly string[];
  /** `OLD=NEW`, by name or id. */
  readonly mapOrganization?: readonly string[];
  /** `OLD=NEW`, by id. */
  readonly mapKnowledgeBase?: readonly string[];
};

/** The chosen resources of a snapshot, and the places that they are restored to. */
export type Choice = {
  readonly chosen: readonly Held[];
  /** Resources that are left where they are, as only some organizations were asked for. */
  readonly others: number;
  readonly places: IdMap;
  /** Organizations that resources go to, with those that they come from. */
  readonly targets: ReadonlyMap<string, string>;
};

/** Names that stand for organizations: of the stack, and of the account that is restored to. */
type Names = {
  readonly stack: Readonly<Record<string, string>>;
  /** Names in the target by id, where anything tells; asked only when a name needs it. */
  readonly target: () => Promise<ReadonlyMap<string, string>>;
};

export async function chooseFrom(
  holding: Holding,
  flags: PlaceFlags,
  names: Names,
): Promise<Choice> {
  const places = new Map<string, string>();
  for (const [old, now] of pairsIn('--map-organization', flags.mapOrganization ?? [])) {
    setOnce(places, oldOrganization(old, holding, names), await newOrganization(now, names), old);
  }
  const bases = new Set(holding.all.map((held) => held.scope.knowledge_base_id));
  const mapped = [...places.keys()];
  for (const [old, now] of pairsIn('--map-knowledge-base', flags.mapKnowledgeBase ?? [])) {
    if (!bases.has(old)) throw unknown('--map-knowledge-base', old, 'knowledge base', [...bases]);
    setOnce(places, old, now, old);
  }
  const named = (flags.organization ?? []).map((name) => oldOrganization(name, holding, names));
  const wanted = new Set([...mapped, ...named]);
  const owned = holding.all.filter((held) => isWanted(held, wanted, places));
  const chosen = wanted.size === 0 ? holding.all : [...owned, ...referredBy(owned, holding.all)];
  const targets = new Map(
    chosen.flatMap((held) => {
      const owner = held.organization;
      return owner === undefined ? [] : [[places.get(owner) ?? owner, owner] as const];
    }),
  );
  return { chosen, others: holding.all.length - chosen.length, places, targets };
}

/** True for resources of a chosen organization. One without an organization follows the mapping of its place. */
function isWanted(held: Held, wanted: ReadonlySet<string>, places: IdMap): boolean {
  const owner = held.organization;
  if (owner !== undefined) return wanted.has(owner);
  const place = findPlace(held);
  return place !== undefined && places.has(place);
}

/** Finds the resources of the account as a whole that chosen resources refer to: they are restored, too. */
function referredBy(owned: readonly Held[], all: readonly Held[]): readonly Held[] {
  const referred = new Set(owned.flatMap(({ references }) => references));
  return all.filter(
    (held) => findPlace(held) === undefined && referred.has(`${held.kind} ${held.id}`),
  );
}

function pairsIn(flag: string, given: readonly string[]): readonly (readonly [string, string])[] {
  return given.map((text) => {
    const at = text.indexOf('=');
    const [old, now] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    if (at > 0 && old !== '' && now !== '') return [old, now];
    throw new CallsheetError('usage', `${flag} ${text} is not of the form OLD=NEW`);
  });
}

function setOnce(places: Map<string, string>, old: string, now: string, given: string): void {
  const known = places.get(old);
  if (known !== undefined && known !== now) {
    throw new CallsheetError('usage', `${given} is mapped twice, to ${known} and to ${now}`);
  }
  places.set(old, now);
}

/** An organization of the snapshot: by id, by the name that it had, or by the name that the stack gives it. */
function oldOrganization(given: string, { organizations }: Holding, names: Names): string {
  const id = [given, plainId(given)].find((one) => organizations.has(one));
  if (id !== undefined) return id;
  const found = [...organizations].filter(([, name]) => name === given).map(([id]) => id);
  if (found.length > 1) throw several(given, found);
  const known = found[0] ?? getOwn(names.stack, given);
  if (known !== undefined && organizations.has(known)) return known;
  const all = [...organizations].flatMap(([id, name]) => [name ?? id]);
  throw unknown('the snapshot', given, 'organization', all);
}

async function newOrganization(given: string, names: Names): Promise<string> {
  const known = getOwn(names.stack, given);
  if (known !== undefined) return known;
  if (isUuid(given)) return plainId(given);
  const target = await names.target();
  const found = [...target].filter(([, name]) => name === given).map(([id]) => id);
  if (found.length > 1) throw several(given, found);
  if (found[0] !== undefined) return found[0];
  throw unknown('the target', given, 'organization', [...new Set(target.values())]);
}

function several(given: string, ids: readonly string[]): CallsheetError {
  return new CallsheetError('usage', `several organizations are called ${given}`, {
    hint: `Give an id instead: ${ids.join(', ')}.`,
  });
}

function unknown(
  where: string,
  given: string,
  what: string,
  all: readonly (string | undefined)[],
): CallsheetError {
  const names = all.filter((one) => one !== undefined);
  const access =
    names.length === 0
      ? 'The platform shows no names to this key: give the id.'
      : `The key has access to: ${formatFirst(names, 10)}. An id can be given as well.`;
  const message = where.startsWith('--')
    ? `${where}: the snapshot has no ${what} ${given}`
    : `${where} has no ${what} ${given}`;
  return new CallsheetError('usage', message, { hint: didYouMean(given, names, access) });
}

/**
 * Returns the file in which a restoration records what it made: the file that was named, or one beside the stack's
 * state, called after the snapshot, the account and the mappings, so that the same command finds it again. It is never
 * the state of a stack: a restored resource is owned as a whole, and a stack owns only what its configuration says.
 */
export function placeState(
  given: string | undefined,
  { header }: Holding,
  account: string,
  places: IdMap,
  stack: Stack | undefined,
): string {
  if (given !== undefined) {
    const file = resolve(given);
    if (stack === undefined || !('file' in stack.state) || file !== stack.state.file) return file;
    throw new CallsheetError('usage', `--state ${given} is the state of the stack`, {
      hint: 'A restore keeps a state of its own. The next plan of the stack finds the new resources by their names.',
    });
  }
  const short = (id: string) => id.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 8);
  const mapped = [...places].sort(([a], [b]) => (a < b ? -1 : 1));
  const where =
    mapped.length === 0 ? '' : `-${short(computeDigest(mapped).replace('sha256:', ''))}`;
  const name = `restore-${short(header.id)}-${short(account)}${where}.json`;
  return resolve(stack?.dir ?? '.', '.callsheet', name);
}

/** A state that was made by restoring into other places would have its resources moved from there. */
export function checkPlaces(
  file: string,
  { resources }: State,
  desired: readonly DesiredResource[],
): void {
  for (const { address, kind, document } of desired) {
    const recorded = getOwn(resources, address);
    if (recorded === undefined) continue;
    const wanted = getScope(kindNamed(kind), document);
    const field = Object.keys(wanted).find((name) => recorded.scope[name] !== wanted[name]);
    if (field === undefined) continue;
    throw new CallsheetError(
      'usage',
      `the state ${file} is of another restoration: ${address} was made in ${field} ${recorded.scope[field]}, and this restore would create it in ${wanted[field]}`,
      { hint: 'Name another file with --state, or leave it out.' },
    );
  }
}

export function organizationNames(
  { organizations }: Holding,
  places: ReadonlyMap<string, string>,
  stack: Stack | undefined,
): Readonly<Record<string, string>> {
  const named: Record<string, string> = {};
  for (const [id, name] of organizations) if (name !== null && !places.has(id)) named[id] = name;
  for (const [name, id] of Object.entries(stack?.organizations ?? {}))
    if (getOwn(named, id) === undefined) named[id] = name;
  return named;
}

/**
 * Refuses a missing organization: the platform has no endpoint that creates one, so the user has to say where its
 * resources go.
 */
export async function checkOrganizations(
  { targets, places }: Choice,
  client: Pick<Client, 'call'>,
  { organizations, header: { platform } }: Pick<Holding, 'organizations' | 'header'>,
  account: string,
): Promise<void> {
  const missing: string[] = [];
  await Promise.all(
    [...targets].map(async ([id, old]) => {
      const why = await client.call(buildFeaturesCall(id)).then(
        () => undefined,
        (error: unknown) => {
          if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403))
            throw error;
          return describeApiError(error);
        },
      );
      if (why === undefined) return;
      const name = organizations.get(old) ?? null;
      const whose = `${name === null ? old : `${name} (${old})`}`;
      missing.push(places.has(old) ? `${whose} is mapped to ${id}: ${why}` : `${whose}: ${why}`);
    }),
  );
  if (missing.length === 0) return;
  const lines = missing.sort().map((one) => `  ${one}`);
  const wrongKey =
    account === platform.account_id
      ? ''
      : `The snapshot is of account ${platform.account_id}, and the key belongs to account ${account}: if that is not meant, set the other key. `;
  throw new CallsheetError(
    'usage',
    `organizations of the snapshot do not exist, or this key has no access to them:\n${lines.join('\n')}`,
    {
      hint: `${wrongKey}Create them in the dashboard and name them with --map-organization OLD=NEW, or choose others with --organization.`,
    },
  );
}

/** Why nothing can be put into a place, by the id that it has in the snapshot. */
export async function findObstacles(
  { chosen, places }: Choice,
  reader: Reader,
): Promise<ReadonlyMap<string, string>> {
  const obstacles = new Map<string, string>();
  const seen = new Set<string>();
  await Promise.all(
    chosen.map(async (held) => {
      const place = findPlace(held);
      if (place === undefined || seen.has(place) || place === held.organization) return;
      seen.add(place);
      const [field = 'place'] = kindNamed(held.kind).scope;
      const what = nameInWords(field);
      const flag = `--map-${field.replace(/_id$/, '').replaceAll('_', '-')} ${place}=NEW`;
      const owner = held.organization;
      if (owner !== undefined && mappedId(places, owner) !== owner && !places.has(place)) {
        const why = `its ${what} belongs to another organization; create one in the dashboard and name it with ${flag}`;
        obstacles.set(place, why);
        return;
      }
      const why = await findRefusal(held, places, reader);
      if (why === undefined) return;
      if (places.has(place)) {
        throw new CallsheetError(
          'usage',
          `the ${what} ${places.get(place)}, which ${place} is mapped to, is not there: ${why}`,
          { hint: 'Check the id: the dashboard shows it.' },
        );
      }
      obstacles.set(
        place,
        `its ${what} ${place} is not there; create one in the dashboard and name it with ${flag}`,
      );
    }),
  );
  return obstacles;
}

async function findRefusal(held: Held, places: IdMap, reader: Reader): Promise<string | undefined> {
  const kind = kindNamed(held.kind);
  try {
    await reader.list(kind, scopeAt(held, places));
    return undefined;
  } catch (error) {
    const cause = error instanceof CallsheetError ? error.cause : undefined;
    if (cause instanceof ApiError && (cause.status === 403 || cause.status === 404))
      return describeApiError(cause);
    throw error;
  }
}

/** Finds resources that are not restored, in the places that are restored to. */
export async function findStrangers(
  { chosen, places }: Choice,
  obstacles: ReadonlyMap<string, string>,
  reader: Reader,
  isOurs: (kind: string, id: string) => boolean,
): Promise<readonly (ListedResource & { readonly kind: string })[]> {
  const lists = new Map<string, Held>();
  for (const held of chosen) {
    const place = findPlace(held);
    // Resources of the account as a whole are shared with organizations that were not chosen.
    if (place === undefined || obstacles.has(place)) continue;
    lists.set(`${held.kind} ${mappedId(places, place)}`, held);
  }
  const found = await Promise.all(
    [...lists.values()].map(async (held) => {
      const kind = kindNamed(held.kind);
      const items = (await reader.list(kind, scopeAt(held, places))) ?? [];
      return items
        .filter(({ id }) => !isOurs(held.kind, id))
        .map((item) => ({ ...item, kind: held.kind }));
    }),
  );
  return found.flat();
}
