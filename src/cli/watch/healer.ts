import type { Address } from '../../core/address.ts';
import type { LeftAlone } from '../../plan/heal.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from '../plan-flags.ts';
import { openStore } from '../session.ts';
import { openStack } from '../stack.ts';
import type { Log } from './events.ts';
import { contestedOf, HOUR_MS, recentTries, type Tries } from './fights.ts';
import { type Healed, heal } from './heal.ts';
import type { Seen } from './look.ts';
import type { Metrics } from './metrics.ts';

/** Heals a stack, and remembers what it tried. */
export type Healer = {
  /** Gives what was put back, and what is contested. */
  readonly heal: (seen: Seen) => Promise<{
    readonly healed: ReadonlySet<Address>;
    readonly contested: number;
    /** Whether it was told to stop in the midst of it. */
    readonly isCut: boolean;
  }>;
};

type HealerDeps = {
  readonly stack: string;
  readonly flags: PlanFlags;
  /** Tries for one address within an hour. */
  readonly limit: number;
  readonly context: Context;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'healEnded'>;
};

/** A healer that has not tried anything yet; what was tried before a restart it reads from the receipts. */
export function openHealer({ stack, flags, limit, context, log, metrics }: HealerDeps): Healer {
  let tries: Tries = new Map();
  let hasReadPast = false;
  let contested: ReadonlySet<Address> = new Set();
  // What was said already of what is not healed.
  let said: ReadonlySet<string> = new Set();

  function tellContested(now: ReadonlySet<Address>): void {
    for (const address of now) {
      if (contested.has(address)) continue;
      const times = tries.get(address)?.length ?? 0;
      log({ event: 'heal_contested', stack, address, times });
    }
    for (const address of contested) {
      if (!now.has(address)) log({ event: 'heal_agreed', stack, address });
    }
    contested = now;
  }

  /** Says why something is not healed, once for as long as that is so. */
  function tellLeft(left: readonly LeftAlone[], skipped: string | undefined): void {
    const now = new Set([...left.map(({ address, why }) => `${address} ${why}`), skipped ?? '']);
    for (const { address, why } of left) {
      if (!said.has(`${address} ${why}`)) log({ event: 'heal_left', stack, address, message: why });
    }
    if (skipped !== undefined && !said.has(skipped))
      log({ event: 'heal_skipped', stack, message: skipped });
    said = now;
  }

  function note(ended: Extract<Healed, { type: 'ran' }>): ReadonlySet<Address> {
    const tried = ended.lines.filter(({ status }) => status === 'done' || status === 'failed');
    const now = context.now().getTime();
    tries = recentTries(
      tries,
      tried.map(({ address }) => ({ address, at: now })),
      now,
    );
    for (const { address, status, fields, message } of ended.lines) {
      log({ event: 'heal_ended', stack, run: ended.run, address, status, fields, message });
      metrics.healEnded(stack, status);
    }
    return new Set(tried.flatMap(({ address, status }) => (status === 'done' ? address : [])));
  }

  return {
    async heal({ healing, drift, unsettled }) {
      const drifted = drift.changes.map(({ address }) => address);
      const now = context.now().getTime();
      // Most passes have nothing to heal, and receipts may be many.
      if (healing.heal.length > 0 && !hasReadPast) {
        tries = await readTries(flags, context);
        hasReadPast = true;
      }
      tries = recentTries(tries, [], now);
      tellContested(contestedOf(drifted, contested, tries, limit));
      const wanted = healing.heal.filter((address) => !contested.has(address));
      if (wanted.length === 0 || unsettled !== undefined || context.stop.aborted) {
        tellLeft(healing.left, wanted.length === 0 ? undefined : unsettled);
        return { healed: new Set(), contested: contested.size, isCut: false };
      }
      const ended = await heal(wanted, flags, context);
      const left = 'left' in ended ? ended.left : [];
      tellLeft([...healing.left, ...left], ended.type === 'skipped' ? ended.why : undefined);
      const healed = ended.type === 'ran' ? note(ended) : new Set<Address>();
      const isCut = ended.type === 'ran' && ended.status === 'interrupted';
      return { healed, contested: contested.size, isCut };
    },
  };
}

/** What was tried within the last hour, here before a restart or by another watch, as the receipts say. */
async function readTries(flags: PlanFlags, context: Context): Promise<Tries> {
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
