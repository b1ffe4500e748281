import schema from '../../schemas/kinds/agent.schema.json' with { type: 'json' };
import { isObject, type JsonObject } from '../core/value.ts';
import type { Facet, Kind } from './kind.ts';
import { restCalls } from './making.ts';

/** The registration flag, kept inside the stored registration (SIP registration). */
const sip: Facet = {
  field: 'sip',
  operations: ['setSipRegistration'],
  read: ({ sip_registration_data: data }) =>
    isObject(data)
      ? { registration_enabled: data.registrationEnabled ?? data.registration_enabled ?? null }
      : undefined,
  // The flag is a member of the agent's record.
  isStamped: true,
  isAsynchronous: true,
  write: (id, body) => ({ operation: 'setSipRegistration', path: { agentId: id }, body }),
  byHand: 'SIP registration',
  absent: 'the agent has no SIP registration, and only the dashboard sets one up',
  goes: 'its SIP registration, which only the dashboard sets up',
};

/** The in-call payment tool. Its settings are read from the readiness answer (Payment readiness). */
const payments: Facet = {
  field: 'payments',
  operations: ['getPaymentReadiness', 'setPaymentTool'],
  get: (id) => ({ operation: 'getPaymentReadiness', path: { agentId: id } }),
  // `can_enable` takes full SMS credentials on the agent (Payment readiness), whose provider the record shows.
  mayBeOn: ({ integrations }) => isObject(integrations) && isObject(integrations.smsProvider),
  read: (readiness) => ({
    tool_enabled: readiness.payment_tool_enabled ?? null,
    success_url: readiness.success_url ?? null,
    max_single_charge_cents: readiness.max_single_charge_cents ?? null,
    max_per_call_cents: readiness.max_per_call_cents ?? null,
    max_attempts_per_call: readiness.max_attempts_per_call ?? null,
  }),
  // The agent's record has nothing of it, so nothing says that the agent is written with it.
  isStamped: false,
  write: (id, body) => ({ operation: 'setPaymentTool', path: { agentId: id }, body }),
  absent: 'the platform reports no payment settings for the agent',
  readiness: {
    // The platform's record of the merchant may be old, so it is asked to look again.
    ask: (id) => ({
      operation: 'getPaymentReadiness',
      path: { agentId: id },
      query: { refresh: 'true' },
    }),
    refusal: unreadiness,
  },
};

/** Lists the parts of `can_enable` that are missing (Payment readiness). */
function unreadiness(answer: JsonObject, written: ReadonlySet<string>): string | undefined {
  if (answer.can_enable === true || answer.payment_tool_enabled === true) return undefined;
  const missing = [
    ...(answer.feature_locked === true ? ['card payments are locked for its organization'] : []),
    ...(answer.can_accept_payments === false ? [merchantProblem(answer)] : []),
    ...(answer.twilio_configured === false
      ? ['its SMS credentials are not complete (integrations.smsProvider)']
      : []),
  ];
  const isSmsAlone = missing.length === 1 && answer.twilio_configured === false;
  if (isSmsAlone && written.has('integrations')) return undefined;
  return `the agent cannot take payments yet: ${missing.join(', ') || 'the platform does not say why'}`;
}

function merchantProblem({ account_status: status, charges_enabled: charges }: JsonObject): string {
  if (status !== 'active') return `its payment account is ${String(status)}`;
  return charges === false
    ? 'its payment account cannot charge yet'
    : 'its organization cannot accept payments';
}

export const agent: Kind = {
  name: 'agent',
  section: 'agents',
  schema,
  naturalKey: [['organization_id', 'name']],
  tie: 'error',
  refusesTwins: false,
  scope: ['organization_id'],
  columns: ['status', 'agent_type', 'model', 'language', 'timezone', 'updated_at'],
  listsAll: true,
  takesCalls: true,
  stamp: { assumption: 'agent.updated-at' },
  ...restCalls({
    list: 'listAgents',
    get: 'getAgent',
    create: 'createAgent',
    update: 'updateAgent',
    delete: 'deleteAgent',
    id: 'agentId',
    revert: ['revertAgent', 'listAgentHistory'],
  }),
  document: (record) => record,
  facets: [sip, payments],
  history: {
    list: (id, limit) => ({
      operation: 'listAgentHistory',
      path: { agentId: id },
      query: { limit: String(limit) },
    }),
    revert: (id, entry) => ({
      operation: 'revertAgent',
      path: { agentId: id, versionId: String(entry) },
    }),
  },
};
