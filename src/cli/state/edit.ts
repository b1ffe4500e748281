import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { LedgerLine, RunBegan, StateEdit } from '../../state/journal.ts';
import type { ResourceState, State } from '../../state/model.ts';
import { nextState } from '../../state/replay.ts';
import type { RunSummary } from '../../state/store.ts';
import { describeActor } from '../actor.ts';
import type { CommonFlags, Context } from '../context.ts';
import { runId } from '../run-id.ts';
import { holderFor, type OpenState, withStore } from './open.ts';
import { settledState } from './settle.ts';

/** One edit of the state by hand. */
export type Edit = {
  /** What is recorded, in that order: cut short anywhere, nothing may be lost. Null: no longer. */
  readonly records: readonly (readonly [Address, ResourceState | null])[];
  readonly ledger: readonly LedgerLine[];
};

/** What an edit came to. */
export type Edited = {
  readonly run: RunSummary['run'];
  readonly serial: number;
  readonly ledger: readonly LedgerLine[];
};

/**
 * Edits the state under its lock, as a run of its own with a journal, so that `runs` shows it and a plan
 * that was made before it is stale. Nothing is asked of the platform.
 */
export function editState(
  purpose: StateEdit,
  flags: CommonFlags,
  context: Context,
  make: (state: State) => Edit | Promise<Edit>,
): Promise<Edited> {
  return withStore(flags, context, async (open) => {
    const { store } = open;
    const run = runId(context.now());
    const began = await beginning(run, purpose, open, context);
    const lease = await store.acquire(holderFor(run, purpose, began.actor, context));
    const state = await settledState(open, lease, context);
    if (state === undefined) throw noState(store.location);
    const { records, ledger } = await make(state);
    const resources = new Map(Object.entries(state.resources));
    await lease.append({ ...began, ...originOf(state) });
    for (const [address, resource] of records) {
      await lease.append({ type: 'resource', address, resource });
      if (resource === null) resources.delete(address);
      else resources.set(address, resource);
    }
    await lease.append(ending(ledger, context));
    const next = nextState(state, run, Object.fromEntries(resources));
    await lease.commit(next);
    return { run, serial: next.serial, ledger };
  });
}

/** How the journal of an edit begins, but for the state that it starts from. */
export async function beginning(
  run: string,
  purpose: StateEdit,
  { settings }: { readonly settings: Pick<OpenState['settings'], 'dir' | 'platform'> },
  context: Context,
): Promise<Omit<RunBegan, 'lineage' | 'serial' | 'account_id'>> {
  return {
    type: 'began',
    run,
    at: context.now().toISOString(),
    purpose,
    actor: await describeActor(settings.dir, context),
    plan_digest: '',
    config_digest: '',
    base_url: context.env.CALLSHEET_BASE_URL ?? settings.platform.base_url ?? '',
  };
}

/** The state that an edit starts from, as its journal names it. */
export function originOf({ lineage, serial, account_id: account = '' }: State) {
  return { lineage, serial, account_id: account };
}

/** How the journal of an edit ends. */
export function ending(ledger: readonly LedgerLine[], { now }: Context) {
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
  action: string,
  id: string,
  message: string | null = null,
): LedgerLine {
  return { address, action, status: 'done', id, message, fields: [], history: null };
}

export function noState(location: string): CallsheetError {
  return new CallsheetError('usage', `there is no state yet at ${location}`, {
    hint: 'The first apply makes it. callsheet state push FILE puts one there, callsheet state repair builds it from what is live.',
  });
}
