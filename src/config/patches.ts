import { type Address, kindOf, matchesAddress } from '../core/address.ts';
import { fieldsOf, type Layer } from './bases.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import type { Place } from './source.ts';
import type { WrittenMap } from './written.ts';

/** What an environment lays over the resources of an address, of all rows of one, or of a kind. */
export type Patch = {
  readonly pattern: string;
  readonly place: Place;
  readonly body: WrittenMap;
};

/** The patches of the environment at hand. */
export type Patches = {
  /** Those for all rows of a resource, the widest first. */
  readonly over: (address: Address) => readonly Layer[];
  /** Those for one row alone. */
  readonly overRow: (address: Address) => readonly Layer[];
  /** Reports every patch that met no resource. */
  readonly reportUnmet: (addresses: Iterable<Address>) => void;
};

export function openPatches(
  patches: readonly Patch[],
  environment: string,
  report: Report,
): Patches {
  const met = new Set<Patch>();
  const patterns = new Set(patches.map(({ pattern }) => pattern));
  const label = `environment ${environment}`;
  const pick = (isMeant: (patch: Patch) => boolean): readonly Layer[] => {
    const chosen = patches.filter(isMeant).toSorted((a, b) => a.pattern.length - b.pattern.length);
    for (const patch of chosen) met.add(patch);
    return chosen.map(({ body }) => ({ label, body }));
  };
  return {
    over: (address) => pick(({ pattern }) => matchesAddress(pattern, address)),
    // Asked for every row, of which only a few have one.
    overRow: (address) => {
      if (!patterns.has(address)) return [];
      const layers = pick(({ pattern }) => pattern === address);
      // How rows are made, no single one can say, which is told where environments are checked.
      return layers.map((layer) => ({ ...layer, body: fieldsOf(layer.body) }));
    },
    reportUnmet: (addresses) => {
      const known = [...addresses];
      for (const patch of patches) if (!met.has(patch)) reportUnmet(patch, known, label, report);
    },
  };
}

function reportUnmet(
  { pattern, place }: Patch,
  addresses: readonly Address[],
  label: string,
  report: Report,
): void {
  const close = nearest(pattern, addresses);
  const others = addresses.filter((address) => kindOf(address) === kindOf(pattern)).slice(0, 10);
  report.add({
    rule: 'environment/patch',
    message: `${label} patches ${pattern}, which is no resource of the stack`,
    hint:
      close !== undefined
        ? `Did you mean ${close}?`
        : others.length === 0
          ? 'Name an address such as agent.reception, or a kind such as agent'
          : `There are ${others.join(', ')}`,
    place,
  });
}
