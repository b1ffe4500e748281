import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../core/value.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import { type Answer, CODES, coded, data, missing, type Refusal } from './answer.ts';
import type { Dialect } from './dialect.ts';
import type { Input, Platform, Routes } from './platform.ts';
import type { Agent, Key, Organization, Profile, Reseller } from './store.ts';
import { getRules } from './validation.ts';

/** Seconds that a token holds (Limits). */
const TOKEN_SECONDS = 86_400;

/** Who calls operations that need no token. */
const NOBODY: Key = { clientId: '', clientSecret: '', generation: 0, scope: undefined };

/** The key behind a request's Authorization header; 401 where it does not hold (Authentication 2 and 3). */
export function authenticate(
  platform: Platform,
  id: OperationId,
  headers: IncomingHttpHeaders,
): Key {
  if (operations[id].auth === 'none') return NOBODY;
  if (operations[id].auth === 'pbx_key') return pbxProvider(platform, headers['x-pbx-api-key']);
  const own = getRules(id).unauthorized;
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer === undefined)
    throw coded(401, own ?? 'invalid_request', 'Missing or malformed Authorization header');
  const token = platform.store.tokens.get(bearer);
  const key = token === undefined ? undefined : platform.store.keys.get(token.clientId);
  const code = own ?? 'invalid_token';
  if (token === undefined || key === undefined)
    throw coded(401, code, 'The access token is not valid');
  if (token.expiresAt <= platform.now().getTime())
    throw coded(401, code, 'The access token has expired');
  if (token.generation !== key.generation)
    throw coded(401, code, "The access token was issued before the key's secret was rotated");
  if (operations[id].scoped === 'closed' && key.scope !== undefined)
    throw coded(403, 'insufficient_scope', 'This operation is closed to scoped keys');
  return key;
}

/** The PBX provider calls with a key of its own (Authentication 8). */
function pbxProvider({ store }: Platform, given: string | readonly string[] | undefined): Key {
  if (typeof given !== 'string' || given === '')
    throw coded(401, 'unauthorized', 'Missing X-PBX-Api-Key header');
  if (!store.pbxApiKeys.has(given))
    throw coded(401, 'unauthorized', 'The PBX API key is not valid');
  return NOBODY;
}

/** Gives a key a new secret. Its id stays; its earlier tokens no longer hold (Authentication 7). */
export function rotateSecret(platform: Platform, key: Key): string {
  key.clientSecret = `secret-${platform.ids.token('secret').slice(0, 32)}`;
  key.generation += 1;
  return key.clientSecret;
}

/** An account's key reaches every organization, a scoped one those of its scope. */
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

/** Returns true if a key reaches the organization with that id. */
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
export function getOrganization(platform: Platform, id: string): Organization {
  const organization = platform.store.organizations.get(id);
  if (organization === undefined) throw missing('Organization');
  return organization;
}

/** Tokens and the account behind them (Token, Account). */
export const account: Routes<'createToken' | 'getMe'> = {
  createToken: ({ body }, platform) => {
    const { store, ids, now, url, dialect } = platform;
    const refuse = (reason: string) =>
      coded(dialect.wrongCredentials, CODES[dialect.wrongCredentials], reason);
    if (body.audience !== `${url}/`) throw refuse(`audience must be ${url}/`);
    const key = store.keys.get(String(body.client_id));
    if (key === undefined || key.clientSecret !== body.client_secret)
      throw refuse('Unknown client or wrong secret');
    const token = ids.token('token');
    const expiresAt = now().getTime() + TOKEN_SECONDS * 1000;
    store.tokens.set(token, { clientId: key.clientId, generation: key.generation, expiresAt });
    return {
      status: 200,
      body: { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS },
    };
  },

  getMe: ({ key }, { store, dialect }) => {
    const body = { account_id: store.account.id, ...viewScope(dialect, key) };
    return dialect.me === 'bare' ? { status: 200, body } : data(body);
  },
};

/** The names of the scope's members are not specified. */
function viewScope({ meScope }: Dialect, { scope }: Key): JsonObject {
  if (scope === undefined) return {};
  return meScope === 'nested' ? { scope } : { scope_level: scope.level, scope_id: scope.id };
}

/** Milliseconds that a session holds. The specification gives no figure. */
const LIFETIME = 60 * 60_000;

/** Tokens for applications that embed an agent (Sessions). */
export const sessions: Routes<'createSession' | 'createPbxSession'> = {
  createSession: (input, platform) => {
    getProfile(platform, input);
    return mint(platform);
  },

  createPbxSession: (input, platform) => {
    const profile = getProfile(platform, input);
    const claim = platform.store.claims.get(String(input.body.claim_id));
    if (claim?.profileId !== profile.id) throw missing('Claim');
    return mint(platform);
  },
};

function getProfile({ store }: Platform, { body }: Input): Profile {
  const profile = store.profiles.get(String(body.profile_id));
  if (profile === undefined) throw missing('Profile');
  return profile;
}

function mint({ ids, now }: Platform): Answer {
  const expires = new Date(now().getTime() + LIFETIME);
  return {
    status: 200,
    body: { token: ids.token('session'), expires_at: expires.toISOString() },
  };
}

type Query = { readonly [name: string]: string | undefined };

/** An address whose signature stands for a token until it expires. `more` is signed as well. */
export function presign(
  platform: Platform,
  path: string,
  lifetimeMs: number,
  more: { readonly type?: string } = {},
): string {
  const given = { expires: String(platform.now().getTime() + lifetimeMs), ...more };
  const query = new URLSearchParams({ ...given, signature: sign(platform, path, given) });
  return `${platform.url}${path}?${query}`;
}

/**
 * Refuses a request to such an address: 403 where the address was altered, is not `known` or has expired, 400
 * where a token came along.
 */
export function checkPresigned(
  platform: Platform,
  path: string,
  query: Query,
  { authorization, isKnown = true }: { authorization: string | undefined; isKnown?: boolean },
): void {
  const { signature = '', expires } = query;
  if (authorization !== undefined)
    throw coded(
      400,
      'invalid_request',
      'Only one way to authenticate is allowed; the address is signed',
    );
  if (!isKnown || !isSameSecret(signature, sign(platform, path, query)))
    throw coded(403, 'signature_mismatch', 'The signature does not fit the address');
  if (Number(expires) < platform.now().getTime())
    throw coded(403, 'expired', 'The address has expired');
}

function sign({ signingKey }: Platform, path: string, { expires = '', type = '' }: Query): string {
  return createHmac('sha256', signingKey).update([path, expires, type].join('\n')).digest('hex');
}

/** Compares without telling by the time it takes how much is right. */
export function isSameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
