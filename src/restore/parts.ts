import type { Address } from '../core/address.ts';
import { kinds } from '../kinds/index.ts';
import { type Held, type Places, placeIn, placeOf } from './held.ts';

/** Resources that are planned and carried out together, so that memory holds no more of them at once. */
export type Part = {
  /** What the part is there for. */
  readonly own: ReadonlySet<Address>;
  /** The same with everything that it refers to, which an earlier part makes. */
  readonly addresses: ReadonlyMap<Held, Address>;
};

/** Documents of a thousand agents with long prompts, and a plan of them, take some tens of megabytes. */
export const MOST_TOGETHER = 1_000;

/** What is referred to first, and then place by place. */
export function inOrder(all: readonly Held[], places: Places): readonly Held[] {
  const order = new Map(kinds.map(({ name }, index) => [name, index]));
  return all
    .map((held) => ({ held, rank: order.get(held.kind) ?? 0, place: placeAt(held, places) }))
    .sort((a, b) => a.rank - b.rank || (a.place < b.place ? -1 : a.place > b.place ? 1 : 0))
    .map(({ held }) => held);
}

/**
 * Cuts what is restored, which is in order, into parts. What only an id tells apart stays together: of two of
 * one name, a plan has to know both to tell which is which.
 */
export function partsOf(
  addresses: ReadonlyMap<Held, Address>,
  places: Places,
  most: number = MOST_TOGETHER,
): readonly Part[] {
  const all = [...addresses.keys()];
  const byId = new Map(all.map((held) => [`${held.kind} ${held.id}`, held]));
  const parts: Part[] = [];
  let together: Held[] = [];
  for (const alike of alikeIn(all, places)) {
    if (together.length > 0 && together.length + alike.length > most) {
      parts.push(partOf(together, addresses, byId));
      together = [];
    }
    together.push(...alike);
  }
  return [...parts, partOf(together, addresses, byId)];
}

/** Resources that have one key in one place. */
function alikeIn(all: readonly Held[], places: Places): readonly (readonly Held[])[] {
  const groups = Map.groupBy(all, (held) =>
    JSON.stringify([held.kind, placeAt(held, places), held.key]),
  );
  return [...groups.values()];
}

function placeAt(held: Held, places: Places): string {
  const place = placeOf(held);
  return place === undefined ? '' : placeIn(places, place);
}

function partOf(
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
  const addressOf = (held: Held) => addresses.get(held) ?? held.id;
  return {
    own: new Set(own.map(addressOf)),
    addresses: new Map([...reached].map((held) => [held, addressOf(held)])),
  };
}
