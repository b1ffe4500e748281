/**
 * Fast refresh: the comparison of a resource whose outcome is known without reading it (DESIGN §4.3).
 *
 * Its pin is `certain` where, at some reading, every leaf that the state remembers was live and `updated_at`
 * was long over. Whoever changed it since moved `updated_at` (the kind's `stamp`, an assumption). So where the
 * list still has the `updated_at` of the pin, what is live is what the state remembers; and where the
 * configuration wants just that, leaf by leaf, comparing it with what is live finds nothing. What nobody knows of
 * secrets is said as the comparison says it. Everything else is read (decision 0074).
 */
import { ownOf } from '../core/own.ts';
import { type Path, parsePath, startsWith } from '../core/path.ts';
import { Blob, type JsonObject, Ref, Secret } from '../core/value.ts';
import { isConcealedAs, matchesApplied } from '../diff/applied.ts';
import { type LeafChange, leafChange } from '../diff/finding.ts';
import { type Leaf, leavesOf, normalise } from '../diff/leaves.ts';
import { resolveLeaf, Unknown } from '../diff/resolve.ts';
import type { World } from '../diff/world.ts';
import type { Kind } from '../kinds/kind.ts';
import type { ResourceState } from '../state/model.ts';
import type { Identity } from './identify.ts';

/** What comparing a resource would find, where it is known that nothing is to be written; undefined: read it. */
export function compareUnread(
  { kind, found, desired, recorded, by, movedFrom }: Identity,
  world: World,
  isResent: boolean,
): readonly LeafChange[] | undefined {
  if (kind.stamp === undefined || kind.due !== undefined || found === undefined) return undefined;
  if (by !== 'state' || movedFrom !== undefined) return undefined;
  if (recorded === undefined || recorded.unfinished !== undefined) return undefined;
  const { pin, leaves: applied, protect, name } = recorded;
  // What is remembered in an older form is read, so that it is remembered in this one from then on.
  if (pin?.form !== undefined) return undefined;
  if (pin?.certain !== true || found.record.updated_at !== pin.updated_at) return undefined;
  if (desired === undefined || desired.isPartial || desired.isExact === true) return undefined;
  const { document, lifecycle, address } = desired;
  if (lifecycle.protect !== protect || document.name !== name) return undefined;
  if (kind.scope.some((field) => found.scope[field] !== recorded.scope[field])) return undefined;
  if (isContradicted(kind, found.record, recorded, world, address)) return undefined;

  const ignore = lifecycle.ignore.map(parsePath).filter((path) => path !== undefined);
  const isIgnored = (path: Path) => ignore.some((prefix) => startsWith(path, prefix));
  const wanted = leavesOf(kind.schema, document);
  const findings: LeafChange[] = [];
  let remembered = 0;
  for (const [text, { path, elements }] of wanted.lists) {
    if (elements.size > 0 || isIgnored(path)) continue;
    const last = ownOf(applied, text);
    if (last === undefined || !('value' in last) || last.value !== null) return undefined;
    remembered += 1;
  }
  for (const leaf of wanted.leaves.values()) {
    if (isIgnored(leaf.path)) continue;
    const finding = compareLeaf(leaf, kind, recorded, address, world);
    const isSecret = leaf.facts.unreadable || leaf.value instanceof Secret;
    if (finding === undefined || (isResent && isSecret)) return undefined;
    if (finding !== 'equal') findings.push(finding);
    remembered += 1;
  }
  // What was remembered beside that is no longer wanted.
  return remembered === Object.keys(applied).length ? findings : undefined;
}

/** What is to be said of a leaf, where it is what is remembered; undefined: it may be something else. */
function compareLeaf(
  leaf: Leaf,
  kind: Kind,
  { leaves: applied }: ResourceState,
  address: string,
  world: World,
): LeafChange | 'equal' | undefined {
  const last = ownOf(applied, leaf.text);
  const facet = kind.facets.find(({ field }) => field === leaf.path[0]);
  if (last === undefined || facet?.isStamped === false) return undefined;
  // Of another resource's id that the platform may take away, a reference tells whether it is still there.
  if (leaf.schema['x-stamped'] === false && leaf.value !== null && !(leaf.value instanceof Ref))
    return undefined;
  const value = resolveLeaf(leaf, world);
  if (value instanceof Unknown) return undefined;
  if (value === undefined) return leafChange(leaf, undefined, leaf.value, 'unknown_secret');
  if (leaf.value instanceof Blob) return undefined;
  const match = matchesApplied(last, normalise(leaf.schema, value), address, leaf.text, world);
  if (match === 'unknown' && leaf.facts.unreadable)
    return leafChange(leaf, undefined, leaf.value, 'unknown_secret');
  // The digest of a secret that an earlier version wrote gives way to a fingerprint once the resource is read.
  const isInClear = 'digest' in last && isConcealedAs(leaf, normalise(leaf.schema, value));
  return match === 'equal' && !isInClear ? 'equal' : undefined;
}

/** Whether the list shows something else than what is remembered: then no stamp is believed. */
function isContradicted(
  kind: Kind,
  record: JsonObject,
  { leaves: applied }: ResourceState,
  world: World,
  address: string,
): boolean {
  return Object.entries(record).some(([field, value]) => {
    const last = ownOf(applied, field);
    const schema = kind.schema.properties?.[field];
    if (last === undefined || schema === undefined) return false;
    return matchesApplied(last, normalise(schema, value), address, field, world) === 'different';
  });
}

/**
 * Whether what the state is going to remember of a resource is all that a later comparison can turn on. It is not
 * where part of a list that is owned whole is ignored: should that end, elements count that nobody remembers.
 */
export function isWhollyRemembered(kind: Kind, desired: NonNullable<Identity['desired']>): boolean {
  if (desired.lifecycle.ignore.length === 0) return true;
  const { lists } = leavesOf(kind.schema, desired.document);
  const ignore = desired.lifecycle.ignore.map(parsePath);
  return ![...lists.values()].some(({ path: list }) =>
    ignore.some(
      (path) => path !== undefined && path.length > list.length && startsWith(path, list),
    ),
  );
}
