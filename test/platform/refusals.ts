import type { Json } from '../../src/core/value.ts';
import type { Call } from '../../src/kinds/kind.ts';

/** A refusal that the specification shows, and what a person reads of it. */
export type Refused = {
  /** Part of the specification. */
  readonly part: string;
  readonly call: Call;
  readonly status: number;
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** What follows `METHOD address answered STATUS: `. */
  readonly says: string;
  readonly hint: string;
};

const agent = { agentId: 'a' };
const coded = (error: string, error_description: string): Json => ({ error, error_description });

const LOCKED =
  'Have it unlocked for the organization (`callsheet get features` shows each lock and its place), or remove it from the configuration.';
const IF_LOCKED = `Nothing was saved. If a feature is locked: h${LOCKED.slice(1)}`;
const READ_400 = 'Correct the named fields and try again.';
const WRITE_400 = `Nothing was saved. ${READ_400}`;
const OUT_OF_REACH =
  'The key has no access to it: check the id and the account of the credentials.';
const GONE =
  'It does not exist, or the key has no access to it: check the id and the account of the credentials.';
const TAKEN = 'Nothing was saved. Choose another name, or let Callsheet manage the existing one.';
const TOKEN =
  'CALLSHEET_ACCESS_TOKEN has expired (tokens live 24 hours) or its key was rotated. Set a new one, or CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.';
const SCOPE =
  'The key is limited to one reseller or organization; this needs a key for the whole account.';

const updateAgent: Call = { operation: 'updateAgent', path: agent, body: { name: 'n' } };
const revert: Call = { operation: 'revertAgent', path: { ...agent, versionId: '7' } };
const sip: Call = { operation: 'setSipRegistration', path: agent, body: {} };
const features: Call = { operation: 'listFeatures' };
const readiness: Call = { operation: 'getPaymentReadiness', path: agent };
const tool: Call = { operation: 'setPaymentTool', path: agent, body: { enabled: true } };
const source: Call = {
  operation: 'createKnowledgeSource',
  path: { knowledgeBaseId: 'k' },
  body: { sourceType: 'file' },
};
const voice: Call = { operation: 'createCustomVoice', form: { fields: { name: 'n' }, files: {} } };
const sms: Call = { operation: 'createSmsTemplate', body: {} };
const email: Call = { operation: 'createEmailTemplate', body: {} };
const policy: Call = { operation: 'updateRetryPolicy', path: { policyId: 'p' }, body: {} };
const session: Call = { operation: 'createSession', body: { profile_id: 'x' } };
const billing: Call = { operation: 'getBillingReport' };

/** One row for each body of a refusal that the specification shows. */
export const REFUSALS: readonly Refused[] = [
  {
    part: 'Agents, list: no access to the organization',
    call: { operation: 'listAgents' },
    status: 403,
    body: coded('forbidden', 'No access to the organization.'),
    says: 'forbidden; No access to the organization',
    hint: OUT_OF_REACH,
  },
  {
    part: 'Agents, get',
    call: { operation: 'getAgent', path: agent },
    status: 404,
    body: coded('not_found', 'Agent not found or access denied'),
    says: 'not_found; Agent not found or access denied',
    hint: GONE,
  },
  {
    part: 'Agents, update: an agent on another provider',
    call: updateAgent,
    status: 403,
    body: coded('forbidden', 'Only agents on the supported provider can be changed'),
    says: 'forbidden; Only agents on the supported provider can be changed',
    hint: 'Nothing was saved. Agents on another provider can only be changed in the dashboard.',
  },
  {
    part: 'Agents, update: a locked feature',
    call: updateAgent,
    status: 403,
    body: coded('forbidden', 'Custom voices are not enabled for this organization.'),
    says: 'forbidden; Custom voices are not enabled for this organization',
    hint: IF_LOCKED,
  },
  {
    part: 'Revert: the version is no positive integer',
    call: revert,
    status: 400,
    body: coded('invalid_request', 'versionId must be a positive integer'),
    says: 'invalid_request; versionId must be a positive integer',
    hint: WRITE_400,
  },
  {
    part: 'Revert: a missing header',
    call: revert,
    status: 401,
    body: coded('invalid_request', 'Missing or malformed Authorization header'),
    says: 'invalid_request; Missing or malformed Authorization header',
    hint: TOKEN,
  },
  {
    part: 'Revert: a locked feature',
    call: revert,
    status: 403,
    body: coded('forbidden', 'RAG is not enabled for this organization.'),
    says: 'forbidden; RAG is not enabled for this organization',
    hint: IF_LOCKED,
  },
  {
    part: 'Revert: no such version',
    call: revert,
    status: 404,
    body: coded('not_found', 'Version not found for this agent'),
    says: 'not_found; Version not found for this agent',
    hint: 'The agent is gone or out of reach, or the platform no longer keeps that version: `callsheet history` shows the versions that it keeps.',
  },
  {
    part: 'Revert: briefly unavailable',
    call: revert,
    status: 503,
    body: coded('temporarily_unavailable', 'Nothing was saved. Retry.'),
    says: 'temporarily_unavailable; Nothing was saved. Retry',
    hint: 'Nothing was saved. The platform is briefly unavailable; try again in a minute.',
  },
  {
    part: 'Revert: an internal error',
    call: revert,
    status: 500,
    body: coded('internal_error', 'Something failed.'),
    says: 'internal_error; Something failed',
    hint: 'The platform failed and does not say whether anything was saved. Check before you try again.',
  },
  {
    part: 'SIP registration: a wrong type',
    call: sip,
    status: 400,
    body: {
      error: 'Invalid request data',
      details: [
        {
          code: 'invalid_type',
          expected: 'boolean',
          received: 'undefined',
          path: ['registrationEnabled'],
          message: 'Required',
        },
      ],
    },
    says: 'Invalid request data; registrationEnabled: Required',
    hint: WRITE_400,
  },
  {
    part: 'SIP registration: none is configured',
    call: sip,
    status: 404,
    body: coded('not_found', 'No SIP registration is configured for this agent'),
    says: 'not_found; No SIP registration is configured for this agent',
    hint: 'Check that the agent exists and has a SIP registration: it is set up in the dashboard.',
  },
  {
    part: 'Features: both scopes',
    call: features,
    status: 400,
    body: coded('invalid_request', 'organization_id and reseller_id exclude each other'),
    says: 'invalid_request; organization_id and reseller_id exclude each other',
    hint: READ_400,
  },
  {
    part: 'Features: no usable token',
    call: features,
    status: 401,
    body: coded('unauthorized', 'Missing or invalid token'),
    says: 'unauthorized; Missing or invalid token',
    hint: TOKEN,
  },
  {
    part: 'Features: not of this account',
    call: features,
    status: 404,
    body: coded('not_found', 'Organization not found'),
    says: 'not_found; Organization not found',
    hint: GONE,
  },
  {
    part: 'Features: never resolved in part',
    call: features,
    status: 503,
    body: coded('service_unavailable', 'Features could not be resolved'),
    says: 'service_unavailable; Features could not be resolved',
    hint: 'The platform is briefly unavailable. Try again in a minute.',
  },
  {
    part: 'Custom voices: a refused clip',
    call: voice,
    status: 400,
    body: coded('invalid_request', 'clip must not be over 4 MB'),
    says: 'invalid_request; clip must not be over 4 MB',
    hint: WRITE_400,
  },
  {
    part: 'Custom voices: the feature is off',
    call: voice,
    status: 403,
    body: coded('forbidden', 'Custom voices are not enabled'),
    says: 'forbidden; Custom voices are not enabled',
    hint: IF_LOCKED,
  },
  {
    part: 'Custom voices: the name is taken',
    call: voice,
    status: 409,
    body: coded('conflict', 'A voice with this name exists'),
    says: 'conflict; A voice with this name exists',
    hint: TAKEN,
  },
  {
    part: 'Custom voices: cloning failed upstream',
    call: voice,
    status: 502,
    body: coded('upstream_error', 'Cloning failed'),
    says: 'upstream_error; Cloning failed',
    hint: 'Try again later. If it fails again, use another recording: 10 to 30 seconds of one clear voice work best.',
  },
  {
    part: 'Knowledge base sources: a duplicate',
    call: source,
    status: 409,
    body: {
      error: 'duplicate_source',
      error_description: 'This file is already in the knowledge base.',
      details: { existingSource: { id: 's-1', name: 'prices.pdf', status: 'active' } },
    },
    says: 'duplicate_source; This file is already in the knowledge base; it exists as "prices.pdf", id s-1, active',
    hint: 'Nothing was added. Give the source in the configuration the name or the url of the existing source.',
  },
  {
    part: 'E-mail templates: locked',
    call: email,
    status: 403,
    body: { error: 'email_templates_locked' },
    says: 'email_templates_locked',
    hint: `E-mail templates are switched off for the organization. ${LOCKED}`,
  },
  {
    part: 'E-mail templates: the name is taken',
    call: email,
    status: 409,
    body: { error: 'A template with this name already exists.' },
    says: 'A template with this name already exists',
    hint: TAKEN,
  },
  {
    part: 'SMS templates: a malformed organization',
    call: sms,
    status: 400,
    body: {
      error: 'validation_error',
      issues: [{ path: 'organization_id', message: 'Invalid uuid' }],
    },
    says: 'validation_error; organization_id: Invalid uuid',
    hint: WRITE_400,
  },
  {
    part: 'SMS templates: locked',
    call: sms,
    status: 403,
    body: { error: 'sms_templates_locked' },
    says: 'sms_templates_locked',
    hint: `SMS templates are switched off for the organization. ${LOCKED}`,
  },
  {
    part: 'SMS templates: another account',
    call: sms,
    status: 403,
    body: { error: 'organization not accessible' },
    says: 'organization not accessible',
    hint: 'The organization does not belong to this account: check its id in the configuration, and the account of the credentials.',
  },
  {
    part: 'SMS templates, list: a malformed organization',
    call: { operation: 'listSmsTemplates' },
    status: 400,
    body: { error: 'invalid organization_id' },
    says: 'invalid organization_id',
    hint: "An organization's id is a UUID: check it in the configuration.",
  },
  {
    part: 'Retry policies: a scoped key',
    call: policy,
    status: 403,
    body: coded('insufficient_scope', 'Scoped keys cannot change retry policies'),
    says: 'insufficient_scope; Scoped keys cannot change retry policies',
    hint: SCOPE,
  },
  {
    part: 'Retry policies: the name is taken',
    call: policy,
    status: 409,
    body: coded('conflict', 'A retry policy with this name exists'),
    says: 'conflict; A retry policy with this name exists',
    hint: TAKEN,
  },
  {
    part: 'Metrics: the token',
    call: { operation: 'getMetrics' },
    status: 401,
    body: coded('invalid_token', 'The access token is not valid'),
    says: 'invalid_token; The access token is not valid',
    hint: TOKEN,
  },
  {
    part: 'Billing report: a malformed day',
    call: billing,
    status: 400,
    body: {
      error: 'invalid_request',
      details: [{ path: 'start_date', message: 'Use YYYY-MM-DD' }],
    },
    says: 'invalid_request; start_date: Use YYYY-MM-DD',
    hint: READ_400,
  },
  {
    part: 'Billing report: a scoped key',
    call: billing,
    status: 403,
    body: coded('insufficient_scope', 'Closed to scoped keys'),
    says: 'insufficient_scope; Closed to scoped keys',
    hint: SCOPE,
  },
  {
    part: 'Call logs: no access to the agent',
    call: { operation: 'listCallLogs', path: agent },
    status: 403,
    body: coded('forbidden', 'No access to the agent'),
    says: 'forbidden; No access to the agent',
    hint: OUT_OF_REACH,
  },
  {
    part: 'Payment readiness: forbidden',
    call: readiness,
    status: 403,
    body: { error: 'Forbidden' },
    says: 'Forbidden',
    hint: OUT_OF_REACH,
  },
  {
    part: 'Payment readiness: no such agent',
    call: readiness,
    status: 404,
    body: { error: 'Agent not found' },
    says: 'Agent not found',
    hint: GONE,
  },
  {
    part: 'Payment readiness: the processor fails',
    call: readiness,
    status: 502,
    body: { error: 'Failed to load payment status' },
    says: 'Failed to load payment status',
    hint: 'The payment processor gave no answer. Try again in a minute.',
  },
  {
    part: 'Payment tool: card payments are locked',
    call: tool,
    status: 403,
    body: { error: 'Forbidden' },
    says: 'Forbidden',
    hint: 'Card payments are locked for the organization, or the key does not reach the agent: `callsheet get payments` shows which.',
  },
  {
    part: 'Sessions: a malformed body',
    call: session,
    status: 400,
    body: {
      error: 'Invalid request data',
      details: [
        {
          code: 'invalid_string',
          validation: 'uuid',
          message: 'Invalid uuid',
          path: ['profile_id'],
        },
      ],
    },
    says: 'Invalid request data; profile_id: Invalid uuid',
    hint: WRITE_400,
  },
  {
    part: 'Sessions: no such profile',
    call: session,
    status: 404,
    body: coded('not_found', 'Profile not found'),
    says: 'not_found; Profile not found',
    hint: 'Check the profile id.',
  },
  {
    part: 'Limits: the rate, with a time to wait',
    call: updateAgent,
    status: 429,
    body: null,
    headers: { 'retry-after': '3600' },
    says: '',
    hint: 'The platform limits the rate of requests and asks to wait 1 h. Try again later, or with a lower --concurrency.',
  },
  {
    part: 'Limits: the rate, with parts of a second',
    call: updateAgent,
    status: 429,
    body: null,
    headers: { 'retry-after': '3600.5' },
    says: '',
    hint: 'The platform limits the rate of requests and asks to wait 1 h. Try again later, or with a lower --concurrency.',
  },
  {
    part: 'Limits: the rate, with something that is no time',
    call: updateAgent,
    status: 429,
    body: null,
    headers: { 'retry-after': 'soon' },
    says: '',
    hint: 'The platform limits the rate of requests. Try again later, or with a lower --concurrency.',
  },
  {
    part: 'Limits: the rate, without one',
    call: updateAgent,
    status: 429,
    body: { error: 'too_many_requests' },
    says: 'too_many_requests',
    hint: 'The platform limits the rate of requests. Try again later, or with a lower --concurrency.',
  },
];
