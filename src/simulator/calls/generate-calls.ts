import { CallsheetError } from '../../core/errors.ts';
import type { Platform } from '../platform.ts';
import type { Agent } from '../store.ts';
import { countCalls, openBook, sortCalls } from './book.ts';
import { callTimes, type Rhythm } from './calendar.ts';
import { type CallBook, OUTCOMES, type Outcome } from './call.ts';
import { type Chance, chanceOf, weightedIndex } from './chance.ts';
import { addCall } from './make-call.ts';

/** How calls of an agent end: resolved, transferred, abandoned, other. */
const ENDINGS = {
  inbound: weightedIndex([71, 14, 9, 6]),
  outbound: weightedIndex([48, 6, 12, 34]),
};

/** Seconds that calls take: the shortest, the longest, and how rare long ones are. */
const DURATIONS: { readonly [outcome in Outcome]: readonly [number, number, number] } = {
  resolved: [40, 210, 1.8],
  transferred: [35, 240, 1.8],
  abandoned: [3, 40, 1.4],
  other: [9, 70, 1.5],
};

/** How many calls agents of a type take, and those of a status. */
const BUSY: { readonly [typeOrStatus: string]: number } = {
  receptionist: 3,
  appointment_scheduler: 2,
  outbound: 2,
  translator: 0.4,
  inactive: 0.2,
  cancelled: 0.1,
  pending: 0.01,
};

/**
 * Enters that many calls into the books of the agents, deleted ones with a book included: the same calls for
 * the same agents and the same clock. Throws a `CallsheetError` (`usage`) where there is nobody to take them.
 */
export function generateCalls({ store, now }: Platform, count: number): void {
  if (count === 0) return;
  const deleted = [...store.calls.values()].filter(({ agentId }) => !store.agents.has(agentId));
  const agents = [...store.agents.values()];
  if (agents.length + deleted.length === 0)
    throw new CallsheetError('usage', 'there is no agent to take calls', {
      hint: 'Say how many agents there are, too.',
    });
  const chance = chanceOf(count);
  const taker = weightedIndex([
    ...agents.map((agent) => activity(agent) * unevenness(chance)),
    ...deleted.map(() => unevenness(chance)),
  ]);
  const timeOf = callTimes(now().getTime());
  const first = countCalls(store);
  for (let number = first; number < first + count; number += 1) {
    const index = taker(chance);
    const agent = agents[index];
    const book = agent === undefined ? deleted[index - agents.length] : openBook(store, agent);
    if (book === undefined) throw new Error('an index of a weight belongs to an agent');
    const ending = ENDINGS[book.trade === 'outbound' ? 'outbound' : 'inbound'](chance);
    const outcome = OUTCOMES[ending] ?? 'other';
    addCall(book, number, {
      startedAt: timeOf(chance, rhythmOf(book), book.timezone),
      duration: drawDuration(chance, outcome),
      outcome,
    });
  }
  sortCalls(store);
}

function activity({ record }: Agent): number {
  return (BUSY[String(record.agent_type)] ?? 1) * (BUSY[String(record.status)] ?? 1);
}

/** Some agents are busier than others of their kind. */
function unevenness({ next }: Chance): number {
  return 0.3 + 5 * next() ** 4;
}

function rhythmOf({ trade, agentName }: CallBook): Rhythm {
  return trade === 'hotline' || /after hours/i.test(agentName) ? 'always' : 'office';
}

function drawDuration({ next }: Chance, outcome: Outcome): number {
  const [shortest, longest, rarity] = DURATIONS[outcome];
  return Math.round(shortest + (longest - shortest) * next() ** rarity);
}
