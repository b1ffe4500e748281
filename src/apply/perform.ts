import { isNotFound } from '../api/errors.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { isObject } from '../core/value.ts';
import { facetBody } from '../diff/body.ts';
import { isUnclearable } from '../diff/finding.ts';
import { mergeDocuments } from '../diff/merge.ts';
import { performCreate } from './create.ts';
import { leftOf } from './narrow.ts';
import { performRevert } from './revert.ts';
import { performUpdate } from './update.ts';
import {
  clearedIn,
  facetOf,
  ignoredPaths,
  type Progress,
  readLive,
  remaining,
  required,
  reread,
  type Work,
} from './work.ts';

/** Carries out one step and says where the resource is then. Throws what the platform refuses. */
export async function performStep(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  switch (operation.step) {
    case 'create':
      return performCreate(operation, work, progress, false);
    case 'again':
      return performCreate(operation, work, progress, true);
    case 'update':
      return performUpdate(work, progress);
    case 'revert':
      return performRevert(operation, work, progress);
    case 'facet':
      return performFacet(operation, work, progress);
    case 'delete':
      return performDelete(work, progress);
  }
}

async function performFacet(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  const { kind, desired, world } = work;
  const live = required(progress);
  const field = operation.fields[0] ?? '';
  const facet = facetOf(kind, field);
  if (facet === undefined || desired === undefined) return progress;
  const changes = remaining(work, live, false).filter(
    (change) => change.path[0] === field && !isUnclearable(change),
  );
  if (changes.length === 0) return progress;
  if (live.document[field] === undefined) throw new CallsheetError('refused', facet.absent);
  // What is read beside what is declared may be a default: sent back, it would become the agent's own.
  const intent = {
    secrets: new Set<string>(),
    cleared: clearedIn(changes),
    ignore: ignoredPaths(work),
  };
  const document = mergeDocuments(kind.schema, desired.document, {}, intent, world);
  const value = document[field];
  const body = facetBody(kind.schema, field, isObject(value) ? value : {});
  const evidence = { live: live.document, facet: field };
  try {
    await work.io('facet', live.id, evidence).call(facet.write(live.id, body));
  } catch (error) {
    const left = leftOf(error, changes, work);
    if (left === undefined) throw error;
    return { ...progress, left: [...progress.left, ...left] };
  }
  return { ...progress, live: await reread(work, live) };
}

async function performDelete(work: Work, progress: Progress): Promise<Progress> {
  const { kind, change } = work;
  // In a replacement the new resource may exist by now: it is the old one that goes.
  const id = change.id ?? progress.live?.id;
  if (kind.delete === undefined || id === undefined) return progress;
  try {
    await kind.delete(id, work.io('delete', id));
  } catch (error) {
    // Where the platform lacks the endpoint it answers as if the resource were gone.
    const scope = progress.live?.scope ?? work.recorded?.scope ?? {};
    if (!isNotFound(error) || (await readLive(work, { id, scope })) !== undefined) throw error;
  }
  return progress.live?.id === id ? { ...progress, live: undefined } : progress;
}
