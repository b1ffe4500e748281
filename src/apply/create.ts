import { ApiError } from '../api/errors.ts';
import { NetworkError } from '../api/transport.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { Blob, type JsonObject } from '../core/value.ts';
import { requestBody } from '../diff/body.ts';
import { leavesOf } from '../diff/leaves.ts';
import { mergeDocuments } from '../diff/merge.ts';
import type { Draft } from '../kinds/kind.ts';
import { naturalKeyOf, recordKeyOf, scopeOf } from '../plan/identify.ts';
import { type Progress, readLive, type Work } from './work.ts';

/** Makes a resource, or with `again` writes one anew that can only be written whole. */
export async function performCreate(
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
    const matches = listed.filter((record) => recordKeyOf(kind, record, draft.scope) === key);
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
    if (kind.due?.(match, {}, deps.now()) === undefined) return match.id;
    // It was declared, but not all of the steps that make it were taken.
    const created = await kind.create({ ...draft, again: true }, work.io('again', match.id));
    return created.id;
  }
}

/** Whether the platform may have made it all the same: everything but a plain refusal and an unsent request. */
function isAnswerLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.isUnsent;
  if (error instanceof ApiError) return error.status >= 500;
  return error instanceof CallsheetError && error.code === 'api';
}

function filesOf({ document }: DesiredResource): Readonly<Record<string, Blob>> {
  return Object.fromEntries(
    Object.entries(document).filter((entry): entry is [string, Blob] => entry[1] instanceof Blob),
  );
}

function withoutNulls(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null));
}
