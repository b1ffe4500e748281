import { expect } from 'vitest';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { State } from '../../src/state/model.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import type { Lease, StateStore } from '../../src/state/store.ts';
import { holder, stateWith } from './sample.ts';

/** Runs of one process, and the states that they commit, after none. */
export type Life = {
  readonly runs: readonly (readonly JournalEntry[])[];
  readonly states: readonly (State | undefined)[];
};

/** A life of these runs. */
export function lifeOf(runs: Life['runs']): Life {
  const states: (State | undefined)[] = [undefined];
  for (const entries of runs) {
    const { state, began } = replay(states.at(-1), entries);
    if (state !== undefined && began !== undefined) states.push(nextState(state, began.run));
  }
  return { runs, states };
}

/** What a process was told is durable: entries of the run that is open, and committed runs. */
export type Promised = { entries: JournalEntry[]; commits: number };

/** Lives it in a store, until the end or until something throws. */
export async function live(
  { runs, states }: Life,
  store: StateStore,
  promised: Promised,
  pid: number,
): Promise<void> {
  const lease = await store.acquire(holder('r1', pid));
  for (const [index, entries] of runs.entries()) {
    for (const entry of entries) {
      await lease.append(entry);
      promised.entries.push(entry);
    }
    await lease.commit(states[index + 1] ?? stateWith({}));
    promised.entries = [];
    promised.commits += 1;
  }
  await lease.release();
}

/** Everything that was promised is there, and at most what was being written on top of it. */
export function checkPromises(
  { runs, states }: Life,
  { state, pending }: Awaited<ReturnType<StateStore['load']>>,
  promised: Promised,
): void {
  const committed = state?.serial ?? 0;
  expect(state).toEqual(states[committed]);
  if (committed > promised.commits) {
    // The commit that was under way came through, though nobody was told.
    expect(committed).toBe(promised.commits + 1);
    expect(promised.entries).toEqual(runs[promised.commits]);
    expect(pending).toEqual([]);
    return;
  }
  expect(committed).toBe(promised.commits);
  expect(pending.slice(0, promised.entries.length)).toEqual(promised.entries);
  expect(pending).toEqual((runs[committed] ?? []).slice(0, pending.length));
  expect(pending.length).toBeLessThanOrEqual(promised.entries.length + 1);
}

/** Settles the run that died before, if one did, as the next command does, and gives the state that stands then. */
export async function settle(store: StateStore, lease: Lease): Promise<State | undefined> {
  const { state, pending } = await store.load();
  const { state: replayed, began: run } = replay(state, pending);
  if (replayed === undefined || run === undefined) return replayed;
  await lease.append({ type: 'ended', at: run.at, status: 'settled', verified: true, ledger: [] });
  await lease.commit(nextState(replayed, run.run));
  return nextState(replayed, run.run);
}
