import { type Address, formatAddress } from '../../core/address.ts';
import { compareTexts } from '../../core/value.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import { findPlace, type Held, type IdMap, mappedId } from './held.ts';

/** Longer ones are cut: an address is read by people. */
const MOST_LETTERS = 40;
/** As much of an id as tells resources of one name apart. */
const TELLING = 8;

/**
 * An address for each resource: the one that it had or, where it had none, one made of its name. The same
 * snapshot always gives the same ones, so that a restoration that was cut off finds again what it made.
 */
export function assignAddresses(all: readonly Held[]): ReadonlyMap<Held, Address> {
  const given = new Map<Held, Address>();
  const taken = new Set<Address>();
  for (const held of all) {
    if (held.address === null || taken.has(held.address)) continue;
    given.set(held, held.address);
    taken.add(held.address);
  }
  const unnamed = all.filter((held) => !given.has(held));
  // Each way is tried for all at once, so that their order in the file decides nothing.
  give(unnamed, (held) => toSlug(held.name));
  give(unnamed, (held) => `${toSlug(held.name)}_${plain(held.id).slice(0, TELLING)}`);
  for (const held of unnamed) {
    if (!given.has(held))
      given.set(held, addressFrom(held, `${toSlug(held.name)}_${plain(held.id)}`));
  }
  return given;

  function give(those: readonly Held[], slug: (held: Held) => string): void {
    const left = those.filter((held) => !given.has(held));
    for (const [address, sharing] of Map.groupBy(left, (held) => addressFrom(held, slug(held)))) {
      const [only] = sharing;
      if (only === undefined || sharing.length > 1 || taken.has(address)) continue;
      given.set(only, address);
      taken.add(address);
    }
  }
}

function addressFrom({ kind: name, scope }: Held, slug: string): Address {
  const kind = kindNamed(name);
  if (kind.nested === undefined) return formatAddress(name, [slug]);
  // Blocks of the configuration have names of their own, which a snapshot does not know.
  const [place = ''] = Object.values(scope);
  return formatAddress(name, [`in_${plain(place).slice(0, TELLING)}`, slug]);
}

/** `front_desk` of `Front Desk`; what has no letter of this alphabet keeps none. */
function toSlug(name: string): string {
  const plainer = name
    .replace(/^https?:\/\//, '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase();
  const slug = plainer
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, MOST_LETTERS)
    .replaceAll(/^_+|_+$/g, '');
  return /^[a-z]/.test(slug) ? slug : `_${slug}`;
}

function plain(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9]/g, '');
}

/** Resources that are planned and carried out together, so that memory holds no more of them at once. */
export type Part = {
  /** The addresses that this part restores. */
  readonly own: ReadonlySet<Address>;
  /** The same with everything that it refers to, which an earlier part makes. */
  readonly addresses: ReadonlyMap<Held, Address>;
};

/** Documents of a thousand agents with long prompts, and a plan of them, take some tens of megabytes. */
export const MOST_TOGETHER = 1_000;

/** Sorts resources: referenced kinds first, then by place. */
export function inOrder(all: readonly Held[], places: IdMap): readonly Held[] {
  const order = new Map(kinds.map(({ name }, index) => [name, index]));
  return all
    .map((held) => ({ held, rank: order.get(held.kind) ?? 0, place: placeAt(held, places) }))
    .sort((a, b) => a.rank - b.rank || compareTexts(a.place, b.place))
    .map(({ held }) => held);
}

/**
 * Cuts what is restored, which is in order, into parts. What only an id tells apart stays together: of two of
 * one name, a plan has to know both to tell which is which.
 */
export function splitParts(
  addresses: ReadonlyMap<Held, Address>,
  places: IdMap,
  most: number = MOST_TOGETHER,
): readonly Part[] {
  const all = [...addresses.keys()];
  const byId = new Map(all.map((held) => [`${held.kind} ${held.id}`, held]));
  const parts: Part[] = [];
  let together: Held[] = [];
  for (const alike of alikeIn(all, places)) {
    if (together.length > 0 && together.length + alike.length > most) {
      parts.push(buildPart(together, addresses, byId));
      together = [];
    }
    together.push(...alike);
  }
  return [...parts, buildPart(together, addresses, byId)];
}

/** Resources that have one key in one place. */
function alikeIn(all: readonly Held[], places: IdMap): readonly (readonly Held[])[] {
  const groups = Map.groupBy(all, (held) =>
    JSON.stringify([held.kind, placeAt(held, places), held.key]),
  );
  return [...groups.values()];
}

function placeAt(held: Held, places: IdMap): string {
  const place = findPlace(held);
  return place === undefined ? '' : mappedId(places, place);
}

function buildPart(
  own: readonly Held[],
  addresses: ReadonlyMap<Held, Address>,
  byId: ReadonlyMap<string, Held>,
): Part {
  const reached = new Set<Held>();
  const reach = (held: Held): void => {
    if (reached.has(held)) return;
    reached.add(held);
    for (const reference of held.references) {
      const other = byId.get(reference);
      if (other !== undefined) reach(other);
    }
  };
  for (const held of own) reach(held);
  const getAddress = (held: Held) => addresses.get(held) ?? held.id;
  return {
    own: new Set(own.map(getAddress)),
    addresses: new Map([...reached].map((held) => [held, getAddress(held)])),
  };
}
