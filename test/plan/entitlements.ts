import type { Answer, Entitlements, KeyLevel, Lock } from '../../src/plan/reader.ts';
import { BAY, HARBOR } from '../world.ts';

/** Who locks what, and what is offered; whoever is not named says that there is nothing. */
export type Said = {
  readonly account?: Locks | Silence;
  readonly harbor?: Locks | Silence;
  readonly bay?: Locks | Silence;
  /** Everything unless given. */
  readonly offers?: readonly string[] | Silence;
  readonly about?: Record<string, boolean> | Silence;
  /** What the key is limited to, which closes every operation to it. */
  readonly key?: KeyLevel | Silence;
};

/** The platform does not say. */
export const SILENCE = 'silence';
type Silence = typeof SILENCE;
type Locks = { readonly [feature: string]: Lock };

/** Where a lock is set, as the platform says it. */
export const HERE: Lock = { scope: 'here', isLegacy: false };
export const ABOVE: Lock = { scope: 'inherited', isLegacy: false };

/** Terms of a platform that says this. */
export function entitlementsOf(said: Said): Partial<Entitlements> {
  const { account = {}, harbor = {}, bay = {}, offers, about, key } = said;
  const locks = new Map([
    [null, account],
    [HARBOR, harbor],
    [BAY, bay],
  ] as const);
  return {
    locks: async (organization) =>
      answer(locks.get(organization as null) ?? {}, (some) => new Map(Object.entries(some))),
    ...(offers && { offers: async () => answer(offers, (ids) => new Set(ids)) }),
    ...(about && { about: async () => answer(about, (record) => record) }),
    ...(key && { closedTo: async () => answer(key, (level) => level) }),
  };
}

function answer<T, R>(said: T | Silence, read: (value: T) => R): Answer<R> {
  return said === SILENCE
    ? { type: 'unanswered', why: 'answered 503' }
    : { type: 'answered', value: read(said as T) };
}
