import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type Address, matchesAddress } from '../../core/address.ts';
import type { StateCommands } from '../../core/documents.generated.ts';
import { CallsheetError, formatFirst } from '../../core/errors.ts';
import { placeKey } from '../../core/stores.ts';
import { findOwner, holderFor, runId } from '../../run/actor.ts';
import { describeEdit, type Edited, editLine, getOrigin, recordEdit } from '../../run/edit.ts';
import { openSettings } from '../../run/stack.ts';
import { isStack, withoutLinks } from '../../stack/folder.ts';
import type { StackSettings } from '../../stack/index.ts';
import { type Claimant, checkOwner, openMove } from '../../state/failures.ts';
import { rebind, rebindLeaves } from '../../state/fingerprint.ts';
import { findBegan, type RunBegan } from '../../state/journal.ts';
import { getIdentity, type Holds, ownersIn, type State } from '../../state/model.ts';
import { mentions, mergeReceipt, type Taken, takeReceipt } from '../../state/moved-runs.ts';
import { emptyState, withHolds } from '../../state/replay.ts';
import type { Lease, StateStore } from '../../state/store.ts';
import {
  acquireBoth,
  chooseAddresses,
  noState,
  openTarget,
  parseTarget,
  readReceipts,
  unsettled,
  withStore,
} from './edit.ts';

/** The outcome of a move, as `callsheet-state-edit` has it. */
export type MovedOver = Edited & { readonly to: NonNullable<StateCommands.Edit['to']> };

/** One of the two states, and whose it is where that is known. */
type End = {
  readonly store: StateStore;
  readonly claimant: Claimant | undefined;
  readonly settings: Pick<StackSettings, 'dir' | 'platform'>;
};

/** Everything that is known of a move before it goes on. */
type Plan = {
  /** The run that died on the way; undefined where the move is to begin. */
  readonly begun: RunBegan | undefined;
  readonly addresses: readonly Address[];
  readonly here: State;
  readonly there: State;
  /** The addresses that the other state is still to take, and the run that records it there. */
  readonly rest: readonly Address[];
  readonly runThere: string | undefined;
  /** True if the journal of that run is open. */
  readonly isOpenThere: boolean;
};

/**
 * Takes resources to the state of another stack, with their fingerprints, holds and the receipts of runs about them.
 * Both states know the run by one id. Each step may be done twice, and the journal of the first state says from step 2
 * on where its resources go: until the move is finished nothing else is applied from there.
 *
 *     step                                          a crash before it leaves
 *     1  take both leases, look at both             what was there
 *     2  begin the journal of the first state       the same
 *     3  write the receipts to the second state     a move that is begun; the resources are in the first state
 *     4  commit the second state                    the same, and receipts
 *     5  commit the first state                     a move that is begun; the resources are in both states
 *     6  done                                       the resources are in the second state
 *
 * Throws `CallsheetError`, and has written nothing, where the two cannot be one move (`planMove`).
 */
export function moveToState(
  patterns: readonly string[],
  to: string,
  flags: CommonFlags,
  context: Context,
): Promise<MovedOver> {
  return withStore(flags, context, async ({ store, settings }) => {
    const { end, place } = await openEnd(to, flags, context);
    try {
      if (placeKey(place, withoutLinks) === placeKey(settings.state, withoutLinks))
        throw cannotMove(`both stacks keep their state at ${store.location}`);
      const claimant = await findOwner(settings);
      return await moveBetween(patterns, { store, settings, claimant }, end, context);
    } finally {
      await end.store.close();
    }
  });
}

/** The other state: that of a stack, by its folder, or the one at a place. */
async function openEnd(to: string, flags: CommonFlags, context: Context) {
  const folder = to.includes('://') ? undefined : resolve(flags.dir, to);
  const isFolder = folder !== undefined && existsSync(folder) && statSync(folder).isDirectory();
  if (!isFolder) {
    const place = parseTarget(to, flags);
    const { dir, platform } = openSettings(flags, context);
    const store = openTarget(place, context);
    return { place, end: { store, claimant: undefined, settings: { dir, platform } } };
  }
  if (!isStack(folder)) throw cannotMove(`${folder} is not the folder of a stack`);
  // That variable names the state that the resources leave.
  const { CALLSHEET_STATE: _, ...env } = context.env;
  const settings = openSettings({ ...flags, dir: folder }, { ...context, env });
  const store = openTarget(settings.state, context);
  return { place: settings.state, end: { store, settings, claimant: await findOwner(settings) } };
}

async function moveBetween(
  patterns: readonly string[],
  source: End,
  target: End,
  context: Context,
): Promise<MovedOver> {
  // Looked at first: what is refused takes no lease, and makes no folder for one.
  const seen = await planMove(patterns, source, target);
  if ('run' in seen) return seen;
  const run = seen.begun?.run ?? runId(context.now());
  const began = await describeEdit('state mv', run, source.settings, context);
  const holder = holderFor(run, 'state mv', began.actor, context);
  const leases = await acquireBoth(source.store, target.store, holder);
  const plan = await planMove(patterns, source, target);
  if ('run' in plan) return plan;
  if (plan.begun?.run !== seen.begun?.run)
    throw new CallsheetError('stale', `another run wrote to ${source.store.location} meanwhile`, {
      hint: 'Nothing was moved. Run the command again.',
    });
  const { addresses, here, there, rest, begun } = plan;
  const { mine, others } = splitHolds(here.holds, addresses);
  const hasHolds = Object.keys(mine).length > 0;
  if (begun === undefined) {
    const moves = { addresses, to: nameState(target, there) };
    const holds = hasHolds ? { holds: others } : {};
    await leases.source.append({ ...began, ...getOrigin(here), ...holds, moves });
  }
  const taken: Taken = { run, addresses: new Set(addresses), from: here, to: there };
  const runs = await bringReceipts(taken, source.store, target.store, leases.target);
  let serial = there.serial;
  if (rest.length > 0) {
    const holds = { ...there.holds, ...rebindHolds(mine, here, there) };
    const beganThere = {
      ...began,
      run: plan.runThere ?? run,
      ...(hasHolds && { holds }),
      moves: { addresses: rest, from: nameState(source, here) },
    };
    const records = rest.map((address) => [address, takeOver(address, here, there)] as const);
    const line = (address: Address) =>
      editLine(address, 'move', here.resources[address]?.id ?? null, cameFrom(source));
    const edited = await recordEdit(
      leases.target,
      beganThere,
      hasHolds ? withHolds(there, holds) : there,
      { records, ledger: rest.map(line) },
      context,
      { isBegun: plan.isOpenThere },
    );
    serial = edited.serial;
  }
  const ledger = addresses.map((address) =>
    editLine(address, 'move', here.resources[address]?.id ?? null, wentTo(target)),
  );
  const records = addresses.map((address) => [address, null] as const);
  const left = hasHolds ? withHolds(here, others) : here;
  const edit = { records, ledger };
  const edited = await recordEdit(leases.source, { ...began, run }, left, edit, context, {
    isBegun: true,
  });
  return { ...edited, to: { location: target.store.location, serial, runs } };
}

function cameFrom({ store }: End): string {
  return `it came from ${store.location}`;
}

function wentTo({ store }: End): string {
  return `it went to ${store.location}`;
}

function nameState({ store: { location } }: End, { lineage }: State) {
  return { location, lineage };
}

/**
 * Plans what is left of a move; a move that is done is its outcome. Throws `CallsheetError('usage')` for an address that
 * is not there, and `refused` by name where
 *
 * - one of the two has a run that did not finish, or the first state has begun another move;
 * - the other is a copy of the first state, of another account, of another stack than its folder says, or no state;
 * - the other state has one of the addresses or resources already;
 * - one of them is part of something that a feature has not ended, such as a rollout.
 */
async function planMove(
  patterns: readonly string[],
  source: End,
  target: End,
): Promise<Plan | MovedOver> {
  const { state: here, pending } = await source.store.load();
  if (here === undefined) throw noState(source.store.location);
  if (source.claimant) await checkOwner(here, source.claimant, source.store.location);
  const begun = findBegan(pending);
  if (begun !== undefined && begun.moves?.to === undefined)
    throw unsettled(source.store.location, 'run the command again');
  const found = await readTarget(begun, here, source, target);
  const done =
    begun === undefined ? await findDone(patterns, here, source, target, found) : undefined;
  if (done !== undefined) return done;
  const addresses = [...new Set(patterns.flatMap((one) => chooseAddresses(one, here)))].sort();
  const { there, open } = found;
  if (begun !== undefined && !isSameMove(begun, addresses, there)) throw openMove(begun);
  if (begun === undefined) {
    refuseTaken(addresses, here, there, target);
    await refuseOpenParts(new Set(addresses), here, source);
  }
  const plan = { begun, addresses, here, there, isOpenThere: open !== undefined };
  const filed = (await target.store.runs()).find(({ run }) => run === begun?.run);
  if (begun === undefined || filed === undefined)
    return { ...plan, rest: addresses, runThere: undefined };
  if (filed.status === 'done') return { ...plan, rest: [], runThere: undefined };
  // Another command found the journal half-written, and recorded as much as it had.
  const rest = addresses.filter((address) => there.resources[address] === undefined);
  refuseTaken(rest, here, there, target);
  return { ...plan, rest, runThere: runId(new Date()) };
}

type Target = { readonly there: State; readonly open: RunBegan | undefined };

/** The other state, or the one that the move makes. */
async function readTarget(
  begun: RunBegan | undefined,
  here: State,
  source: End,
  { store, claimant }: End,
): Promise<Target> {
  const { location } = store;
  const { state, pending } = await store.load();
  const open = findBegan(pending);
  if (open !== undefined && open.run !== begun?.run)
    throw unsettled(location, 'run the command again');
  if (state === undefined) {
    if (claimant === undefined)
      throw cannotMove(
        `there is no state at ${location}`,
        'To move them to a stack that has none yet, name its folder.',
      );
    const lineage = open?.lineage ?? begun?.moves?.to?.lineage ?? randomUUID();
    const account = here.account_id === undefined ? {} : { account_id: here.account_id };
    return { there: { ...emptyState(lineage), ...account, owner: claimant.owner }, open };
  }
  if (state.lineage === here.lineage)
    throw cannotMove(`${location} is a copy of the state ${source.store.location}`);
  if (claimant !== undefined) await checkOwner(state, claimant, location);
  const { account_id: account } = state;
  if (account !== undefined && here.account_id !== undefined && account !== here.account_id)
    throw cannotMove(
      `the state ${location} belongs to account ${account}, and ${source.store.location} to account ${here.account_id}`,
    );
  return { there: state, open };
}

function isSameMove({ moves }: RunBegan, addresses: readonly Address[], there: State): boolean {
  const isAsked = new Set(addresses);
  const { addresses: meant = [], to } = moves ?? {};
  const isSame = meant.length === isAsked.size && meant.every((address) => isAsked.has(address));
  return isSame && to?.lineage === there.lineage;
}

/** The outcome of a finished move of all that the patterns name, if nothing of it is in the first state any more. */
async function findDone(
  patterns: readonly string[],
  here: State,
  source: End,
  target: End,
  { there }: Target,
): Promise<MovedOver | undefined> {
  const names = (address: Address) => patterns.some((one) => matchesAddress(one, address));
  if (Object.keys(here.resources).some(names)) return undefined;
  for (const { run, purpose } of await source.store.runs()) {
    if (purpose !== 'state mv') continue;
    const entries = (await source.store.run(run)) ?? [];
    const { moves } = findBegan(entries) ?? {};
    if (moves?.to?.lineage !== there.lineage || !moves.addresses.every(names)) continue;
    const ledger = moves.addresses.map((address) =>
      editLine(address, 'move', there.resources[address]?.id ?? null, wentTo(target)),
    );
    const to = { location: target.store.location, serial: there.serial, runs: 0 };
    return { run, serial: here.serial, ledger, to };
  }
  return undefined;
}

function refuseTaken(
  addresses: readonly Address[],
  here: State,
  there: State,
  { store: { location } }: End,
): void {
  const owners = ownersIn(there);
  const taken = addresses.flatMap((address) => {
    if (there.resources[address] !== undefined) return [address];
    const one = here.resources[address];
    const other = one && owners.get(getIdentity(one));
    return other === undefined ? [] : [`${address} as ${other}`];
  });
  if (taken.length > 0)
    throw cannotMove(`the state ${location} has ${formatFirst(taken, MOST_NAMED)} already`);
}

const MOST_NAMED = 5;

/** The runs of a rollout that is open are taken back from the state that has it. */
async function refuseOpenParts(
  addresses: ReadonlySet<Address>,
  { kept = {} }: State,
  { store }: End,
): Promise<void> {
  const parts = Object.entries(kept).flatMap(([feature, entries]) =>
    Object.entries(entries).map(([name, entry]) => ({ label: `${feature} ${name}`, ...entry })),
  );
  for (const { label, open, runs } of parts) {
    if (!open) continue;
    for (const run of runs) {
      const found = [...mentions((await store.run(run)) ?? [], addresses)];
      if (found.length > 0)
        throw cannotMove(
          `${formatFirst(found, MOST_NAMED)} is part of the ${label}, which is open`,
        );
    }
  }
}

function takeOver(address: Address, from: State, to: State) {
  const resource = from.resources[address];
  if (resource === undefined) throw new Error(`not in the state: ${address}`);
  const leaves = rebindLeaves(resource.leaves, binding(from, address), binding(to, address));
  return { ...resource, leaves };
}

function binding({ lineage, salt }: State, address: Address) {
  return { stack: lineage, salt, address };
}

function splitHolds(holds: Holds = {}, addresses: readonly Address[]) {
  const moved = new Set(addresses);
  const [mine, others] = [true, false].map((isMine) =>
    Object.entries(holds).filter(([, { address }]) => moved.has(address) === isMine),
  );
  return { mine: Object.fromEntries(mine ?? []), others: Object.fromEntries(others ?? []) };
}

function rebindHolds(holds: Holds, from: State, to: State): Holds {
  return Object.fromEntries(
    Object.entries(holds).map(([key, hold]) => {
      const { address, value } = hold;
      const own = value && rebind(value, binding(from, address), binding(to, address));
      return [key, { ...hold, value: own }];
    }),
  );
}

/** Writes the receipts that are about the resources to the other state, the oldest first. Returns how many there are. */
async function bringReceipts(
  taken: Taken,
  source: StateStore,
  target: StateStore,
  lease: Lease,
): Promise<number> {
  const known = new Set(await target.runIds());
  const brought: { readonly run: string; readonly entries: ReturnType<typeof takeReceipt> }[] = [];
  for await (const { run, entries = [] } of readReceipts(source)) {
    const own = takeReceipt(entries, taken);
    if (own.length > 0) brought.push({ run, entries: own });
  }
  for (const { run, entries } of brought.toReversed()) {
    const there = known.has(run) ? ((await target.run(run)) ?? []) : [];
    const merged = mergeReceipt(there, entries);
    if (merged !== undefined) await lease.refile({ run, entries: merged });
  }
  return brought.length;
}

function cannotMove(why: string, hint = ''): CallsheetError {
  return new CallsheetError('refused', why, {
    hint: `Nothing was moved.${hint === '' ? '' : ` ${hint}`}`,
  });
}
