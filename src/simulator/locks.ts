import { FLOOR_MODEL } from './catalogue.ts';
import type { Platform } from './platform.ts';
import type { Level, Organization } from './store.ts';

/** Which features are locked for somebody; the nearest level that locks one counts (Feature locks). */
export type Locks = ReadonlyMap<string, Lock>;

type Lock = {
  readonly level: Level;
  readonly by: 'feature_administration' | 'legacy_column';
};

/** Somebody who can lock features, with what older settings say of them. */
type Holder = {
  readonly locks: ReadonlySet<string>;
  readonly settings?: ReadonlyMap<string, boolean>;
};
type Chain = readonly (readonly [Level, Holder | undefined])[];

/** Locks of the account alone. */
export function accountLocks(platform: Platform): Locks {
  return resolve(platform, chainOf(platform));
}

/** Locks of a reseller and of the account. */
export function resellerLocks(platform: Platform, resellerId: string): Locks {
  return resolve(platform, chainOf(platform, resellerId));
}

/** The whole chain: the organization's locks, its reseller's and the account's. */
export function organizationLocks(platform: Platform, organization: Organization): Locks {
  return resolve(platform, chainOf(platform, organization.resellerId, organization));
}

/**
 * Who decided that a feature is available: the allow-list for integrations, an older setting where those
 * govern, otherwise nobody (Features, notes).
 */
export function allowedBy(
  { store: { account, organizations } }: Platform,
  feature: string,
  organizationId: string | undefined,
): 'legacy_column' | 'default_available' {
  const settings = [account.settings, organizations.get(organizationId ?? '')?.settings];
  const isSet =
    (!account.featureAdministration && settings.some((one) => one?.has(feature))) ||
    (account.integrationsAllowed !== undefined && isIntegration(feature));
  return isSet ? 'legacy_column' : 'default_available';
}

/** Places or lifts a lock. Throws where there is no such level or feature, and for the floor model. */
export function setLock(
  { store, catalogue }: Platform,
  { level, id, feature }: { level: Level; id: string; feature: string },
  isLocked: boolean,
): void {
  if (feature === FLOOR_FEATURE) throw new Error(`${FLOOR_MODEL} can never be locked`);
  if (!catalogue.features.some(({ key }) => key === feature))
    throw new Error(`no feature ${feature}`);
  const holder = {
    account: () => store.account,
    reseller: () => store.resellers.get(id),
    organization: () => store.organizations.get(id),
  }[level]();
  if (holder === undefined) throw new Error(`no ${level} ${id}`);
  if (isLocked) holder.locks.add(feature);
  else holder.locks.delete(feature);
}

/** The floor model has no row of its own, and no lock takes it away (LLM model option). */
const FLOOR_FEATURE = `llm.${FLOOR_MODEL}`;

function chainOf({ store }: Platform, resellerId?: string, organization?: Organization): Chain {
  return [
    ['account', store.account],
    ['reseller', store.resellers.get(resellerId ?? '')],
    ['organization', organization],
  ];
}

function resolve({ store: { account }, catalogue }: Platform, chain: Chain): Locks {
  const locks = new Map<string, Lock>();
  for (const [level, holder] of chain) {
    const locked = account.featureAdministration ? holder?.locks : legacyLocks(level, holder);
    const by = account.featureAdministration ? 'feature_administration' : 'legacy_column';
    for (const feature of locked ?? []) locks.set(feature, { level, by });
  }
  if (account.integrationsAllowed !== undefined)
    for (const { key } of catalogue.features)
      if (isIntegration(key) && !account.integrationsAllowed.has(key.slice(INTEGRATION.length)))
        locks.set(key, { level: 'account', by: 'legacy_column' });
  locks.delete(FLOOR_FEATURE);
  return locks;
}

/** Where the matrix does not govern, accounts and organizations have settings, and resellers have none. */
function legacyLocks(level: Level, holder: Holder | undefined): readonly string[] {
  if (holder === undefined || level === 'reseller') return [];
  const settings = [...(holder.settings ?? [])];
  const off = settings.filter(([, isOn]) => !isOn).map(([feature]) => feature);
  return [...off, ...[...holder.locks].filter((feature) => holder.settings?.get(feature) !== true)];
}

const INTEGRATION = 'integration.';

function isIntegration(feature: string): boolean {
  return feature.startsWith(INTEGRATION);
}
