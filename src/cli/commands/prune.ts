import type { Context } from '../../console/context.ts';
import { type ShowFlags, show, stampDocument } from '../../console/show.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { renderPruning } from '../../render/runs.ts';
import { findOwner } from '../../run/actor.ts';
import { beginEdit, getOrigin, recordEdit } from '../../run/edit.ts';
import { announceUnsealed } from '../../run/session.ts';
import { checkOwner } from '../../state/failures.ts';
import { replay } from '../../state/replay.ts';
import {
  chooseReceipts,
  type Keep,
  PRUNING,
  parseKeep,
  type Retention,
} from '../../state/retention.ts';
import { isDamage } from '../../state/runs.ts';
import type { StateStore } from '../../state/store.ts';
import { noState, type OpenState, settledState, withStore } from '../state/edit.ts';

type PruneFlags = ShowFlags & { readonly keep: string; readonly dryRun?: boolean };

type Pruned = Retention & { readonly run: string | null };

/** `callsheet runs prune --keep AGE|COUNT`: removes the records of old runs that nothing needs any more. */
export function prune(flags: PruneFlags, context: Context): Promise<ExitCode> {
  const { keep, dryRun = false } = flags;
  const wanted = parseKeep(keep);
  return withStore(flags, context, async (open) => {
    const { run, pruned, needed, kept } = dryRun
      ? await preview(open, wanted, context)
      : await pruneRuns(open, wanted, keep, context);
    const most = (await open.store.mostRuns()) ?? null;
    const document = stampDocument('callsheet-pruning', { run, keep, pruned, needed, kept, most });
    announceUnsealed(context);
    show(flags, document, (to) => renderPruning(document, dryRun, to), context);
    return EXIT.done;
  });
}

/** Reads without the lease. Throws as `pruneRuns` does. */
async function preview(
  { store, settings }: OpenState,
  keep: Keep,
  { now }: Context,
): Promise<Pruned> {
  const { state: committed, pending } = await store.load();
  const { state } = replay(committed, pending);
  if (state === undefined) throw noState(store.location);
  await checkOwner(state, await findOwner(settings), store.location);
  const retention = await chooseReceipts(await store.runs(), state, keep, now(), readSound(store));
  return { ...retention, run: null };
}

/**
 * Removes receipts as a run of its own. Its journal names them before the first one goes, and the state is written
 * when the last one is gone: after a kill at any step, the next command settles that run as it settles any edit, and
 * pruning again removes what is left. Where nothing is to go, nothing is written. Throws `CallsheetError('usage')` where
 * there is no state, and `CallsheetError('refused')` for that of another stack.
 */
export async function pruneRuns(
  open: OpenState,
  keep: Keep,
  given: string,
  context: Context,
): Promise<Pruned> {
  const { store } = open;
  const { began, lease } = await beginEdit(PRUNING, open, context);
  const state = await settledState(open, lease, context);
  if (state === undefined) throw noState(store.location);
  const runs = await store.runs();
  const retention = await chooseReceipts(runs, state, keep, context.now(), readSound(store));
  const { pruned } = retention;
  if (pruned.length === 0) return { ...retention, run: null };
  await lease.append({ ...began, ...getOrigin(state), prunes: { keep: given, runs: [...pruned] } });
  // The oldest first: cut short, what is left is the newest, as of a smaller number of them.
  await lease.forget(pruned.toReversed());
  const edit = { records: [], ledger: [] };
  const { run } = await recordEdit(lease, began, state, edit, context, { isBegun: true });
  return { ...retention, run };
}

/** Reads the journal of a run; undefined for a damaged one. */
function readSound({ run: read }: StateStore) {
  return (run: string) =>
    read(run).catch((error: unknown) => {
      if (isDamage(error)) return undefined;
      throw error;
    });
}
