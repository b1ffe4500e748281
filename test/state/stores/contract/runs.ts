import type { JournalEntry } from '../../../../src/state/journal.ts';
import type { State } from '../../../../src/state/model.ts';
import { nextState, replay } from '../../../../src/state/replay.ts';
import { began, ended, intent, outcome, recorded, resource } from '../../sample.ts';
import { RUN } from '../../stores.ts';

export const SECOND: readonly JournalEntry[] = [
  began('r2', 1),
  intent(1, 'agent.desk', 'a1'),
  outcome(1, 'a1'),
  recorded('agent.desk', resource('a1', { name: 'Grüße “von hier”\n' })),
  recorded('agent.line', resource('a2')),
  ended(['agent.desk', 'agent.line']),
];
export const RUNS = [RUN, SECOND];

/** The states that they commit, after none. */
export const STATES: (State | undefined)[] = [undefined];
for (const entries of RUNS) {
  const { state, began: run } = replay(STATES.at(-1), entries);
  if (state !== undefined && run !== undefined) STATES.push(nextState(state, run.run));
}
