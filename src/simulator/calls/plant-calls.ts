import type { Platform } from '../platform.ts';
import type { SeedCall } from '../seed.ts';
import { countCalls, openBook, sortCalls } from './book.ts';
import type { CallBook } from './call.ts';
import { addCall } from './make-call.ts';

/** Enters a seed's calls into the books of their agents. */
export function plantCalls({ store }: Platform, calls: readonly SeedCall[]): void {
  const first = countCalls(store);
  for (const [index, call] of calls.entries())
    addCall(bookOf(store, call.agent_id), first + index, {
      startedAt: Date.parse(call.call_started_at),
      duration: call.call_duration,
      outcome: call.outcome ?? 'resolved',
      id: call.id,
      sentiment: call.sentiment,
      reason: call.reason,
      callerId: call.caller_id,
      isRecorded: call.recorded,
    });
  if (calls.length > 0) sortCalls(store);
}

/** A deleted agent has its book from when it was planted. */
function bookOf(store: Platform['store'], agentId: string): CallBook {
  const agent = store.agents.get(agentId);
  const book = agent === undefined ? store.calls.get(agentId) : openBook(store, agent);
  if (book === undefined) throw new Error(`a call names the agent ${agentId}, which is not there`);
  return book;
}
