import { type Address, formatAddress } from '../../core/address.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { LiveResource } from '../../plan/reader.ts';

/** A live resource that no stack has yet. */
export type Foreign = {
  readonly kind: Kind;
  readonly live: LiveResource;
  /** The block that it stands in, of kinds that stand in one: `clinic` of `knowledge_source.clinic.faq`. */
  readonly block?: string;
};

const LONGEST = 60;

/** What a resource may be called in a file and in an address: `Front desk (Nord)` is `front_desk_nord`. */
export function nameOf(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^[a-z]+:\/\/(?:www\.)?/, '')
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, LONGEST)
    .replace(/^_+|_+$/g, '');
  return /^[a-z]/.test(plain) ? plain : plain === '' ? '' : `n_${plain}`;
}

/**
 * An address for each, by its name; where names are alike, or have no letters that an address can have, by a
 * number. `taken` are the addresses that there are: none is given twice, not even in other letters.
 */
export function nameResources(
  foreign: readonly Foreign[],
  taken: Iterable<Address>,
): ReadonlyMap<Foreign, Address> {
  const known = new Set([...taken].map((address) => address.toLowerCase().replace(/\[.*$/s, '')));
  const inOrder = foreign.toSorted((a, b) => (a.live.id < b.live.id ? -1 : 1));
  const named = new Map<Foreign, Address>();
  for (const one of inOrder) {
    const { kind, live, block } = one;
    const { name, url } = live.document;
    const told = typeof name === 'string' && name !== '' ? name : url;
    const base = nameOf(typeof told === 'string' ? told : '') || kind.name;
    const at = (own: string) =>
      formatAddress(kind.name, block === undefined ? [own] : [block, own]);
    let count = 1;
    let address = at(base);
    while (known.has(address.toLowerCase())) {
      count += 1;
      address = at(`${base}_${count}`);
    }
    known.add(address.toLowerCase());
    named.set(one, address);
  }
  return named;
}
