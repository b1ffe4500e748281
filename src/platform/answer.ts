import { CallsheetError, clip, formatDuration } from '../core/errors.ts';
import { getOwn, isList, isObject, type Json } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import {
  ApiError,
  NOT_THE_PLATFORM,
  notThePlatform,
  plainUrl,
  type RequestLine,
  textMember,
} from './errors.ts';
import type { Operation } from './operation.ts';
import type { Hide } from './trace.ts';
import { askedDelay, type WireAnswer } from './transport.ts';

/** The credential that a call was made with. */
export type CalledWith = 'minted token' | 'given token' | 'pbx key' | 'nothing';

/** A call that was answered. */
type AnsweredCall = {
  readonly call: Pick<Call, 'operation' | 'path'>;
  readonly endpoint: Operation;
  /** True if the stack moved the operation. */
  readonly isMoved: boolean;
  readonly calledWith: CalledWith;
  readonly answer: WireAnswer;
};

/**
 * The body of a good answer; an error for every other.
 *
 * @param hide gives what keeps what the request carried in confidence out of the error: refusals may repeat it
 */
export function acceptAnswer(line: RequestLine, called: AnsweredCall, hide: () => Hide): Json {
  const { answer } = called;
  if (answer.status >= 300 && answer.status < 400) {
    throw new CallsheetError(
      'api',
      `${line.method} ${line.url} answered ${answer.status}, a redirect to ${plainUrl(answer.headers.location ?? 'nowhere')}`,
      { hint: 'Credentials are not sent on. Set base_url to the address that it redirects to.' },
    );
  }
  if (answer.status < 400) {
    const body = checkShape(line, called, parseJson(line, answer));
    checkIds(line, called, body);
    return body;
  }
  throw refusalIn(line, answer, hide(), hintFor(line, called));
}

/** The refusal that an answer is, without what the request carried in confidence. */
export function refusalIn(
  line: RequestLine,
  { status, body, requestId, headers }: WireAnswer,
  hide: Hide,
  hint?: string,
): ApiError {
  return new ApiError(line, status, body === undefined ? undefined : hide.json(body), {
    requestId: requestId === undefined ? undefined : hide.text(requestId),
    retryAfter: headers['retry-after'],
    hint,
  });
}

/** The JSON of an answer. Throws where the body is something else, naming what it looks like. */
export function parseJson(line: RequestLine, { status, headers, body }: WireAnswer): Json {
  if (body !== undefined) return body;
  const type = headers['content-type']?.split(';')[0];
  const what = type ? `${type} instead of JSON` : 'something that is not JSON';
  throw new CallsheetError('api', `${line.method} ${line.url} answered ${status} with ${what}`, {
    hint: NOT_THE_PLATFORM,
  });
}

/** Throws where a body is not what the contract says of the operation's good answer. */
function checkShape(line: RequestLine, { endpoint, answer }: AnsweredCall, body: Json): Json {
  const lack = findLack(endpoint, body);
  if (lack === undefined) return body;
  const { assumption } = endpoint;
  const basis = assumption === undefined ? '' : ` Its expected form is assumption ${assumption}.`;
  throw new CallsheetError('api', `${line.method} ${line.url} answered ${answer.status} ${lack}`, {
    hint: `${NOT_THE_PLATFORM}${basis}`,
  });
}

/**
 * Throws where an answer is about another resource than was asked for: its `id` where the path ends in one, and ids of
 * what it belongs to (`agent_id` of a call log). What names none is taken.
 */
function checkIds(
  line: RequestLine,
  { endpoint: { path }, call: { path: ids = {} } }: AnsweredCall,
  body: Json,
): void {
  const data = isObject(body) ? body.data : undefined;
  const records = isList(data) ? data : [isObject(data) ? data : body];
  for (const [name, id] of Object.entries(ids)) {
    const isOwn = path.endsWith(`{${name}}`);
    const member = isOwn ? 'id' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const record of records) {
      const said = isObject(record) ? getOwn(record, member) : undefined;
      if (typeof said !== 'string' || said.toLowerCase() === id.toLowerCase()) continue;
      throw new CallsheetError(
        'api',
        `${line.method} ${line.url} answered with another resource: its \`${member}\` is ${JSON.stringify(clip(said, MOST_SHOWN))}`,
        {
          hint: `Callsheet did not use the answer. If this happens again, a proxy between here and the platform mixes up answers. ${NOT_THE_PLATFORM}`,
        },
      );
    }
  }
}

/** Characters of a foreign id that are shown: a UUID has 36. */
const MOST_SHOWN = 64;

function findLack(
  { answer, requires, assumption }: AnsweredCall['endpoint'],
  body: Json,
): string | undefined {
  if (answer === 'any') return undefined;
  if (body === null) return 'with an empty body';
  if (!isObject(body)) return `with a ${isList(body) ? 'list' : typeof body} instead of an object`;
  const { data } = body;
  if (answer === 'data-object' && !isObject(data)) return 'without a `data` object';
  if (answer === 'data-list' && !(isList(data) && data.every((item) => isObject(item))))
    return 'without a `data` list of objects';
  // If the wrapper is assumed, the members may as well stand under `data`.
  const holder = assumption !== undefined && isObject(data) ? data : body;
  const missing = requires.find((name) => holder[name] === undefined);
  return missing === undefined ? undefined : `without \`${missing}\``;
}

const LOCKED =
  'Have it unlocked for the organization (`callsheet get features` shows each lock and its place), or remove it from the configuration.';

/** An error page that is none of the platform's. */
const SOMETHING_BETWEEN =
  'Something between here and the platform failed. Try again in a minute. If it fails again, check base_url and the proxy.';

/** Hints for an `error` that says it all, whatever its status (Errors). */
const BY_ERROR: { readonly [error: string]: string } = {
  insufficient_scope:
    'The key is limited to one reseller or organization; this needs a key for the whole account.',
  'organization not accessible':
    'The organization does not belong to this account: check its id in the configuration, and the account of the credentials.',
  'invalid organization_id': "An organization's id is a UUID: check it in the configuration.",
  email_templates_locked: `E-mail templates are switched off for the organization. ${LOCKED}`,
  sms_templates_locked: `SMS templates are switched off for the organization. ${LOCKED}`,
  duplicate_source:
    'Nothing was added. Give the source in the configuration the name or the url of the existing source.',
};

/** Hints for refusals of one operation that mean something else than elsewhere. */
const BY_OPERATION: { readonly [operationAndStatus: string]: string } = {
  'createCustomVoice 502':
    'Try again later. If it fails again, use another recording: 10 to 30 seconds of one clear voice work best.',
  'getPaymentReadiness 502': 'The payment processor gave no answer. Try again in a minute.',
  'setPaymentTool 502':
    'The payment processor gave no answer. Check whether the tool is armed before you try again.',
  'setPaymentTool 403':
    'Card payments are locked for the organization, or the key does not reach the agent: `callsheet get payments` shows which.',
  'revertAgent 404':
    'The agent is gone or out of reach, or the platform no longer keeps that version: `callsheet history` shows the versions that it keeps.',
  'setSipRegistration 404':
    'Check that the agent exists and has a SIP registration: it is set up in the dashboard.',
  'createSession 404': 'Check the profile id.',
  'createPbxSession 404': 'Check the profile id and the claim id.',
};

/** Returns the hint for a refusal; undefined if there is nothing to do. */
function hintFor({ url }: RequestLine, called: AnsweredCall): string | undefined {
  const { call, answer } = called;
  const { status, body } = answer;
  if (status === 401 && body !== undefined) return hintForCredentials(called);
  if (status === 429) return hintForPace(answer.headers['retry-after']);
  if (status === 404 || status === 405) {
    const lost = hintForPlace(called) ?? hintForVersion(url);
    if (lost !== undefined) return lost;
  }
  if (body === undefined) return status > 500 ? SOMETHING_BETWEEN : NOT_THE_PLATFORM;
  return (
    getOwn(BY_ERROR, textMember(body, 'error') ?? '') ??
    BY_OPERATION[`${call.operation} ${status}`] ??
    hintForStatus(called)
  );
}

function hintForStatus({ endpoint, answer: { status, body } }: AnsweredCall): string | undefined {
  const isRead = endpoint.method === 'GET';
  switch (status) {
    case 400:
      return isRead
        ? 'Correct the named fields and try again.'
        : 'Nothing was saved. Correct the named fields and try again.';
    case 403:
      if (/supported provider/i.test(textMember(body, 'error_description') ?? '')) {
        return 'Nothing was saved. Agents on another provider can only be changed in the dashboard.';
      }
      return isRead
        ? 'The key has no access to it: check the id and the account of the credentials.'
        : `Nothing was saved. If a feature is locked: ${LOCKED.charAt(0).toLowerCase()}${LOCKED.slice(1)}`;
    case 404:
      return 'It does not exist, or the key has no access to it: check the id and the account of the credentials.';
    case 409:
      return 'Nothing was saved. Choose another name, or let Callsheet manage the existing one.';
    case 500:
      return isRead
        ? 'The platform failed. Try again in a minute.'
        : 'The platform failed and does not say whether anything was saved. Check before you try again.';
    case 502:
      return 'Something behind the platform failed. Try again in a minute.';
    case 503:
      return isRead
        ? 'The platform is briefly unavailable. Try again in a minute.'
        : 'Nothing was saved. The platform is briefly unavailable; try again in a minute.';
  }
  return undefined;
}

/** Returns a hint if the whole call may be missing there, rather than what it asks for. */
function hintForPlace({
  call: { operation },
  endpoint,
  isMoved,
}: AnsweredCall): string | undefined {
  const { method, path, documented, assumption } = endpoint;
  if (isMoved) {
    return `platform.endpoints puts ${operation} at ${method} ${path}: check that the platform has it there.`;
  }
  if (documented) return undefined;
  // Without a parameter nothing but the call itself can be missing.
  const doubt = path.includes('{') ? 'may not have' : 'does not have';
  return `The platform ${doubt} this call: its specification does not show it (assumption ${assumption}). If the platform has it at another path, set platform.endpoints.${operation}.`;
}

function hintForVersion(url: string): string | undefined {
  const hint = notThePlatform(url);
  return hint === NOT_THE_PLATFORM ? undefined : hint;
}

function hintForPace(retryAfter: string | undefined): string {
  const advice = 'Try again later, or with a lower --concurrency.';
  const wait = askedDelay(retryAfter, Date.now);
  const asks = wait === 0 ? '' : ` and asks to wait ${formatDuration(wait / 1000)}`;
  return `The platform limits the rate of requests${asks}. ${advice}`;
}

/** An expired token and one from before a rotation differ in the description alone, if at all (Authentication 2). */
function hintForCredentials({ calledWith, answer }: AnsweredCall): string {
  const said = textMember(answer.body, 'error_description') ?? '';
  switch (calledWith) {
    case 'minted token':
      return 'A new token was refused, so the key was deleted or its secret was rotated: check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
    case 'pbx key':
      return "The PBX provider's API token was refused: get a new one from its OAuth.";
    case 'nothing':
      return 'Check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
    case 'given token':
      return tokenHint(said);
  }
}

function tokenHint(said: string): string {
  const fresh = 'Set a new one, or CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
  if (/expired/i.test(said))
    return `CALLSHEET_ACCESS_TOKEN has expired: tokens live 24 hours. ${fresh}`;
  if (/rotat/i.test(said))
    return `CALLSHEET_ACCESS_TOKEN was issued before its key's secret was rotated. ${fresh}`;
  return `CALLSHEET_ACCESS_TOKEN has expired (tokens live 24 hours) or its key was rotated. ${fresh}`;
}
