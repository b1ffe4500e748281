import { ApiError } from '../api/errors.ts';
import { NetworkError } from '../api/network-error.ts';
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError, ConflictError } from '../core/errors.ts';
import type { PlannedOperation } from '../core/plan-document.ts';
import { Blob, type JsonObject } from '../core/value.ts';
import { requestBody } from '../diff/body.ts';
import { leavesOf } from '../diff/leaves.ts';
import { mergeDocuments } from '../diff/merge.ts';
import type { Created, Draft, Scope } from '../kinds/kind.ts';
import { naturalKeyOf, recordKeyOf, scopeOf } from '../plan/natural-key.ts';
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
    isTaken: work.isTaken,
  };
  const { id, remark } = await createOrSettle(work, draft, again, progress);
  const live = await readLive(work, { id, scope, isUnread: true });
  if (live === undefined) {
    throw new CallsheetError('api', `the platform made ${id} and then did not return it`);
  }
  const remarks = remark === undefined ? progress.remarks : [...progress.remarks, remark];
  return { ...progress, live, written: secrets, remarks };
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
): Promise<Created> {
  const { kind, change, desired, deps } = work;
  try {
    return await kind.create(draft, work.io(again ? 'again' : 'create', progress.live?.id ?? null));
  } catch (error) {
    if (error instanceof ConflictError) throw await whoHasIt(error, work, draft.scope);
    if (again || !isAnswerLost(error) || desired === undefined) throw error;
    const key = naturalKeyOf(kind, desired.document);
    const listed = await deps.reader.list(kind, draft.scope, true);
    if (listed === undefined) throw unsettled(change.address, error);
    const matches = listed.filter(({ record }) => recordKeyOf(kind, record, draft.scope) === key);
    const [match, ...others] = matches;
    if (match === undefined) throw error;
    if (others.length > 0) {
      const ids = matches.map(({ id }) => id).join(', ');
      throw new CallsheetError(
        'api',
        `${change.address}: the answer to its creation was lost, and ${matches.length} live resources have its name: ${ids}`,
        { hint: 'Delete the surplus ones in the dashboard, then plan again.', cause: error },
      );
    }
    if (kind.due?.(match.record, {}, deps.now()) === undefined) return { id: match.id };
    // It was declared, but not all of the steps that make it were taken.
    return kind.create({ ...draft, again: true }, work.io('again', match.id));
  }
}

/** A 409 where nobody could look whether the name is free: what has it can only be taken over by its id. */
async function whoHasIt(
  error: ConflictError,
  { kind, deps }: Work,
  scope: Scope,
): Promise<CallsheetError> {
  if ((await deps.reader.list(kind, scope)) !== undefined) return error;
  const hint = `The platform cannot be asked which one that is: find its id in the dashboard and name it in lifecycle.adopt.`;
  return new CallsheetError('api', error.message, { hint, cause: error });
}

/** The answer to a creation was lost, and there is no list to look in. */
function unsettled(address: Address, error: unknown): CallsheetError {
  const message = `${address}: the answer to its creation was lost, and there is no list that would tell whether it was made`;
  const hint =
    'Look in the dashboard: if it is there, name its id in lifecycle.adopt; then plan again.';
  return new CallsheetError('api', message, { hint, cause: error });
}

/** Whether the platform may have made it all the same: everything but a plain refusal and an unsent request. */
function isAnswerLost(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.isUnsent;
  if (error instanceof ApiError) return error.status >= 500;
  if (error instanceof ConflictError) return false;
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
