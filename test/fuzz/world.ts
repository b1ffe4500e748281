import type { Json } from '../../src/core/value.ts';
import {
  RESTS,
  recordsIn,
  type SeedDocument,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../src/simulator/index.ts';
import { INVENTIONS } from '../inventions.ts';
import type { ContractOperation } from './document.ts';
import { type Call, type Caller, isLive, type Live, type Place, type Pool } from './step.ts';
import { SECRET } from './values.ts';

const uuid = (digit: number) => `${String(digit).repeat(8)}-1111-4111-a111-111111111111`;

const [RESELLER, OPEN, CLOSED, OTHER] = [uuid(9), uuid(1), uuid(2), uuid(3)];

const PBX_KEY = 'pbx-key';

/** Everything that can be locked and is not the floor. */
const LOCKS = [
  'llm.alpha-4o',
  'custom_voices',
  'knowledge_base',
  'email_templates',
  'sms_templates',
  'card_payments',
  'tts.minx',
  'template.translator',
  'warm_transfer',
  'integration.calendarA',
];

const SMS = { account_sid: 'AC01', auth_token: SECRET, fromNumber: '+15550100' };

const agent = (digit: number, organization: string, more: object = {}) => ({
  id: uuid(digit),
  organization_id: organization,
  name: `Agent ${digit}`,
  integrations: { smsProvider: SMS },
  sip_registration_data: { username: 'desk', password: SECRET, registrationEnabled: true },
  ...more,
});

const template = (digit: number, organization: string, more: object) => ({
  id: uuid(digit),
  organization_id: organization,
  ...more,
});

/** Two of each kind that is a table of REST, a new one among them, by what names one of it. */
const TABLED = Object.fromEntries(
  RESTS.map(({ section, key, kind }) => {
    const record = (digit: number) => ({
      id: uuid(digit),
      ...Object.fromEntries(key.map((field) => [field, `Record ${digit}`])),
      ...(kind.scope.includes('organization_id') && { organization_id: OPEN }),
    });
    return [section, [record(4), record(5)]];
  }),
);

/** One of everything, in an organization of a reseller, one with locks and one on its own. */
const SEED: SeedDocument = {
  ...TABLED,
  account_id: uuid(8),
  resellers: [{ id: RESELLER, name: 'Tidewater' }],
  organizations: [
    { id: OPEN, name: 'Open', reseller_id: RESELLER },
    { id: CLOSED, name: 'Closed', locks: LOCKS },
    { id: OTHER, name: 'Other', merchant: { status: 'onboarding', charges: false } },
  ],
  keys: [
    {
      client_id: 'organization',
      client_secret: 'organization-secret',
      scope: { level: 'organization', id: OTHER },
    },
    {
      client_id: 'reseller',
      client_secret: 'reseller-secret',
      scope: { level: 'reseller', id: RESELLER },
    },
  ],
  retry_policies: [
    { id: uuid(4), name: 'One' },
    { id: uuid(5), name: 'Two' },
  ],
  agents: [
    agent(4, OPEN, {
      extensions: {
        mcp_servers: [
          { connection_name: 'C', mcp_endpoint_url: 'https://m.test', transport_type: 'http' },
        ],
      },
    }),
    agent(5, CLOSED),
    agent(6, OTHER, { sip_registration_data: null }),
    agent(7, OPEN, { supported: false }),
  ],
  email_templates: [
    template(4, OPEN, { name: 'One', subject: 'Hi', status: 'active' }),
    template(5, OPEN, { name: 'Two' }),
    template(6, CLOSED, { name: 'One' }),
  ],
  sms_templates: [
    template(4, OPEN, { name: 'One', message_type: 'sms' }),
    template(5, OPEN, { name: 'Two', message_type: 'mms' }),
    template(6, CLOSED, { name: 'One', message_type: 'sms' }),
  ],
  knowledge_bases: [
    { id: uuid(4), organization_id: OPEN, name: 'Open' },
    { id: uuid(5), organization_id: CLOSED, name: 'Closed' },
  ],
  sources: [
    { knowledge_base_id: uuid(4), url: 'https://a.example.test/faq' },
    { knowledge_base_id: uuid(4), name: 'prices.txt', content_hash: 'hash-1' },
  ],
  custom_voices: [{ organization_id: OPEN, name: 'One', language: 'fr' }],
  calls: [0, 1, 2].map((hour) => ({
    agent_id: uuid(4),
    call_started_at: `2026-01-31T1${hour}:00:00.000Z`,
    call_duration: 60 * hour,
  })),
  profiles: [{ id: uuid(4), organization_id: OPEN }],
  claims: [{ id: uuid(5), profile_id: uuid(4) }],
  pbx_api_keys: [PBX_KEY],
};

/** A simulator under fuzz: the tokens of its callers and what its answers gave away. */
export type World = {
  readonly simulator: Simulator;
  /** The headers that a caller proves itself with, right or wrong. */
  readonly headers: (
    caller: Caller,
    auth: ContractOperation['auth'],
  ) => { readonly [name: string]: string };
  /** Addresses for uploads, as they were handed out. */
  readonly uploads: string[];
  readonly resolve: (value: Json, call: Call) => Json;
  readonly resolvePath: (place: Place, call: Call) => string;
};

export async function createWorld(options: SimulatorOptions): Promise<World> {
  const simulator = await startSimulator({
    seed: SEED,
    ...options,
    dialect: { inventions: INVENTIONS, ...options.dialect },
  });
  const { store } = simulator;
  const far = Date.now() + 1e12;
  const tokens: {
    readonly [token: string]: readonly [client: string, generation: number, until: number];
  } = {
    account: ['simulated-client', 1, far],
    reseller: ['reseller', 1, far],
    organization: ['organization', 1, far],
    expired: ['simulated-client', 1, 0],
    rotated: ['simulated-client', 0, far],
  };
  for (const [token, [clientId, generation, expiresAt]] of Object.entries(tokens))
    store.tokens.set(token, { clientId, generation, expiresAt });
  const idOf = (one: Live, call: Call) => liveId(simulator, one, call);
  const resolve = (value: Json, call: Call): Json => {
    if (isLive(value)) return idOf(value, call);
    if (Array.isArray(value)) return value.map((member: Json) => resolve(member, call));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, resolve(one, call)]),
    );
  };
  return {
    simulator,
    uploads: [],
    resolve,
    resolvePath: (place, call) => (isLive(place) ? idOf(place, call) : place.text),
    headers: (caller, auth) => {
      if (auth === undefined || caller === 'nobody') return {};
      if (auth === 'x-pbx-api-key') return { [auth]: caller === 'account' ? PBX_KEY : caller };
      if (caller === 'malformed') return { [auth]: 'Bearer' };
      return { [auth]: caller === 'basic' ? 'Basic YTpi' : `Bearer ${caller}` };
    },
  };
}

/** The id that a placeholder stands for now; a text that names nothing where there is none. */
function liveId(simulator: Simulator, { live, nth }: Live, call: Call): string {
  const ids = isRecords(live)
    ? recordsIn(simulator.store, live.slice(RECORDS.length)).map(({ id }) => String(id))
    : POOL_IDS[live](simulator, call);
  return ids[nth % Math.max(1, ids.length)] ?? uuid(0);
}

const RECORDS = 'records of ';

function isRecords(pool: Pool): pool is `records of ${string}` {
  return pool.startsWith(RECORDS);
}

type Ids = (simulator: Simulator, call: Call) => readonly string[];

const POOL_IDS: { readonly [pool in Exclude<Pool, `records of ${string}`>]: Ids } = {
  organization: ({ store }) => [...store.organizations.keys()],
  reseller: ({ store }) => [...store.resellers.keys()],
  agent: ({ store }) => [...store.agents.keys()],
  version: (simulator, call) => {
    const agent = call.path.agentId;
    const id = agent === undefined || !isLive(agent) ? '' : liveId(simulator, agent, call);
    return (simulator.store.history.get(id) ?? []).map((entry) => String(entry.id));
  },
  base: ({ store }) => [...store.knowledgeBases.keys()],
  source: ({ store }) => [...store.sources.keys()],
  voice: ({ store }) => [...store.voices.keys()],
  profile: ({ store }) => [...store.profiles.keys()],
  claim: ({ store }) => [...store.claims.keys()],
  audience: ({ url }) => [`${url}/`],
};
