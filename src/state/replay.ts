import { hash } from 'node:crypto';
import type { Address } from '../core/address.ts';
import type {
  IntentRecorded,
  JournalEntry,
  LedgerLine,
  OutcomeRecorded,
  RunBegan,
  SnapshotTaken,
} from './journal.ts';
import type { KeptEntries } from './model.ts';
import {
  type AppliedCommit,
  type Deletions,
  getIdentity,
  type Holds,
  type ResourceState,
  type State,
} from './model.ts';

/** The state that a journal makes of the one that its run began from. */
export type Replayed = {
  /** With everything that the run recorded; undefined where there is neither a state nor a run. */
  readonly state: State | undefined;
  /** Changes that were requested from the platform and not recorded as resources. */
  readonly open: readonly OpenChange[];
  readonly began: RunBegan | undefined;
  /** Each resource before the run touched it: one snapshot an address, the first. */
  readonly snapshots: readonly SnapshotTaken[];
};

/** Requests for one address, after which its resource was not recorded: what came of them is unknown. */
export type OpenChange = {
  readonly address: Address;
  /** The resource before. Undefined only if the journal does not say. */
  readonly snapshot: SnapshotTaken | undefined;
  readonly requests: readonly RequestMade[];
};

/** A request, and its outcome where that was written down before the run died. */
export type RequestMade = {
  readonly intent: IntentRecorded;
  readonly outcome: OutcomeRecorded | undefined;
};

/**
 * Replays a run's journal over a state. `resource` entries hold whole resources, so replaying over an
 * older copy of the state, or twice, gives the same. The serial stays: only `nextState` counts.
 */
export function replay(state: State | undefined, entries: readonly JournalEntry[]): Replayed {
  let began: RunBegan | undefined;
  const snapshots = new Map<Address, SnapshotTaken>();
  const requests = new Map<Address, RequestMade[]>();
  const addresses = new Map<number, Address>();
  const changed = new Map<Address, ResourceState | null>();

  for (const entry of entries) {
    switch (entry.type) {
      case 'began':
        began = entry;
        break;
      case 'snapshot':
        if (!snapshots.has(entry.address)) snapshots.set(entry.address, entry);
        break;
      case 'intent':
        addresses.set(entry.seq, entry.address);
        requests.set(entry.address, [
          ...(requests.get(entry.address) ?? []),
          { intent: entry, outcome: undefined },
        ]);
        break;
      case 'outcome': {
        const address = addresses.get(entry.seq) ?? '';
        const made = requests
          .get(address)
          ?.map((request) =>
            request.intent.seq === entry.seq ? { ...request, outcome: entry } : request,
          );
        if (made !== undefined) requests.set(address, made);
        break;
      }
      case 'resource':
        changed.set(entry.address, entry.resource);
        requests.delete(entry.address);
        break;
      case 'ended':
        break;
    }
  }

  const before = withChanges(state ?? stateBefore(began), changed);
  const owned = before && { ...before, ...(began?.owner && { owner: began.owner }) };
  const after = owned && withApplied(owned, began?.applied);
  return {
    state: after && withKept(withHolds(after, began?.holds), began?.kept),
    open: [...requests].map(([address, made]) => ({
      address,
      snapshot: snapshots.get(address),
      requests: made,
    })),
    began,
    snapshots: [...snapshots.values()],
  };
}

/**
 * A state without resources, at serial 0. `lineage` must be unique, a random UUID. The salt follows
 * from it unless one is given: it need not be secret, only unlike that of other stacks, and so it is
 * known again when a stack's first run died before it could commit.
 */
export function emptyState(lineage: string, salt: string = deriveSalt(lineage)): State {
  return {
    format: 'callsheet-state',
    version: 1,
    lineage,
    serial: 0,
    salt,
    resources: {},
    last_run: null,
  };
}

/**
 * The state to commit after `state`: one serial on, written by `run`. Without a run (a rename, a
 * silent refresh) the last run stays the last.
 */
export function nextState(
  state: State,
  run: string | null = state.last_run,
  resources: State['resources'] = state.resources,
): State {
  const isFresh = (address: Address) => state.resources[address]?.id !== resources[address]?.id;
  return {
    ...withDeletions(state, state.deleted ?? {}, resources),
    serial: state.serial + 1,
    resources: oneAddressEach(resources, isFresh),
    last_run: run,
  };
}

/** Deletions that a state remembers at most: those before are taken for new where they are created again. */
const MOST_DELETIONS = 100;

/** The state with the newest of these deletions, but for what is there again. */
function withDeletions(
  { deleted: _, ...state }: State,
  deleted: Deletions,
  resources: State['resources'],
): State {
  const gone = Object.entries(deleted).filter(([address]) => !Object.hasOwn(resources, address));
  if (gone.length === 0) return state;
  return { ...state, deleted: Object.fromEntries(gone.slice(-MOST_DELETIONS)) };
}

/**
 * The state with what a run deleted by its ledger. The run's changes are in another state than `before`, which has the
 * resources as they were.
 */
export function withDeleted(
  state: State,
  before: State['resources'],
  { run, at }: Pick<RunBegan, 'run' | 'at'>,
  ledger: readonly Pick<LedgerLine, 'address' | 'action' | 'status'>[],
): State {
  const gone = ledger.flatMap(({ address, action, status }) => {
    const one = action === 'delete' && status === 'done' ? before[address] : undefined;
    return one === undefined
      ? []
      : [[address, { run, at, kind: one.kind, scope: one.scope, name: one.name }] as const];
  });
  if (gone.length === 0) return state;
  // An address that was deleted before goes to the end.
  const addresses = new Set(gone.map(([address]) => address));
  const others = Object.entries(state.deleted ?? {}).filter(([address]) => !addresses.has(address));
  return { ...state, deleted: Object.fromEntries([...others, ...gone]) };
}

/**
 * A resource has one address. Where a run gave it another one and did not come to forget the first, as
 * when it was cut short or `--target` left that out, the fresh one has it. Of two fresh ones the first has it: the
 * platform answered the second with what another address had by then, and the next plan looks for that one again.
 */
function oneAddressEach(
  resources: State['resources'],
  isFresh: (address: Address) => boolean,
): State['resources'] {
  const entries = Object.entries(resources);
  const owners = new Map<string, Address>();
  const inTurn = [true, false].flatMap((fresh) =>
    entries.filter(([address]) => isFresh(address) === fresh),
  );
  for (const [address, one] of inTurn) {
    const id = getIdentity(one);
    if (!owners.has(id)) owners.set(id, address);
  }
  return owners.size === entries.length
    ? resources
    : Object.fromEntries(
        entries.filter(([address, one]) => owners.get(getIdentity(one)) === address),
      );
}

/** Hex. */
function deriveSalt(lineage: string): string {
  return hash('sha256', `callsheet-salt:${lineage}`).slice(0, 32);
}

function stateBefore(began: RunBegan | undefined): State | undefined {
  if (began === undefined) return undefined;
  const { lineage, serial, account_id: account } = began;
  return { ...emptyState(lineage), serial, ...(account === '' ? {} : { account_id: account }) };
}

/** The state with this commit as the one that was applied last, where one is given. */
export function withApplied(state: State, applied: AppliedCommit | undefined): State {
  return applied === undefined ? state : { ...state, applied };
}

/** The state with these stretched secrets, or without any. */
export function withStretched(
  { stretched: _, ...state }: State,
  stretched: string | undefined,
): State {
  return stretched === undefined ? state : { ...state, stretched };
}

/** The state with these holds instead of its own, where they are given. */
export function withHolds(state: State, holds: Holds | undefined): State {
  if (holds === undefined) return state;
  const { holds: _, ...rest } = state;
  return Object.keys(holds).length === 0 ? rest : { ...rest, holds };
}

/** The same with what a feature keeps. */
export function withKept(
  state: State,
  kept: { readonly feature: string; readonly entries: KeptEntries } | undefined,
): State {
  if (kept === undefined) return state;
  return { ...state, kept: { ...state.kept, [kept.feature]: kept.entries } };
}

function withChanges(
  state: State | undefined,
  changed: ReadonlyMap<Address, ResourceState | null>,
): State | undefined {
  if (state === undefined || changed.size === 0) return state;
  const resources = new Map(Object.entries(state.resources));
  for (const [address, resource] of changed) {
    // In the order of the journal, which says who had an id first.
    resources.delete(address);
    if (resource !== null) resources.set(address, resource);
  }
  const all = Object.fromEntries(resources);
  return { ...state, resources: oneAddressEach(all, (address) => changed.has(address)) };
}
