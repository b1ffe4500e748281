import type { Pin } from '../core/plan-document.ts';
import type { Kind } from '../kinds/kind.ts';
import { isSamePin } from '../plan/pin.ts';
import type { HistoryEntry, LiveResource } from '../plan/reader.ts';
import type { RunDeps } from './deps.ts';
import { isSigned, type OwnWrites, readOwnWrites } from './interleaved.ts';
import type { HistoryAfter, Work } from './work.ts';

/** History entries appear "within a few seconds" (revert rule 5); the receipt waits no longer than this. */
const LONGEST_WAIT_MS = 5_000;
const FIRST_WAIT_MS = 50;
/** Entries that are read to tell our own from those of others. */
const ENTRIES_READ = 20;

/**
 * What the history says of a resource after a change, for the receipt and for the pin: the newest entry
 * that the change made, and what others wrote meanwhile. Undefined for what has no history.
 *
 * @param pins of what was live before and after it; null: nothing that could be read
 * @param tries how often a write was sent: one whose answer was lost may have been carried out all the same
 */
export async function historyAfter(
  work: Pick<Work, 'kind' | 'deps' | 'change'>,
  live: LiveResource | undefined,
  { before, after }: { readonly before: Pin | null; readonly after: Pin | null },
  tries: number,
): Promise<HistoryAfter | undefined> {
  const { kind, deps, change } = work;
  if (kind.history === undefined || live === undefined) return undefined;
  const writes = ownWrites(work, before, tries);
  const isMoved = before === null || after === null || !isSamePin(before, after);
  const steps = change.operations.map(({ step }) => step);
  const isExpected = isMoved && steps.some((step) => step !== 'facet' && step !== 'delete');
  const entries = await awaitHistory(deps, kind, live.id, writes, {
    isExpected,
    isMore: steps.filter((step) => step !== 'delete').length > 1,
  });
  const { own, interleaved } = readOwnWrites(entries, writes);
  const newest = before === null ? (entries[0]?.id ?? null) : before.history_id;
  return { before: before?.history_id ?? null, after: own ?? newest, interleaved };
}

function ownWrites(
  { change, deps }: Pick<Work, 'change' | 'deps'>,
  before: Pin | null,
  tries: number,
): OwnWrites {
  const { account_id: account } = deps.state;
  const isRevert = change.operations.some(({ step }) => step === 'revert');
  return {
    // Where nothing was to be seen of a history before, nothing of it is known to be new.
    author: account === undefined || before?.history_id === null ? undefined : `api:${account}`,
    than: before?.history_id ?? 0,
    most: tries,
    isRevert,
    checkedAt: before?.updated_at ?? null,
    isEditKnown: change.fields.some(({ cause }) => cause === 'drifted' || cause === 'conflict'),
  };
}

type Awaited = {
  /** Whether the change must have made an entry. */
  readonly isExpected: boolean;
  /** Whether more than one may appear, which need not come. */
  readonly isMore: boolean;
};

/** The newest entries, once one of our own is among them; those there are when none appears in time. */
async function awaitHistory(
  { reader, sleep }: Pick<RunDeps, 'reader' | 'sleep'>,
  kind: Kind,
  id: string,
  writes: OwnWrites,
  { isExpected, isMore }: Awaited,
): Promise<readonly HistoryEntry[]> {
  const read = () => reader.history(kind, id, ENTRIES_READ);
  let entries = await read();
  if (!isExpected) return entries;
  // An entry of somebody else may appear first, and says nothing of ours.
  const isThere = () => entries.some((one) => one.id > writes.than && isSigned(one, writes));
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; !isThere() && waited + wait <= LONGEST_WAIT_MS; wait *= 2) {
    await sleep(wait);
    waited += wait;
    entries = await read();
  }
  if (!isMore || !isThere()) return entries;
  // Entries that were made together appear together, but for a moment.
  await sleep(FIRST_WAIT_MS);
  return read();
}
