import { type Address, getKind } from '../core/address.ts';
import { formatPosition } from '../core/diagnostics.ts';
import { formatFirst, formatList } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { formatPath } from '../core/path.ts';
import { Blob } from '../core/value.ts';
import { canFollowCreate } from '../kinds/kind.ts';
import { lowestFirst } from './compose.ts';
import type { Report } from './diagnostics.ts';
import type { RefUse } from './resolved.ts';
import type { ResolvedResource } from './resource.ts';
import { configName, platformPath } from './schema.ts';
import { toPosition } from './source.ts';

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

/** Returns hints for unknown addresses, each found once. */
function openHints(addresses: ReadonlySet<Address>): (unknown: Address) => string {
  const byKind = Map.groupBy(addresses, getKind);
  const known = new Map<Address, string>();
  return (unknown) => {
    const before = known.get(unknown);
    if (before !== undefined) return before;
    const kind = getKind(unknown);
    const others = byKind.get(kind) ?? [];
    const there =
      others.length === 0 ? `The stack has no ${kind}` : `It has ${formatFirst(others, 10)}`;
    const hint = known.size < MOST_COMPARED ? didYouMean(unknown, others, there) : there;
    known.set(unknown, hint);
    return hint;
  };
}

/**
 * Reports every circle of references that cannot be written in two steps, once, at the reference that closes it: all of
 * its references are in fields that no update can write after the create.
 */
function reportCycles(resources: readonly ResolvedResource[], report: Report): void {
  const byAddress = new Map(resources.map((resource) => [resource.address, resource]));
  const listRefs = (name: Address): readonly Step[] => {
    const from = byAddress.get(name);
    return (from?.refs ?? []).flatMap((use) => {
      const [field = ''] = from === undefined ? [] : platformPath(from.kind, use.path);
      const isFirst = from !== undefined && !canFollowCreate(from.kind, field);
      return isFirst ? [{ name: use.address, by: { from, use } }] : [];
    });
  };
  const starts = resources.map(({ address }): Step => ({ name: address }));
  lowestFirst(starts, listRefs, (way, { name, by }) => {
    if (by === undefined) return;
    const { from, use } = by;
    report.add({
      rule: 'ref/cycle',
      message: `${from.address}: ${formatPath(use.path)} closes a cycle of references: ${[...way, name].join(' → ')}`,
      hint: 'Neither resource could be created first, because these fields cannot be written later. Remove one of the references',
      address: from.address,
      path: formatPath(use.path),
      range: use.range,
    });
  });
}

/** A resource, by the reference that led to it. */
type Step = {
  readonly name: Address;
  readonly by?: { readonly from: ResolvedResource; readonly use: RefUse };
};

/** Reports references that lead nowhere or back to where they began. `addresses` are all that are given. */
export function checkReferences(
  resources: readonly ResolvedResource[],
  addresses: ReadonlySet<Address>,
  report: Report,
): void {
  const hintFor = openHints(addresses);
  for (const resource of resources) {
    for (const use of resource.refs) {
      if (!addresses.has(use.address)) {
        reportDangling(resource, use, hintFor(use.address), report);
      }
    }
  }
  reportCycles(resources, report);
}

type Named = { readonly fields: readonly string[]; readonly key: string };

/** Returns the identity of a resource without a state: the first of its kind's natural keys that is complete. */
function findNaturalKey({ kind, document }: ResolvedResource): Named | undefined {
  const fields = kind.naturalKey.find((names) =>
    names.every((name) => typeof document[name] === 'string'),
  );
  if (fields === undefined) return undefined;
  return { fields, key: JSON.stringify([kind.name, ...fields.map((name) => document[name])]) };
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
    message: `${second.address} has the same ${formatList(names)} as ${first.address} at ${formatPosition(toPosition(first.findRange(field) ?? first.keyPlace))}`,
    hint: 'Give one of them another name, or set lifecycle.adopt in each to the id of its live resource',
    address: second.address,
    path: field,
    range: second.findRange(field) ?? second.keyPlace,
  });
}

/**
 * Reports resources that the platform could not distinguish. Several may share a name where each says
 * which live resource it takes over.
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
        message: `${resource.address} adopts the same id as ${other.address} at ${formatPosition(toPosition(other.keyPlace))}`,
        hint: 'One live resource belongs to one address',
        address: resource.address,
        path: 'lifecycle.adopt',
        range: resource.keyPlace,
      });
    }
    const named = findNaturalKey(resource);
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

/**
 * Reports two resources of one scope with equal content in a field that the platform keeps once (`x-distinct`): the
 * second create would be refused, or answered with the id of the first.
 */
export function checkContents(resources: Iterable<ResolvedResource>, report: Report): void {
  const found = new Map<string, ResolvedResource>();
  for (const second of resources) {
    const { kind, document } = second;
    for (const [field, schema] of Object.entries(kind.schema.properties ?? {})) {
      const content = schema['x-distinct'] === true ? document[field] : undefined;
      if (content === undefined) continue;
      const scope = kind.scope.map((name) => document[name] ?? null);
      const kept = content instanceof Blob ? content.sha256 : content;
      const key = JSON.stringify([kind.name, field, scope, kept]);
      const first = found.get(key);
      if (first === undefined) {
        found.set(key, second);
        continue;
      }
      report.add({
        rule: 'content/duplicate',
        message: `${second.address}: ${field} has the content of ${first.address} at ${formatPosition(toPosition(first.findRange(field) ?? first.keyPlace))}`,
        hint: 'The platform keeps a content once. Remove one of them; its address under forget: keeps the live document',
        address: second.address,
        path: field,
        range: second.findRange(field) ?? second.keyPlace,
      });
    }
  }
}
