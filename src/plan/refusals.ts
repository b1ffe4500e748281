import { catalogueNamed } from '../kinds/catalogues.ts';
import type { Demand } from './demands.ts';
import type { KeyLevel, Lock } from './terms.ts';

/** What stands in the way of a change, in words for people. One sentence each, without a full stop. */

/** Where a feature is locked: the level, as far as the platform tells. */
export type LockPlace = 'account' | 'reseller' | 'organization' | 'above' | 'unknown';

type FeatureDemand = Extract<Demand, { type: 'feature' | 'feature_of_id' }>;

/** Whom a change concerns. */
export type Whose = {
  /** Name or id; undefined: it is not known. */
  readonly organization: string | undefined;
};

export function lockRefusal(
  { path, feature }: FeatureDemand,
  lock: Lock,
  place: LockPlace,
  { organization }: Whose,
): string {
  const what = path === null ? 'it needs' : `${path} needs`;
  const whom = organization === undefined ? '' : ` for organization ${organization}`;
  const legacy = lock.isLegacy ? ', by a setting older than the feature matrix' : '';
  return `${what} the feature ${feature}, which is locked${whom} ${PLACES[place]}${legacy}; have it unlocked there, or do without it`;
}

const PLACES: { readonly [place in LockPlace]: string } = {
  account: 'at its account',
  reseller: 'at its reseller',
  organization: 'at the organization itself',
  above: 'at its reseller or account',
  unknown: 'on the platform',
};

/** Names of a catalogue that are told in full; of more, the first. */
const MOST_NAMES = 10;

export function offerRefusal(
  { path, catalogue: name, value }: Extract<Demand, { type: 'offer' }>,
  offered: ReadonlySet<string>,
  { organization }: Whose,
): string {
  const { noun, command, isOrganizations } = catalogueNamed(name);
  const whom =
    isOrganizations && organization !== undefined ? ` offers organization ${organization}` : ' has';
  const all = [...offered];
  const named = all.slice(0, MOST_NAMES).join(', ') || 'nothing';
  const more = all.length > MOST_NAMES ? ` and ${all.length - MOST_NAMES} more` : '';
  return `${path}: the platform${whom} no ${noun} ${value}; choose one that it has: ${named}${more} (${command})`;
}

export function foreignRefusal(
  { path, address }: Extract<Demand, { type: 'reference' }>,
  owner: string,
  { organization }: Whose,
): string {
  return `${path} refers to ${address}, which belongs to organization ${owner}, not to ${organization}; refer to one of its own`;
}

export function keyRefusal(operation: string, level: KeyLevel): string {
  return `${operation} is closed to this key, which is limited to one ${level}; use a key of the whole account`;
}

export function ownerUnknown({ feature }: FeatureDemand): string {
  return `whether ${feature} is locked for its organization is not known: the platform does not say whose it is; apply tells`;
}

export function likelyRefusal({ feature }: FeatureDemand, organization: string): string {
  return `${feature} is locked for organization ${organization}: if it is theirs, which the platform does not say, apply is refused`;
}

/** What depends on a resource that does not exist yet. */
export function tooEarly(path: string): string {
  return `${path} can only be checked once it exists; apply tells whether it is refused`;
}

/** What could not be checked, once for whatever it concerns. */
export function unchecked(question: string, why: string): string {
  return `${question} could not be checked before writing (${why}); apply tells what is refused`;
}
