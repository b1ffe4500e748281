import { type Address, formatAddress } from '../core/address.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Held } from './held.ts';

/** Longer ones are cut: an address is read by people. */
const MOST_LETTERS = 40;
/** As much of an id as tells resources of one name apart. */
const TELLING = 8;

/**
 * An address for each resource: the one that it had or, where it had none, one made of its name. The same
 * snapshot always gives the same ones, so that a restoration that was cut off finds again what it made.
 */
export function addressesOf(all: readonly Held[]): ReadonlyMap<Held, Address> {
  const given = new Map<Held, Address>();
  const taken = new Set<Address>();
  for (const held of all) {
    if (held.address === null || taken.has(held.address)) continue;
    given.set(held, held.address);
    taken.add(held.address);
  }
  const unnamed = all.filter((held) => !given.has(held));
  // Each way is tried for all at once, so that their order in the file decides nothing.
  give(unnamed, (held) => slugOf(held.name));
  give(unnamed, (held) => `${slugOf(held.name)}_${plain(held.id).slice(0, TELLING)}`);
  for (const held of unnamed) {
    if (!given.has(held))
      given.set(held, addressFrom(held, `${slugOf(held.name)}_${plain(held.id)}`));
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
function slugOf(name: string): string {
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
