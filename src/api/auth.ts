import { CallsheetError } from '../core/errors.ts';
import { isObject } from '../core/value.ts';
import { ApiError, describeApiError } from './errors.ts';
import { operations } from './operations.generated.ts';
import { parseAnswer, type Transport } from './transport.ts';

export type Credentials =
  | { readonly clientId: string; readonly clientSecret: string }
  | { readonly accessToken: string };

/** A token is minted afresh this long before it would expire. */
const EARLY_SECONDS = 60;

export type TokenSource = {
  /** A token that should be good. `rejected`: the one that was refused, so that it is not given again. */
  readonly token: (rejected?: string) => Promise<string>;
  /** Whether a refused token can be replaced. */
  readonly canMint: boolean;
};

/** Mints and keeps the bearer token (Token, Authentication). Concurrent callers share one minting. */
export function createTokenSource(
  baseUrl: string,
  credentials: Credentials,
  transport: Transport,
  now: () => number,
): TokenSource {
  if ('accessToken' in credentials) {
    return { token: async () => credentials.accessToken, canMint: false };
  }
  const key = credentials;
  let current: { readonly token: string; readonly until: number } | undefined;
  let minting: Promise<string> | undefined;

  async function mint(): Promise<string> {
    const { token, seconds } = await requestToken(baseUrl, key, transport);
    current = { token, until: now() + (seconds - EARLY_SECONDS) * 1000 };
    return token;
  }

  return {
    canMint: true,
    async token(rejected) {
      if (current && current.token !== rejected && current.until > now()) return current.token;
      minting ??= mint().finally(() => {
        minting = undefined;
      });
      return minting;
    },
  };
}

async function requestToken(
  baseUrl: string,
  credentials: { readonly clientId: string; readonly clientSecret: string },
  transport: Transport,
): Promise<{ readonly token: string; readonly seconds: number }> {
  const { method, path } = operations.createToken;
  const line = { method, url: `${baseUrl}${path}` };
  const answer = await transport.send({
    ...line,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
      audience: `${baseUrl}/`,
      grant_type: 'client_credentials',
    }),
  });
  const body = parseAnswer(line, answer);
  if (answer.status !== 200) {
    const refused = new ApiError(line, answer.status, body, { requestId: answer.requestId });
    const isCredentials = [400, 401, 403].includes(answer.status);
    throw new CallsheetError(
      'api',
      isCredentials
        ? `the platform refused the credentials: ${describeApiError(refused)}`
        : `no access token: ${describeApiError(refused)}`,
      {
        hint: isCredentials
          ? 'Check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET; rotating a key replaces its secret.'
          : 'Check that base_url is the address of the Voice Agent Platform.',
        cause: refused,
      },
    );
  }
  const token = isObject(body) ? body.access_token : undefined;
  if (typeof token !== 'string') {
    throw new CallsheetError('api', `${method} ${line.url} answered 200 without an access_token`, {
      hint: 'Check that base_url is the address of the Voice Agent Platform.',
    });
  }
  const seconds = isObject(body) && typeof body.expires_in === 'number' ? body.expires_in : 0;
  return { token, seconds };
}
