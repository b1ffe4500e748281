import type { Address } from '../core/address.ts';
import { isWhole, nextRequest } from '../kinds/making.ts';
import { pinOf } from '../plan/pin.ts';
import type { LiveResource } from '../plan/reader.ts';
import type { Intended, IntentRecorded } from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import type { OpenChange, RequestMade } from '../state/replay.ts';
import { lookFor } from './look-for.ts';
import type { Settled, Settling } from './settle.ts';
import { settleLeaves } from './settle-leaves.ts';
import { historyOf, readWhole, restOf, settleRemoval } from './settle-writing.ts';

/**
 * A resource that was to be made. Its id stands in the journal where the answer came; otherwise it is looked
 * for by natural key and creation time. One is it; none means that it was not made; of several nobody
 * can tell, and a person must say.
 */
export async function settleMaking(settling: Settling): Promise<Settled> {
  const { address, snapshot, requests } = settling.change;
  const intended = snapshot?.intended;
  const making = requests.filter(({ intent }) => isMakingStep(intent));
  if (!intended) return unknown(settling, 'its journal does not say what it was to be');
  const told = making.findLast(({ outcome }) => outcome?.ok && outcome.id !== null)?.outcome?.id;
  if (told && settling.isTaken(told))
    return unknown(settling, `its answer named ${told}, which another resource has`);
  const ids = told ? [told] : await idsMade(settling, intended, making[0]);
  if (ids === undefined) return unknown(settling, 'there is no list to look in');
  const [id, ...others] = ids;
  if (others.length > 0) return several(address, ids);
  const live = id === undefined ? undefined : await readWhole(settling, id, intended.scope, true);
  return live === undefined ? notMade(settling) : made(settling, intended, live);
}

async function idsMade(
  { change, kind, reader, isTaken }: Settling,
  { scope, key }: Intended,
  first: RequestMade | undefined,
): Promise<readonly string[] | undefined> {
  const old = change.snapshot?.id ?? null;
  const since = first?.intent.at ?? '';
  const found = await lookFor({ kind, scope, key, since, old, isTaken }, reader.list);
  return found?.map(({ id }) => id);
}

async function made(settling: Settling, intended: Intended, live: LiveResource): Promise<Settled> {
  const { change, kind } = settling;
  const { address, snapshot, requests } = change;
  const { id } = live;
  const old = snapshot?.id ?? null;
  const before = old === id ? snapshot?.resource?.leaves : undefined;
  const found = old === id ? (snapshot?.document ?? null) : null;
  const taken = settleLeaves({ ...settling, address, requests, intended, before, found, live });
  const answered = answeredBy(settling, id);
  // What was there before says nothing of what was to take its place.
  const isFinished =
    old === id
      ? nextRequest(kind, live.record, answered) === undefined
      : isWhole(kind, live.record, answered);
  const isDone = isFinished && taken.extent === 'all';
  const { known, history } = await historyOf(settling, live, null);
  const resource: ResourceState = {
    kind: kind.name,
    id,
    scope: live.scope,
    name: intended.name,
    leaves:
      live.extent === 'nothing'
        ? intended.leaves
        : isFinished
          ? taken.leaves
          : (before ?? taken.leaves),
    pin: live.extent === 'nothing' ? null : pinOf(kind, live, known),
    protect: intended.protect,
    ...(isFinished ? {} : { unfinished: answered }),
  };
  const left = await leftBehind(settling, id);
  const rest = isFinished ? restOf(taken) : '; what is missing of it is still to be done';
  return {
    address,
    id,
    isDone: isDone && left === undefined,
    severity: 'info',
    message: `was created (id ${id})${rest}${left?.message ?? ''}`,
    records: new Map<Address, ResourceState | null>([
      [address, resource],
      ...(left?.records ?? []),
    ]),
    history,
  };
}

/** The old one of a replacement, where the run did not come to delete it: it keeps an address of its own. */
async function leftBehind(settling: Settling, id: string) {
  const { change, kind, reader, spare } = settling;
  const { address, snapshot, requests } = change;
  const old = snapshot?.resource;
  const isReplaced = requests.some(({ intent }) => intent.step === 'create');
  if (!old || old.id === id || !isReplaced || kind.delete === undefined) return undefined;
  const live = await reader.read(kind, old, new Set());
  if (live === undefined) return undefined;
  const at = spare(address);
  return {
    message: `; the one before it (id ${old.id}) is still there, and is ${at} until it is deleted`,
    records: [[at, old]] as const,
  };
}

/** Nothing new is there. What a replacement was to delete first may be gone. */
async function notMade(settling: Settling): Promise<Settled> {
  const { address, snapshot, requests } = settling.change;
  if (requests.some(({ intent }) => intent.step === 'delete')) return settleRemoval(settling);
  const again = requests.findLast(({ intent }) => intent.step === 'again');
  // The platform may have had it, unknown to the state, and said so only when it was to be created.
  const id = snapshot?.id ?? again?.intent.id ?? null;
  return {
    address,
    id,
    isDone: false,
    severity: 'info',
    message: again === undefined ? 'was not created' : `was not written anew (id ${id})`,
    records: new Map(),
  };
}

function unknown({ change: { address } }: Settling, why: string): Settled {
  const message = `may have been created: ${why}. If it is there, name its id in lifecycle.adopt`;
  return { address, id: null, isDone: false, severity: 'warning', message, records: new Map() };
}

function several(address: Address, ids: readonly string[]): Settled {
  return {
    address,
    id: null,
    isDone: false,
    severity: 'warning',
    message: `may have been created: ${ids.length} live resources have its name since, ${ids.join(', ')}. Name the id of the right one in lifecycle.adopt, or delete those that are too many in the dashboard`,
    records: new Map(),
    candidates: ids,
  };
}

/** Whether a change was to make something, be it anew. */
export function isMaking({ requests }: OpenChange): boolean {
  return requests.some(({ intent }) => isMakingStep(intent));
}

export function isMakingStep({ step }: IntentRecorded): boolean {
  return step === 'create' || step === 'again';
}

/** The operations of a making that were answered, from its last beginning on: what was before that went elsewhere. */
export function answeredOf(requests: readonly RequestMade[]): readonly string[] {
  const making = requests.filter(({ intent }) => isMakingStep(intent));
  const first = making[0]?.intent.operation;
  const begun = making.findLastIndex(({ intent }) => intent.operation === first);
  return making
    .slice(Math.max(begun, 0))
    .filter(({ outcome }) => outcome?.ok === true)
    .map(({ intent }) => intent.operation);
}

/** The same of a resource, with what earlier runs had an answer to, unless it was begun from the start. */
function answeredBy({ change, kind }: Settling, id: string): readonly string[] {
  const { snapshot, requests } = change;
  const first = new Set(kind.making.map((making) => making.requests[0]?.operation));
  const isBegun = requests.some(({ intent }) => first.has(intent.operation));
  const known = isBegun || snapshot?.resource?.id !== id ? [] : snapshot.resource.unfinished;
  return [...new Set([...(known ?? []), ...answeredOf(requests)])];
}
