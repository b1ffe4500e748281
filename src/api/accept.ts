import { CallsheetError } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import { ApiError, type RequestLine, textMember } from './errors.ts';
import type { Operation } from './operation.ts';
import { jsonOf, NOT_THE_PLATFORM, plainUrl, type WireAnswer } from './transport.ts';

/** The body of a good answer; an error for every other. `canMint`: the token was minted, not given. */
export function acceptAnswer(
  line: RequestLine,
  operation: Operation,
  answer: WireAnswer,
  canMint: boolean,
): Json {
  if (answer.status >= 300 && answer.status < 400) {
    throw new CallsheetError(
      'api',
      `${line.method} ${line.url} answered ${answer.status}, a redirect to ${plainUrl(answer.location ?? 'nowhere')}`,
      { hint: 'Credentials are not sent on. Set base_url to the address that it redirects to.' },
    );
  }
  if (answer.status < 400) return jsonOf(line, answer);
  throw new ApiError(line, answer.status, answer.body, {
    requestId: answer.requestId,
    hint: hintFor(answer, operation, canMint),
  });
}

/** What to do about a refusal, where there is something to do (Errors, Authentication). */
function hintFor(
  { status, body }: WireAnswer,
  operation: Operation,
  canMint: boolean,
): string | undefined {
  switch (status) {
    case 401:
      return canMint
        ? 'A token minted just now was refused, so the key is gone or its secret was rotated: check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.'
        : tokenHint(textMember(body, 'error_description') ?? '');
    case 403:
      return textMember(body, 'error') === 'insufficient_scope'
        ? 'The key is limited to one reseller or organization; this needs a key for the whole account.'
        : 'A feature may be locked for the organization, or the key has no access to it.';
    case 404:
    case 405:
      if (operation.assumption === undefined || operation.documented) break;
      return `The platform's specification does not show this call (assumption ${operation.assumption}), so it may not exist.`;
    case 429:
      return 'The platform limits the rate of requests: try again later or with a lower --concurrency.';
    case 503:
      return 'The platform is briefly unavailable. Try again.';
  }
  return body === undefined ? NOT_THE_PLATFORM : undefined;
}

/** An expired token and one from before a rotation differ in the description alone, if at all (Authentication 2). */
function tokenHint(said: string): string {
  const fresh = 'Set a fresh one, or CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
  if (/expired/i.test(said))
    return `CALLSHEET_ACCESS_TOKEN has expired: tokens live 24 hours. ${fresh}`;
  if (/rotat/i.test(said))
    return `CALLSHEET_ACCESS_TOKEN was minted before its key's secret was rotated. ${fresh}`;
  return `CALLSHEET_ACCESS_TOKEN has expired (tokens live 24 hours) or its key was rotated. ${fresh}`;
}
