import { ApiError } from '../api/errors.ts';
import { NetworkError } from '../api/transport.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError } from '../core/errors.ts';
import { type Path, parsePath } from '../core/path.ts';
import type { Change, PlannedOperation, PlanOptions } from '../core/plan-document.ts';
import { Blob, isObject, type JsonObject } from '../core/value.ts';
import { facetBody, requestBody } from '../diff/body.ts';
import { compare, isWritten, type LeafChange } from '../diff/compare.ts';
import { leavesOf } from '../diff/leaves.ts';
import { mergeDocuments } from '../diff/merge.ts';
import type { World } from '../diff/world.ts';
import type { Draft, Facet, Io, Kind, Scope } from '../kinds/kind.ts';
import { naturalKeyOf, scopeOf } from '../plan/identify.ts';
import type { LiveResource, Reader } from '../plan/reader.ts';
import type { ResourceState } from '../state/model.ts';
import type { RunDeps } from './deps.ts';

/** One change being carried out. */
export type Work = {
  readonly change: Change;
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  readonly recorded: ResourceState | undefined;
  readonly options: PlanOptions;
  readonly world: World;
  readonly deps: RunDeps;
  readonly io: (step: PlannedOperation['step'], id: string | null) => Io;
};

/** Where a change has got to: the live resource after each step. */
export type Progress = {
  readonly live: LiveResource | undefined;
  /** Secrets and files that were written, by path. */
  readonly written: ReadonlySet<string>;
};

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

/** Reads a resource with the facets that the configuration has. */
export function readLive(
  { kind, desired, deps }: Pick<Work, 'kind' | 'desired' | 'deps'>,
  at: { readonly id: string; readonly scope: Scope },
): ReturnType<Reader['read']> {
  const facets = kind.facets
    .map(({ field }) => field)
    .filter((field) => desired?.document[field] !== undefined);
  return deps.reader.read(kind, at, new Set(facets));
}

/**
 * What differs from the configuration and is to be written. `resend` counts secrets that are to be sent
 * again although nothing says that they changed.
 */
export function remaining(work: Work, live: LiveResource, resend: boolean): readonly LeafChange[] {
  const { kind, desired, world, change, recorded } = work;
  if (desired === undefined) return [];
  const sides = {
    address: change.address,
    applied: change.adopted ? undefined : recorded?.leaves,
    ignore: ignoredPaths(desired),
    isPartial: desired.isPartial,
    resend,
  };
  return compare(kind.schema, desired.document, live.document, sides, world).filter(isWritten);
}

function ignoredPaths(desired: DesiredResource): readonly Path[] {
  return desired.lifecycle.ignore.map(parsePath).filter((path): path is Path => path !== undefined);
}

async function performCreate(
  operation: PlannedOperation,
  work: Work,
  progress: Progress,
  again: boolean,
): Promise<Progress> {
  const { kind, desired, world } = work;
  if (desired === undefined) throw new Error(`${work.change.address} has no configuration`);
  const leaves = [...leavesOf(kind.schema, desired.document).leaves.values()];
  const secrets = new Set(leaves.filter((leaf) => leaf.facts.unreadable).map((leaf) => leaf.text));
  const intent = { secrets, cleared: new Set<string>(), ignore: [] };
  const document = mergeDocuments(kind.schema, desired.document, {}, intent, world);
  const fields = again ? Object.keys(desired.document) : operation.fields;
  const body = requestBody(kind.schema, withoutNulls(document), fields);
  const scope = scopeOf(kind, desired.document);
  const draft: Draft = {
    body: { ...body, ...desired.unchecked },
    scope,
    files: filesOf(desired),
    again,
  };
  const id = await createOrSettle(work, draft, again, progress);
  const live = await readLive(work, { id, scope });
  if (live === undefined) {
    throw new CallsheetError('api', `the platform made ${id} and then did not return it`);
  }
  return { live, written: secrets };
}

/**
 * Creates. Where the answer was lost, the resource may exist all the same: it is looked for by its
 * natural key before anyone would create it twice. One match is it; none means that it was not made.
 */
async function createOrSettle(
  work: Work,
  draft: Draft,
  again: boolean,
  progress: Progress,
): Promise<string> {
  const { kind, change, desired, deps } = work;
  try {
    const created = await kind.create(
      draft,
      work.io(again ? 'again' : 'create', progress.live?.id ?? null),
    );
    return created.id;
  } catch (error) {
    if (again || !isAnswerLost(error) || desired === undefined) throw error;
    const key = naturalKeyOf(kind, desired.document);
    const listed = await deps.client.list(kind.list(draft.scope));
    const matches = listed.filter(
      (record) =>
        naturalKeyOf(kind, kind.document({ ...draft.scope, ...record }, draft.scope)) === key,
    );
    const [match, ...others] = matches;
    if (match === undefined) throw error;
    if (others.length > 0 || typeof match.id !== 'string') {
      const ids = matches.map(({ id }) => String(id)).join(', ');
      throw new CallsheetError(
        'api',
        `${change.address}: the answer to its creation was lost, and ${matches.length} live resources have its name: ${ids}`,
        { hint: 'Delete the surplus ones in the dashboard, then plan again.', cause: error },
      );
    }
    if (Object.keys(draft.files).length === 0) return match.id;
    // Whether its bytes arrived is unknown, so they are sent again.
    const created = await kind.create({ ...draft, again: true }, work.io('again', match.id));
    return created.id;
  }
}

function isAnswerLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.isUnsent;
  return error instanceof ApiError && error.status >= 500;
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
    const isRefused = error instanceof ApiError && (error.status === 403 || error.status === 404);
    if (!isRefused) throw error;
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
    const isGone = error instanceof ApiError && error.status === 404;
    if (!isGone) throw error;
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

function filesOf({ document }: DesiredResource): Readonly<Record<string, Blob>> {
  return Object.fromEntries(
    Object.entries(document).filter((entry): entry is [string, Blob] => entry[1] instanceof Blob),
  );
}

function withoutNulls(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null));
}
