import { movedState, otherAccount, otherLineage } from './failures.ts';
import type { Lock } from './lock.ts';
import type { State } from './model.ts';
import type { Place } from './place.ts';
import { fileRun } from './run-files.ts';
import { piecesOfState } from './state-text.ts';

/** What the new state must follow: the one on disk or, where that is gone, the one that the run began from. */
export type Base = Pick<State, 'lineage' | 'serial' | 'account_id'>;

/**
 * Throws `CallsheetError`: `state` for another stack's or account's state, `stale` when the one on disk is not the
 * one that the new state was made from. A first state may have any lineage and has serial 1.
 */
export function checkSuccession(state: State, base: Base | undefined, location: string): void {
  if (base !== undefined && base.lineage !== state.lineage)
    throw otherLineage(location, base.lineage, state.lineage);
  const serial = base?.serial ?? 0;
  if (state.serial !== serial + 1) throw movedState(location, serial, state.serial - 1);
  if (base?.account_id !== undefined && base.account_id !== state.account_id)
    throw otherAccount(location, base.account_id, state.account_id ?? 'none');
}

/**
 * Replaces the state and files the run's journal.
 *
 *     step                           a crash before it leaves                  what `load` makes of it
 *     1  write and sync the draft    old state, open journal                   old state, run pending
 *     2  rename draft to state       the same, and a draft that is ignored     old state, run pending
 *     3  sync the folder             either of both                            either of both
 *     4  file the journal            new state that names the run as its last  new state, nothing pending
 *     5  done                        new state, journal among the finished     new state, nothing pending
 *
 * Whoever takes the lock next removes drafts first, so that a writer that was paused between 1 and 2
 * while it lost its lease finds nothing left to rename, and cannot undo what came after it.
 */
export async function commitState(
  state: State,
  run: string | undefined,
  place: Place,
  lock: Lock,
): Promise<void> {
  const { layout, disk } = place;
  const draft = layout.draft(lock.id);
  try {
    await disk.writeNew(draft, await piecesOfState(state));
    lock.check();
    await disk.rename(draft, layout.state);
  } catch (error) {
    await disk.remove(draft).catch(() => undefined);
    throw error;
  }
  if (run !== undefined) await fileRun(place, run);
}
