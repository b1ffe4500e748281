import { parsePath, startsWith } from '../core/path.ts';
import type { Pin } from '../core/plan-document.ts';
import { certified } from '../plan/pin.ts';
import { rememberResource } from '../plan/remember.ts';
import { isWhollyRemembered } from '../plan/unmoved.ts';
import type { ResourceState } from '../state/model.ts';
import { scopeIn } from './check-pin.ts';
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
  await deps.lease.append({ type: 'resource', address: change.address, resource });
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

/** What was made before a failure must not be forgotten: its id is kept, without leaves. */
export async function recordFailure(
  { change, kind, recorded, deps, desired }: Work,
  { live }: Progress,
): Promise<ResourceState | undefined> {
  const isNew = live !== undefined && recorded?.id !== live.id && change.id === null;
  if (!isNew || desired === undefined) return undefined;
  const resource: ResourceState = {
    kind: kind.name,
    id: live.id,
    scope: live.scope,
    name: change.name,
    leaves: {},
    pin: null,
    protect: desired.lifecycle.protect,
  };
  await deps.lease.append({ type: 'resource', address: change.address, resource });
  return resource;
}
