import { ID } from './ids.ts';
import type { World } from './world.ts';

/** A request that every endpoint with a bearer token answers well, but for what a row changes about it. */
export type Endpoint = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly body?: unknown;
  /** The code of its 401 where the specification gives it. */
  readonly unauthorized?: string;
};

const DESK = `/v1/agents/${ID.desk}`;
const SPAN = '2026-01-01';

export const ENDPOINTS: readonly Endpoint[] = [
  { method: 'get', path: '/v1/me' },
  { method: 'get', path: '/v1/agents', unauthorized: 'invalid_token' },
  { method: 'get', path: DESK },
  { method: 'post', path: '/v1/agents', body: { name: 'New', organizationId: ID.harbor } },
  { method: 'put', path: DESK, body: { name: 'Renamed' } },
  { method: 'get', path: `${DESK}/history` },
  { method: 'post', path: `${DESK}/history/1/revert` },
  { method: 'patch', path: `${DESK}/sip/registration`, body: { registrationEnabled: true } },
  { method: 'get', path: `${DESK}/payments/readiness` },
  { method: 'put', path: `${DESK}/payments/tool`, body: { enabled: false } },
  { method: 'get', path: `${DESK}/call-logs`, unauthorized: 'invalid_token' },
  { method: 'get', path: '/v1/features', unauthorized: 'unauthorized' },
  { method: 'get', path: '/v1/llm-models', unauthorized: 'unauthorized' },
  { method: 'get', path: '/v1/stt-providers', unauthorized: 'invalid_token' },
  { method: 'get', path: `/v1/custom-voices?organizationId=${ID.harbor}` },
  { method: 'post', path: '/v1/custom-voices', body: {} },
  { method: 'get', path: `/v1/knowledge-bases/${ID.base}/sources` },
  { method: 'post', path: `/v1/knowledge-bases/${ID.base}/sources`, body: {} },
  { method: 'get', path: '/v1/email-templates' },
  { method: 'post', path: '/v1/email-templates', body: {} },
  { method: 'post', path: '/v1/sms-templates', body: {} },
  { method: 'get', path: `/v1/retry-policies/${ID.gentle}` },
  { method: 'patch', path: `/v1/retry-policies/${ID.gentle}`, body: {} },
  { method: 'delete', path: `/v1/retry-policies/${ID.gentle}` },
  {
    method: 'get',
    path: `/v1/metrics?startDate=${SPAN}&endDate=${SPAN}`,
    unauthorized: 'invalid_token',
  },
  {
    method: 'get',
    path: `/v1/billing-report?start_date=${SPAN}&end_date=${SPAN}`,
    unauthorized: 'unauthorized',
  },
  { method: 'post', path: '/api/v1/sessions', body: { profile_id: ID.nobody } },
];

/** Those that are assumed to be there. */
export const ASSUMED: readonly Endpoint[] = [
  { method: 'delete', path: DESK },
  { method: 'post', path: `/v1/knowledge-bases/${ID.base}/sources/${ID.nobody}/enqueue` },
  { method: 'get', path: `/v1/email-templates/${ID.email}` },
  { method: 'patch', path: `/v1/email-templates/${ID.email}`, body: {} },
  { method: 'delete', path: `/v1/email-templates/${ID.email}` },
  { method: 'get', path: '/v1/sms-templates' },
  { method: 'get', path: `/v1/sms-templates/${ID.sms}` },
  { method: 'patch', path: `/v1/sms-templates/${ID.sms}`, body: {} },
  { method: 'delete', path: `/v1/sms-templates/${ID.sms}` },
  { method: 'get', path: '/v1/retry-policies' },
  { method: 'post', path: '/v1/retry-policies', body: { name: 'New' } },
];

/** Those that take no bearer token. */
export const OPEN: readonly Endpoint[] = [
  { method: 'post', path: '/oauth/token', body: {} },
  { method: 'post', path: '/api/v1/sessions/pbx', body: {} },
];

/** How a row names an endpoint. */
export function named({ method, path }: Endpoint): string {
  const short = path.replace(/\?.*/, '').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…');
  return `${method.toUpperCase()} ${short}`;
}

/** Sends an endpoint's request with an Authorization header, or without one. */
export function send(world: World, endpoint: Endpoint, authorization: string | null) {
  const { method, path, body } = endpoint;
  return world[method](path, { authorization, ...(body === undefined ? {} : { body }) });
}
