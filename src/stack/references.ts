import { type Address, kindOf } from '../core/address.ts';
import { formatPosition } from '../core/diagnostics.ts';
import { nearest } from '../core/nearest.ts';
import { formatPath } from '../core/path.ts';
import type { Report } from './diagnostics.ts';
import type { RefUse } from './resolved.ts';
import type { ResolvedResource } from './resource.ts';
import { configName } from './schema.ts';
import { positionOf, type Source } from './source.ts';

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
    range: use.range,
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
          message: `${resource.address}: ${formatPath(use.path)} closes a cycle of references: ${[...way.slice(at), use.address].join(' → ')}`,
          hint: 'Neither resource could be created first. Remove one of the references',
          address: resource.address,
          path: formatPath(use.path),
          range: use.range,
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

type Named = { readonly fields: readonly string[]; readonly key: string };

/** What names a resource when there is no state: the first of its kind's natural keys that is complete. */
function naturalKeyOf({ kind, document }: ResolvedResource): Named | undefined {
  const fields = kind.naturalKey.find((names) =>
    names.every((name) => typeof document[name] === 'string'),
  );
  if (fields === undefined) return undefined;
  return { fields, key: JSON.stringify([kind.name, ...fields.map((name) => document[name])]) };
}

function listed(names: readonly string[]): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} and ${String(names.at(-1))}`;
}

function reportPair(
  second: ResolvedResource,
  first: ResolvedResource,
  { fields }: Named,
  report: Report,
) {
  const names = fields.map(
    (name) => configName(name, second.kind.schema.properties?.[name] ?? {}) ?? name,
  );
  const field = fields.at(-1) ?? '';
  report.add({
    rule: 'name/duplicate',
    message: `${second.address} has the same ${listed(names)} as ${first.address} at ${formatPosition(positionOf(first.placeOf(field) ?? first.keyPlace))}`,
    hint: 'Give one of them another name, or set lifecycle.adopt in each to the id of its live resource',
    address: second.address,
    path: field,
    range: second.placeOf(field) ?? second.keyPlace,
  });
}

/**
 * Reports resources that could not be told apart on the platform. Several may share a name where each
 * says which live resource it takes over.
 */
export function checkNames(resources: Iterable<ResolvedResource>, report: Report): void {
  const groups = new Map<string, { readonly named: Named; readonly members: ResolvedResource[] }>();
  const adopted = new Map<string, ResolvedResource>();
  for (const resource of resources) {
    const { adopt } = resource.lifecycle;
    const claimed = adopt === undefined ? undefined : `${resource.kind.name} ${adopt}`;
    const other = claimed === undefined ? undefined : adopted.get(claimed);
    if (claimed !== undefined) adopted.set(claimed, other ?? resource);
    if (other !== undefined) {
      report.add({
        rule: 'name/duplicate',
        message: `${resource.address} adopts the same id as ${other.address} at ${formatPosition(positionOf(other.keyPlace))}`,
        hint: 'One live resource belongs to one address',
        address: resource.address,
        path: 'lifecycle.adopt',
        range: resource.keyPlace,
      });
    }
    const named = naturalKeyOf(resource);
    if (named === undefined) continue;
    const group = groups.get(named.key);
    if (group === undefined) groups.set(named.key, { named, members: [resource] });
    else group.members.push(resource);
  }
  for (const { named, members } of groups.values()) {
    if (members.every(({ lifecycle }) => lifecycle.adopt !== undefined)) continue;
    const [first, ...others] = members;
    for (const other of others) if (first !== undefined) reportPair(other, first, named, report);
  }
}
