import { ownOf } from '../core/own.ts';
import { textMember } from './errors.ts';
import { NOT_THE_PLATFORM } from './line.ts';
import type { Operation } from './operation.ts';
import type { WireAnswer } from './transport.ts';

/** What a call was made with. */
export type CalledWith = 'minted token' | 'given token' | 'pbx key' | 'nothing';

/** A call that was refused. */
export type Refusal = {
  readonly operation: string;
  readonly endpoint: Operation;
  /** Whether the stack says that the operation lies elsewhere. */
  readonly isMoved: boolean;
  readonly calledWith: CalledWith;
  readonly answer: WireAnswer;
};

const LOCKED =
  'Have it unlocked for the organization (`callsheet features` shows what is locked, and where), or take it out of the configuration.';

/** An error page that is none of the platform's. */
const SOMETHING_BETWEEN =
  'Something between here and the platform failed. Try again in a minute; if it stays so, check base_url and the proxy.';

/** What to do about an `error` that says it all, whatever its status (Errors). */
const BY_ERROR: { readonly [error: string]: string } = {
  insufficient_scope:
    'The key is limited to one reseller or organization; this needs a key for the whole account.',
  'organization not accessible':
    'The organization does not belong to this account: check its id in the configuration, and whose credentials these are.',
  'invalid organization_id': "An organization's id is a UUID: check it in the configuration.",
  email_templates_locked: `E-mail templates are switched off for the organization. ${LOCKED}`,
  sms_templates_locked: `SMS templates are switched off for the organization. ${LOCKED}`,
  duplicate_source:
    'Nothing was added. Give the source in the configuration the name or the url of the one that is there.',
};

/** What to do about the refusals of one operation that mean something else than elsewhere. */
const BY_OPERATION: { readonly [operationAndStatus: string]: string } = {
  'createCustomVoice 502':
    'Try again later. If it stays so, use another recording: 10 to 30 seconds of one clear voice work best.',
  'getPaymentReadiness 502': 'The payment processor gave no answer. Try again in a minute.',
  'setPaymentTool 502':
    'The payment processor gave no answer. Look whether the tool is armed before you try again.',
  'setPaymentTool 403':
    'Card payments are locked for the organization, or the key does not reach the agent: `callsheet payments` shows which.',
  'revertAgent 404':
    'The agent is gone or out of reach, or the platform no longer keeps that version: `callsheet history` shows those that it keeps.',
  'setSipRegistration 404':
    'Check that the agent exists and has a SIP registration: it is set up in the dashboard.',
  'createSession 404': 'Check the profile id.',
  'createPbxSession 404': 'Check the profile id and the claim id.',
};

/** What to do about a refusal, where there is something to do. */
export function hintFor(refusal: Refusal): string | undefined {
  const { operation, answer } = refusal;
  const { status, body } = answer;
  if (status === 401 && body !== undefined) return hintForCredentials(refusal);
  if (status === 429) return hintForPace(answer.retryAfter);
  if (status === 404 || status === 405) {
    const lost = hintForPlace(refusal);
    if (lost !== undefined) return lost;
  }
  if (body === undefined) return status > 500 ? SOMETHING_BETWEEN : NOT_THE_PLATFORM;
  return (
    ownOf(BY_ERROR, textMember(body, 'error') ?? '') ??
    BY_OPERATION[`${operation} ${status}`] ??
    hintForStatus(refusal)
  );
}

function hintForStatus({ endpoint, answer: { status, body } }: Refusal): string | undefined {
  const isRead = endpoint.method === 'GET';
  switch (status) {
    case 400:
      return isRead
        ? 'Correct what it names and try again.'
        : 'Nothing was saved. Correct what it names and try again.';
    case 403:
      if (/supported provider/i.test(textMember(body, 'error_description') ?? '')) {
        return 'Nothing was saved. Agents on another provider can only be changed in the dashboard.';
      }
      return isRead
        ? 'The key does not reach it: check the id, and whose credentials these are.'
        : `Nothing was saved. If a feature is locked: ${LOCKED.charAt(0).toLowerCase()}${LOCKED.slice(1)}`;
    case 404:
      return 'It does not exist, or the key does not reach it: check the id, and whose credentials these are.';
    case 409:
      return 'Nothing was saved. Choose another name, or have Callsheet manage the one that is there.';
    case 500:
      return isRead
        ? 'The platform failed. Try again in a minute.'
        : 'The platform failed and does not say whether anything was saved. Look before you try again.';
    case 502:
      return 'Something behind the platform failed. Try again in a minute.';
    case 503:
      return isRead
        ? 'The platform is briefly unavailable. Try again in a minute.'
        : 'Nothing was saved. The platform is briefly unavailable; try again in a minute.';
  }
  return undefined;
}

/** Whether the whole call may be missing there, rather than what it asks for. */
function hintForPlace({ operation, endpoint, isMoved }: Refusal): string | undefined {
  const { method, path, documented, assumption } = endpoint;
  if (isMoved) {
    return `platform.endpoints puts ${operation} at ${method} ${path}: check that the platform has it there.`;
  }
  if (documented) return undefined;
  // Without a parameter nothing but the call itself can be missing.
  const doubt = path.includes('{') ? 'may not have' : 'does not have';
  return `The platform ${doubt} this call: its specification does not show it (assumption ${assumption}). If it has it elsewhere, say where under platform.endpoints.${operation}.`;
}

function hintForPace(retryAfter: string | undefined): string {
  const advice = 'Try again later, or with a lower --concurrency.';
  if (retryAfter === undefined) return `The platform limits the rate of requests. ${advice}`;
  const wait = /^\s*\d+\s*$/.test(retryAfter) ? `${retryAfter.trim()} s` : `until ${retryAfter}`;
  return `The platform limits the rate of requests and asks to wait ${wait}. ${advice}`;
}

/** An expired token and one from before a rotation differ in the description alone, if at all (Authentication 2). */
function hintForCredentials({ calledWith, answer }: Refusal): string {
  const said = textMember(answer.body, 'error_description') ?? '';
  switch (calledWith) {
    case 'minted token':
      return 'A token minted just now was refused, so the key is gone or its secret was rotated: check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
    case 'pbx key':
      return "The PBX provider's API token was refused: get a fresh one from its OAuth.";
    case 'nothing':
      return 'Check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
    case 'given token':
      return tokenHint(said);
  }
}

function tokenHint(said: string): string {
  const fresh = 'Set a fresh one, or CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
  if (/expired/i.test(said))
    return `CALLSHEET_ACCESS_TOKEN has expired: tokens live 24 hours. ${fresh}`;
  if (/rotat/i.test(said))
    return `CALLSHEET_ACCESS_TOKEN was minted before its key's secret was rotated. ${fresh}`;
  return `CALLSHEET_ACCESS_TOKEN has expired (tokens live 24 hours) or its key was rotated. ${fresh}`;
}
