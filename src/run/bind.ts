import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { kindNamed } from '../kinds/index.ts';
import { type Ambiguity, identify } from '../plan/identify.ts';
import type { Planned } from '../plan/make.ts';
import { getScope } from '../plan/natural-key.ts';
import { readWith, requireRead } from '../plan/reader.ts';
import { livePin } from '../plan/refresh.ts';
import { rememberResource } from '../plan/state-entry.ts';
import { priorAddresses } from '../stack/moves.ts';
import type { ResourceState } from '../state/model.ts';
import type { RunContext } from './context.ts';
import { planConfiguration, planOptions } from './plan.ts';
import type { Session } from './session.ts';

/** An address with the live resource that it is to stand for. */
export type Binding = {
  readonly address: Address;
  readonly resource: ResourceState;
  /** Fields in which the configuration says something else than the platform. */
  readonly differing: readonly string[];
};

export type Found = {
  readonly bindings: readonly Binding[];
  /** Addresses of which nobody can tell which live resource is meant. */
  readonly unclear: readonly Ambiguity[];
  /** Addresses that nothing live answers to. */
  readonly absent: readonly Address[];
};

/**
 * Binds everything that a natural key or `lifecycle.adopt` tells and the state does not know; with `isWanted`, only
 * those of it that stand for such live resources, and nothing else is read.
 */
export async function bindAll(
  session: Session,
  context: RunContext,
  isWanted?: (kind: string, id: string) => boolean,
): Promise<Found> {
  const { stack, state, reader } = session;
  const prior = priorAddresses(stack.moves.moved);
  const { identities, ambiguities } = await identify(stack.resources, state, reader, {
    priorAddresses: prior,
  });
  const unclear = new Set(ambiguities.map(({ address }) => address));
  const clear = stack.resources.filter(({ address }) => !unclear.has(address));
  const wanted = identities.flatMap(({ address, kind, found }) =>
    found !== undefined && isWanted?.(kind.name, found.id) === true ? [address] : [],
  );
  const only = isWanted === undefined ? undefined : new Set(wanted);
  return { ...(await bind(clear, session, context, only)), unclear: ambiguities };
}

/** Returns the findings of the ordinary planner, in the form in which the state remembers them. */
export async function bind(
  desired: readonly DesiredResource[],
  session: Session,
  context: RunContext,
  only?: ReadonlySet<Address>,
): Promise<Omit<Found, 'unclear'>> {
  const planned = await planConfiguration(
    { ...session, stack: { ...session.stack, resources: desired } },
    planOptions({}),
    context,
    { isPreflighted: false, prune: false, ...(only && { only }) },
  );
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const bindings: Binding[] = [];
  const absent: Address[] = [];
  for (const one of desired) {
    const change = changes.get(one.address);
    if (change?.action === 'create') absent.push(one.address);
    if (change?.adopted !== true || change.action === 'create') continue;
    const differing = change.action === 'adopt' ? [] : change.fields.map(({ path }) => path);
    const resource = await readResource(one, planned, differing, session);
    if (resource !== undefined) bindings.push({ address: one.address, resource, differing });
  }
  return { bindings, absent };
}

/**
 * Returns the resource's new record, without the fields that differ: who is right is unknown before the plan was
 * read.
 */
async function readResource(
  desired: DesiredResource,
  { ids, refresh }: Planned,
  differing: readonly string[],
  { reader, world }: Session,
): Promise<ResourceState | undefined> {
  const { address, document } = desired;
  const known = refresh.get(address);
  const id = ids.get(address);
  if (known !== undefined || id === undefined) return known;
  const kind = kindNamed(desired.kind);
  const listed = (await reader.list(kind, getScope(kind, document)))?.find((one) => one.id === id);
  const at = listed ?? { id, scope: getScope(kind, document) };
  const live = await readWith(reader, kind, at, Object.keys(document));
  if (live === undefined) return undefined;
  requireRead(live);
  const place = { ...live, pin: livePin(kind, live) };
  const findId = (target: Address) => ids.get(target);
  const remembered = rememberResource(kind, desired, place, undefined, new Set(), {
    ...world,
    findId,
  });
  const leaves = Object.entries(remembered.leaves).filter(
    ([path, leaf]) => 'unknown' in leaf || !differing.includes(path),
  );
  return { ...remembered, leaves: Object.fromEntries(leaves) };
}
