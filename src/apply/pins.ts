import pLimit from 'p-limit';
import type { Address } from '../core/address.ts';
import { CallsheetError, foldSentences, PLAN_AGAIN } from '../core/errors.ts';
import { isBefore } from '../core/moment.ts';
import { type Change, formatEdit, type Pin, type PlanDocument } from '../core/plan-document.ts';
import { isSameJson } from '../core/value.ts';
import { compare, isStoredOddly, isWritten } from '../diff/compare.ts';
import type { World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Scope } from '../kinds/kind.ts';
import { digestLive, findMovedBasis, movedFields } from '../plan/basis.ts';
import { getSides } from '../plan/change.ts';
import { findAuthor } from '../plan/drift.ts';
import { findItem, getNaturalKey, getScope, itemsNamed, listKnown } from '../plan/natural-key.ts';
import { type HistoryEntry, historyIfShown, type LiveResource } from '../plan/reader.ts';
import { idsWith } from '../plan/references.ts';
import {
  buildPin,
  fastRefreshPin,
  isSamePin,
  isStampOver,
  isWhollyRemembered,
} from '../plan/refresh.ts';
import { rememberResource } from '../plan/state-entry.ts';
import { PAGE_SIZE } from '../platform/pages.ts';
import type { ResourceState, State } from '../state/model.ts';
import { isHeld } from './recover.ts';
import { findRecorded, type RunDeps, readLive, type Work } from './work.ts';

/** Somebody changed a resource between plan and apply. */
export class StaleError extends CallsheetError {
  constructor(message: string) {
    super('stale', message, { hint: PLAN_AGAIN });
  }
}

/**
 * Checks what a plan was made from, as far as that needs no request: its blocks of the configuration, its entries of
 * the state, and the ids that it refers to (DESIGN §5). Throws `CallsheetError('stale')` that lists what moved.
 */
export function checkBasis(
  plan: Pick<PlanDocument, 'changes'>,
  {
    desired,
    state,
    world: around,
  }: Pick<RunDeps, 'desired'> & {
    readonly state: Pick<State, 'resources'>;
    readonly world: Omit<World, 'findId'>;
  },
): void {
  const ids = idsWith(state, plan.changes);
  const world = { ...around, findId: (address: Address) => ids.get(address) };
  const moved = plan.changes.flatMap((change) => {
    const { address, name, verdict } = change;
    if (verdict !== 'ok') return [];
    const message = findMovedBasis(change, desired.get(address), state, world);
    return message === undefined ? [] : [{ address, name, message }];
  });
  throwStale(moved);
}

function throwStale(moved: Parameters<typeof foldSentences>[0]): void {
  if (moved.length === 0) return;
  throw new CallsheetError('stale', foldSentences(moved), {
    hint: `Nothing was written. ${PLAN_AGAIN}`,
  });
}

/**
 * Checks every pin of a plan before its first write, so that a plan that is out of date writes nothing at
 * all. Many are checked by the list, where its `updated_at` is believed. Throws `CallsheetError('stale')` that lists
 * what moved and who moved it.
 */
export async function checkPins(
  plan: PlanDocument,
  deps: RunDeps,
  isStampBelieved: boolean,
): Promise<void> {
  const world = { ...deps.world, findId: () => undefined };
  const changes = plan.changes.filter(({ verdict }) => verdict === 'ok');
  const isListed = cheaperListed(changes, deps.state);
  const moved = await Promise.all(
    changes.map(async (change) => {
      const desired = deps.desired.get(change.address);
      const recorded = findRecorded(change, desired, deps.state, world);
      const work = { change, kind: kindNamed(change.kind), desired, recorded, world, deps };
      try {
        const isAsListed =
          isStampBelieved && isListed(change.kind) && (await isStampAsPlanned(work));
        if (!isAsListed) await checkPin(work);
        return undefined;
      } catch (error) {
        if (error instanceof CallsheetError && error.code === 'stale')
          return { address: change.address, name: change.name, message: error.message };
        throw error;
      }
    }),
  );
  throwStale(moved.filter((one) => one !== undefined));
}

/** The kinds of which fewer requests list all there are than read what a plan touches. */
function cheaperListed(
  changes: readonly Change[],
  { resources }: State,
): (kind: string) => boolean {
  const known = Map.groupBy(Object.values(resources), ({ kind }) => kind);
  const touched = Map.groupBy(changes, ({ kind }) => kind);
  return (kind) =>
    (touched.get(kind)?.length ?? 0) > Math.ceil((known.get(kind)?.length ?? 0) / PAGE_SIZE);
}

/** Returns true if the list shows the plan's `updated_at`. A resource that is written is read again before that. */
async function isStampAsPlanned(work: PinnedChange): Promise<boolean> {
  const { change, kind, deps } = work;
  const { id, pin } = change;
  if (kind.stamp === undefined || id === null || !pin?.updated_at) return false;
  const items = await listKnown(deps.reader, kind, scopeIn(work));
  return items !== undefined && findItem(items, id)?.record.updated_at === pin.updated_at;
}

/** A change with what its pin is checked by. */
type PinnedChange = Pick<Work, 'change' | 'kind' | 'desired' | 'recorded' | 'world' | 'deps'>;

/** The live resource, if it is still what the plan saw. Throws `StaleError` otherwise (DESIGN §5). */
export async function checkPin(work: PinnedChange): Promise<LiveResource | undefined> {
  const { change, kind, recorded, deps } = work;
  if (change.id === null) {
    await checkAbsence(work);
    return undefined;
  }
  if (change.action === 'forget' || change.pin === null) return undefined;
  const scope = scopeIn(work);
  const at = { id: change.id, scope };
  const live = (await readRecent(work, at)) ?? (await readLive(work, at));
  if (live === undefined) {
    if (change.action === 'delete') return undefined;
    throw new StaleError(`${change.address} was deleted since the plan`);
  }
  const now = buildPin(kind, live);
  if (isSamePin(now, change.pin)) return live;
  const { basis } = change;
  const moved = basis && movedFields(basis, digestLive(change, kind, work, live));
  if (moved?.length === 0) return live;
  const fields = moved === undefined ? '' : `: ${moved.join(', ')}`;
  const what = `${change.address} was changed since the plan`;
  // If the state's pin is newer than the plan's, a recovered run wrote it.
  if (now.updated_at !== null && recorded?.pin && isSamePin(now, recorded.pin))
    throw new StaleError(
      `${what} by run ${deps.state.last_run}, which Callsheet has recovered${fields}`,
    );
  const [newest] = (await historyIfShown(deps.reader, kind, live.id, 1)).entries;
  const isNewer = newest !== undefined && isAfterPin(newest, change.pin);
  const { account_id: account } = deps.state;
  const isOurs = account !== undefined && newest?.actor === findAuthor(account);
  const who =
    isNewer && newest.actor && !isOurs ? ` by ${formatEdit({ ...newest, at: null })}` : '';
  const when = now.updated_at === null ? '' : ` at ${now.updated_at}`;
  throw new StaleError(`${what}${who}${when}${fields}`);
}

/** Tells whether a history entry came after the plan read the resource. */
function isAfterPin(
  { id, at }: HistoryEntry,
  { history_id: last, updated_at: seen }: Pin,
): boolean {
  return last === null ? isBefore(seen, at, 0) : id > last;
}

/**
 * Refuses if a resource of that name was made since the plan, unless another address has it: that one may give it up.
 */
async function checkAbsence({ change, kind, desired, deps }: PinnedChange): Promise<void> {
  if (desired === undefined) return;
  const scope = getScope(kind, desired.document);
  const key = getNaturalKey(kind, desired.document);
  const listed = await listKnown(deps.reader, kind, scope);
  const named = listed && key !== undefined ? itemsNamed(listed, kind, scope, key) : [];
  const twin = named.find(({ id }) => !isHeld(deps.state, kind, id, change.address));
  if (twin !== undefined) {
    throw new StaleError(
      `${change.address}: another resource with its name (${twin.id}) was created since the plan`,
    );
  }
}

function scopeIn({ change, kind, desired, recorded }: PinnedChange): Scope {
  if (recorded !== undefined && recorded.id === change.id) return recorded.scope;
  return desired ? getScope(kind, desired.document) : {};
}

/**
 * A resource of some seconds ago, for a change that does nothing but revert it: a revert sends back nothing of what was
 * read, and the history that is read after it shows each edit in between.
 */
async function readRecent(
  work: PinnedChange,
  at: Parameters<typeof readLive>[1],
): Promise<LiveResource | undefined> {
  const { change, kind, deps } = work;
  const isReverted = change.operations.every(({ step }) => step === 'revert');
  const isTold = kind.history !== undefined && change.pin?.history_id != null;
  if (deps.recent === undefined || !isReverted || !isTold) return undefined;
  return readLive(work, at, deps.recent);
}

type Resources = Readonly<Record<Address, ResourceState>>;

/**
 * Reads what was written some seconds ago once more, so that later plans need not (`plan/refresh.ts`): right after
 * a write, another write in the same second would have the same time. What was written just now is left for
 * the next run. Nothing depends on it, so what cannot be read is left out.
 */
export async function confirmPins(
  resources: Resources,
  deps: RunDeps,
): Promise<ReadonlyMap<Address, ResourceState>> {
  const limit = pLimit(deps.concurrency);
  const confirmed = new Map<Address, ResourceState>();
  const confirmOne = async (address: Address) => {
    const again = await confirm(address, resources, deps).catch(() => undefined);
    if (again !== undefined) confirmed.set(address, again);
  };
  const doubtful = Object.entries(resources).filter(([, { pin, kind }]) => {
    const now = deps.client.platformTime();
    const isOpen = kindNamed(kind).stamp !== undefined && pin !== null && pin.certain !== true;
    return isOpen && now !== undefined && isStampOver(pin.updated_at, now);
  });
  await Promise.all(doubtful.map(([address]) => limit(() => confirmOne(address))));
  return confirmed;
}

/** Returns the record of a resource that still is as it was written; undefined if that is unknown. */
async function confirm(
  address: Address,
  resources: Resources,
  deps: RunDeps,
): Promise<ResourceState | undefined> {
  const recorded = resources[address];
  if (recorded === undefined) return undefined;
  const { id, scope, pin } = recorded;
  const kind = kindNamed(recorded.kind);
  const desired = deps.desired.get(address);
  if (pin === null || desired === undefined || !isWhollyRemembered(kind, desired)) return undefined;
  if (deps.stop.aborted || recorded.unfinished !== undefined) return undefined;
  const live = await readLive({ kind, desired, recorded, deps }, { id, scope });
  if (live === undefined || !isSamePin(pin, buildPin(kind, live))) return undefined;
  const world = { ...deps.world, findId: (one: Address) => resources[one]?.id };
  const sides = getSides({ address, recorded, by: 'state', missing: undefined }, desired, {
    resend_secrets: false,
  });
  const differs = compare(kind.schema, desired.document, live.document, sides, world);
  const again = rememberResource(kind, desired, { ...live, pin }, recorded, NOTHING, world);
  const isOpen = differs.some((one) => isWritten(one) || isStoredOddly(one));
  if (isOpen || !isSameJson(again, recorded)) return undefined;
  const sure = fastRefreshPin(kind, live, pin);
  return sure?.certain === true ? { ...recorded, pin: sure } : undefined;
}

const NOTHING: ReadonlySet<string> = new Set();
