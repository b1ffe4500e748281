import { digestOfMembers } from '../core/digest.ts';
import { isWithin, parsePaths, startsWith } from '../core/path.ts';
import type { FieldCause, Pin } from '../core/plan-document.ts';
import {
  Blob,
  getOwn,
  isSameJson,
  type JsonObject,
  Ref,
  Secret,
  type ValueObject,
} from '../core/value.ts';
import { canonicaliseRecord } from '../core/walk.ts';
import {
  compareApplied,
  hasOtherSource,
  isConcealedAs,
  isFormerProof,
  isSourceRecorded,
  matchesApplied,
  matchesLive,
} from '../diff/applied.ts';
import { type LeafChange, leafChange } from '../diff/compare.ts';
import {
  type Leaf,
  listLeaves,
  liveForm,
  normalise,
  resolveLeaf,
  type Sides,
  Unknown,
  type World,
} from '../diff/leaves.ts';
import type { Kind } from '../kinds/kind.ts';
import type { RememberedPin, ResourceState } from '../state/model.ts';
import type { Identity } from './identify.ts';
import type { LiveResource } from './reader.ts';

/**
 * Fast refresh: the comparison of a resource whose outcome is known without reading it (DESIGN §4.3).
 *
 * Its pin is `certain` where, at some reading, every leaf that the state remembers was live and `updated_at`
 * was long over. Any change since moved `updated_at` (the kind's `stamp`, an assumption). So where the
 * list still has the `updated_at` of the pin, what is live is what the state remembers; and where the
 * configuration wants just that, leaf by leaf, comparing it with what is live finds nothing. Unknown secrets are
 * reported as the comparison reports them. Everything else is read (decision 8), and what was read is compared: the
 * state is text that others may have written.
 */

/** True if a list's record has the values of a reading, as far as it goes: its stamp among them. */
export function isListedAsRead(
  { schema }: Kind,
  listed: JsonObject,
  { record }: Pick<LiveResource, 'record'>,
): boolean {
  return Object.entries(canonicaliseRecord(schema, listed)).every(([field, value]) => {
    const own = schema.properties?.[field] ?? {};
    return isSameJson(normalise(own, value), normalise(own, record[field]));
  });
}

/** True if what is live is what the state remembers: the list shows the `updated_at` of a certain pin. */
export function isKnownLive({
  kind,
  found,
  recorded,
}: Pick<Identity, 'kind' | 'found' | 'recorded'>): boolean {
  const { pin } = recorded ?? {};
  if (kind.stamp === undefined || found === undefined || pin?.certain !== true) return false;
  return found.record.updated_at === pin.updated_at;
}

/** Returns the result of comparing a resource that is known to need no write; undefined if it must be read. */
export function compareUnread(
  { kind, found, desired, recorded, by, movedFrom, address }: Identity,
  world: World,
  isResent: boolean,
): readonly LeafChange[] | undefined {
  if (found === undefined || recorded === undefined) return undefined;
  if (!isKnownLive({ kind, found, recorded })) return undefined;
  if (isContradicted(kind, found.record, recorded, world, address)) return undefined;
  if (by !== 'state' || movedFrom !== undefined) return undefined;
  if (kind.due !== undefined || kind.unready !== undefined) return undefined;
  if (recorded.unfinished !== undefined) return undefined;
  const { leaves: applied, protect, name } = recorded;
  if (desired === undefined || desired.isPartial || desired.isExact === true) return undefined;
  const { document, lifecycle } = desired;
  if (lifecycle.protect !== protect || document.name !== name) return undefined;
  if (kind.scope.some((field) => found.scope[field] !== recorded.scope[field])) return undefined;

  const ignore = parsePaths(lifecycle.ignore);
  const wanted = listLeaves(kind.schema, document);
  const findings: LeafChange[] = [];
  let remembered = 0;
  for (const [text, { path, elements }] of wanted.lists) {
    if (elements.size > 0 || isWithin(path, ignore)) continue;
    const last = getOwn(applied, text);
    if (last === undefined || !('value' in last) || last.value !== null) return undefined;
    remembered += 1;
  }
  for (const leaf of wanted.leaves.values()) {
    if (isWithin(leaf.path, ignore)) continue;
    const finding = compareLeaf(leaf, kind, recorded, world, address);
    const isSecret = leaf.facts.unreadable || leaf.value instanceof Secret;
    if (finding === undefined || (isResent && isSecret)) return undefined;
    if (finding !== 'equal') findings.push(finding);
    remembered += 1;
  }
  // Other remembered leaves are no longer wanted.
  return remembered === Object.keys(applied).length ? findings : undefined;
}

/**
 * Compares fields that cannot be read with what was last written: the live values are unknown, so the written ones are
 * assumed to be there still.
 */
export function compareLastApplied(
  kind: Kind,
  document: ValueObject,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  return [...listLeaves(kind.schema, document).leaves.values()]
    .filter(({ path }) => !isWithin(path, sides.ignore))
    .flatMap((leaf) => {
      const cause = causeUnread(leaf, sides, world);
      return cause === undefined ? [] : [leafChange(leaf, undefined, leaf.value, cause)];
    });
}

/** The part of a document that what was read tells of, and the part that it does not. */
export function splitByRead(
  document: ValueObject,
  live: LiveResource,
): { readonly read: ValueObject; readonly unread: ValueObject } {
  if (live.extent === 'whole' && live.unread === undefined) return { read: document, unread: {} };
  const members = Object.entries(document);
  return {
    read: Object.fromEntries(members.filter(([field]) => isFieldRead(live, field))),
    unread: Object.fromEntries(members.filter(([field]) => !isFieldRead(live, field))),
  };
}

/** True if the reading covers a top-level field. */
export function isFieldRead({ extent, document, unread }: LiveResource, field: string): boolean {
  if (unread !== undefined && Object.hasOwn(unread, field)) return false;
  return extent === 'whole' || (extent === 'listed' && Object.hasOwn(document, field));
}

/**
 * True if the state is going to remember all that a later comparison can turn on. It does not if part of a list that is
 * owned whole is ignored: should that end, elements count that are not remembered.
 */
export function isWhollyRemembered(kind: Kind, desired: NonNullable<Identity['desired']>): boolean {
  if (desired.lifecycle.ignore.length === 0) return true;
  const { lists } = listLeaves(kind.schema, desired.document);
  const ignore = parsePaths(desired.lifecycle.ignore);
  return ![...lists.values()].some(({ path: list }) =>
    ignore.some((path) => path.length > list.length && startsWith(path, list)),
  );
}

/** The pin of a live resource. `history_id` is filled in where a plan would change it. */
export function buildPin(kind: Kind, live: LiveResource, history: number | null = null): Pin {
  const updated = live.record.updated_at;
  return {
    digest: digestOfMembers(liveForm(kind.schema, live.document)),
    updated_at: typeof updated === 'string' ? updated : null,
    history_id: history,
  };
}

/** The pin to remember of a resource; what could not be read has none. */
export function livePin(...given: Parameters<typeof buildPin>): Pin | null {
  const [, { extent }] = given;
  return extent === 'nothing' ? null : buildPin(...given);
}

/**
 * The pin with what a later plan may conclude from it. Only for a resource that is just as the state is going to
 * remember it: see `compareUnread`.
 */
export function fastRefreshPin(
  kind: Kind,
  live: LiveResource,
  pin: RememberedPin | null,
  known?: RememberedPin | null,
): RememberedPin | null {
  if (pin === null || kind.stamp === undefined || live.extent !== 'whole') return pin;
  const isKnown = known?.certain === true && isSamePin(known, pin);
  return isKnown || isReadAfterStamp(live, pin.updated_at) ? { ...pin, certain: true } : pin;
}

/**
 * True if every change after the reading gets another stamp than this one, so that a list which still has it proves that
 * nothing changed.
 */
export function isReadAfterStamp(
  { readAt }: Pick<LiveResource, 'readAt'>,
  stamp: string | null,
): boolean {
  return isFine(stamp) || (readAt !== undefined && isStampOver(stamp, readAt));
}

/** True if two pins are of one and the same state of a resource. */
export function isSamePin(one: Pin, other: Pin): boolean {
  return one.digest === other.digest && one.updated_at === other.updated_at;
}

/**
 * True if a stamp is so fine that no change after the reading can have the same one: in milliseconds or less. Without
 * such a fraction it may be one of whole seconds.
 */
function isFine(stamp: string | null): boolean {
  return stamp !== null && Number(/\.(\d{3,})/.exec(stamp)?.[1] ?? 0) > 0;
}

/** True if a stamp is long over at a time of the platform's clock. One without a zone says nothing. */
export function isStampOver(stamp: string | null, at: number): boolean {
  if (stamp === null || !/(?:Z|[+-]\d\d:?\d\d)$/i.test(stamp)) return false;
  return Date.parse(stamp) + STAMP_DOUBT_MS <= at;
}

/** Compares a leaf with what is remembered; undefined if it may be something else. */
function compareLeaf(
  leaf: Leaf,
  kind: Kind,
  { leaves: applied }: ResourceState,
  world: World,
  address: string,
): LeafChange | 'equal' | undefined {
  const last = getOwn(applied, leaf.text);
  if (last === undefined || 'unsettled' in last) return undefined;
  // Another source is a change; a state without one is given it once the resource is read.
  if (!isSourceRecorded(leaf, last) || hasOtherSource(leaf, last)) return undefined;
  // The key takes the place of the salt once the resource is read.
  if (isFormerProof(last, world)) return undefined;
  if (!isStamped(leaf, kind)) return undefined;
  const value = resolveLeaf(leaf, world);
  if (value instanceof Unknown) return undefined;
  if (value === undefined) return leafChange(leaf, undefined, leaf.value, 'unknown_secret');
  if (leaf.value instanceof Blob) return undefined;
  const match = matchesApplied(last, normalise(leaf.schema, value), address, leaf.text, world);
  if (match === 'unknown' && leaf.facts.unreadable)
    return leafChange(leaf, undefined, leaf.value, 'unknown_secret');
  // The digest of a text that counts as secret by now gives way to a fingerprint once the resource is read.
  const isInClear = 'digest' in last && isConcealedAs(leaf, normalise(leaf.schema, value));
  return match === 'equal' && !isInClear ? 'equal' : undefined;
}

/** True if each relevant change of a leaf moves the stamp of its resource. */
function isStamped({ path, schema, value }: Leaf, { facets }: Kind): boolean {
  if (facets.find(({ field }) => field === path[0])?.isStamped === false) return false;
  // The platform may take away the id of another resource; a reference then shows if it is still there.
  return schema['x-stamped'] !== false || value === null || value instanceof Ref;
}

/** True if the list shows another value than the remembered one: then no stamp is believed. */
function isContradicted(
  kind: Kind,
  record: JsonObject,
  { leaves: applied }: ResourceState,
  world: World,
  address: string,
): boolean {
  return Object.entries(record).some(([field, value]) => {
    const last = getOwn(applied, field);
    const schema = kind.schema.properties?.[field];
    if (last === undefined || schema === undefined) return false;
    return matchesLive(last, normalise(schema, value), address, field, world) === 'different';
  });
}

function causeUnread(
  leaf: Leaf,
  { address, applied }: Sides,
  world: World,
): FieldCause | undefined {
  const last = getOwn(applied, leaf.text);
  if (hasOtherSource(leaf, last)) return 'secret_source_changed';
  const verdict = compareApplied(leaf, last, address, world);
  const isNew = verdict === 'new' || verdict === 'unborn';
  return (isNew ? leaf.value !== null : verdict === 'different') ? 'changed' : undefined;
}

/**
 * How long a stamp must be over for a change that comes after the reading to be sure to get another one: it may be
 * returned in whole seconds, rounded up, and set by another of the platform's machines than the one that said what
 * time it was.
 */
export const STAMP_DOUBT_MS = 10_000;
