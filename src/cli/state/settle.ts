import { readEndpoints } from '../../api/endpoints.ts';
import { type Settlement, settleRun } from '../../apply/settle.ts';
import type { StackSettings } from '../../config/index.ts';
import { createReader } from '../../live/reader.ts';
import type { JournalEntry } from '../../state/journal.ts';
import type { State } from '../../state/model.ts';
import { type Replayed, replay } from '../../state/replay.ts';
import type { Lease } from '../../state/store.ts';
import type { Context } from '../context.ts';
import { DEFAULT_CONCURRENCY, openClient } from '../open-client.ts';
import { fileSettlement, fingerprintsFor, refuseUnclear } from '../session.ts';
import type { OpenState } from './open.ts';

/**
 * The state to edit, with a run that died before it could commit settled in it. The platform is asked only
 * where the run left something open.
 */
export async function settledState(
  { store, settings }: OpenState,
  lease: Lease,
  context: Context,
): Promise<State | undefined> {
  const { state, pending } = await store.load();
  const replayed = replay(state, pending);
  const settlement = await settle(pending, replayed, settings, context);
  if (settlement === undefined) return replayed.state;
  refuseUnclear(settlement, []);
  const settled = await fileSettlement(lease, settlement, undefined, context);
  const found = settlement.settled.map(({ address, message }) => `${address} ${message}`);
  context.terminal.err([`Run ${settlement.run}, which died, is settled.`, ...found].join('\n'));
  return settled;
}

async function settle(
  pending: readonly JournalEntry[],
  replayed: Replayed,
  settings: StackSettings,
  context: Context,
): Promise<Settlement | undefined> {
  const { state, open } = replayed;
  if (state === undefined) return undefined;
  // Nothing open: nothing is looked up, and no credentials are needed.
  if (open.length === 0) return settleRun(pending, replayed, undefined);
  const world = { secretOf: () => undefined, fingerprints: fingerprintsFor(state, context) };
  const endpoints = readEndpoints(settings.platform);
  const client = await openClient(settings, context, DEFAULT_CONCURRENCY, endpoints);
  try {
    return await settleRun(pending, replayed, { reader: createReader(client, endpoints), world });
  } finally {
    await client.close();
  }
}
