import { CallsheetError, formatNumber } from '../core/errors.ts';
import { isObject, type Json } from '../core/value.ts';
import { type CalledWith, parseJson, refusalIn } from './answer.ts';
import {
  type ApiError,
  beyondLimit,
  describeApiError,
  NOT_THE_PLATFORM,
  notThePlatform,
  type RequestLine,
} from './errors.ts';
import { MOST_TOKEN_CHARACTERS } from './limits.ts';
import type { Operation } from './operation.ts';
import { hideSecrets, secretsIn } from './trace.ts';
import { USER_AGENT, type WireAnswer, type WireRequest } from './transport.ts';

type Key = { readonly clientId: string; readonly clientSecret: string };

export type Credentials = Key | { readonly accessToken: string };

/** A token is minted afresh this long before it would expire, or after 9/10 of a life that is very short. */
const EARLY_SECONDS = 60;

/** The life of a token if the answer does not say it (Limits). */
const LIFETIME_SECONDS = 86_400;

/** The characters that can stand in a header (RFC 6750, `b68token`, and then some). */
const TOKEN = /^[\x21-\x7e]+$/;

export type TokenSource = {
  /** A token that should be good. `rejected`: the one that was refused, so that it is not given again. */
  readonly token: (rejected?: string) => Promise<string>;
  /** True if a refused token can be replaced. */
  readonly canMint: boolean;
};

type TokenPlace = { readonly baseUrl: string; readonly endpoint: Operation };

export type TokenSourceOptions = {
  readonly place: TokenPlace;
  readonly credentials: Credentials | undefined;
  /** Sends a request; `make` is called for each try. */
  readonly send: (make: () => WireRequest) => Promise<WireAnswer>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** Mints and keeps the bearer token (Token, Authentication). Concurrent callers share one minting. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { place, credentials, send, now } = options;
  if (credentials === undefined) return { token: noToken, canMint: false };
  if ('accessToken' in credentials) {
    const token = checkAccessToken(credentials.accessToken);
    return { token: async () => token, canMint: false };
  }
  const key = credentials;
  let current: { readonly token: string; readonly until: number } | undefined;
  let minting: Promise<string> | undefined;

  async function mint(): Promise<string> {
    const isAgain = current !== undefined;
    const { token, seconds } = await requestToken(place, key, send, isAgain);
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

type Headers = { readonly [name: string]: string };

/** How a call shows that it may be made. */
type Authorization = {
  readonly headers: Headers;
  readonly calledWith: CalledWith;
  /** Other headers, after these were refused; none where there can be no others. */
  readonly renew?: () => Promise<Headers>;
};

type Keys = {
  readonly tokens: TokenSource;
  /** The PBX provider's API token. */
  readonly pbxApiKey: string | undefined;
};

/**
 * The headers for one call: an access token, the PBX provider's token, or nothing; never two of them
 * (Authentication 1 and 8). Throws `CallsheetError('config')` where what it needs is not given.
 */
export async function authorize(
  operation: string,
  auth: Operation['auth'],
  { tokens, pbxApiKey }: Keys,
): Promise<Authorization> {
  if (auth === 'none') return { headers: {}, calledWith: 'nothing' };
  if (auth === 'pbx_key') {
    return { headers: { 'x-pbx-api-key': checkKey(operation, pbxApiKey) }, calledWith: 'pbx key' };
  }
  const token = await tokens.token();
  const headers = bearer(token);
  if (!tokens.canMint) return { headers, calledWith: 'given token' };
  return {
    headers,
    calledWith: 'minted token',
    renew: async () => bearer(await tokens.token(token)),
  };
}

async function noToken(): Promise<never> {
  throw new CallsheetError('config', 'there are no credentials for the platform', {
    hint: 'Set CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET (from the dashboard), or CALLSHEET_ACCESS_TOKEN.',
  });
}

/** A token that the environment gives, without the line break that a file or a secret store leaves on it. */
function checkAccessToken(given: string): string {
  const token = given.trim();
  if (TOKEN.test(token)) return token;
  throw new CallsheetError('config', 'CALLSHEET_ACCESS_TOKEN is not a token', {
    hint: 'Set the bare token, without `Bearer`, quotes, spaces or line breaks.',
  });
}

/** `isAgain`: the key was good before. */
async function requestToken(
  { baseUrl, endpoint: { method, path } }: TokenPlace,
  { clientId, clientSecret }: Key,
  send: TokenSourceOptions['send'],
  isAgain: boolean,
): Promise<{ readonly token: string; readonly seconds: number }> {
  const line = { method, url: `${baseUrl}${path}` };
  const content = {
    client_id: clientId,
    client_secret: clientSecret,
    audience: `${baseUrl}/`,
    grant_type: 'client_credentials',
  };
  const about = { operation: 'createToken', content };
  const headers = {
    accept: 'application/json',
    'user-agent': USER_AGENT,
    'content-type': 'application/json',
  };
  let attempt = 0;
  const answer = await send(() => {
    attempt += 1;
    return { ...line, headers, body: JSON.stringify(content), about, attempt };
  });
  if (answer.status !== 200) {
    const hide = hideSecrets(secretsIn({ headers, about }));
    throw mintingError(refusalIn(line, answer, hide), isAgain);
  }
  return readToken(parseJson(line, answer), line);
}

function mintingError(refused: ApiError, isAgain: boolean): CallsheetError {
  const isCredentials = [400, 401, 403].includes(refused.status);
  return new CallsheetError(
    'api',
    `${isCredentials ? 'the platform refused the credentials' : 'no access token'}: ${describeApiError(refused)}`,
    { hint: isCredentials ? mintingHint(isAgain) : notThePlatform(refused.url), cause: refused },
  );
}

function mintingHint(isAgain: boolean): string {
  return isAgain
    ? 'They worked until now, so the key was rotated or deleted: set CALLSHEET_CLIENT_SECRET to its new secret.'
    : 'Check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET; rotating a key replaces its secret.';
}

function readToken(body: Json, line: RequestLine) {
  const { access_token: token, expires_in: lifetime } = isObject(body) ? body : {};
  if (typeof token !== 'string' || !TOKEN.test(token)) {
    const problem = `${line.method} ${line.url} answered 200 without an access_token`;
    throw new CallsheetError('api', problem, { hint: NOT_THE_PLATFORM });
  }
  if (token.length > MOST_TOKEN_CHARACTERS) {
    const most = `${formatNumber(MOST_TOKEN_CHARACTERS)} characters`;
    throw beyondLimit(line, `an access_token of more than ${most}`, `at most ${most} of it`);
  }
  const seconds = typeof lifetime === 'number' && lifetime > 0 ? lifetime : LIFETIME_SECONDS;
  return { token, seconds };
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

function checkKey(operation: string, given: string | undefined): string {
  const key = given?.trim() ?? '';
  if (TOKEN.test(key)) return key;
  const what = key === '' ? 'and none is given' : 'and the given value is not a token';
  throw new CallsheetError('config', `${operation} needs the PBX provider's API token, ${what}`, {
    hint: 'Set CALLSHEET_PBX_API_KEY (the option `pbxApiKey` of the library) to the bare token from its OAuth.',
  });
}
