import { ApiError, describeApiError } from '../api/errors.ts';
import { parsePath, startsWith } from '../core/path.ts';
import type { LeafChange } from '../diff/compare.ts';
import type { LiveResource } from '../plan/reader.ts';
import { askBarred } from './explain.ts';
import type { Left, Work } from './work.ts';

/** Statuses of a lock, of a rule that a save breaks, and of a name that is taken. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 409, 422]);

/** What is left of a refused write: leaves that are not to be written, and what to try instead. */
type Narrower = {
  readonly left: readonly Left[];
  readonly batches: readonly (readonly LeafChange[])[];
};

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
  const refused = leftOf(error, changes, work);
  if (refused === undefined) return undefined;
  const barred = await askBarred(work, live, changes);
  const left = changes.flatMap((change) => {
    const found = barred.find(({ path }) => concerns(path, change));
    return found === undefined ? [] : [leave(change, found.why)];
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
export function leftOf(
  error: unknown,
  changes: readonly LeafChange[],
  { desired }: Pick<Work, 'desired'>,
): readonly Left[] | undefined {
  const isRefusal = error instanceof ApiError && REFUSALS.has(error.status);
  if (desired?.isPartial !== true || !isRefusal) return undefined;
  return changes.map((change) => leave(change, describeApiError(error)));
}

function leave({ path, text }: LeafChange, why: string): Left {
  return { path, text, why };
}

/** Whether an objection to a path, or to the resource as a whole, is one to a leaf. */
function concerns(objection: string | null, { path }: LeafChange): boolean {
  const at = objection === null ? [] : parsePath(objection);
  return at !== undefined && (startsWith(path, at) || startsWith(at, path));
}
