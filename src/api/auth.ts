import { CallsheetError } from '../core/errors.ts';
import { isObject, type Json } from '../core/value.ts';
import { ApiError, describeApiError } from './errors.ts';
import { operations } from './operations.generated.ts';
import { jsonOf, NOT_THE_PLATFORM, type WireAnswer, type WireRequest } from './transport.ts';

export type Credentials =
  | { readonly clientId: string; readonly clientSecret: string }
  | { readonly accessToken: string };

/** A token is minted afresh this long before it would expire, or after 9/10 of a life that is very short. */
const EARLY_SECONDS = 60;

/** Where the answer does not say how long a token lives (Limits). */
const LIFETIME_SECONDS = 86_400;

/** What can stand in a header (RFC 6750, `b68token`, and then some). */
const TOKEN = /^[\x21-\x7e]+$/;

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
  send: (request: WireRequest) => Promise<WireAnswer>,
  now: () => number,
): TokenSource {
  if ('accessToken' in credentials) {
    const token = checkAccessToken(credentials.accessToken);
    return { token: async () => token, canMint: false };
  }
  const key = credentials;
  let current: { readonly token: string; readonly until: number } | undefined;
  let minting: Promise<string> | undefined;

  async function mint(): Promise<string> {
    const { token, seconds } = await requestToken(baseUrl, key, send);
    const early = Math.min(EARLY_SECONDS, seconds / 10);
    current = { token, until: now() + (seconds - early) * 1000 };
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

/** A token that the environment gives, without the line break that a file or a secret store leaves on it. */
function checkAccessToken(given: string): string {
  const token = given.trim();
  if (TOKEN.test(token)) return token;
  throw new CallsheetError('config', 'CALLSHEET_ACCESS_TOKEN is not a token', {
    hint: 'It is the bare token: without `Bearer`, quotes, spaces or line breaks.',
  });
}

async function requestToken(
  baseUrl: string,
  credentials: { readonly clientId: string; readonly clientSecret: string },
  send: (request: WireRequest) => Promise<WireAnswer>,
): Promise<{ readonly token: string; readonly seconds: number }> {
  const { method, path } = operations.createToken;
  const line = { method, url: `${baseUrl}${path}` };
  const answer = await send({
    ...line,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
      audience: `${baseUrl}/`,
      grant_type: 'client_credentials',
    }),
  });
  if (answer.status !== 200) {
    throw mintingError(new ApiError(line, answer.status, answer.body, answer));
  }
  return readToken(jsonOf(line, answer), `${line.method} ${line.url}`);
}

function mintingError(refused: ApiError): CallsheetError {
  const isCredentials = [400, 401, 403].includes(refused.status);
  return new CallsheetError(
    'api',
    `${isCredentials ? 'the platform refused the credentials' : 'no access token'}: ${describeApiError(refused)}`,
    {
      hint: isCredentials
        ? 'Check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET; rotating a key replaces its secret.'
        : NOT_THE_PLATFORM,
      cause: refused,
    },
  );
}

function readToken(body: Json, request: string) {
  const { access_token: token, expires_in: lifetime } = isObject(body) ? body : {};
  if (typeof token !== 'string' || !TOKEN.test(token)) {
    throw new CallsheetError('api', `${request} answered 200 without an access_token`, {
      hint: NOT_THE_PLATFORM,
    });
  }
  const seconds = typeof lifetime === 'number' && lifetime > 0 ? lifetime : LIFETIME_SECONDS;
  return { token, seconds };
}
