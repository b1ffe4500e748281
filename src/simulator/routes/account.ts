import { coded } from '../answer.ts';
import { TOKEN_SECONDS } from '../auth.ts';
import type { Routes } from '../platform.ts';

/** Tokens and the account behind them (Token, Account). */
export const account: Routes<'createToken' | 'getMe'> = {
  createToken: ({ body }, platform) => {
    const { store, ids, now, url } = platform;
    if (body.audience !== `${url}/`)
      throw coded(400, 'invalid_request', `audience must be ${url}/`);
    const key = store.keys.get(String(body.client_id));
    if (key === undefined || key.clientSecret !== body.client_secret)
      throw coded(401, 'unauthorized', 'Unknown client or wrong secret');
    const token = ids.token('token');
    const expiresAt = now().getTime() + TOKEN_SECONDS * 1000;
    store.tokens.set(token, { clientId: key.clientId, generation: key.generation, expiresAt });
    return {
      status: 200,
      body: { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS },
    };
  },

  getMe: ({ key }, { store }) => ({
    status: 200,
    // The names of the scope's members are not specified.
    body: {
      account_id: store.account.id,
      ...(key.scope === undefined ? {} : { scope: key.scope }),
    },
  }),
};
