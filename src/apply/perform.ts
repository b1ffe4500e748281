import { ApiError, isNotFound } from '../api/errors.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { isObject } from '../core/value.ts';
import { facetBody, requestBody } from '../diff/body.ts';
import type { LeafChange } from '../diff/compare.ts';
import { mergeDocuments } from '../diff/merge.ts';
import type { Draft, Facet, Kind } from '../kinds/kind.ts';
import type { LiveResource } from '../plan/reader.ts';
import { performCreate } from './create.ts';
import { ignoredPaths, type Progress, readLive, remaining, type Work } from './work.ts';

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

async function performUpdate(work: Work, progress: Progress): Promise<Progress> {
  const { kind, desired, world } = work;
  const live = required(progress);
  if (desired === undefined || kind.update === undefined) return progress;
  const changes = ownChanges(work, live);
  if (changes.length === 0) return progress;
  const secrets = new Set(changes.filter(({ sensitive }) => sensitive).map(({ text }) => text));
  const document = mergeDocuments(
    kind.schema,
    desired.document,
    live.document,
    {
      secrets,
      cleared: clearedIn(changes),
      ignore: ignoredPaths(desired),
    },
    world,
  );
  const fields = changes.map(({ path }) => path[0] ?? '');
  const body = requestBody(kind.schema, document, fields);
  const draft: Draft = {
    body: { ...body, ...desired.unchecked },
    scope: live.scope,
    files: {},
    again: false,
  };
  await kind.update(live.id, draft, work.io('update', live.id));
  return { live: await reread(work, live), written: new Set([...progress.written, ...secrets]) };
}

/** Differences outside facets, secrets that are to be sent again among them. */
function ownChanges(work: Work, live: LiveResource): readonly LeafChange[] {
  const { resend_secrets: resend } = work.options;
  const isResent = typeof resend === 'boolean' ? resend : resend.includes(work.change.address);
  return remaining(work, live, isResent).filter(
    ({ path }) => facetOf(work.kind, path[0]) === undefined,
  );
}

function clearedIn(changes: readonly LeafChange[]): ReadonlySet<string> {
  return new Set(changes.filter(({ after }) => after === undefined).map(({ text }) => text));
}

/**
 * Restores a history entry. A version that is gone, or that a lock or save rule refuses, is no failure:
 * the update that follows writes whatever still differs (revert rules 2, 3 and the 404 of retention).
 */
async function performRevert(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
): Promise<Progress> {
  const live = required(progress);
  const { version } = operation;
  const { history } = work.kind;
  if (history === undefined || version === undefined) return progress;
  try {
    await work.io('revert', live.id).call(history.revert(live.id, version));
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 403;
    if (!isRefused && !isNotFound(error)) throw error;
  }
  const after = { ...progress, live: await reread(work, live) };
  const hasUpdate = work.change.operations.some(({ step }) => step === 'update');
  return hasUpdate ? after : performUpdate(work, after);
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
  const changes = remaining(work, live, false).filter(({ path }) => path[0] === field);
  if (changes.length === 0) return progress;
  if (live.document[field] === undefined) throw new CallsheetError('refused', facet.absent);
  const document = mergeDocuments(
    kind.schema,
    desired.document,
    live.document,
    {
      secrets: new Set(),
      cleared: clearedIn(changes),
      ignore: ignoredPaths(desired),
    },
    world,
  );
  const value = document[field];
  const body = facetBody(kind.schema, field, isObject(value) ? value : {});
  await work.io('facet', live.id).call(facet.write(live.id, body));
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
    if (!isNotFound(error)) throw error;
  }
  return progress.live?.id === id ? { ...progress, live: undefined } : progress;
}

async function reread(work: Work, live: LiveResource): Promise<LiveResource> {
  const after = await readLive(work, live);
  if (after !== undefined) return after;
  throw new CallsheetError(
    'api',
    `${work.change.address} (${live.id}) disappeared while it was written`,
  );
}

function required({ live }: Progress): LiveResource {
  if (live === undefined) throw new Error('a step that needs a live resource has none');
  return live;
}

function facetOf(kind: Kind, field: string | undefined): Facet | undefined {
  return kind.facets.find((facet) => facet.field === field);
}
