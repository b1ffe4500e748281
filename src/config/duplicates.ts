import { formatPosition } from '../core/diagnostics.ts';
import type { Report } from './problems.ts';
import type { ResolvedResource } from './resource.ts';
import { configName } from './schema.ts';
import { positionOf } from './source.ts';

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
    hint: 'Give one of them another name, or tell each which live resource is meant with lifecycle.adopt',
    address: second.address,
    path: field,
    place: second.placeOf(field) ?? second.keyPlace,
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
        place: resource.keyPlace,
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
