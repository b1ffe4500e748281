import { coded, missing, type Refusal } from './answer.ts';
import type { Input, Platform } from './platform.ts';
import type { Agent, Key, Organization, Reseller } from './store.ts';

/** Whether a key reaches an organization: an account's key all of them, a scoped one those of its scope. */
export function reaches(key: Key, { id, resellerId }: Organization): boolean {
  const { scope } = key;
  return scope === undefined || scope.id === (scope.level === 'organization' ? id : resellerId);
}

/**
 * An organization that a request names. Outside a scoped key's scope that is 403 (Authentication 5);
 * outside the account it is what `otherwise` says.
 */
export function namedOrganization(
  platform: Platform,
  key: Key,
  id: string,
  otherwise: () => Refusal = () => missing('Organization'),
): Organization {
  const organization = platform.store.organizations.get(id);
  if (organization === undefined) throw otherwise();
  if (!reaches(key, organization))
    throw forbidden('The organization lies outside the scope of the key');
  return organization;
}

/** A reseller that a request names: 403 outside a scoped key's scope (Authentication 5), 404 outside the account. */
export function namedReseller({ store }: Platform, key: Key, id: string): Reseller {
  const reseller = store.resellers.get(id);
  if (reseller === undefined) throw missing('Reseller');
  if (key.scope !== undefined && key.scope.id !== id)
    throw forbidden('The reseller lies outside the scope of the key');
  return reseller;
}

/** The organization filter of a list. One outside the account is 403 there (Authentication 4). */
export function organizationFilter(
  platform: Platform,
  { key, query }: Input,
): (id: string) => boolean {
  const wanted = query.organization_id;
  if (typeof wanted === 'string') {
    namedOrganization(platform, key, wanted, () => forbidden('No access to this organization'));
    return (id) => id === wanted;
  }
  return key.scope === undefined ? () => true : (id) => ownedBy(platform, key, id);
}

/** Whether what an organization owns is within a key's reach. */
export function ownedBy(platform: Platform, key: Key, organizationId: unknown): boolean {
  const organization = platform.store.organizations.get(String(organizationId));
  return organization !== undefined && reaches(key, organization);
}

/** The agent of the path, or 404: missing and out of reach look the same (Authentication 4). */
export function reachedAgent(
  platform: Platform,
  { key, path }: Input,
  otherwise: () => Refusal = () => missing('Agent'),
): Agent {
  const agent = platform.store.agents.get(path.agentId ?? '');
  if (agent === undefined || !ownedBy(platform, key, agent.organizationId)) throw otherwise();
  return agent;
}

/** The agent of the path, for a write: only agents on the supported provider take one (Agents). */
export function writableAgent(platform: Platform, input: Input): Agent {
  const agent = reachedAgent(platform, input);
  refuseForeign(agent);
  return agent;
}

/** 403 for an agent that is not on the supported provider. */
export function refuseForeign(agent: Agent): void {
  if (!agent.supported)
    throw forbidden(
      'The agent is not on the supported provider and cannot be changed through the API',
    );
}

export function forbidden(description: string): Refusal {
  return coded(403, 'forbidden', description);
}

/** The organization of a record that the store holds. */
export function organizationOf(platform: Platform, id: string): Organization {
  const organization = platform.store.organizations.get(id);
  if (organization === undefined) throw missing('Organization');
  return organization;
}
