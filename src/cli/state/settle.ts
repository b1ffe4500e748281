import { ledgerOfDeadRun } from '../../apply/settle.ts';
import type { State } from '../../state/model.ts';
import { nextState, replay } from '../../state/replay.ts';
import type { Lease, StateStore } from '../../state/store.ts';
import type { Context } from '../context.ts';

/**
 * The state to edit, with a run that died before it could commit filed from what its journal knows. What
 * it asked of the platform without an answer is found by the next plan, as anything else is.
 */
export async function settledState(
  store: StateStore,
  lease: Lease,
  { now, terminal }: Context,
): Promise<State | undefined> {
  const { state, pending } = await store.load();
  const { state: known, began, unsettled } = replay(state, pending);
  if (known === undefined || began === undefined) return known;
  await lease.append({
    type: 'ended',
    at: now().toISOString(),
    status: 'settled',
    verified: false,
    ledger: ledgerOfDeadRun(pending),
  });
  const settled = nextState(known, began.run);
  await lease.commit(settled);
  const open =
    unsettled.length === 0
      ? ''
      : ` What became of its last requests (${unsettled.map(({ address }) => address).join(', ')}) shows in the next plan.`;
  terminal.err(`Run ${began.run} had not finished: what its journal knows is in the state.${open}`);
  return settled;
}
