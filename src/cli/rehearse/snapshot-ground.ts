import { readEndpoints } from '../../api/endpoints.ts';
import { CallsheetError } from '../../core/errors.ts';
import { replicate } from '../../rehearse/seed.ts';
import type { ContentRecord } from '../../snapshot/format.ts';
import { openSnapshot } from '../../snapshot/read-file.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from '../plan-flags.ts';
import { openStore, readState } from '../session.ts';
import { type KeyFlags, keysFrom } from '../snapshot/keys.ts';
import { openStack } from '../stack.ts';
import { tellWarnings } from '../tell.ts';
import { knownBeside } from './fleet.ts';
import type { Ground } from './ground.ts';

/** The platform is not asked, so payment accounts and limits of the key are not known. */
const NOTHING_ASKED = { merchants: new Map(), level: undefined };

/** A fleet as a snapshot holds it. The platform is not asked anything. */
export async function snapshotGround(
  from: string,
  flags: PlanFlags & KeyFlags,
  context: Context,
): Promise<Ground> {
  const snapshot = await openSnapshot(from, keysFrom(flags, context));
  const { platform, made_at } = snapshot.header;
  const { stack, warnings, secretValues } = await openStack(flags, context);
  tellWarnings(warnings, context);
  const store = openStore(stack, context);
  try {
    const { state } = await readState(store);
    if (state.account_id !== undefined && state.account_id !== platform.account_id) {
      const message = `the snapshot ${from} is of account ${platform.account_id}; the state ${store.location} belongs to account ${state.account_id}`;
      throw new CallsheetError('usage', message, {
        hint: 'Rehearse with a snapshot of the account that the stack is of.',
      });
    }
    return {
      stack,
      state,
      secretValues,
      endpoints: readEndpoints(stack.platform),
      platform,
      source: { type: 'snapshot', file: from, made_at },
      planNow: undefined,
      async replica() {
        const records: ContentRecord[] = [];
        for await (const record of snapshot.records())
          if (record.type !== 'end') records.push(record);
        return replicate(records, knownBeside({ stack, state, platform }, NOTHING_ASKED));
      },
      lacks: () => ({ absent: [] }),
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
