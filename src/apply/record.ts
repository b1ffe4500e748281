import type { Address } from '../core/address.ts';
import { parsePath, startsWith } from '../core/path.ts';
import type { Pin } from '../core/plan-document.ts';
import { certified } from '../plan/pin.ts';
import { rememberResource } from '../plan/remember.ts';
import { isWhollyRemembered } from '../plan/unmoved.ts';
import type { JournalEntry } from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import { type OpenChange, replay } from '../state/replay.ts';
import { scopeIn } from './check-pin.ts';
import {
  answeredOf,
  freeAddress,
  isMaking,
  isMakingStep,
  type Settling,
  settleMaking,
} from './settle.ts';
import type { Left, Progress, Work } from './work.ts';

/**
 * Writes down what the state remembers of the resource from now on. `after` is the pin of what is live now; `isProven`:
 * it is in every leaf as the configuration has it.
 */
export async function record(
  work: Work,
  { live, written, history, left }: Progress,
  after: Pin | null,
  isProven: boolean,
): Promise<ResourceState | null> {
  const { change, kind, desired, recorded, world, deps } = work;
  const pin = after && { ...after, history_id: history?.after ?? null };
  const restored = deps.restored?.get(change.address);
  const isSure = isProven && desired !== undefined && isWhollyRemembered(kind, desired);
  const resource =
    restored !== undefined
      ? restored && live
        ? {
            ...restored,
            leaves: leavesAfter(restored, recorded, left),
            id: live.id,
            pin,
            restored_by: deps.run,
          }
        : null
      : desired && live
        ? rememberResource(
            kind,
            desired,
            { ...live, pin: isSure ? certified(kind, live, pin) : pin },
            known(recorded, live.id),
            written,
            world,
          )
        : await adopted(work);
  const entry = { type: 'resource', address: change.address, resource } as const;
  // Of what sent nothing no other entry tells.
  if (change.operations.length === 0) await deps.lease.append(entry);
  else deps.lease.note(entry);
  return resource;
}

/** What the state goes back to, but for what could not be put back: that is as the run left it. */
function leavesAfter(
  restored: ResourceState,
  recorded: ResourceState | undefined,
  left: readonly Left[],
): ResourceState['leaves'] {
  const isLeft = (text: string) => {
    const path = parsePath(text) ?? [];
    return left.some((one) => startsWith(path, one.path) || startsWith(one.path, path));
  };
  const entries = Object.entries(restored.leaves).filter(([text]) => !isLeft(text));
  const kept = Object.entries(recorded?.leaves ?? {}).filter(([text]) => isLeft(text));
  return Object.fromEntries([...entries, ...kept]);
}

/** What the state says of a resource, unless it says it of one with another id. */
function known(recorded: ResourceState | undefined, id: string): ResourceState | undefined {
  return recorded?.id === id ? recorded : undefined;
}

/** A change without steps that takes a resource over reads it once, to remember it. */
async function adopted(work: Work): Promise<ResourceState | null> {
  const { change, kind, desired, recorded, world } = work;
  if (change.action !== 'adopt' || desired === undefined || change.id === null) return null;
  // The plan read it, and says what it did not find.
  const unseen = new Set(change.fields.map(({ path }) => parsePath(path)?.[0]));
  const seen = Object.keys(desired.document).filter((field) => !unseen.has(field));
  const document = Object.fromEntries(seen.map((field) => [field, null]));
  const at = { id: change.id, scope: scopeIn(work), pin: change.pin, document };
  return rememberResource(kind, desired, at, known(recorded, at.id), new Set(), world);
}

/** What a change that failed left behind. */
type Remains = {
  readonly id: string;
  readonly resource: ResourceState;
  readonly beside: ReadonlyMap<Address, ResourceState>;
  readonly message: string;
};

/**
 * What was made before a failure must not be forgotten, nor how far it came: found out from what was journalled, as
 * for a run that died. Undefined where nothing was made, and where nobody can tell.
 */
export async function recordFailure(
  work: Work,
  entries: readonly JournalEntry[],
): Promise<Remains | undefined> {
  const [change] = replay(undefined, entries).open;
  if (change === undefined || !isMaking(change)) return undefined;
  const settled = await settleMaking(settlingOf(work, change)).catch(() => undefined);
  const records = settled?.records ?? answeredIn(work, change);
  const resource = records.get(work.change.address);
  if (!resource) return undefined;
  const beside = new Map<Address, ResourceState>();
  for (const [address, record] of records) {
    await work.deps.lease.append({ type: 'resource', address, resource: record });
    if (record !== null && address !== work.change.address) beside.set(address, record);
  }
  const message = settled?.message ?? `was created (id ${resource.id}); nobody could look how far`;
  return { id: resource.id, resource, beside, message: `it ${message}` };
}

function settlingOf(work: Work, change: OpenChange): Settling {
  const { kind, deps, world, isTaken } = work;
  return {
    change,
    kind,
    reader: { ...deps.reader, list: (one, scope) => deps.reader.list(one, scope, true) },
    world,
    author: deps.state.account_id === undefined ? undefined : `api:${deps.state.account_id}`,
    isTaken,
    spare: (address) => freeAddress(address, deps.state),
  };
}

/** What is known without asking the platform, where it does not answer any more: the id that a creation returned. */
function answeredIn(
  { kind, isTaken }: Work,
  { address, snapshot, requests }: OpenChange,
): ReadonlyMap<Address, ResourceState> {
  const made = requests.findLast(({ intent, outcome }) => isMakingStep(intent) && outcome?.id);
  const intended = snapshot?.intended;
  const id = made?.outcome?.id;
  if (!id || !intended || isTaken(id)) return new Map();
  const isFacet = (path: string) => kind.facets.some(({ field }) => startsWithField(path, field));
  const { scope, name, protect } = intended;
  const leaves = Object.entries(intended.leaves).filter(([path]) => !isFacet(path));
  const answered = answeredOf(requests);
  return new Map([
    [
      address,
      {
        kind: kind.name,
        id,
        scope,
        name,
        leaves: Object.fromEntries(leaves),
        pin: null,
        protect,
        ...(kind.lacking === undefined ? {} : { unfinished: answered }),
      },
    ],
  ]);
}

function startsWithField(path: string, field: string): boolean {
  return parsePath(path)?.[0] === field;
}
