import { randomUUID } from 'node:crypto';
import { emptyState } from '../../state/replay.ts';
import type { Salvage, StateStore } from '../../state/store.ts';
import type { CommonFlags, Context } from '../context.ts';
import { planConfiguration } from '../make-plan.ts';
import { planOptions } from '../plan-flags.ts';
import { runId } from '../run-id.ts';
import { openSession } from '../session.ts';
import { beginning, type Edited, ending, originOf } from './edit.ts';
import { holderFor, withStore } from './open.ts';
import { type Finding, rebuild } from './rebuild.ts';

/** What a repair did; nothing where the state was sound. */
type Repaired = {
  readonly location: string;
  readonly salvage: Salvage;
  readonly edited: Edited | undefined;
  readonly findings: readonly Finding[];
  /** Names, beside the state, of what was set aside. */
  readonly setAside: readonly string[];
};

/**
 * Rebuilds the state: from what is still readable of it and of the journals, and from what the ordinary
 * planner finds on the platform. What cannot be read is set aside, never deleted, and nothing is written
 * to the platform.
 */
export function repairState(flags: CommonFlags, context: Context): Promise<Repaired> {
  return withStore(flags, context, async (open) => {
    const { store } = open;
    const run = runId(context.now());
    const began = await beginning(run, 'state repair', open, context);
    const lease = await store.acquire(holderFor(run, 'state repair', began.actor, context));
    const salvage = await store.salvage();
    const common = { location: store.location, salvage };
    if (salvage.problem === undefined && salvage.read === 'whole')
      return { ...common, edited: undefined, findings: [], setAside: [] };

    const known = salvage.state ?? emptyState(randomUUID());
    const session = await openSession(flags, context, {
      storeOf: () => ({
        ...readOnly(store),
        load: async () => ({ state: known, pending: [] }),
      }),
    });
    try {
      const planned = await planConfiguration(session, planOptions(flags), context);
      const account = session.platform.account_id;
      const { resources, findings, ledger } = rebuild(known, planned);
      const before = { ...known, account_id: account };
      const serial = known.serial + 1;
      session.beginWriting();
      const setAside = await lease.replace({ ...before, serial, resources, last_run: run }, [
        { ...began, base_url: session.platform.base_url, ...originOf(before) },
        ending(ledger, context),
      ]);
      return { ...common, edited: { run, serial, ledger }, findings, setAside };
    } finally {
      await session.close();
    }
  });
}

/** The store as a session may have it: closing that must not give the lease back. */
function readOnly(store: StateStore): StateStore {
  return { ...store, close: async () => {} };
}
