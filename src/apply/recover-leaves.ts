import { isAlike } from '../core/alike.ts';
import { fieldIn, formatPath, toPath } from '../core/path.ts';
import { type FieldSchema, isEchoed } from '../core/schema.ts';
import { getOwn, isSameJson, type Json, type JsonObject } from '../core/value.ts';
import {
  isFieldReturned,
  isRecorded,
  listFollowers,
  schemaAt,
  schemasAlong,
} from '../core/walk.ts';
import {
  isConcealedAs,
  markStored,
  matchesApplied,
  matchesLive,
  withStored,
} from '../diff/applied.ts';
import { liveForm, type World } from '../diff/leaves.ts';
import { judgeLeaf, type Outcome } from '../diff/outcome.ts';
import { buildLeaf } from '../diff/shape.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LiveResource } from '../plan/reader.ts';
import { isFieldRead } from '../plan/refresh.ts';
import type { Intended } from '../state/journal.ts';
import { type AppliedLeaf, isConcealed, type ResourceState } from '../state/model.ts';
import type { RequestMade } from '../state/replay.ts';
import { findFacet } from './work.ts';

type Leaves = ResourceState['leaves'];
type Form = ReturnType<typeof liveForm>;

/** How much of a change is live. */
export type Taken = {
  readonly leaves: Leaves;
  readonly extent: 'all' | 'some' | 'none';
  /** True if it is unknown whether secrets were written, so that they are to be written again. */
  readonly isUnsettled: boolean;
};

type Given = {
  readonly address: string;
  readonly kind: Kind;
  readonly intended: Intended;
  /** The state's record before; undefined for a new resource. */
  readonly before: Leaves | undefined;
  /** The live document when the change began; null if there was none. */
  readonly found: JsonObject | null;
  readonly live: LiveResource;
  readonly requests: readonly RequestMade[];
  /** Somebody else wrote since the change began, or the history does not tell. */
  readonly hasOthers: boolean;
  readonly world: World;
};

/**
 * Works out the last written value of each leaf, after a run died in the middle of a change:
 *
 * | before | intended | live  | last written                                                  |
 * |--------|----------|-------|---------------------------------------------------------------|
 * | a      | b        | b     | b: it took                                                    |
 * | a      | b        | a     | a: it did not                                                 |
 * | a      | b        | c     | b where the history has the run's entries alone: the platform stored it so. Otherwise a: |
 * |        |          |       | somebody else wrote it since, which is drift or a conflict    |
 * | a      | secret b | never | b where the request was answered, or what went with it took; a where nothing did; otherwise unsettled |
 * | none   | unknown, or a file, that the change takes over and does not write | never | as intended: no request says anything of it |
 */
export function recoverLeaves(given: Given): Taken {
  const { intended, before = {} } = given;
  const paths = new Set([...Object.keys(before), ...Object.keys(intended.leaves)]);
  const moved = [...paths].filter(
    (path) => !isSameJson(getOwn(before, path), getOwn(intended.leaves, path)),
  );
  const hidden = new Set(intended.unreadable);
  const takenOver = new Set(moved.filter((path) => !hidden.has(path) && isTakenOver(path, given)));
  const form = liveForm(given.kind.schema, given.live.document);
  const readable = moved.filter(
    (path) => !hidden.has(path) && !takenOver.has(path) && isReturned(path, given),
  );
  const took = new Set(readable.filter((path) => isLive(path, form, given)));
  const stored = new Set(
    readable.filter((path) => !took.has(path) && judgeLost(path, form, given) === 'stored_as'),
  );
  // A value that stood there before the change says nothing of its requests.
  const stood = liveForm(given.kind.schema, given.found ?? {});
  const telling = given.found ? readable.filter((path) => !isLive(path, stood, given)) : readable;
  const verdict = verdictOnHidden(telling, took, given);
  for (const path of hidden) if (verdict === 'written') took.add(path);

  const isAll =
    readable.every((path) => took.has(path)) && (hidden.size === 0 || verdict === 'written');
  const leaves: Record<string, AppliedLeaf> = {};
  for (const path of paths) {
    const isUnsettled =
      hidden.has(path) &&
      (verdict === 'unknown' || (verdict === 'not_written' && !getOwn(before, path)));
    const isUnread = !hidden.has(path) && !readable.includes(path);
    const isNew = takenOver.has(path) || (isUnread ? isAll : took.has(path) || stored.has(path));
    const leaf = getOwn(isNew ? intended.leaves : before, path);
    if (isUnsettled) leaves[path] = { unsettled: true };
    else if (leaf !== undefined)
      leaves[path] = stored.has(path) ? asStored(path, leaf, form, given) : leaf;
  }
  const isNone = took.size + stored.size === 0 && moved.length > 0;
  return {
    leaves,
    extent: isAll ? 'all' : isNone ? 'none' : 'some',
    isUnsettled: Object.values(leaves).some((leaf) => 'unsettled' in leaf),
  };
}

/** A new resource as a request was to make it, and one that is live. */
type Sent = Pick<Given, 'address' | 'kind' | 'live' | 'world'> & {
  /** The leaves that the request sent, but for those that are never returned. */
  readonly leaves: Leaves;
};

/**
 * Holds a live resource against what the request sent that may have made it: which fields are as sent beside its name,
 * and which are not. What the platform does not return, or sets together with another field, says nothing.
 */
export function compareSent({ leaves, ...given }: Sent): {
  readonly alike: readonly string[];
  readonly unlike: readonly string[];
} {
  const { address, kind, live, world } = given;
  const { schema } = kind;
  const form = liveForm(schema, live.document);
  const anybodys = new Set(['name', ...kind.scope]);
  const followers = new Set(
    listFollowers(schema, Object.keys(leaves).map(toPath)).map(({ path }) => formatPath(path)),
  );
  const [alike, unlike]: [string[], string[]] = [[], []];
  for (const [path, leaf] of Object.entries(leaves)) {
    const schemas = schemasAlong(schema, toPath(path));
    const isHidden = schemas.some(({ writeOnly }) => writeOnly === true);
    const isElsewhere = findFacet(kind, fieldIn(path)) !== undefined;
    if (isHidden || isElsewhere || followers.has(path) || !isReturned(path, given)) continue;
    const value = form.get(path) ?? null;
    const found = matchesApplied(leaf, value, address, path, world);
    const isSimilar = found !== 'different' || isNear(leaf, value, schemas.at(-1) ?? {});
    if (!isSimilar) unlike.push(path);
    else if (found === 'equal' && !anybodys.has(path)) alike.push(path);
  }
  return { alike, unlike };
}

/**
 * Returns true if a leaf is taken over with the change and not written by it, while no reading shows it: a secret
 * that is left alone, a file that is taken to be the one configured. Forgotten, it would be written by the next run.
 * A secret that is no longer wanted is let go in the same way: that it is not read is no sign that the change took.
 */
function isTakenOver(path: string, { intended, kind }: Given): boolean {
  const leaf = getOwn(intended.leaves, path);
  const schemas = schemasAlong(kind.schema, toPath(path));
  return (
    (leaf !== undefined && 'unknown' in leaf) || schemas.some(({ writeOnly }) => writeOnly === true)
  );
}

/** Judges leaves that are never returned: they were sent together with those that are. */
function verdictOnHidden(
  readable: readonly string[],
  took: ReadonlySet<string>,
  { kind, requests, intended }: Given,
): 'written' | 'not_written' | 'unknown' {
  if (intended.unreadable.length === 0) return 'written';
  const own = readable.filter((path) => findFacet(kind, path.split(/[.[]/)[0]) === undefined);
  const writes = requests.filter(({ intent }) => WRITES.has(intent.step));
  if (writes.length === 0) return 'not_written';
  if (writes.some(({ outcome }) => outcome?.ok === true)) return 'written';
  if (own.length === 0) return 'unknown';
  if (own.every((path) => took.has(path))) return 'written';
  return own.some((path) => took.has(path)) ? 'unknown' : 'not_written';
}

/** Steps whose requests carry secrets and files. */
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'again']);

/** Returns true if the platform returns a leaf now: not every readable one was read, and some depend on another. */
function isReturned(path: string, { kind, live }: Pick<Given, 'kind' | 'live'>): boolean {
  const at = toPath(path);
  const [field = ''] = at;
  if (!isFieldRead(live, field) || !isEchoed(kind.schema, field, live.document)) return false;
  return isFieldReturned(kind.schema, schemaAt(kind.schema, at), live.document);
}

/** Judges a leaf that is not as intended. */
function judgeLost(path: string, form: Form, given: Given): Outcome {
  const { address, kind, found, before, intended, hasOthers, world } = given;
  const value = form.get(path) ?? null;
  const stood = liveForm(kind.schema, found ?? {}).get(path) ?? null;
  const last = getOwn(before ?? {}, path);
  const isLast = last && matchesLive(last, value, address, path, world) === 'equal';
  return judgeLeaf({
    // A leaf that was to be cleared and was not written has no third value.
    isOwned: getOwn(intended.leaves, path) !== undefined,
    isChanged: true,
    isReturned: true,
    isAsSent: false,
    isAsBefore: isLast === true || isSameJson(stood, value),
    isAlike: isNear(getOwn(intended.leaves, path), value, schemaAt(kind.schema, toPath(path))),
    isGone: value === null,
    // An edit of what no entry records leaves none.
    hasOthers: hasOthers || !isRecorded(kind.schema, toPath(path)),
  });
}

/** A value that the state has in full can be held against what is live. */
function isNear(leaf: AppliedLeaf | undefined, live: Json, schema: FieldSchema): boolean {
  return leaf !== undefined && 'value' in leaf && isAlike(leaf.value, live, schema['x-set']);
}

/** A written leaf with what the platform stored in its place. */
function asStored(
  path: string,
  leaf: AppliedLeaf,
  form: Form,
  { address, kind, world }: Given,
): AppliedLeaf {
  const live = form.get(path) ?? null;
  const own = buildLeaf(kind.schema, toPath(path), live);
  const isSensitive = isConcealed(leaf) || isConcealedAs(own, live);
  return withStored(leaf, markStored(live, isSensitive, address, path, world));
}

function isLive(path: string, form: Form, { address, intended, world }: Given): boolean {
  const value = form.get(path) ?? null;
  const wanted = getOwn(intended.leaves, path);
  return wanted === undefined
    ? value === null
    : matchesLive(wanted, value, address, path, world) === 'equal';
}
