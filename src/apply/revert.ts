import type { WholeDocument } from '../core/desired.ts';
import { parsePaths } from '../core/path.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { pickLeaves } from '../core/walk.ts';
import { compare, type LeafChange, liveKey } from '../diff/compare.ts';
import { exactSides } from '../diff/world.ts';
import type { LiveResource } from '../plan/reader.ts';
import { ApiError, describeApiError, isNotFound } from '../platform/errors.ts';
import { performUpdate } from './update.ts';
import { ignoredPaths, type Progress, required, reread, type Work } from './work.ts';

/**
 * Restores a history entry, and updates what it did not restore. A version that is gone (404), or that a
 * lock or save rule refuses (403), is no failure: an update brings back what it can (DESIGN §6). Nor is one
 * that the agent matches already: it makes no entry, and nothing is left to update.
 */
export async function performRevert(
  { version }: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  const before = required(progress);
  const { history } = work.kind;
  if (history === undefined || version === undefined) return progress;
  const remarks = [...progress.remarks];
  try {
    await work.io('revert', before.id).call(history.revert(before.id, version));
  } catch (error) {
    const why = whyNot(error);
    if (why === undefined) throw error;
    remarks.push(`the revert to history entry ${version} ${why}; it was updated instead`);
  }
  const live = await reread(work, before);
  return performUpdate(withSideEffects(work, before, live), { ...progress, live, remarks });
}

/** Why a version could not be restored; undefined: something else is wrong. */
function whyNot(error: unknown): string | undefined {
  const isRefused = error instanceof ApiError && error.status === 403;
  if (isRefused) return `was refused (${describeApiError(error)})`;
  return isNotFound(error) ? 'found no such version' : undefined;
}

/**
 * A revert restores all that its version records, and takes web transfer along with call transfer. What it
 * moved beside what is to be undone, and not to where that was, goes back there.
 */
function withSideEffects(work: Work, before: LiveResource, after: LiveResource): Work {
  const { desired } = work;
  if (desired?.whole === undefined) return work;
  const { whole } = desired;
  const wrongBefore = new Set(differences(work, whole, before).map(liveKey));
  const moved = differences(work, whole, after).filter((one) => !wrongBefore.has(liveKey(one)));
  const paths = moved.map(({ path }) => path);
  const document = pickLeaves(work.kind.schema, whole.document, paths, desired.document);
  return { ...work, desired: { ...desired, document } };
}

function differences(
  work: Work,
  { document, withheld }: WholeDocument,
  live: LiveResource,
): readonly LeafChange[] {
  const { kind, change, world } = work;
  // Nothing can be said of what nobody kept.
  const ignore = [...ignoredPaths(work), ...parsePaths(withheld)];
  const sides = exactSides(change.address, ignore);
  return compare(kind.schema, document, live.document, sides, world);
}
