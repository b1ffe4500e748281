import deepDiff from 'deep-diff';
import type { Address } from '../core/address.ts';
import { isAlike } from '../core/alike.ts';
import type { WholeDocument } from '../core/desired.ts';
import {
  formatPath,
  isIdentity,
  isTextBelow,
  isWithin,
  type Path,
  parsePath,
  parsePaths,
  startsWith,
  toPath,
} from '../core/path.ts';
import { type FieldCause, type FieldChange, isWritten } from '../core/plan-document.ts';
import { type FieldSchema, isEchoed, listSecrets, namesField } from '../core/schema.ts';
import {
  Blob,
  getOwn,
  isList,
  isNothing,
  isObject,
  isSameJson,
  type Json,
  type JsonObject,
  LinkedText,
  Secret,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import {
  isFieldReturned,
  listDependents,
  pickReturned,
  placeValue,
  schemaAt,
  schemasAlong,
  valueAt,
} from '../core/walk.ts';
import { type AppliedLeaf, isConcealed, type ResourceState } from '../state/model.ts';
import {
  compareApplied,
  hasOtherSource,
  isNeverReturned,
  isStoredAs,
  markStored,
  matchesApplied,
  matchesLive,
} from './applied.ts';
import {
  type Leaf,
  type Leaves,
  leafSensitivity,
  listLeaves,
  normalise,
  resolveLeaf,
  resolveRefs,
  type Sides,
  Unknown,
  type World,
} from './leaves.ts';
import { buildLeaf, displacedBy, findShapes, lastWritten } from './shape.ts';
import { containsTextEdit } from './text.ts';

/**
 * Compares three ways, leaf by owned leaf (DESIGN §4.5):
 *
 * | applied | desired   | live | cause                                         |
 * |---------|-----------|------|-----------------------------------------------|
 * | a       | a         | a    | –                                             |
 * | a       | b         | a    | `changed`                                     |
 * | a       | a         | c    | `drifted`; `kept` where edits stay (`keepEdits`) |
 * | a       | b         | c    | `conflict`; `changed` where b has the edit of a to c |
 * | a       | b         | b    | –                                             |
 * | a       | *removed* | a    | `cleared`, or `released` where null is refused |
 * | –       | *not owned* | any | –                                            |
 *
 * A secret counts as another one, too, where it is read from another source than the one last applied, whatever its
 * value is and whether or not it is at hand: `secret_source_changed`.
 *
 * A list that the configuration declares is owned as a whole: an element that only the platform has is
 * a change too. Inside an element, as in any object, only the members that are given are owned.
 */
export function compare(
  root: FieldSchema,
  desired: ValueObject,
  live: JsonObject,
  sides: Sides,
  world: World,
): readonly LeafChange[] {
  const wanted = listLeaves(root, desired);
  const found = listLeaves(root, live);
  const compared: Compared = { root, desired, wanted, found, live, sides, world };
  const changes = [
    ...compareReadable(compared),
    ...compareUnreadable(compared),
    ...compareUnechoed(compared),
    ...compareUnreturned(compared),
    ...surplusElements(compared),
    ...(sides.isPartial ? [] : removedLeaves(compared)),
    ...(sides.isExact === true ? surplusLeaves(compared) : []),
  ];
  const own = withShapes(changes, compared).filter(({ path }) => !isWithin(path, sides.ignore));
  const judged = sides.keepsEdits === true ? keepEdits(own, compared) : own;
  const whole = clearedBlocks(withAccountSecrets(judged, compared), compared);
  return whole.map((change) => withBase(root, change, sides));
}

/**
 * Holds a resource against a document that it is to be as a whole: whatever is live beside it differs, but for what is
 * ignored and for values that were not kept, which cannot be compared.
 */
export function compareWhole(
  root: FieldSchema,
  { document, withheld }: WholeDocument,
  live: JsonObject,
  { address, ignore = [] }: Pick<Sides, 'address'> & Partial<Pick<Sides, 'ignore'>>,
  world: World,
): readonly LeafChange[] {
  const ignored = [...ignore, ...parsePaths(withheld)];
  const rest = { applied: undefined, isPartial: true, isExact: true, resend: false };
  return compare(root, document, live, { address, ignore: ignored, ...rest }, world);
}

/**
 * One leaf that plan has something to say about. `before` is live, `after` is desired, both unmasked:
 * they never leave this process. `after` is undefined where the leaf goes away.
 */
export type LeafChange = {
  readonly path: Path;
  readonly text: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly cause: FieldCause;
  /** The value last written, of a conflict, if the state remembers the value and not its digest. */
  readonly base?: Json;
  /** True if all of it is masked. Credentials in a text are masked in any case. */
  readonly sensitive: boolean;
  /** True if the platform never returns it, so that nothing shows if a write took. */
  readonly unreadable: boolean;
  /** The platform may have changed the written value on the way (`isAlike`). */
  readonly isAlike?: true;
  readonly schema: FieldSchema;
};

export { isWritten };

/** True if apply writes the field, and the platform does not refuse it. */
export function isSent(field: Pick<FieldChange, 'cause' | 'refused'>): boolean {
  return isWritten(field) && field.refused === undefined;
}

/** Texts of the leaves that a change writes: those of an object that it puts in the place of a value, and its own. */
export function writtenLeaves(
  root: FieldSchema,
  { path, text, after }: Pick<LeafChange, 'path' | 'text' | 'after'>,
): readonly string[] {
  if (!isObject(after)) return [text];
  const document = placeValue<Value>(root, {}, path, after, { adds: true });
  return [text, ...listLeaves(root, document).leaves.keys()];
}

/** True if it would empty a leaf that null cannot clear: that is never sent. */
export function isUnclearable({ after, schema }: Pick<LeafChange, 'after' | 'schema'>): boolean {
  return (after ?? null) === null && schema['x-clearable'] === false;
}

/** Why it is not sent. */
export const UNCLEARABLE = 'the platform cannot clear it, so the value that the run set stays';

/** A change of one leaf. */
export function leafChange(
  leaf: Leaf,
  before: Value | undefined,
  after: Value | undefined,
  cause: FieldCause,
): LeafChange {
  const { path, text, schema, facts } = leaf;
  const { unreadable } = facts;
  const sensitive =
    unreadable ||
    [before, after].some(
      (value) => value instanceof Secret || leafSensitivity(leaf, value) === 'whole',
    );
  return { path, text, before, after, cause, sensitive, unreadable, schema };
}

/**
 * Returns the differences between the live and the last written values of a resource that is no longer wanted: `before`
 * is live, `base` was written, if the state has more than a digest of it. A value that was written and is gone has no
 * `before`.
 */
export function compareWritten(
  root: FieldSchema,
  live: JsonObject,
  applied: ResourceState['leaves'],
  address: string,
  world: World,
): readonly LeafChange[] {
  // Fields that the platform does not return have its defaults there, which were never written.
  const found = listLeaves(root, pickReturned(root, live));
  const written = new Set(Object.keys(applied));
  const elements = new Set([...written].flatMap(elementsIn));
  const isAdded = (text: string) => {
    const within = elementsIn(text).filter((one) => !elements.has(one));
    return within.some((one) => isOwnedList(one.slice(0, one.lastIndexOf('[')), written, elements));
  };
  const edited = [...found.leaves.values()].flatMap((leaf): LeafChange[] => {
    const last = getOwn(applied, leaf.text);
    const value = normalise(leaf.schema, leaf.value);
    if (last === undefined) {
      const isDisplacing = [...written].some((text) => isTextBelow(text, leaf.text));
      if (value === null || !(isDisplacing || isAdded(leaf.text))) return [];
      const base = isDisplacing ? lastWritten(root, leaf.path, { applied }) : undefined;
      const change = leafChange(leaf, leaf.value, undefined, 'drifted');
      return [base === undefined ? change : { ...change, base }];
    }
    if (matchesLive(last, value, address, leaf.text, world) !== 'different') return [];
    return [{ ...leafChange(leaf, leaf.value, undefined, 'drifted'), ...getBase(last) }];
  });
  const cleared = Object.entries(applied).flatMap(([text, last]): LeafChange[] => {
    if (found.leaves.has(text) || !('value' in last) || last.value === null) return [];
    if (matchesLive(last, null, address, text, world) === 'equal') return [];
    const path = toPath(text);
    if (!isFieldReturned(root, schemaAt(root, path), live)) return [];
    if (displacedBy(found, path) !== undefined) return [];
    const leaf = listLeaves(root, placeValue(root, {}, path, last.value, { adds: true }));
    const was = leaf.leaves.get(text);
    const now = valueAt(root, live, path);
    return was === undefined
      ? []
      : [{ ...leafChange(was, now, undefined, 'drifted'), base: last.value }];
  });
  return [...edited, ...cleared];
}

function getBase(last: AppliedLeaf): Pick<LeafChange, 'base'> {
  return 'value' in last ? { base: last.value } : {};
}

/** `extensions.tools[crm]` of `extensions.tools[crm].headers[X-Key].value`, and `extensions.tools[crm].headers[X-Key]`. */
function elementsIn(text: string): readonly string[] {
  const path = toPath(text);
  return path.flatMap((segment, at) =>
    isIdentity(segment) ? [formatPath(path.slice(0, at + 1))] : [],
  );
}

/** A list was written if its elements were, or if it was written as empty. */
function isOwnedList(list: string, written: ReadonlySet<string>, elements: ReadonlySet<string>) {
  return written.has(list) || [...elements].some((one) => one.startsWith(`${list}[`));
}

/** A leaf and what it is live, to tell whether it moved between two comparisons. */
export function liveKey({ text, before }: LeafChange): string {
  return JSON.stringify([text, before ?? null]);
}

/** The two sides of a comparison, taken apart. */
type Compared = {
  readonly root: FieldSchema;
  readonly desired: ValueObject;
  readonly wanted: Leaves;
  readonly found: Leaves;
  readonly live: JsonObject;
  readonly sides: Sides;
  readonly world: World;
};

/**
 * The changes with one for each member that is a value on one side and an object on the other. Its secrets stay changes of
 * their own, as nothing else tells that they are written: none of them can be live.
 */
function withShapes(changes: readonly LeafChange[], compared: Compared): readonly LeafChange[] {
  return findShapes(compared).reduce((all, { leaf, before, after, cause, hidden }) => {
    const own = new Set(hidden.map(({ text }) => text));
    const rest = all.filter(({ path, text }) => !startsWith(path, leaf.path) || own.has(text));
    const shown = new Set(rest.map(({ text }) => text));
    const secrets = hidden.flatMap((one) =>
      shown.has(one.text) ? [] : [leafChange(one, undefined, one.value, lostCause(one, compared))],
    );
    const change = leafChange(leaf, before, after, cause);
    return [
      ...rest,
      isUnechoed(leaf, compared) ? { ...change, unreadable: true } : change,
      ...secrets,
    ];
  }, changes);
}

/** Leaves that the platform returns: `deep-diff` over both sides, keyed by path. */
function compareReadable(compared: Compared): readonly LeafChange[] {
  const { root, wanted, world } = compared;
  const left: Record<string, Json> = {};
  const right: Record<string, Json> = {};
  const unread: LeafChange[] = [];
  /** Nothing is written: secrets that are live already and have another source, and what the platform stored otherwise. */
  const same: LeafChange[] = [];
  for (const leaf of wanted.leaves.values()) {
    if (leaf.facts.unreadable || !isLeafReturned(leaf, compared) || isUnechoed(leaf, compared))
      continue;
    const value = resolveLeaf(leaf, world);
    if (value === undefined) {
      const live = valueAt(root, compared.live, leaf.path);
      unread.push(leafChange(leaf, live, leaf.value, unreadCause(leaf, compared)));
      continue;
    }
    const desired = value instanceof Unknown ? UNBORN : normalise(leaf.schema, value);
    const live = liveValue(leaf, compared);
    // Nearly all are texts and numbers that are the same.
    const stored = desired === live ? undefined : storedIn(leaf, desired, compared);
    if (desired === live || stored !== undefined) {
      const before = valueAt(root, compared.live, leaf.path);
      if (isFromElsewhere(leaf, compared))
        same.push(leafChange(leaf, before, leaf.value, 'secret_source_changed'));
      else if (stored?.isSaid === true)
        same.push({
          ...leafChange(leaf, before, shownValue(leaf, world), 'stored_as'),
          ...(stored.isNear ? { isAlike: true as const } : {}),
        });
      continue;
    }
    right[leaf.text] = desired;
    left[leaf.text] = live;
  }
  const differing = new Set(
    (deepDiff.diff(left, right) ?? []).map(({ path }) => String(path?.[0])),
  );
  const changes = [...differing].flatMap((text) => {
    const leaf = wanted.leaves.get(text);
    if (leaf === undefined) return [];
    const [live, desired] = [getOwn(left, text) ?? null, getOwn(right, text) ?? null];
    const cause = findCause(leaf, live, desired, compared);
    const after = shownValue(leaf, world);
    const change = leafChange(leaf, valueAt(root, compared.live, leaf.path), after, cause);
    const isDoubtful = cause === 'drifted' || getOwn(compared.sides.applied, text) === undefined;
    const isNear = isDoubtful && isAlike(desired, live, leaf.schema['x-set']);
    return [isNear ? { ...change, isAlike: true as const } : change];
  });
  return [...changes, ...unread, ...same];
}

/**
 * Tells of a leaf that differs whether the platform stored it so: the state remembers both values, or they are alike and
 * the field could only be changed by making another resource. `isSaid`: the state does not know it yet, or the values
 * differ in more than platforms change on the way, which a forged state must not hide. Undefined: it is a difference.
 */
function storedIn(
  { text, path, schema }: Leaf,
  desired: Json,
  { root, live: document, sides, world }: Compared,
): { readonly isSaid: boolean; readonly isNear: boolean } | undefined {
  const last = getOwn(sides.applied, text);
  if (schema['x-immutable'] !== true && (last === undefined || !('stored' in last)))
    return undefined;
  const live = normalise(schema, valueAt(root, document, path));
  const isKnown = isStoredAs(last, desired, live, sides.address, text, world);
  const isNear = isAlike(desired, live, schema['x-set']);
  if (isKnown) return { isSaid: !isNear && sides.isProof !== true, isNear };
  return schema['x-immutable'] === true && isNear ? { isSaid: true, isNear } : undefined;
}

/** The platform stored a value as one that differs in more than platforms change on the way: every plan says so. */
export function isStoredOddly({ cause, isAlike: isNear }: LeafChange): boolean {
  return cause === 'stored_as' && isNear !== true;
}

/** The mark by which the state remembers what the platform stored in the place of a leaf's value. */
export function storedMark(
  { schema, before, sensitive, text }: LeafChange,
  { address }: { readonly address: Address },
  world: World,
): string {
  return markStored(normalise(schema, before), sensitive, address, text, world);
}

/** Paths of the leaves whose live value the platform stored in the place of the one that is desired: it goes back as it is. */
export function listStored(
  root: FieldSchema,
  desired: ValueObject,
  live: JsonObject,
  sides: Sides,
  world: World,
): readonly Path[] {
  if (!Object.values(sides.applied ?? {}).some((last) => 'stored' in last)) return [];
  const [wanted, found] = [listLeaves(root, desired), listLeaves(root, live)];
  const compared: Compared = { root, desired, wanted, found, live, sides, world };
  return [...wanted.leaves.values()].flatMap((leaf) => {
    const value = resolveLeaf(leaf, world);
    if (value === undefined || value instanceof Unknown) return [];
    return storedIn(leaf, normalise(leaf.schema, value), compared) === undefined ? [] : [leaf.path];
  });
}

/** A leaf's value as a plan shows it: a text with the ids in it, once they are known. */
export function shownValue({ value }: Pick<Leaf, 'value'>, world: World): Value {
  const resolved = value instanceof LinkedText ? resolveRefs(value, world) : value;
  return resolved instanceof Unknown ? value : resolved;
}

/** Finds the cause for a secret that is not at hand: its live value can still be compared with the one last written. */
function unreadCause(leaf: Leaf, compared: Compared): FieldCause {
  const { sides, world } = compared;
  const last = getOwn(sides.applied, leaf.text);
  const live = liveValue(leaf, compared);
  // The state would know of one that was configured when it was written.
  if (last === undefined)
    return sides.applied === undefined && live !== null ? 'unknown_secret' : 'changed';
  if ('unsettled' in last) return 'secret_unwritten';
  const verdict = matchesLive(last, live, sides.address, leaf.text, world);
  const hasMoved = verdict === 'different' || live === null;
  if (isFromElsewhere(leaf, compared)) return hasMoved ? 'conflict' : 'secret_source_changed';
  return hasMoved ? 'drifted' : 'unknown_secret';
}

/** True if a secret has another source than the one last applied, and was not just written. */
function isFromElsewhere(leaf: Leaf, { sides }: Pick<Compared, 'sides'>): boolean {
  if (!(leaf.value instanceof Secret) || sides.isProof === true) return false;
  return hasOtherSource(leaf, getOwn(sides.applied, leaf.text));
}

/** Tells whether the platform returns the field now. */
function isLeafReturned({ schema }: Leaf, { root, live }: Compared): boolean {
  return isFieldReturned(root, schema, live);
}

/**
 * Compares leaves that the platform returns only while another is true, where that one is switched on: they are written
 * with it, whatever is returned now, which are defaults.
 */
function compareUnreturned(compared: Compared): readonly LeafChange[] {
  const { wanted, found } = compared;
  return [...wanted.leaves.values()].flatMap((leaf) => {
    const condition = wanted.leaves.get(leaf.schema['x-told-while'] ?? '');
    if (condition?.value !== true || leaf.value === null || isLeafReturned(leaf, compared))
      return [];
    const live = normalise(condition.schema, found.leaves.get(condition.text)?.value);
    return [leafChange(leaf, undefined, leaf.value, findCause(condition, live, true, compared))];
  });
}

/** Stands for an id that nothing can equal yet. */
const UNBORN = { unborn: true };

/** Stands for whatever lies below a field that the configuration wants empty. */
const PRESENT = { present: true };

function liveValue(leaf: Leaf, compared: Compared): Json {
  const { found } = compared;
  const value = normalise(leaf.schema, found.leaves.get(leaf.text)?.value);
  if (value !== null || leaf.value !== null) return value;
  const below = [...found.leaves.values()].filter((other) => startsWith(other.path, leaf.path));
  const isThere = below.some((other) => normalise(other.schema, other.value) !== null);
  return isThere || hidesSecrets(leaf, below, compared) ? PRESENT : null;
}

/**
 * Checks whether something that null is to clear may have secrets: no answer has more of them than the empty object that
 * they are in (Secrets rules). Once null was written, such an object says nothing.
 */
function hidesSecrets(
  { text }: Leaf,
  below: readonly Leaf[],
  { root, sides: { applied, isProof } }: Compared,
): boolean {
  const last = getOwn(applied, text);
  const wasCleared = last !== undefined && 'value' in last && last.value === null;
  if (isProof === true || wasCleared) return false;
  return below.some((other) => isHollow(root, other));
}

/** An empty object may hold secrets, which no answer returns. */
function isHollow(root: FieldSchema, leaf: Leaf): boolean {
  const { path, schema } = leaf;
  if (!isEmptyObject(leaf)) return false;
  const above = schemasAlong(root, path).slice(0, -1);
  return (
    above.some((one) => one['x-secrets-inside'] === true) ||
    Object.values(schema.properties ?? {}).some((one) => one['x-secret'] === true)
  );
}

function isEmptyObject({ value }: Leaf): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/**
 * Paths of the empty objects of a document of which nothing can be written again. `withSecrets`: those that secrets may be
 * in; `bare`: those whose members would have them, and that have no members.
 */
export function hollowObjects(root: FieldSchema, document: JsonObject) {
  const leaves = [...listLeaves(root, document).leaves.values()];
  const bare = leaves.filter(
    (leaf) => isEmptyObject(leaf) && leaf.schema['x-secrets-inside'] === true,
  );
  const withSecrets = leaves.filter((leaf) => isHollow(root, leaf));
  return {
    withSecrets: withSecrets.map(({ text }) => text),
    bare: bare.map(({ text }) => text),
  };
}

function findCause(leaf: Leaf, live: Json, desired: Json, compared: Compared): FieldCause {
  const { sides, world } = compared;
  const { address, applied } = sides;
  const last = getOwn(applied, leaf.text);
  if (last === undefined) return hasMovedBelow(leaf, compared) ? 'conflict' : 'changed';
  // It is unknown what was written, so that nothing tells an edit from it.
  if ('unsettled' in last) return 'secret_unwritten';
  const isElsewhere = isFromElsewhere(leaf, compared);
  if (matchesLive(last, live, address, leaf.text, world) !== 'different')
    return isElsewhere ? 'secret_source_changed' : 'changed';
  if (!isElsewhere && matchesApplied(last, desired, address, leaf.text, world) === 'equal')
    return 'drifted';
  const base = sides.bases?.get(leaf.text) ?? ('value' in last ? last.value : undefined);
  return !isElsewhere && base !== undefined && containsEdit(leaf.schema, desired, base, live)
    ? 'changed'
    : 'conflict';
}

/**
 * Checks whether a value has the edit that made `after` of `before`: of a text by lines, of an object by its members, of a
 * list by its elements, of which those with an identity are compared as objects.
 */
function containsEdit(schema: FieldSchema, own: Json, before: Json, after: Json): boolean {
  if (isSameJson(before, after) || isSameJson(own, after)) return true;
  if (typeof own === 'string' && typeof before === 'string' && typeof after === 'string')
    return containsTextEdit(own, before, after);
  if (isObject(own) && isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].every((key) =>
      containsEdit(
        {},
        getOwn(own, key) ?? null,
        getOwn(before, key) ?? null,
        getOwn(after, key) ?? null,
      ),
    );
  if (!isList(own) || !isList(before) || !isList(after)) return false;
  const isIn = (list: readonly Json[], item: Json) => list.some((one) => isSameJson(one, item));
  const isGone = before.every((item) => isIn(after, item) || !isIn(own, item));
  const came = own.filter((item) => isIn(after, item));
  const isThere = after.every((item) => isIn(own, item));
  // If order counts, theirs is kept.
  return isGone && isThere && (schema['x-set'] === true || isSameJson(came, after));
}

/** A conflict with what both sides came from. */
function withBase(root: FieldSchema, change: LeafChange, sides: Sides): LeafChange {
  if (change.cause !== 'conflict') return change;
  const last = getOwn(sides.applied, change.text);
  const known = sides.bases?.get(change.text);
  if (known !== undefined) return { ...change, base: known };
  if (last !== undefined) return 'value' in last ? { ...change, base: last.value } : change;
  const base = lastWritten(root, change.path, sides);
  return base === undefined ? change : { ...change, base };
}

/** True if null is to replace an object that was written, and that somebody edited since. */
function hasMovedBelow(leaf: Leaf, { found, sides, world }: Compared): boolean {
  if (leaf.value !== null) return false;
  return Object.entries(sides.applied ?? {}).some(([text, last]) => {
    const other = found.leaves.get(text);
    // A secret is never found, so that nothing can be said of it.
    const isUnseen = other === undefined && isConcealed(last);
    if (isUnseen || !startsWith(toPath(text), leaf.path)) return false;
    const value = other === undefined ? null : normalise(other.schema, other.value);
    return matchesLive(last, value, sides.address, text, world) === 'different';
  });
}

/** Leaves that the platform never returns: what was last written is all there is to compare with. */
function compareUnreadable(compared: Compared): readonly LeafChange[] {
  const { wanted } = compared;
  return [...wanted.leaves.values()].flatMap((leaf) => {
    if (!leaf.facts.unreadable || leaf.value === null) return [];
    const cause = wasLost(leaf, compared)
      ? lostCause(leaf, compared)
      : unreadableCause(leaf, compared);
    return cause === undefined ? [] : [leafChange(leaf, undefined, leaf.value, cause)];
  });
}

/** True if a field is newer than the schema and the platform, as far as is known, does not return it. */
function isUnechoed({ path: [field = ''] }: Pick<Leaf, 'path'>, { root, live }: Compared): boolean {
  return !isEchoed(root, field, live);
}

/** Compares leaves of such fields with what was last written, since the platform never returns them. */
function compareUnechoed(compared: Compared): readonly LeafChange[] {
  const { wanted, sides, world } = compared;
  return [...wanted.leaves.values()].flatMap((leaf) => {
    if (leaf.facts.unreadable || !isUnechoed(leaf, compared)) return [];
    if (leaf.value instanceof Secret) {
      const found = unreadableCause(leaf, compared);
      if (found === undefined) return [];
      return [{ ...leafChange(leaf, undefined, leaf.value, found), unreadable: true }];
    }
    const last = getOwn(sides.applied, leaf.text);
    const resolved = resolveLeaf(leaf, world);
    const value = resolved instanceof Unknown ? UNBORN : normalise(leaf.schema, resolved);
    const isNew = sides.applied !== undefined && last === undefined;
    const verdict =
      last === undefined ? 'unknown' : matchesApplied(last, value, sides.address, leaf.text, world);
    if (verdict === 'equal' || (isNew && value === null)) return [];
    const cause: FieldCause = isNew || verdict === 'different' ? 'changed' : 'unknown_content';
    const before = last !== undefined && 'value' in last ? last.value : undefined;
    return [{ ...leafChange(leaf, before, leaf.value, cause), unreadable: true }];
  });
}

/**
 * True if the platform cannot have the secret, because it has nothing of the object that holds it. Only claimed if that
 * object has another member that would be returned.
 */
function wasLost({ path, value }: Leaf, { root, wanted, live }: Compared): boolean {
  const above = path.slice(0, -1);
  if (value instanceof Blob || isObject(valueAt(root, live, above))) return false;
  return [...wanted.leaves.values()].some(
    (other) => !other.facts.unreadable && other.value !== null && startsWith(other.path, above),
  );
}

function lostCause(leaf: Leaf, compared: Compared): FieldCause {
  if (getOwn(compared.sides.applied, leaf.text) === undefined) return 'changed';
  return isFromElsewhere(leaf, compared) ? 'conflict' : 'drifted';
}

function unreadableCause(leaf: Leaf, compared: Compared): FieldCause | undefined {
  const { sides, world } = compared;
  const isFile = leaf.value instanceof Blob;
  const sent = isFile ? getOwn(sides.sent, leaf.text) : undefined;
  const last =
    getOwn(sides.applied, leaf.text) ?? (sent === undefined ? undefined : { digest: sent });
  // The state would know of one that was configured when it was written.
  const isNew = sides.applied !== undefined && last === undefined;
  if (isNew && !isFile && !sides.resend) return 'changed';
  if (isFromElsewhere(leaf, compared)) return 'secret_source_changed';
  // It is to be written whatever its value is, so it need not be at hand.
  const isUnwritten = sides.isSuccessor === true || (last !== undefined && 'unsettled' in last);
  if (isUnwritten && !isFile) return 'secret_unwritten';
  const verdict = compareApplied(leaf, last, sides.address, world);
  if (verdict === 'different') return isFile ? 'changed' : 'secret_changed';
  if (sides.resend && !isFile) return 'secret_resent';
  if (verdict === 'equal') return undefined;
  if (isFile && sides.isOther === true) return 'changed';
  return isFile ? 'unknown_content' : 'unknown_secret';
}

/**
 * The changes with each edit kept that the configuration has nothing against. Where what is written beside an edit would
 * end it, or give it another meaning, both sides changed the same thing: that is a conflict.
 *
 * | the configuration changed                        | and live somebody                     |
 * |--------------------------------------------------|---------------------------------------|
 * | a field that is returned with its flag           | switched the flag off                 |
 * | a member of an element                           | removed the element                   |
 * | a secret                                         | named another account, or destination |
 * | the flag or leader of a field (`listDependents`) | edited that field                     |
 */
function keepEdits(changes: readonly LeafChange[], compared: Compared): readonly LeafChange[] {
  const isEdit = ({ cause }: LeafChange) => cause === 'drifted';
  if (!changes.some(isEdit)) return changes;
  const written = changes.filter(
    (one) => isWritten(one) && (!isEdit(one) || isReconfigured(one, compared)),
  );
  return changes.map((change) => {
    if (!isEdit(change)) return change;
    const isContested = written.includes(change) || isEnded(change, written, compared);
    return { ...change, cause: isContested ? 'conflict' : 'kept' };
  });
}

/** The configuration of a leaf changed since it was last written. */
function isReconfigured({ text }: LeafChange, { wanted, sides, world }: Compared): boolean {
  const leaf = wanted.leaves.get(text);
  if (leaf === undefined) return false;
  const verdict = compareApplied(leaf, getOwn(sides.applied, text), sides.address, world);
  return verdict === 'different' || verdict === 'new';
}

/** Another write of the same change would end an edit, or give it another meaning. */
function isEnded(
  { path }: LeafChange,
  written: readonly LeafChange[],
  { root, live }: Compared,
): boolean {
  const element = goneElement(root, live, path);
  const leaders = listDependents(root).flatMap((one) =>
    startsWith(path, one.path) ? [one.leader] : [],
  );
  const dependents = listDependents(root).flatMap((one) =>
    one.schema['x-told-while'] !== undefined && startsWith(one.leader, path) ? [one.path] : [],
  );
  return written.some(
    (other) =>
      (element !== undefined && startsWith(other.path, element)) ||
      leaders.some((leader) => startsWith(leader, other.path)) ||
      isWithin(other.path, dependents) ||
      (other.after instanceof Secret && decidesSecret(root, path, other.path)),
  );
}

/** The element that a path lies in and a document does not have. */
export function goneElement(root: FieldSchema, live: JsonObject, path: Path): Path | undefined {
  const depth = path.findIndex(
    (segment, at) =>
      isIdentity(segment) && valueAt(root, live, path.slice(0, at + 1)) === undefined,
  );
  return depth < 0 ? undefined : path.slice(0, depth + 1);
}

/** A path names the account that a secret belongs to, or the host that it is sent to. */
function decidesSecret(root: FieldSchema, path: Path, secret: Path): boolean {
  const beside = secretsBeside(root, path).map(formatPath);
  if (beside.includes(formatPath(secret))) return true;
  return [root, ...schemasAlong(root, secret)].some(({ 'x-destination': member }, at) => {
    if (member === undefined) return false;
    const above = secret.slice(0, at);
    const place = member === '{key}' ? secret.slice(0, at + 1) : [...above, member];
    return startsWith(path, place) || startsWith(place, path);
  });
}

/**
 * The changes with the secrets of each account that is written (`x-secret-of`): the platform keeps a secret that is left
 * out, which would then belong to another account than the one beside it.
 */
function withAccountSecrets(
  changes: readonly LeafChange[],
  { root, wanted, sides }: Compared,
): readonly LeafChange[] {
  const written = new Set(changes.filter(isWritten).map(({ text }) => text));
  const secrets = changes.filter(isAccount(root)).flatMap(({ path }) =>
    secretsBeside(root, path).flatMap((own) => {
      const text = formatPath(own);
      const leaf = wanted.leaves.get(text);
      if (leaf === undefined || !(leaf.value instanceof Secret)) return [];
      if (written.has(text) || isWithin(own, sides.ignore)) return [];
      return [leafChange(leaf, undefined, leaf.value, 'secret_account_changed')];
    }),
  );
  if (secrets.length === 0) return changes;
  const texts = new Set(secrets.map(({ text }) => text));
  return [...changes.filter(({ text }) => !texts.has(text)), ...secrets];
}

/** Returns a test for changes that write the name of an account that a secret belongs to. */
export function isAccount(root: FieldSchema) {
  return (change: LeafChange): boolean =>
    isWritten(change) &&
    (change.after ?? null) !== null &&
    secretsBeside(root, change.path).length > 0;
}

/** Paths of the secrets that belong to what stands at a path: the members beside it that name it in `x-secret-of`. */
export function secretsBeside(root: FieldSchema, path: Path): readonly Path[] {
  const above = path.slice(0, -1);
  return listSecrets(schemaAt(root, above), path.at(-1) ?? '').map(([name]) => [...above, name]);
}

/** Elements of owned lists that only the platform has. */
function surplusElements(compared: Compared): readonly LeafChange[] {
  const { wanted, found } = compared;
  return [...wanted.lists].flatMap(([text, list]) =>
    [...(found.lists.get(text)?.elements ?? [])]
      .filter(([segment]) => !list.elements.has(segment))
      .map(([segment, element]) =>
        elementRemoval([...list.path, segment], element, list.items, compared),
      ),
  );
}

/** An element that goes away: somebody added it, or the configuration no longer has it. */
function elementRemoval(
  path: Path,
  element: Value,
  schema: FieldSchema,
  { found, sides, world }: Compared,
): LeafChange {
  const inside = [...found.leaves.values()].filter((leaf) => startsWith(leaf.path, path));
  const known = inside.filter((leaf) => getOwn(sides.applied, leaf.text) !== undefined);
  const moved = known.some((leaf) => {
    const last = getOwn(sides.applied, leaf.text);
    const value = normalise(leaf.schema, leaf.value);
    return last && matchesLive(last, value, sides.address, leaf.text, world) === 'different';
  });
  const byHand = wasOwned(sides, path.slice(0, -1)) ? 'drifted' : 'changed';
  const cause: FieldCause = known.length === 0 ? byHand : moved ? 'conflict' : 'cleared';
  const sensitive = inside.some((leaf) => leafSensitivity(leaf) !== 'open');
  const text = formatPath(path);
  const unreadable = false;
  return { path, text, before: element, after: undefined, cause, sensitive, unreadable, schema };
}

/** True if a list was owned when it was last written: an empty one is remembered as well. */
function wasOwned({ applied = {} }: Sides, list: Path): boolean {
  const text = formatPath(list);
  return Object.keys(applied).some((leaf) => leaf === text || leaf.startsWith(`${text}[`));
}

/** Leaves that were written once and that the configuration no longer has. */
function removedLeaves(compared: Compared): readonly LeafChange[] {
  const { wanted, found, sides, world } = compared;
  const removed = new Map<string, LeafChange>();
  for (const [text, last] of Object.entries(sides.applied ?? {})) {
    const own = wanted.leaves.get(text);
    // Null clears no secret: it stays, as it does where its line is taken out.
    if (own !== undefined && !(own.facts.unreadable && own.value === null)) continue;
    const leaf = found.leaves.get(text);
    const findGoneCause = ({ schema, value }: Leaf): FieldCause => {
      const live = normalise(schema, value);
      const verdict = matchesLive(last, live, sides.address, text, world);
      return verdict === 'different' ? 'conflict' : 'cleared';
    };
    const gone =
      leaf === undefined
        ? (displacedLeaf(text, last, compared) ?? unseenLeaf(text, compared))
        : goneLeaf(leaf, compared, findGoneCause);
    if (gone !== undefined) removed.set(gone.text, gone);
  }
  return [...removed.values()];
}

/** A live leaf that goes, or the element that it is in where nothing of the list is wanted; undefined where it stays. */
function goneLeaf(
  leaf: Leaf,
  compared: Compared,
  findGoneCause: (leaf: Leaf) => FieldCause,
): LeafChange | undefined {
  const { wanted, found } = compared;
  if (normalise(leaf.schema, leaf.value) === null || isCovered(wanted, leaf.path)) return undefined;
  const element = orphanedElement(wanted, found, leaf.path);
  if (element !== undefined)
    return elementRemoval(element.path, element.value, element.items, compared);
  const cause = leaf.schema['x-clearable'] === false ? 'released' : findGoneCause(leaf);
  return leafChange(leaf, leaf.value, undefined, cause);
}

/** A removed leaf in whose place somebody put an object: both sides changed it. */
function displacedLeaf(
  text: string,
  last: AppliedLeaf,
  { root, wanted, live }: Compared,
): LeafChange | undefined {
  // A leaf that was written as null owns nothing of the object that is there by now.
  if ('value' in last && last.value === null) return undefined;
  const path = toPath(text);
  const value = valueAt(root, live, path);
  if (!isObject(value) || isNothing(value) || isCovered(wanted, path)) return undefined;
  const leaf = buildLeaf(root, path, value);
  const cause = leaf.schema['x-clearable'] === false ? 'released' : 'conflict';
  return leafChange(leaf, value, undefined, cause);
}

/**
 * A removed leaf that cannot be seen live, and so cannot be cleared knowingly: a secret, which the
 * platform never returns, or a field of a facet that nothing configures any more, which is not read.
 */
function unseenLeaf(text: string, compared: Compared): LeafChange | undefined {
  const { root, wanted, live, sides } = compared;
  const path = parsePath(text);
  if (path === undefined || (!wanted.leaves.has(text) && isCovered(wanted, path))) return undefined;
  const along = schemasAlong(root, path);
  const [top, ...below] = along;
  const isUnread = top?.['x-facet'] === true && getOwn(live, path[0] ?? '') === undefined;
  const last = getOwn(sides.applied, text);
  const isSecret = last !== undefined && isConcealed(last) && isNeverReturned(along);
  const isNew = isUnechoed({ path }, compared);
  // Nothing was written there that could be cleared.
  if (isNew && last !== undefined && 'value' in last && last.value === null) return undefined;
  const isGone = below.length > 0 && !isObject(valueAt(root, live, path.slice(0, -1)));
  if (!isUnread && !isNew && (!isSecret || isGone)) return undefined;
  return {
    path,
    text,
    before: undefined,
    after: undefined,
    cause: isNew ? 'cleared' : 'released',
    sensitive: isSecret,
    unreadable: isSecret || isNew,
    schema: along.at(-1) ?? {},
  };
}

/**
 * Leaves that are live where nothing is desired at all: they go, where a resource is to be exactly what is
 * desired. What the platform does not clear is said.
 */
function surplusLeaves(compared: Compared): readonly LeafChange[] {
  const { root, found, wanted } = compared;
  const surplus = new Map<string, LeafChange>();
  for (const leaf of found.leaves.values()) {
    if (leaf.facts.unreadable || !namesField(root, leaf.path[0] ?? '')) continue;
    const flag = wanted.leaves.get(leaf.schema['x-told-while'] ?? '');
    if (flag?.value === false || !isLeafReturned(leaf, compared)) continue;
    const gone = goneLeaf(leaf, compared, () => 'changed');
    if (gone !== undefined) surplus.set(gone.text, gone);
  }
  return [...surplus.values()];
}

/** True if the configuration sets something at the path, above it or below it, so that it is not gone. */
function isCovered(wanted: Leaves, path: Path): boolean {
  const inOwnedList = [...wanted.lists.values()].some(
    (list) => startsWith(path, list.path) && !list.elements.has(path[list.path.length] ?? ''),
  );
  return inOwnedList || [...wanted.leaves.values()].some((leaf) => covers(leaf, path));
}

function covers({ path: own, value }: { readonly path: Path; readonly value: Value }, path: Path) {
  // An empty object owns nothing of what lies below it.
  return startsWith(own, path) || (startsWith(path, own) && !isObject(value));
}

/** The element of a keyed list that the path lies in, where the configuration has nothing left of the list. */
function orphanedElement(
  wanted: Leaves,
  found: Leaves,
  path: Path,
): { readonly path: Path; readonly value: Value; readonly items: FieldSchema } | undefined {
  const at = path.findIndex(
    (segment, index) => isIdentity(segment) && !wanted.lists.has(formatPath(path.slice(0, index))),
  );
  if (at < 0) return undefined;
  const list = found.lists.get(formatPath(path.slice(0, at)));
  const value = list?.elements.get(path[at] ?? '');
  if (list === undefined || value === undefined) return undefined;
  return { path: path.slice(0, at + 1), value, items: list.items };
}

/**
 * Adds one change for each block of which nothing would be left: an object that null takes away as a whole. Null in
 * each member would leave an empty object behind, or one full of nulls, and a secret that is not returned. Where
 * something else is live in the block it stays, and only the members go.
 */
function clearedBlocks(
  changes: readonly LeafChange[],
  { root, wanted, found, live }: Compared,
): readonly LeafChange[] {
  const isCleared = (change: LeafChange) => isWritten(change) && (change.after ?? null) === null;
  const clears = changes.filter(isCleared);
  const blocks = new Map<string, Path>();
  for (const { path } of clears)
    for (const [at, schema] of schemasAlong(root, path.slice(0, -1)).entries())
      if (isBlock(schema)) blocks.set(formatPath(path.slice(0, at + 1)), path.slice(0, at + 1));
  return [...blocks].reduce<readonly LeafChange[]>((all, [text, path]) => {
    const inside = all.filter((change) => isCleared(change) && startsWith(change.path, path));
    const gone = new Set(inside.map((change) => change.text));
    const isLeft = [...found.leaves.values()].some(
      (leaf) =>
        startsWith(leaf.path, path) &&
        !gone.has(leaf.text) &&
        normalise(leaf.schema, leaf.value) !== null,
    );
    const isWanted = [...wanted.leaves.values()].some(
      (leaf) => startsWith(leaf.path, path) && leaf.value !== null,
    );
    const [first] = inside;
    if (first === undefined || isLeft || isWanted) return all;
    const causes = inside.map(({ cause }) => cause);
    const block: LeafChange = {
      path,
      text,
      before: valueAt(root, live, path),
      after: undefined,
      cause: causes.find((cause) => cause === 'conflict') ?? first.cause,
      sensitive: inside.some(({ sensitive }) => sensitive),
      unreadable: false,
      schema: schemaAt(root, path),
    };
    // A secret goes with what it is part of, although the platform cannot clear it by itself.
    return [...all.filter((change) => !startsWith(change.path, path)), block];
  }, changes);
}

/**
 * An object that null may take away. A facet has an endpoint of its own, a map is replaced, and an element of a list goes
 * as one; an object whose members the specification lists is left, as each of them goes by itself.
 */
function isBlock(schema: FieldSchema): boolean {
  const { additionalProperties: more, 'x-clearable': isClearable, 'x-section': stated } = schema;
  const isListed = stated?.properties !== undefined;
  return more === true && !isListed && isClearable !== false && schema['x-facet'] !== true;
}
