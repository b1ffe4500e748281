import type { ProcessIdentity } from './process-identity.ts';
import { isRecord } from './shape.ts';
import type { Holder } from './store.ts';

/** What stands in a lock's file. */
export type Ticket = {
  /** The last heartbeat, ISO 8601; `released` when the holder gave it back. */
  readonly beat: string;
  /** The lease's id. */
  readonly id: string;
  readonly owner: ProcessIdentity;
  readonly holder: Holder;
};

/**
 * The heartbeat has a fixed length and a fixed place, so that it is rewritten by one short write that
 * no reader can catch half-way.
 */
export const BEAT_AT = '{"beat":"'.length;
const BEAT_LENGTH = 24;
const RELEASED = 'released';

export function formatBeat(now: number): string {
  return new Date(now).toISOString().padEnd(BEAT_LENGTH);
}

export const RELEASED_BEAT = RELEASED.padEnd(BEAT_LENGTH);

/** The text of a ticket. `beat` is made by `formatBeat`, or says that it was given back. */
export function formatTicket(
  beat: string,
  id: string,
  owner: ProcessIdentity,
  holder: Holder,
): string {
  return `${JSON.stringify({ beat, id, owner, holder })}\n`;
}

/** Undefined for a text that is not, or not yet, a whole ticket. */
export function parseTicket(text: string): Ticket | undefined {
  try {
    const ticket: unknown = JSON.parse(text);
    return isTicket(ticket) ? { ...ticket, beat: ticket.beat.trim() } : undefined;
  } catch {
    return undefined;
  }
}

export function isReleased(ticket: Ticket): boolean {
  return ticket.beat === RELEASED;
}

export function isReleasedBeat(beat: string): boolean {
  return beat === RELEASED;
}

function isTicket(value: unknown): value is Ticket {
  return (
    has(value, { beat: 'string', id: 'string', owner: 'object', holder: 'object' }) &&
    has(value.owner, { machine: 'string', pid: 'number' }) &&
    has(value.holder, {
      run: 'string',
      command: 'string',
      host: 'string',
      pid: 'number',
      since: 'string',
    })
  );
}

function has(
  value: unknown,
  members: { readonly [name: string]: 'string' | 'number' | 'object' },
): value is { readonly [name: string]: unknown } {
  return (
    isRecord(value) && Object.entries(members).every(([name, type]) => typeof value[name] === type)
  );
}
