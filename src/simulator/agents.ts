import { isObject, isSameJson, type JsonObject } from '../core/value.ts';
import { fieldSchema, READABLE, withoutSecrets } from './agent-fields.ts';
import { brokenRules, refuseLocked } from './agent-rules.ts';
import { newRecord, updatedRecord } from './agent-write.ts';
import {
  type Answer,
  CODES,
  coded,
  created,
  data,
  deleted,
  dress,
  fill,
  flat,
  ordered,
  page,
  type Refusal,
  updated,
} from './answer.ts';
import {
  getOrganization,
  namedOrganization,
  organizationFilter,
  reachedAgent,
  refuseForeign,
  writableAgent,
} from './auth.ts';
import { organizationLocks } from './catalogue.ts';
import type { Dialect } from './dialect.ts';
import { apiAuthor, recordFacet, recordHistory } from './history.ts';
import { inside, without } from './json.ts';
import type { Platform, Routes } from './platform.ts';
import type { Agent, Fields } from './store.ts';
import { invalid, violation } from './validation.ts';

/** Agents (Agents; Resources, Agent). */
export const agents: Routes<
  'listAgents' | 'createAgent' | 'getAgent' | 'updateAgent' | 'deleteAgent'
> = {
  listAgents: (input, platform) => {
    const wanted = organizationFilter(platform, input);
    const { store, dialect } = platform;
    const found: Agent[] = [];
    // A fleet of a hundred thousand is looked through a thousand times, a page each: no copy is made of it first.
    for (const agent of store.agents.values()) if (wanted(agent.organizationId)) found.push(agent);
    const all = ordered(dialect, found, ({ record }) => record.name);
    return page(dialect, all, input, (agent) => listAgent(platform, agent));
  },

  createAgent: ({ key, body }, platform) => {
    const organization = namedOrganization(platform, key, String(body.organizationId));
    const id = platform.ids.uuid('agent');
    const record = newRecord(platform, id, body);
    const broken = brokenRules(platform, {}, record);
    if (broken.length > 0) throw invalid('details', broken);
    refuseLocked(platform, organization.id, {}, record);
    const agent: Agent = {
      id,
      organizationId: organization.id,
      record,
      payments: { enabled: false, limits: {} },
      supported: true,
    };
    platform.store.agents.set(id, agent);
    recordHistory(platform, agent, 'created', apiAuthor(platform));
    return created(platform.dialect, viewAgent(platform, agent));
  },

  getAgent: (input, platform) => data(viewAgent(platform, reachedAgent(platform, input))),

  updateAgent: (input, platform) => {
    const agent = writableAgent(platform, input);
    const record = updatedRecord(platform, agent.record, input.body);
    const broken = brokenRules(platform, agent.record, record);
    if (broken.length > 0) throw invalid('details', broken);
    refuseLocked(platform, agent.organizationId, agent.record, record);
    if (platform.dialect.emptyUpdates === 'recorded' || !isSame(agent.record, record)) {
      agent.record = record;
      recordHistory(platform, agent, 'updated', apiAuthor(platform));
    }
    return updated(platform.dialect, data(viewAgent(platform, agent)));
  },

  deleteAgent: (input, platform) => {
    platform.store.agents.delete(writableAgent(platform, input).id);
    return deleted(platform.dialect);
  },
};

/** Compares two records without the time of their change. */
function isSame(a: JsonObject, b: JsonObject): boolean {
  return isSameJson(without(a, 'updated_at'), without(b, 'updated_at'));
}

/** Milliseconds after which an agent was called, where calls move its record (`counters`). */
const BETWEEN_CALLS_MS = 30_000;

/** Returns the answer of a single read: the whole record but its secrets (Agent). */
function viewAgent({ dialect, stamp, now }: Platform, agent: Agent): JsonObject {
  const { record: stored } = agent;
  const quiet = now().getTime() - Date.parse(String(stored.updated_at));
  if (dialect.counters === 'moving' && quiet > BETWEEN_CALLS_MS) {
    const calls = Number(stored.call_count ?? 0) + 1;
    agent.record = { ...stored, call_count: calls, updated_at: stamp() };
  }
  const record = dress(dialect, fill(dialect, agent.record));
  const unset = dialect.unset === 'null' ? UNSET : {};
  return {
    ...unset,
    ...withoutSecrets(record),
    is_active: record.status === 'active',
    interpreter_config: viewInterpreter(record),
    email_tool_instructions: record.email_tool_instructions ?? null,
    sip_registration_data: viewRegistration(dialect, record),
  };
}

/** The stored registration, but its password, in the spelling of the dialect. */
function viewRegistration(
  { sipData }: Dialect,
  { sip_registration_data: stored = null }: JsonObject,
) {
  const { sip_registration_data: data = null } = withoutSecrets({ sip_registration_data: stored });
  if (!isObject(data) || sipData === 'camelCase') return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Null in every field. */
const UNSET: JsonObject = Object.fromEntries(READABLE.map((name) => [name, null]));

/** `speaker_identification` is only returned with some of its values (Agent, interpreter_config). */
function viewInterpreter({ interpreter_config: config }: JsonObject) {
  if (!isObject(config)) return null;
  const echoes = fieldSchema('interpreter_config').properties?.speaker_identification?.['x-echoes'];
  const spoken = config.speaker_identification;
  return echoes?.some((value) => value === spoken)
    ? config
    : without(config, 'speaker_identification');
}

const LISTED = [
  'id',
  'organization_id',
  'name',
  'description',
  'status',
  'agent_type',
  'model',
  'language',
  'timezone',
  'created_at',
];

const FEWEST = ['id', 'name'];

/** Returns an entry of a list: a part of the fields (Agent). */
function listAgent(platform: Platform, agent: Agent): JsonObject {
  const { listFields, listUpdatedAt } = platform.dialect;
  if (listFields === 'all') {
    const whole = viewAgent(platform, agent);
    return listUpdatedAt ? whole : without(whole, 'updated_at');
  }
  const record = dress(platform.dialect, agent.record);
  const item: Fields = listFields === 'some' ? { is_active: record.status === 'active' } : {};
  for (const name of listFields === 'some' ? LISTED : FEWEST)
    if (record[name] !== undefined) item[name] = record[name];
  if (listUpdatedAt) item.updated_at = record.updated_at ?? null;
  return item;
}

/** The registration flag (SIP registration). */
export const sip: Routes<'setSipRegistration'> = {
  setSipRegistration: (input, platform) => {
    const agent = reachedAgent(platform, input);
    if (!agent.supported) throw unsupported(platform);
    const stored = agent.record.sip_registration_data;
    if (!isObject(stored))
      throw coded(404, 'not_found', 'No SIP registration is configured for this agent');
    const enabled = input.body.registrationEnabled === true;
    const at = platform.stamp();
    const registration = { ...stored, registrationEnabled: enabled };
    agent.record = { ...agent.record, sip_registration_data: registration, updated_at: at };
    platform.store.sipChanges.push({
      agentId: agent.id,
      before: stored.registrationEnabled === true,
      enabled,
      at,
      pickedUpAt: new Date(platform.now().getTime() + platform.dialect.sipLagMs).toISOString(),
    });
    recordFacet(platform, agent);
    return {
      status: 200,
      body: { success: true, data: { ...REGISTRATION_DEFAULTS, ...registration } },
    };
  },
};

/** Reads show these defaults of a registration where nothing was stored. */
const REGISTRATION_DEFAULTS = {
  sipDomain: '',
  username: '',
  password: '',
  proxy: '',
  port: 5060,
  transport: 'udp',
  subscribe: false,
  authUsername: null,
  did: null,
  sipRoutingHeaderXDestUser: null,
  extension: null,
};

/** How an agent on another provider is rejected is not specified. */
function unsupported({ dialect: { sipForeign } }: Platform): Refusal {
  return coded(sipForeign, CODES[sipForeign], 'The agent is not on the supported provider');
}

/**
 * Returns true if the registrar has registered an agent by now: the flag is stored at once and picked up later
 * (SIP registration). If the flag never changed, it is the answer.
 */
export function isRegistered({ store, now }: Platform, agentId: string): boolean {
  const changes = store.sipChanges.filter((change) => change.agentId === agentId);
  const time = now().getTime();
  const done = changes.findLast(({ pickedUpAt }) => Date.parse(pickedUpAt) <= time);
  const [first] = changes;
  if (done !== undefined) return done.enabled;
  if (first !== undefined) return first.before;
  const { record } = store.agents.get(agentId) ?? {};
  return inside(record, 'sip_registration_data', 'registrationEnabled') === true;
}

/** Defaults of a payment tool. The specification gives no figures. */
const DEFAULTS = {
  success_url: 'https://pay.example.test/thank-you',
  max_single_charge_cents: 50_000,
  max_per_call_cents: 100_000,
  max_attempts_per_call: 3,
};

/** Taking payments during calls (Payment readiness). */
export const payments: Routes<'getPaymentReadiness' | 'setPaymentTool'> = {
  getPaymentReadiness: (input, platform) => {
    const agent = reachedAgent(platform, input, () => flat(404, 'Agent not found'));
    const organization = getOrganization(platform, agent.organizationId);
    if (input.query.refresh === true) organization.knownMerchant = { ...organization.merchant };
    return answerReadiness(platform, agent);
  },

  setPaymentTool: (input, platform) => {
    const agent = reachedAgent(platform, input, () => flat(404, 'Agent not found'));
    refuseForeign(agent);
    const { enabled: wanted, ...given } = input.body;
    const enabled = typeof wanted === 'boolean' ? wanted : agent.payments.enabled;
    if (enabled && !agent.payments.enabled) refuseArming(readiness(platform, agent));
    const limits = Object.entries(given).filter(([name]) => name in DEFAULTS);
    agent.payments = {
      enabled,
      limits:
        enabled || platform.dialect.limitsOff === 'kept'
          ? { ...agent.payments.limits, ...Object.fromEntries(limits) }
          : {},
    };
    recordFacet(platform, agent);
    return updated(platform.dialect, answerReadiness(platform, agent));
  },
};

function answerReadiness(platform: Platform, agent: Agent): Answer {
  const body = readiness(platform, agent);
  return platform.dialect.readiness === 'bare' ? { status: 200, body } : data(body);
}

/** Arming needs all of `can_enable`; disarming, and keeping what is armed, needs nothing. */
function refuseArming({ feature_locked: locked, can_enable: ready }: JsonObject): void {
  if (locked === true) throw flat(403, 'Forbidden');
  if (ready !== true)
    throw invalid('details', [violation('enabled', 'the agent cannot take payments yet')]);
}

function readiness(platform: Platform, agent: Agent): JsonObject {
  const organization = getOrganization(platform, agent.organizationId);
  const { knownMerchant: merchant } = organization;
  const locked = organizationLocks(platform, organization).has('card_payments');
  const accepts = merchant.status === 'active' && merchant.charges;
  const texts = sendsTexts(agent.record);
  return {
    agent_id: agent.id,
    can_enable: accepts && texts && !locked,
    feature_locked: locked,
    can_accept_payments: accepts,
    account_status: merchant.status,
    charges_enabled: merchant.charges,
    twilio_configured: texts,
    payment_tool_enabled: agent.payments.enabled,
    ...DEFAULTS,
    ...(agent.payments.enabled ? agent.payments.limits : {}),
  };
}

/** Returns true if the agent has every setting that sending a payment link takes. */
function sendsTexts({ integrations }: JsonObject): boolean {
  const sms = inside(integrations, 'smsProvider');
  const has = (...names: readonly string[]) => names.every((name) => Boolean(inside(sms, name)));
  return (
    has('account_sid', 'fromNumber') && (has('auth_token') || has('api_key_sid', 'api_key_secret'))
  );
}
