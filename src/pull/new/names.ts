import { type Address, formatAddress } from '../../core/address.ts';
import { nameAll } from '../../export/names.ts';
import { namelessOf, nounOf } from '../../export/survey.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { LiveResource } from '../../plan/reader.ts';

/** A live resource that no stack has yet. */
export type Foreign = {
  readonly kind: Kind;
  readonly live: LiveResource;
  /** The block that it stands in, of kinds that stand in one: `clinic` of `knowledge_source.clinic.faq`. */
  readonly block?: string;
};

/**
 * An address for each, as an export names it. `taken` are the addresses that there are: none is given twice, not
 * even in other letters.
 */
export function nameResources(
  foreign: readonly Foreign[],
  taken: Iterable<Address>,
): ReadonlyMap<Foreign, Address> {
  const known = [...taken].map((address) => address.toLowerCase().replace(/\[.*$/s, ''));
  const named = new Map<Foreign, Address>();
  const groups = Map.groupBy(foreign, ({ kind, block }) => prefixOf(kind, block));
  for (const [prefix, group] of groups) {
    const [first] = group;
    if (first === undefined) continue;
    const names = nameAll(
      group.map(({ kind, live }) => namelessOf(kind, live)),
      nounOf(first.kind),
      known.flatMap((address) =>
        address.startsWith(prefix) ? [address.slice(prefix.length)] : [],
      ),
    );
    for (const one of group) named.set(one, addressOf(one, names.get(one.live.id) ?? one.live.id));
  }
  return named;
}

function prefixOf({ name }: Kind, block: string | undefined): string {
  return `${name}.${block === undefined ? '' : `${block}.`}`.toLowerCase();
}

function addressOf({ kind, block }: Foreign, name: string): Address {
  return formatAddress(kind.name, block === undefined ? [name] : [block, name]);
}
