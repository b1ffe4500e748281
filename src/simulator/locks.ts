import type { Platform } from './platform.ts';
import type { Level, Organization } from './store.ts';

/** Which features are locked for somebody, and on which level; the nearest level wins (Feature locks). */
export type Locks = ReadonlyMap<string, Level>;

/** Locks of the account alone. */
export function accountLocks({ store }: Platform): Locks {
  return levels([['account', store.account.locks]]);
}

/** Locks of a reseller and of the account. */
export function resellerLocks({ store }: Platform, resellerId: string): Locks {
  return levels([
    ['account', store.account.locks],
    ['reseller', store.resellers.get(resellerId)?.locks ?? new Set()],
  ]);
}

/** The whole chain: the organization's locks, its reseller's and the account's. */
export function organizationLocks({ store }: Platform, organization: Organization): Locks {
  const reseller = store.resellers.get(organization.resellerId ?? '');
  return levels([
    ['account', store.account.locks],
    ['reseller', reseller?.locks ?? new Set()],
    ['organization', organization.locks],
  ]);
}

function levels(chain: readonly (readonly [Level, ReadonlySet<string>])[]): Locks {
  return new Map(chain.flatMap(([level, keys]) => [...keys].map((key) => [key, level] as const)));
}
