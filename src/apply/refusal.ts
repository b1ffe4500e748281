import { isIdentity, type Path } from '../core/path.ts';
import type { FieldSchema } from '../core/schema.ts';
import { schemasAlong } from '../core/walk.ts';
import type { LeafChange } from '../diff/compare.ts';
import {
  type Barred,
  bars,
  findOwners,
  findRefusals,
  type PreflightContext,
  reasonsIn,
} from '../plan/preflight.ts';
import type { LiveResource } from '../plan/reader.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';
import { remaining, type SkippedLeaf, type Work } from './work.ts';

/**
 * Why the platform refuses a write that the plan took for allowed, if it says so now: somebody locked a
 * feature since, say. Asks what preflight asks; undefined where that tells nothing.
 */
export async function explainRefusal(
  error: unknown,
  work: Work,
  live: LiveResource | undefined,
): Promise<string | undefined> {
  if (!(error instanceof ApiError) || !LOCKED.has(error.status)) return undefined;
  const left = live === undefined ? [] : remaining(work, live);
  const known = await askBarred(work, live, left, false);
  // An answer from before this refusal may be older than the lock.
  const barred = known.length > 0 ? known : await askBarred(work, live, left, true);
  return barred.length === 0 ? undefined : `refused since the plan: ${reasonsIn(barred)}`;
}

/**
 * Makes a refused write of a rollback smaller: by the leaves that the platform says it locks or, where it
 * names none, by halves, down to the leaf that it refuses. Undefined where that is not to be tried: only a
 * rollback is better done in part than not at all.
 *
 *   {a, b, c, d} refused ─▶ {a, b} written, {c, d} refused ─▶ {c} written, d is left
 */
export async function narrow(
  error: unknown,
  changes: readonly LeafChange[],
  work: Work,
  live: LiveResource,
): Promise<Narrower | undefined> {
  const refused = skippedLeaves(error, changes, work);
  if (refused === undefined) return undefined;
  const barred = await askBarred(work, live, changes, true);
  const left = changes.flatMap((change) => {
    const found = barred.find((one) => bars(one, change.path));
    return found === undefined ? [] : [skip(change, found.why)];
  });
  if (left.length > 0) {
    const texts = new Set(left.map(({ text }) => text));
    return { left, batches: [changes.filter(({ text }) => !texts.has(text))] };
  }
  if (changes.length <= 1) return { left: refused, batches: [] };
  const half = Math.ceil(changes.length / 2);
  return { left: [], batches: [changes.slice(0, half), changes.slice(half)] };
}

/** The leaves of a refused write that a rollback leaves as they are; undefined where that is no way out. */
export function skippedLeaves(
  error: unknown,
  changes: readonly LeafChange[],
  { desired }: Pick<Work, 'desired'>,
): readonly SkippedLeaf[] | undefined {
  return desired?.isPartial === true && isRefusal(error) ? skipAll(error, changes) : undefined;
}

/**
 * The leaves of a facet that was refused, where that was agreed to (`--skip-refused`): of a new resource the plan cannot
 * tell. What is replaced would lose the facet with the old one.
 */
export function skippedFacet(
  error: unknown,
  changes: readonly LeafChange[],
  { change, options }: Pick<Work, 'change' | 'options'>,
): readonly SkippedLeaf[] | undefined {
  const isAgreed = options.skip_refused && change.action !== 'replace';
  if (!isAgreed || !isRefusal(error)) return undefined;
  return skipAll(error, changes).map((leaf) => ({ ...leaf, isAgreed }));
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && REFUSALS.has(error.status);
}

function skipAll(error: ApiError, changes: readonly LeafChange[]): readonly SkippedLeaf[] {
  return changes.map((change) => skip(change, describeApiError(error)));
}

/**
 * The leaves that a 400 says cannot be emptied, of those that a write was to empty: the specification does
 * not say where null is taken, and the rest is written without (`agent.null-inside`). None for any other error.
 */
export function refusedClears(
  error: unknown,
  root: FieldSchema,
  changes: readonly LeafChange[],
): readonly LeafChange[] {
  if (!(error instanceof ApiError) || error.status !== 400) return [];
  const clears = changes.filter((change) => isClear(change, true));
  const named = error.issues.map(({ path }) => path).filter((path) => path !== '');
  // A body without issues does not say which field it means.
  return named.length === 0
    ? clears
    : clears.filter(({ path }) => named.some((name) => isWithin(name, writeName(root, path))));
}

/**
 * Returns true if a change empties a leaf that is not wanted to be anything in particular. A null that the
 * configuration itself wants is no such change, as it would be wanted again; a leaf that a rollback is to empty is
 * one.
 */
export function isClear({ after, path }: LeafChange, isPartial: boolean): boolean {
  const isElement = isIdentity(path.at(-1) ?? '');
  return !isElement && (after === undefined || (isPartial && after === null));
}

/** A lock is a 403 or, for a template, a status that the specification does not show. */
const LOCKED: ReadonlySet<number> = new Set([400, 403]);

/** Finds what bars writing these leaves, asked again if `fresh`; nothing if the platform does not say. */
async function askBarred(
  { change, desired, deps, organizations }: Work,
  live: LiveResource | undefined,
  leaves: readonly LeafChange[],
  fresh: boolean,
): Promise<readonly Barred[]> {
  const context: PreflightContext = {
    reader: deps.reader,
    entitlements: deps.reader.entitlements(fresh),
    organizations,
    ...findOwners([...deps.desired.values()]),
  };
  const { operations } = change;
  // A resource that was made before the refusal is there now.
  const steps =
    live === undefined ? operations : operations.filter(({ step }) => step !== 'create');
  const writing = { document: desired?.document ?? {}, leaves, live: live?.document ?? {} };
  const tried = { ...change, id: live?.id ?? change.id, operations: steps };
  try {
    return (await findRefusals(tried, writing, context)).barred;
  } catch {
    // Only the refusal itself must be reported: an unknown reason is no other failure.
    return [];
  }
}

/** Statuses of a lock, of a rule that a save breaks, and of a name that is taken. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 409, 422]);

/** The rest of a refused write: leaves that are not to be written, and what to try instead. */
type Narrower = {
  readonly left: readonly SkippedLeaf[];
  readonly batches: readonly (readonly LeafChange[])[];
};

function skip({ path, text }: LeafChange, why: string): SkippedLeaf {
  return { path, text, why };
}

/** Returns true if one of two dotted names lies in the other. */
function isWithin(one: string, other: string): boolean {
  return `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);
}

/** The dotted name that a leaf is written under. */
function writeName(root: FieldSchema, path: Path): string {
  const along = schemasAlong(root, path);
  return path.map((segment, index) => along[index]?.['x-write'] ?? segment).join('.');
}
