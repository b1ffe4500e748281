import { describe } from 'vitest';
import { AMID, interruptedAt, killedAt } from '../features/recovery/stopped.ts';

describe('a restoration in parts that is stopped', () => {
  interruptedAt('in the midst of a part', 'createAgent', 3);
  interruptedAt('while the next part is read', 'listAgents', 6);
  for (const nth of [2, 3, 4]) killedAt({ name: 'before open new journal', nth });
  for (const nth of [1, 6]) killedAt({ name: 'before request POST createAgent', nth });
  killedAt(AMID);
});
