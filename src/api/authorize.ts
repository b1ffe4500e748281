import { CallsheetError } from '../core/errors.ts';
import { isToken, type TokenSource } from './auth.ts';
import type { CalledWith } from './hints.ts';
import type { Operation } from './operation.ts';

type Headers = { readonly [name: string]: string };

/** How a call shows that it may be made. */
export type Authorization = {
  readonly headers: Headers;
  readonly calledWith: CalledWith;
  /** Other headers, after these were refused; none where there can be no others. */
  readonly renew?: () => Promise<Headers>;
};

export type Keys = {
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

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

function checkKey(operation: string, given: string | undefined): string {
  const key = given?.trim() ?? '';
  if (isToken(key)) return key;
  const what = key === '' ? 'and none is given' : 'and what is given is not one';
  throw new CallsheetError('config', `${operation} needs the PBX provider's API token, ${what}`, {
    hint: 'Set CALLSHEET_PBX_API_KEY (the option `pbxApiKey` of the library) to the bare token from its OAuth.',
  });
}
