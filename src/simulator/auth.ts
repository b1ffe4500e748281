import type { IncomingHttpHeaders } from 'node:http';
import { type OperationId, operations } from '../api/operations.generated.ts';
import { coded } from './answer.ts';
import { rulesOf } from './contract.ts';
import type { Platform } from './platform.ts';
import type { Key } from './store.ts';

/** Seconds that a token holds (Limits). */
export const TOKEN_SECONDS = 86_400;

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
  const own = rulesOf(id).unauthorized;
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
