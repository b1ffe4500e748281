import { randomUUID } from 'node:crypto';
import { noSuchLease } from './failures.ts';
import { type LockEffects, WATCH_MS } from './lock.ts';
import { identify, isGone } from './process-identity.ts';
import type { HeldLock, Holder } from './store.ts';
import { formatTicket, isReleased, RELEASED_BEAT } from './ticket.ts';
import { lastTicket, makeTicket, readTicket, takePlace } from './tickets.ts';

/** Who holds a lock; undefined when nobody does. */
export async function seeLock(folder: string, machine: string): Promise<HeldLock | undefined> {
  const ticket = await readTicket(folder, await lastTicket(folder));
  if (typeof ticket === 'string' || isReleased(ticket)) return undefined;
  const { id, holder, beat, owner } = ticket;
  const isHere = owner.machine === machine;
  return {
    lease: id,
    holder,
    beat,
    owner: isHere ? (isGone(owner, machine) ? 'gone' : 'running') : 'elsewhere',
    watch: WATCH_MS,
  };
}

/**
 * Takes a lock from its holder, in the way that the next holder would: a ticket of a higher number, which
 * is given back as it is made. Throws `CallsheetError('usage')` when it is not that lease that holds it.
 */
export async function breakLock(
  folder: string,
  location: string,
  lease: string,
  by: Holder,
  { machine }: Pick<LockEffects, 'machine'>,
): Promise<void> {
  const last = await lastTicket(folder);
  const held = await seeLock(folder, machine);
  if (held?.lease !== lease) throw noSuchLease(location, lease, held);
  const file = await makeTicket(folder, last + 1, () =>
    formatTicket(RELEASED_BEAT, randomUUID(), identify(by.pid, machine), by),
  );
  await file?.close();
  if (file === undefined || !(await takePlace(folder, last + 1)))
    throw noSuchLease(location, lease, await seeLock(folder, machine));
}
