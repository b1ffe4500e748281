import { CallsheetError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { ownOf } from '../../core/own.ts';
import { type Held, type Places, placeOf } from '../../restore/held.ts';
import type { Holding } from './holding.ts';

/** Flags that say what goes where. */
export type PlaceFlags = {
  /** Organizations of the snapshot that are restored, by name or id; all of them unless given. */
  readonly organization?: readonly string[];
  /** `OLD=NEW`, by name or id. */
  readonly mapOrganization?: readonly string[];
  /** `OLD=NEW`, by id. */
  readonly mapKnowledgeBase?: readonly string[];
};

/** What of a snapshot is restored, and where to. */
export type Choice = {
  readonly chosen: readonly Held[];
  /** Resources that are left where they are, as only some organizations were asked for. */
  readonly others: number;
  readonly places: Places;
  /** Organizations that resources go to, with those that they come from. */
  readonly targets: ReadonlyMap<string, string>;
};

/** Names that stand for organizations: of the stack, and of the account that is restored to. */
type Names = {
  readonly stack: Readonly<Record<string, string>>;
  /** Names → ids in the target, where anything tells; asked only when a name needs it. */
  readonly target: () => Promise<ReadonlyMap<string, readonly string[]>>;
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

/** What belongs to a chosen organization. What does not say whose it is goes where its place is mapped to. */
function isWanted(held: Held, wanted: ReadonlySet<string>, places: Places): boolean {
  const owner = held.organization;
  if (owner !== undefined) return wanted.has(owner);
  const place = placeOf(held);
  return place !== undefined && places.has(place);
}

/** What belongs to the account as a whole comes along where what is chosen refers to it. */
function referredBy(owned: readonly Held[], all: readonly Held[]): readonly Held[] {
  const referred = new Set(owned.flatMap(({ references }) => references));
  return all.filter(
    (held) => placeOf(held) === undefined && referred.has(`${held.kind} ${held.id}`),
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
  if (organizations.has(given)) return given;
  const found = [...organizations].filter(([, name]) => name === given).map(([id]) => id);
  if (found.length > 1) throw several(given, found);
  const known = found[0] ?? ownOf(names.stack, given);
  if (known !== undefined && organizations.has(known)) return known;
  const all = [...organizations].flatMap(([id, name]) => [name ?? id]);
  throw unknown('the snapshot', given, 'organization', all);
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function newOrganization(given: string, names: Names): Promise<string> {
  const known = ownOf(names.stack, given);
  if (known !== undefined) return known;
  if (ID.test(given)) return given;
  const target = await names.target();
  const found = target.get(given) ?? [];
  if (found.length > 1) throw several(given, found);
  if (found[0] !== undefined) return found[0];
  throw unknown('the target', given, 'organization', [...target.keys()]);
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
  const near = nearest(given, names);
  const listed = names.slice(0, 10).join(', ');
  const hint =
    near !== undefined
      ? `Did you mean ${near}?`
      : names.length === 0
        ? 'This key is not told any names: give the id.'
        : `It knows these: ${listed}${names.length > 10 ? ', …' : ''}. An id can be given as well.`;
  const message = where.startsWith('--')
    ? `${where}: the snapshot has no ${what} ${given}`
    : `${where} has no ${what} ${given}`;
  return new CallsheetError('usage', message, { hint });
}
