import type { DesiredResource } from '../core/desired.ts';
import { requestBody } from '../diff/body.ts';
import type { LeafChange } from '../diff/compare.ts';
import { mergeDocuments } from '../diff/merge.ts';
import type { Draft } from '../kinds/kind.ts';
import { isResent } from '../plan/change.ts';
import type { LiveResource } from '../plan/reader.ts';
import { refusedClears } from './refused-clears.ts';
import {
  clearedIn,
  facetOf,
  ignoredPaths,
  type Progress,
  remaining,
  required,
  reread,
  type Work,
} from './work.ts';

/**
 * Writes what differs outside facets. A platform that refuses null keeps what it would have cleared: the
 * rest is then written without (DESIGN §4.5, `released`).
 */
export async function performUpdate(work: Work, progress: Progress): Promise<Progress> {
  const { kind, desired } = work;
  const live = required(progress);
  if (desired === undefined || kind.update === undefined) return progress;
  let changes = ownChanges(work, live);
  const refused: LeafChange[] = [];
  for (;;) {
    if (changes.length === 0) break;
    try {
      await sendUpdate(work, live, desired, changes, refused);
      break;
    } catch (error) {
      const clears = refusedClears(error, kind.schema, changes, desired);
      if (clears.length === 0) throw error;
      refused.push(...clears);
      changes = changes.filter((change) => !clears.includes(change));
    }
  }
  const after = changes.length > 0 ? await reread(work, live) : live;
  const secrets = changes.filter(({ sensitive }) => sensitive).map(({ text }) => text);
  return {
    ...progress,
    live: after,
    written: new Set([...progress.written, ...secrets]),
  };
}

async function sendUpdate(
  { kind, world, io, isTaken }: Work,
  live: LiveResource,
  desired: DesiredResource,
  changes: readonly LeafChange[],
  left: readonly LeafChange[],
): Promise<void> {
  const secrets = new Set(changes.filter(({ sensitive }) => sensitive).map(({ text }) => text));
  const ignore = [...ignoredPaths(desired), ...left.map(({ path }) => path)];
  const intent = { secrets, cleared: clearedIn(changes), ignore };
  const document = mergeDocuments(kind.schema, desired.document, live.document, intent, world);
  const fields = changes.map(({ path }) => path[0] ?? '');
  const body = requestBody(kind.schema, document, fields);
  const draft: Draft = {
    body: { ...body, ...desired.unchecked },
    scope: live.scope,
    files: {},
    again: false,
    isTaken,
  };
  await kind.update?.(live.id, draft, io('update', live.id));
}

/** Differences outside facets, secrets that are to be sent again among them. */
function ownChanges(work: Work, live: LiveResource): readonly LeafChange[] {
  return remaining(work, live, isResent(work.change.address, work.options)).filter(
    ({ path }) => facetOf(work.kind, path[0]) === undefined,
  );
}
