import type { JsonObject } from '../../core/value.ts';
import { coded, data } from '../answer.ts';
import { TOKEN_SECONDS } from '../auth.ts';
import type { Dialect } from '../dialect.ts';
import type { Routes } from '../platform.ts';
import type { Key } from '../store.ts';

/** Tokens and the account behind them (Token, Account). */
export const account: Routes<'createToken' | 'getMe'> = {
  createToken: ({ body }, platform) => {
    const { store, ids, now, url, dialect } = platform;
    const refuse = (reason: string) =>
      coded(dialect.wrongCredentials, WRONG[dialect.wrongCredentials], reason);
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

const WRONG = { 400: 'invalid_request', 401: 'unauthorized', 403: 'forbidden' } as const;

/** The names of the scope's members are not specified. */
function viewScope({ meScope }: Dialect, { scope }: Key): JsonObject {
  if (scope === undefined) return {};
  return meScope === 'nested' ? { scope } : { scope_level: scope.level, scope_id: scope.id };
}
