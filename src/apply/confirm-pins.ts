import pLimit from 'p-limit';
import type { Address } from '../core/address.ts';
import { parsePath } from '../core/path.ts';
import { isSameJson } from '../core/same-json.ts';
import { compare, isWritten } from '../diff/compare.ts';
import { kindNamed } from '../kinds/index.ts';
import { certified, isSamePin, isStampOver, pinOf } from '../plan/pin.ts';
import { rememberResource } from '../plan/remember.ts';
import { isWhollyRemembered } from '../plan/unmoved.ts';
import type { ResourceState } from '../state/model.ts';
import type { RunDeps } from './deps.ts';
import { readLive } from './work.ts';

type Resources = Readonly<Record<Address, ResourceState>>;

/**
 * Reads what was written some seconds ago once more, so that later plans need not (`plan/unmoved.ts`): right after
 * a write nobody can tell whether somebody else writes in the same second. What was written just now is left for
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

/** What to remember of a resource that still is as it was written; undefined where nobody can tell. */
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
  if (live === undefined || !isSamePin(pin, pinOf(kind, live, null))) return undefined;
  const world = { ...deps.world, idOf: (one: Address) => resources[one]?.id };
  const sides = {
    address,
    applied: recorded.leaves,
    ignore: desired.lifecycle.ignore.map(parsePath).filter((path) => path !== undefined),
    isPartial: desired.isPartial,
    resend: false,
  };
  const differs = compare(kind.schema, desired.document, live.document, sides, world);
  const again = rememberResource(kind, desired, { ...live, pin }, recorded, NOTHING, world);
  if (differs.some(isWritten) || !isSameJson(again, recorded)) return undefined;
  const sure = certified(kind, live, pin);
  return sure?.certain === true ? { ...recorded, pin: sure } : undefined;
}

const NOTHING: ReadonlySet<string> = new Set();
