import { formerAddresses } from '../../config/moves.ts';
import { nearest } from '../../config/nearest.ts';
import type { Address } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kindNamed } from '../../kinds/index.ts';
import { identify, type Obscurity } from '../../plan/identify.ts';
import type { Planned } from '../../plan/make.ts';
import { scopeOf } from '../../plan/natural-key.ts';
import { livePin } from '../../plan/pin.ts';
import { readWith } from '../../plan/reader.ts';
import { rememberResource } from '../../plan/remember.ts';
import type { ResourceState, State } from '../../state/model.ts';
import type { Context } from '../context.ts';
import { planConfiguration } from '../make-plan.ts';
import { planOptions } from '../plan-flags.ts';
import type { Session } from '../session.ts';
import { findLive } from './find-live.ts';

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
  readonly unclear: readonly Obscurity[];
  /** Addresses that nothing live answers to. */
  readonly absent: readonly Address[];
};

/** Binds one address to an id that somebody gave. Undefined: the state has it so already. */
export async function bindOne(
  address: Address,
  id: string,
  session: Session,
  context: Context,
): Promise<Binding | undefined> {
  const { state, stack } = session;
  const desired = stack.resources.find((one) => one.address === address);
  if (desired === undefined) throw unknown(address, stack.resources);
  const holder = Object.entries(state.resources).find(
    ([, one]) => one.kind === desired.kind && one.id === id,
  )?.[0];
  if (holder === address) return undefined;
  refuseTaken(address, id, holder, state);
  await findLive(desired, id, session);
  const adopting = { ...desired, lifecycle: { ...desired.lifecycle, adopt: id } };
  const { bindings } = await bind([adopting], session, context);
  return bindings[0];
}

/** Binds everything that a natural key or `lifecycle.adopt` tells and the state does not know. */
export async function bindAll(session: Session, context: Context): Promise<Found> {
  const { stack, state, reader } = session;
  const formerly = formerAddresses(stack.moves.moved);
  const { obscurities } = await identify(stack.resources, state, reader, { formerly });
  const unclear = new Set(obscurities.map(({ address }) => address));
  const clear = stack.resources.filter(({ address }) => !unclear.has(address));
  return { ...(await bind(clear, session, context)), unclear: obscurities };
}

/** What the ordinary planner finds, in the form in which the state remembers it. */
async function bind(
  desired: readonly DesiredResource[],
  session: Session,
  context: Context,
): Promise<Omit<Found, 'unclear'>> {
  const planned = await planConfiguration(
    { ...session, stack: { ...session.stack, resources: desired } },
    planOptions({ dir: session.stack.dir }),
    context,
    { isPreflighted: false, prune: false },
  );
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const bindings: Binding[] = [];
  const absent: Address[] = [];
  for (const one of desired) {
    const change = changes.get(one.address);
    if (change?.action === 'create') absent.push(one.address);
    if (change?.adopted !== true || change.action === 'create') continue;
    const differing = change.action === 'adopt' ? [] : change.fields.map(({ path }) => path);
    const resource = await resourceOf(one, planned, differing, session);
    if (resource !== undefined) bindings.push({ address: one.address, resource, differing });
  }
  return { bindings, absent };
}

/** What the state is to remember. Of what differs nothing: nobody knows who is right before the plan was read. */
async function resourceOf(
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
  const listed = (await reader.list(kind, scopeOf(kind, document)))?.find((one) => one.id === id);
  const at = listed ?? { id, scope: scopeOf(kind, document) };
  const live = await readWith(reader, kind, at, Object.keys(document));
  if (live === undefined) return undefined;
  const place = { ...live, pin: livePin(kind, live, null) };
  const idOf = (target: Address) => ids.get(target);
  const remembered = rememberResource(kind, desired, place, undefined, new Set(), {
    ...world,
    idOf,
  });
  const leaves = Object.entries(remembered.leaves).filter(
    ([path, leaf]) => 'unknown' in leaf || !differing.includes(path),
  );
  return { ...remembered, leaves: Object.fromEntries(leaves) };
}

function unknown(address: Address, resources: readonly DesiredResource[]): CallsheetError {
  const known = resources.map((one) => one.address);
  const near = nearest(address, known);
  return new CallsheetError('usage', `the configuration has no ${address}`, {
    hint:
      near === undefined
        ? 'Write the resource first, or have callsheet export write it.'
        : `Did you mean ${near}?`,
  });
}

function refuseTaken(
  address: Address,
  id: string,
  holder: Address | undefined,
  state: State,
): void {
  if (holder !== undefined) {
    throw new CallsheetError('refused', `${id} is what ${holder} stands for`, {
      hint: `One live resource has one address: callsheet state mv ${holder} ${address}, or callsheet state rm ${holder} first.`,
    });
  }
  const other = state.resources[address]?.id;
  if (other === undefined) return;
  throw new CallsheetError('refused', `${address} stands for ${other} already`, {
    hint: `callsheet state rm ${address} lets go of it; nothing is deleted on the platform.`,
  });
}
