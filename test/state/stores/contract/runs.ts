import type { JournalEntry } from '../../../../src/state/journal.ts';
import { lifeOf } from '../../promises.ts';
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
/** Both runs, one after the other. */
export const LIFE = lifeOf([RUN, SECOND]);
