import { randomUUID } from 'node:crypto';
import { lockedState, noSuchLease } from '../state/failures.ts';
import { identify, isGone } from '../state/process-identity.ts';
import type { HeldLock, Holder } from '../state/store.ts';
import { formatBeat, isReleased, RELEASED_BEAT, type Ticket } from '../state/ticket.ts';
import type { Remote, RemoteEffects } from './remote.ts';

/**
 * Takes the lease. Throws `CallsheetError('locked')`, naming the holder, when another has it. The id of a
 * lease is its fencing token: the store takes nothing under another one than that of its ticket.
 */
export async function takeLease(
  remote: Remote,
  holder: Holder,
  effects: RemoteEffects,
): Promise<string> {
  for (;;) {
    const seen = await remote.ticket();
    if (seen !== undefined && !(await isFree(seen, remote, effects))) continue;
    const ticket: Ticket = {
      beat: formatBeat(effects.now()).trim(),
      id: randomUUID(),
      owner: identify(holder.pid, effects.machine),
      holder,
    };
    if (await remote.take(seen, ticket)) return ticket.id;
  }
}

/**
 * Whether a holder has ended. Throws when it has not. False when the ticket changed meanwhile and must be
 * looked at again. An old heartbeat proves nothing, as clocks differ: that no new one comes does.
 */
async function isFree(
  seen: Ticket,
  { location, timing, ticket }: Remote,
  effects: RemoteEffects,
): Promise<boolean> {
  if (isReleased(seen) || isGone(seen.owner, effects.machine)) return true;
  const silence = Math.abs(effects.now() - Date.parse(seen.beat));
  if (silence < timing.silent) throw lockedState(location, seen.holder, seen.id);
  await effects.sleep(timing.watch);
  const later = await ticket();
  if (later === undefined || later.id !== seen.id) return false;
  if (later.beat === seen.beat || isReleased(later)) return true;
  throw lockedState(location, later.holder, later.id);
}

/** Who holds the state; undefined when nobody does. */
export async function seeLease(
  remote: Remote,
  { machine }: Pick<RemoteEffects, 'machine'>,
): Promise<HeldLock | undefined> {
  const ticket = await remote.ticket();
  if (ticket === undefined || isReleased(ticket)) return undefined;
  const { id, holder, beat, owner } = ticket;
  const isHere = owner.machine === machine;
  const there = isHere ? (isGone(owner, machine) ? 'gone' : 'running') : 'elsewhere';
  return { lease: id, holder, beat, owner: there, watch: remote.timing.watch };
}

/** Takes the lease of that id from its holder, as `StateStore.unlock` says. */
export async function breakLease(
  remote: Remote,
  lease: string,
  by: Holder,
  effects: RemoteEffects,
): Promise<void> {
  const seen = await remote.ticket();
  const refuse = async () => noSuchLease(remote.location, lease, await seeLease(remote, effects));
  if (seen === undefined || isReleased(seen) || seen.id !== lease) throw await refuse();
  const owner = identify(by.pid, effects.machine);
  const own = { beat: formatBeat(effects.now()).trim(), id: randomUUID(), owner, holder: by };
  if (!(await remote.take(seen, own))) throw await refuse();
  await remote.beat(own.id, RELEASED_BEAT.trim());
}
