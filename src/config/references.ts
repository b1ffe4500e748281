import { type Address, kindOf } from '../core/address.ts';
import { formatPath } from '../core/path.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import type { RefUse } from './resolved.ts';
import type { ResolvedResource } from './resource.ts';
import type { Source } from './source.ts';

type Resources = ReadonlyMap<Address, ResolvedResource>;

/**
 * Whether a resource may stand in a file that could not be read. Its key would be in the text; a file
 * whose text is not known may hold anything.
 */
function mayBeIn(broken: readonly (Source | 'unknown')[], address: string): boolean {
  const name = address.replace(/\[.*$/s, '').split('.').at(-1) ?? '';
  return broken.some(
    (source) => source === 'unknown' || new RegExp(`\\b${name}["']?[ \\t]*:`).test(source.text),
  );
}

function reportDangling(
  resource: ResolvedResource,
  use: RefUse,
  hint: string,
  report: Report,
): void {
  report.add({
    rule: 'ref/unknown',
    message: `${resource.address}: ${formatPath(use.path)} refers to ${use.address}, which does not exist`,
    hint,
    address: resource.address,
    path: formatPath(use.path),
    place: use.place,
  });
}

/** Unknown addresses that a similar one is looked for: each is compared with all that there are. */
const MOST_COMPARED = 100;

/** What is said of addresses that do not exist, each found out once. */
function openHints(addresses: ReadonlySet<Address>): (unknown: Address) => string {
  const byKind = Map.groupBy(addresses, kindOf);
  const known = new Map<Address, string>();
  return (unknown) => {
    const before = known.get(unknown);
    if (before !== undefined) return before;
    const kind = kindOf(unknown);
    const others = byKind.get(kind) ?? [];
    const close = known.size < MOST_COMPARED ? nearest(unknown, others) : undefined;
    const all = others.slice(0, 10).join(', ');
    const there = others.length === 0 ? `The stack has no ${kind}` : `It has ${all}`;
    const hint = close === undefined ? there : `Did you mean ${close}?`;
    known.set(unknown, hint);
    return hint;
  };
}

/** Reports every circle of references once, at the reference that closes it. */
function reportCycles(resources: Resources, report: Report): void {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (resource: ResolvedResource): void => {
    way.push(resource.address);
    for (const use of resource.refs) {
      const at = way.indexOf(use.address);
      if (at >= 0) {
        report.add({
          rule: 'ref/cycle',
          message: `${resource.address}: ${formatPath(use.path)} closes a circle: ${[...way.slice(at), use.address].join(' → ')}`,
          hint: 'Neither could be made first; remove one of the references',
          address: resource.address,
          path: formatPath(use.path),
          place: use.place,
        });
      } else if (!done.has(use.address)) {
        const next = resources.get(use.address);
        if (next !== undefined) visit(next);
      }
    }
    way.pop();
    done.add(resource.address);
  };
  for (const resource of resources.values()) if (!done.has(resource.address)) visit(resource);
}

/**
 * Reports references that lead nowhere or back to where they began.
 *
 * @param addresses every address that is given
 * @param broken files that could not be read, and so may hold what a reference leads to
 */
export function checkReferences(
  resources: readonly ResolvedResource[],
  addresses: ReadonlySet<Address>,
  broken: readonly (Source | 'unknown')[],
  report: Report,
): void {
  const hintFor = openHints(addresses);
  for (const resource of resources) {
    for (const use of resource.refs) {
      if (!addresses.has(use.address) && !mayBeIn(broken, use.address)) {
        reportDangling(resource, use, hintFor(use.address), report);
      }
    }
  }
  reportCycles(new Map(resources.map((resource) => [resource.address, resource])), report);
}
