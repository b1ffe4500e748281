import type { Context } from '../context.ts';
import type { PlanFlags } from '../plan-flags.ts';
import { openStore } from '../session.ts';
import { openStack } from '../stack.ts';
import { HOUR_MS, recentTries, type Tries } from './fights.ts';

/** What was tried within the last hour, here before a restart or by another watch, as the receipts say. */
export async function readTries(flags: PlanFlags, context: Context): Promise<Tries> {
  const { stack } = await openStack(flags, context, 'skip');
  const store = openStore(stack, context);
  const now = context.now().getTime();
  try {
    const runs = (await store.runs()).filter(
      ({ purpose, at }) => purpose === 'heal' && now - Date.parse(at) < HOUR_MS,
    );
    const found = [];
    for (const { run, at } of runs) {
      for (const entry of (await store.run(run)) ?? []) {
        if (entry.type !== 'ended') continue;
        const tried = entry.ledger.filter(({ status }) => status === 'done' || status === 'failed');
        found.push(...tried.map(({ address }) => ({ address, at: Date.parse(at) })));
      }
    }
    return recentTries(new Map(), found, now);
  } finally {
    await store.close();
  }
}
