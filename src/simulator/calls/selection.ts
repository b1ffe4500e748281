import { missing } from '../answer.ts';
import type { Input, Platform } from '../platform.ts';
import { namedOrganization, namedReseller, reaches } from '../reach.ts';
import type { Organization } from '../store.ts';
import { invalid, violation } from '../violations.ts';

/**
 * The organizations that metrics are about: those of `organizationId` and `resellerId`, and by default all
 * that the key reaches. 403 where a scoped key names one outside its scope, 404 outside the account.
 */
export function measuredOrganizations(platform: Platform, { key, query }: Input): Set<string> {
  const { organizationId, resellerId } = query;
  if (organizationId !== undefined) namedOrganization(platform, key, String(organizationId));
  if (resellerId !== undefined) namedReseller(platform, key, String(resellerId));
  const ids = new Set<string>();
  for (const organization of platform.store.organizations.values()) {
    const isNamed = organizationId === undefined || organization.id === organizationId;
    const isResold = resellerId === undefined || organization.resellerId === resellerId;
    if (isNamed && isResold && reaches(key, organization)) ids.add(organization.id);
  }
  return ids;
}

/**
 * The organizations of a billing report: those that `organization_ids` and `reseller_ids` have in common, in
 * either form of the query. 404 where an id is none of the account's.
 */
export function billedOrganizations(
  { store }: Platform,
  { query }: Input,
): readonly Organization[] {
  const organizations = idsOf(query, 'organization_ids');
  const resellers = idsOf(query, 'reseller_ids');
  if (organizations.some((id) => !store.organizations.has(id))) throw missing('Organization');
  if (resellers.some((id) => !store.resellers.has(id))) throw missing('Reseller');
  return [...store.organizations.values()].filter(
    ({ id, resellerId }) =>
      (organizations.length === 0 || organizations.includes(id)) &&
      (resellers.length === 0 || (resellerId !== undefined && resellers.includes(resellerId))),
  );
}

/** Ids with commas between them and ids in parameters of their own, taken together. An empty one is a 400. */
function idsOf(query: Input['query'], name: string): readonly string[] {
  const ids = [query[name], query[`${name}[]`]].flatMap((value) =>
    Array.isArray(value) ? value.map(String) : [],
  );
  if (ids.includes('')) throw invalid('details', [violation(name, 'must not be empty')]);
  return ids;
}
