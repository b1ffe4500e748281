import { parsePath } from '../core/path.ts';
import { livePin, pinOf } from '../plan/pin.ts';
import { type LiveResource, readWith } from '../plan/reader.ts';
import type { LedgerLine } from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import { isSigned } from './interleaved.ts';
import type { Settled, Settling } from './settle.ts';
import { settleLeaves, type Taken } from './settle-leaves.ts';

/** Entries that are read to find those that the run made. */
const ENTRIES_READ = 20;

/** A delete is settled by a 404. */
export async function settleRemoval(settling: Settling): Promise<Settled> {
  const { change, kind, reader } = settling;
  const { address, snapshot } = change;
  const id = snapshot?.id ?? change.requests.at(-1)?.intent.id ?? '';
  const scope = snapshot?.resource?.scope ?? snapshot?.intended?.scope ?? {};
  const live = await reader.read(kind, { id, scope }, new Set());
  const common = { address, id, severity: 'info' as const };
  if (live === undefined) {
    const then = snapshot?.intended ? '; the one that takes its place was not made yet' : '';
    const message = `was deleted (id ${id})${then}`;
    return { ...common, isDone: then === '', message, records: new Map([[address, null]]) };
  }
  const message = `was not deleted (id ${id})`;
  return { ...common, isDone: false, message, records: new Map() };
}

/** Everything that changes what is there: settled by reading it. */
export async function settleWriting(settling: Settling): Promise<Settled> {
  const { change, kind } = settling;
  const { address, snapshot } = change;
  const id = snapshot?.id ?? '';
  const intended = snapshot?.intended;
  const before = snapshot?.resource ?? undefined;
  const scope = before?.scope ?? intended?.scope ?? {};
  const live = await readWhole(settling, id, scope);
  const common = { address, id, severity: 'info' as const, records: new Map() };
  if (live === undefined) return { ...common, isDone: false, message: `is gone (id ${id})` };
  if (!intended || live.extent === 'nothing') {
    const message = `cannot be read, so that nobody knows whether it was changed (id ${id})`;
    return { ...common, severity: 'warning', isDone: false, message };
  }
  const taken = settleLeaves({
    ...settling,
    ...change,
    intended,
    before: before?.leaves,
    found: snapshot?.document ?? null,
    live,
  });
  if (taken.extent === 'none' && !taken.isUnsettled)
    return { ...common, isDone: false, message: `was not changed (id ${id})` };
  const isDone = taken.extent === 'all';
  const { known, history } = await historyOf(settling, live, snapshot?.pin?.history_id ?? null);
  const resource: ResourceState = {
    kind: kind.name,
    id,
    scope: live.scope,
    name: intended.name,
    leaves: taken.leaves,
    pin: isDone ? livePin(kind, live, null, known) : (before?.pin ?? pinOf(kind, live, null)),
    protect: isDone ? intended.protect : (before?.protect ?? intended.protect),
  };
  return {
    ...common,
    isDone,
    message: `was updated${isDone ? '' : ' in part'} (id ${id})${restOf(taken)}`,
    records: new Map([[address, resource]]),
    history,
  };
}

/** What is still to do about a change that took in part, in words. */
export function restOf({ extent, isUnsettled }: Taken): string {
  if (isUnsettled) return '; whether its secrets arrived is unknown, so they are written again';
  return extent === 'all' ? '' : '; what is missing is still to be done';
}

/** A resource with the facets that a change was about. */
export function readWhole(
  { change, kind, reader }: Settling,
  id: string,
  scope: ResourceState['scope'],
  isUnread = false,
): Promise<LiveResource | undefined> {
  const paths = Object.keys(change.snapshot?.intended?.leaves ?? {});
  const fields = paths.flatMap((path) => parsePath(path)?.[0] ?? []);
  return readWith(reader, kind, { id, scope, isUnread }, fields);
}

/**
 * The history entry that the run made, if it can be told from those of others: it is not seen at once, and
 * what somebody wrote since is none of the run's.
 */
export async function historyOf(
  { change, kind, reader, author }: Settling,
  { id }: LiveResource,
  before: number | null,
): Promise<{ readonly known: number | null; readonly history: LedgerLine['history'] }> {
  if (kind.history === undefined) return { known: null, history: null };
  const entries = await reader.history(kind, id, ENTRIES_READ);
  const newer = entries.filter((entry) => entry.id > (before ?? 0)).sort((a, b) => b.id - a.id);
  const own = newer.filter((entry) => isSigned(entry, { author, isRevert: true }));
  const [last] = own;
  // What somebody else wrote in between would be taken for the run's, too.
  const isAlone = own.length === newer.filter(({ id }) => id <= (last?.id ?? 0)).length;
  const after = isAlone && own.length <= change.requests.length ? (last?.id ?? null) : null;
  return { known: after ?? before, history: { before, after } };
}
