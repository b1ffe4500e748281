import type { Address } from '../core/address.ts';
import { PACKAGE_VERSION } from '../core/version.ts';
import { withLetGo } from '../plan/state-entry.ts';
import type { LedgerAction } from '../render/runs.ts';
import type { StackSettings } from '../stack/index.ts';
import type { LedgerLine, RunBegan, StateEdit } from '../state/journal.ts';
import type { ResourceState, State } from '../state/model.ts';
import { nextState } from '../state/replay.ts';
import type { Lease, RunSummary, StateStore } from '../state/store.ts';
import { describeActor, holderFor, runId } from './actor.ts';
import type { RunContext } from './context.ts';

/** One edit of the state by hand. */
export type Edit = {
  /** The records in their order: cut short anywhere, nothing may be lost. Null: no longer remembered. */
  readonly records: readonly (readonly [Address, ResourceState | null])[];
  readonly ledger: readonly LedgerLine[];
};

export type Edited = {
  readonly run: RunSummary['run'];
  readonly serial: number;
  readonly ledger: readonly LedgerLine[];
};

/**
 * Writes an edit down under the lease: its journal, and then the state that comes of it. `isBegun`: the journal has
 * its beginning.
 */
export async function recordEdit(
  lease: Lease,
  began: EditBegan,
  state: State,
  { records, ledger }: Edit,
  context: RunContext,
  { isBegun = false }: { readonly isBegun?: boolean } = {},
): Promise<Edited> {
  const { run } = began;
  const resources = new Map(Object.entries(state.resources));
  if (!isBegun) await lease.append({ ...began, ...getOrigin(state) });
  for (const [address, resource] of records) {
    await lease.append({ type: 'resource', address, resource });
    if (resource === null) resources.delete(address);
    else resources.set(address, resource);
  }
  await lease.append(ending(ledger, context));
  // An edit that takes an address out forgets also that it was deleted once.
  const taken = new Set(records.flatMap(([address, one]) => (one === null ? [address] : [])));
  const deleted = Object.entries(state.deleted ?? {}).filter(([address]) => !taken.has(address));
  const edited = { ...state, deleted: Object.fromEntries(deleted) };
  const left = Object.fromEntries(resources);
  const next = nextState(withLetGo(edited, state.resources, left), run, left);
  await lease.commit(next);
  return { run, serial: next.serial, ledger };
}

export type EditBegan = Omit<RunBegan, 'lineage' | 'serial' | 'account_id' | 'owner'>;

/** Takes the lease for an edit. Its journal is to begin so, but for the state that it starts from. */
export async function beginEdit(
  purpose: StateEdit,
  {
    store,
    settings,
  }: {
    readonly store: StateStore;
    readonly settings: Pick<StackSettings, 'dir' | 'platform'>;
  },
  context: RunContext,
): Promise<{ readonly began: EditBegan; readonly lease: Lease }> {
  const began = await describeEdit(purpose, runId(context.now()), settings, context);
  const lease = await store.acquire(holderFor(began.run, purpose, began.actor, context));
  return { began, lease };
}

/** The beginning of the journal of an edit, but for the state that it starts from. */
export async function describeEdit(
  purpose: StateEdit,
  run: string,
  { dir, platform }: Pick<StackSettings, 'dir' | 'platform'>,
  context: RunContext,
): Promise<EditBegan> {
  return {
    type: 'began',
    run,
    at: context.now().toISOString(),
    purpose,
    actor: await describeActor(dir, context),
    made_by: PACKAGE_VERSION,
    plan_digest: '',
    config_digest: '',
    base_url: context.env.CALLSHEET_BASE_URL ?? platform.base_url ?? '',
  };
}

/** The state that an edit starts from, as its journal names it. */
export function getOrigin({ lineage, serial, account_id: account = '', owner }: State) {
  return { lineage, serial, account_id: account, ...(owner && { owner }) };
}

/** How the journal of an edit ends. */
export function ending(ledger: readonly LedgerLine[], { now }: RunContext) {
  return {
    type: 'ended',
    at: now().toISOString(),
    status: 'done',
    verified: false,
    ledger,
  } as const;
}

/** One line of an edit's ledger. */
export function editLine(
  address: Address,
  action: LedgerAction,
  id: string | null,
  message: string | null = null,
): LedgerLine {
  return { address, action, status: 'done', id, message, fields: [], history: null };
}
