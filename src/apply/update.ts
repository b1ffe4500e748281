import type { DesiredResource } from '../core/desired.ts';
import { requestBody } from '../diff/body.ts';
import { isUnclearable, type LeafChange, UNCLEARABLE } from '../diff/compare.ts';
import { mergeDocuments } from '../diff/merge.ts';
import type { Draft } from '../kinds/kind.ts';
import { isResent } from '../plan/change.ts';
import type { LiveResource } from '../plan/reader.ts';
import { narrow, refusedClears } from './refusal.ts';
import {
  clearedIn,
  facetOf,
  ignoredPaths,
  type Progress,
  remaining,
  required,
  reread,
  type SkippedLeaf,
  type Work,
} from './work.ts';

/**
 * Writes what differs outside facets. A platform that refuses null keeps what it would have cleared: the
 * rest is then written without (DESIGN §4.5, `released`). In a rollback what a lock or a rule refuses is left
 * as it is, and the rest is written.
 */
export async function performUpdate(work: Work, progress: Progress): Promise<Progress> {
  const { kind, desired } = work;
  const live = required(progress);
  if (desired === undefined || kind.update === undefined) return progress;
  const found = ownChanges(work, live).filter(
    ({ text }) => !progress.left.some((one) => one.text === text),
  );
  const all = found.filter((one) => !isUnclearable(one));
  const sent: LeafChange[] = [];
  const cleared: LeafChange[] = [];
  const left: SkippedLeaf[] = found
    .filter(isUnclearable)
    .map(({ path, text }) => ({ path, text, why: UNCLEARABLE }));
  const batches: (readonly LeafChange[])[] = [all];
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
    const changes = batch;
    if (changes.length === 0) continue;
    try {
      await sendUpdate(work, live, desired, changes, all);
      sent.push(...changes);
    } catch (error) {
      const clears = refusedClears(error, kind.schema, changes, desired);
      cleared.push(...clears);
      if (clears.length > 0) batches.unshift(changes.filter((one) => !clears.includes(one)));
      else {
        const narrower = await narrow(error, changes, work, live);
        if (narrower === undefined) throw error;
        left.push(...narrower.left);
        batches.unshift(...narrower.batches);
      }
    }
  }
  const after = sent.length > 0 ? await reread(work, live) : live;
  return {
    ...progress,
    live: after,
    written: new Set([...progress.written, ...sent.map(({ text }) => text)]),
    left: [...progress.left, ...left],
  };
}

/** Sends some of all changes; the others keep what is live. */
async function sendUpdate(
  work: Work,
  live: LiveResource,
  desired: DesiredResource,
  changes: readonly LeafChange[],
  all: readonly LeafChange[],
): Promise<void> {
  const { kind, world, io, isTaken } = work;
  const secrets = new Set(changes.filter(({ sensitive }) => sensitive).map(({ text }) => text));
  const others = all.filter((change) => !changes.includes(change));
  const ignore = [...ignoredPaths(work), ...others.map(({ path }) => path)];
  const intent = { secrets, cleared: clearedIn(changes), ignore };
  const document = mergeDocuments(kind.schema, desired.document, live.document, intent, world);
  const fields = changes.map(({ path }) => path[0] ?? '');
  const body = requestBody(kind.schema, document, fields);
  const draft: Draft = {
    body,
    scope: live.scope,
    files: {},
    again: false,
    isTaken,
  };
  await kind.update?.(live.id, draft, io('update', live.id, { live: live.document, draft }));
}

/** Differences outside facets, secrets that are to be sent again among them. */
function ownChanges(work: Work, live: LiveResource): readonly LeafChange[] {
  return remaining(work, live, isResent(work.change.address, work.options)).filter(
    ({ path }) => facetOf(work.kind, path[0]) === undefined,
  );
}
