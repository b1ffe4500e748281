import type { Address } from '../../core/address.ts';

/** An hour, in which healing an address is counted. */
export const HOUR_MS = 3_600_000;

/** When addresses were last tried to be healed, as milliseconds since 1970. */
export type Tries = ReadonlyMap<Address, readonly number[]>;

/** The tries of the last hour, with more of them: what is older says nothing any more. */
export function recentTries(
  tries: Tries,
  more: readonly { readonly address: Address; readonly at: number }[],
  now: number,
): Tries {
  const all = new Map<Address, number[]>();
  for (const [address, times] of tries) all.set(address, [...times]);
  for (const { address, at } of more) all.set(address, [...(all.get(address) ?? []), at]);
  return new Map(
    [...all]
      .map(([address, times]) => [address, times.filter((at) => now - at < HOUR_MS)] as const)
      .filter(([, times]) => times.length > 0),
  );
}

/**
 * The drifted addresses that are not healed any more: who changes them changes them again and again. One stays so
 * until it is seen without drift, so that healing does not start anew every hour.
 */
export function contestedOf(
  drifted: readonly Address[],
  before: ReadonlySet<Address>,
  tries: Tries,
  limit: number,
): ReadonlySet<Address> {
  return new Set(
    drifted.filter((address) => before.has(address) || (tries.get(address)?.length ?? 0) >= limit),
  );
}
