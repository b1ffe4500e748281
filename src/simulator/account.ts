/**
 * Makes up a whole account for the simulator: resellers and organizations with locks on every level, agents
 * in every state, and everything that agents use. The same numbers give the same account.
 */
import type { JsonObject } from '../core/value.ts';
import { DAY, DAYS_OF_CALLS, generateCalls } from './calls/callers.ts';
import type { Seed, Simulation } from './documents.generated.ts';
import { generateAgent, generateFleet, nth, ROLES } from './fleet.ts';
import { makeUuid } from './ids.ts';
import type { Platform } from './platform.ts';
import {
  plantSeed,
  type SeedAgent,
  type SeedDocument,
  type SeedKey,
  type SeedOrganization,
} from './seed.ts';

/** Records that a simulator makes up beside its seed. */
export type GeneratedOptions = {
  /** Generates that many agents, over the seed's organizations or over five of its own. */
  readonly agents?: number | undefined;
  /** Generates that many calls of the last 90 days, over all agents. */
  readonly calls?: number | undefined;
  /** Generates a whole account with that many resellers; there are none unless given. */
  readonly resellers?: number | undefined;
  /** Generates a whole account with that many organizations; four for each reseller unless given. */
  readonly organizations?: number | undefined;
  /** Has agents called as time goes on; there are no calls unless given. */
  readonly callers?: Simulation.Callers | undefined;
};

/** Plants what was asked for: a whole account where resellers or organizations are, otherwise agents alone. */
export function plantGenerated(
  platform: Platform,
  seed: SeedDocument,
  { agents, calls = 0, resellers, organizations, callers }: GeneratedOptions,
): void {
  const now = platform.now().getTime();
  const isCalled = calls > 0 || callers !== undefined;
  const plant = (account: SeedDocument) =>
    plantSeed(platform, callers === undefined ? account : withTransferRules(account));
  if (resellers !== undefined || organizations !== undefined) {
    const size = {
      resellers: resellers ?? 0,
      organizations: organizations ?? 4 * (resellers ?? 0),
      agents: agents ?? 0,
    };
    plant(generateAccount(size, platform.store.account.id, now));
  } else if (agents !== undefined || seed.organizations === undefined) {
    // Agents are older than their calls.
    const made = new Date(now - (DAYS_OF_CALLS + 30) * DAY).toISOString();
    plant(generateFleet(agents ?? 0, seed.organizations, isCalled ? made : undefined));
  }
  generateCalls(platform, calls);
}

/** Callers can be transferred where there are rules for it. */
function withTransferRules({ agents = [], ...account }: SeedDocument): SeedDocument {
  const rules = 'Transfer callers who ask for a person, or who are in pain.';
  const agent = (one: SeedAgent): SeedAgent =>
    one.transfer_enabled === true ? { transfer_rules: rules, ...one } : one;
  return { ...account, agents: agents.map(agent) };
}

/** One deleted agent for so many that are there, and one in any case. */
const AGENTS_PER_DELETED = 200;

/** Agents of an account, in turns over its organizations, and a few that are gone but had calls. */
function accountAgents(
  count: number,
  owners: readonly Company[],
  policies: readonly string[],
  accountId: string,
  now: number,
): readonly SeedAgent[] {
  if (count === 0 || owners.length === 0) return [];
  const agent = (index: number): SeedAgent => {
    // Every organization has agents of every role.
    const role = nth(ROLES, index + Math.floor(index / owners.length));
    const owner = nth(owners, index);
    const base = generateAgent(index, owner.seed, role, nth(policies, index));
    const made = now - (DAYS_OF_CALLS + 30 + (index % 300)) * DAY;
    return {
      ...base,
      ...manners(base, owner, index),
      ...extras(base, owner, index),
      created_at: new Date(made).toISOString(),
      updated_at: new Date(made).toISOString(),
      edits: edits(base, index, made, accountId),
    };
  };
  const deleted = Math.ceil(count / AGENTS_PER_DELETED);
  return [
    ...Array.from({ length: count }, (_, index) => agent(index)),
    ...Array.from({ length: deleted }, (_, index) => ({
      ...agent(count + index),
      id: makeUuid(`deleted agent ${index + 1}`),
      name: `Seasonal line ${index + 1}`,
      deleted: true,
    })),
  ];
}

function chooseStatus(index: number): string {
  if (index % 19 === 7) return 'inactive';
  if (index % 31 === 11) return 'pending';
  return index % 47 === 23 ? 'cancelled' : 'active';
}

/** How an agent speaks, and whether it does. */
function manners({ agent_type: type, config }: SeedAgent, owner: Company, index: number) {
  const { seed, timezone, voices } = owner;
  const language = type === 'translator' || index % 9 === 8 ? 'multi' : owner.language;
  const [voice] = voices;
  const isRecorded = index % 6 !== 4;
  return {
    status: chooseStatus(index),
    language,
    timezone,
    ...(language === 'es-US'
      ? { greeting_message: `Gracias por llamar a ${seed.name}, ¿en qué puedo ayudarle?` }
      : {}),
    ...(voice !== undefined && index % 4 === 0
      ? { voice_settings: { voice_id: voice, speed: 1 } }
      : {}),
    config: { ...Object(config), enable_recording: isRecorded, user_timezone: timezone },
    enable_recording: isRecorded,
  };
}

/** Returns members that only some agents have: links, a payment tool, the PBX provider. */
function extras(
  { agent_type: type, integrations }: SeedAgent,
  owner: Company,
  index: number,
): JsonObject {
  const takesPayments = owner.canBePaid && integrations !== undefined && type === 'receptionist';
  return {
    ...(owner.hasKnowledge && index % 2 === 0
      ? { knowledgebase_links: [`${buildSite(owner)}/faq`] }
      : {}),
    ...(takesPayments
      ? { payments: { enabled: true, max_single_charge_cents: 20_000, max_attempts_per_call: 2 } }
      : {}),
    ...(index % 10 === 5
      ? {
          integrations: {
            ...Object(integrations),
            pbxProvider: { client_id: `pbx-${index}`, client_secret: `pbx-secret-${index}` },
          },
        }
      : {}),
  };
}

/** Every third agent was changed since: by people in the dashboard and by the account's key. */
function edits(
  { name }: SeedAgent,
  index: number,
  made: number,
  accountId: string,
): readonly Seed.Edit[] {
  if (index % 3 !== 0) return [];
  const at = (day: number) => new Date(made + day * DAY).toISOString();
  const api = { actor: `api:${accountId}`, source: 'dashboard-api' };
  const all: readonly Seed.Edit[] = [
    { actor: nth(PEOPLE, index), at: at(3), changes: { description: `${name}, reviewed.` } },
    { ...api, at: at(10), changes: { voice_settings: { speed: 1.05 } } },
    { actor: nth(PEOPLE, index + 1), at: at(45), changes: { transfer_enabled: true } },
  ];
  return all.slice(0, 1 + (index % 4));
}

/** How much of everything an account has. */
type AccountSize = {
  readonly resellers: number;
  readonly organizations: number;
  readonly agents: number;
};

/** Locks of the levels; those who have none take a turn, too. */
const ACCOUNT_LOCKS = ['llm.epsilon/model-4-31b-it', 'secure_access'];
const RESELLER_LOCKS = [
  ['llm.gamma/model-K2.6', 'use_reseller_smtp'],
  ['card_payments', 'tts.minx'],
  [],
  ['custom_voices'],
];

/** An account of that size. Everything in it was made before `now`, in milliseconds. */
export function generateAccount(
  { resellers, organizations, agents }: AccountSize,
  accountId: string,
  now: number,
): SeedDocument {
  const sellers = Array.from({ length: resellers }, (_, index) => ({
    id: makeUuid(`reseller ${index + 1}`),
    name: numbered(RESELLERS, index),
    locks: nth(RESELLER_LOCKS, index),
  }));
  const owners = companies(organizations, sellers);
  return {
    locks: ACCOUNT_LOCKS,
    resellers: sellers,
    organizations: owners.map(({ seed }) => seed),
    keys: scopedKeys(sellers[0]?.id, owners[0]?.seed.id),
    retry_policies: POLICIES,
    ...belongings(owners),
    agents: accountAgents(
      agents,
      owners,
      POLICIES.map(({ id }) => String(id)),
      accountId,
      now,
    ),
    ...profiles(owners),
  };
}

const POLICIES: readonly JsonObject[] = [
  { name: 'Gentle redial', no_answer: [900, 3] },
  { name: 'Persistent redial', no_answer: [300, 6] },
  { name: 'One more try', no_answer: [3600, 1] },
].map(({ name, no_answer: [delay = 0, attempts = 0] }) => ({
  id: makeUuid(`policy ${name}`),
  name,
  rules: { no_answer: { delay_seconds: delay, max_attempts: attempts } },
}));

/** One key for the first reseller and one for the first organization. */
function scopedKeys(reseller?: string, organization?: string): readonly SeedKey[] {
  const key = (level: 'reseller' | 'organization', id: string | undefined) =>
    id === undefined
      ? []
      : [
          {
            client_id: `simulated-${level}-client`,
            client_secret: `simulated-${level}-secret`,
            scope: { level, id },
          },
        ];
  return [...key('reseller', reseller), ...key('organization', organization)];
}

/** A profile for each organization, which one user base of the PBX provider may use. */
function profiles(owners: readonly Company[]): SeedDocument {
  const ids = owners.map(({ seed }) => ({
    organization_id: seed.id,
    id: makeUuid(`profile of ${seed.id}`),
  }));
  return {
    profiles: ids,
    claims: ids.map(({ id }) => ({ id: makeUuid(`claim of ${id}`), profile_id: id })),
    pbx_api_keys: ['simulated-pbx-key'],
  };
}

/** Templates, knowledge bases with their sources, and cloned voices of the organizations. */
function belongings(owners: readonly Company[]): SeedDocument {
  const informed = owners.filter(({ hasKnowledge }) => hasKnowledge);
  return {
    email_templates: owners.flatMap(emailTemplates),
    sms_templates: owners.flatMap(smsTemplates),
    knowledge_bases: informed.map(({ seed }) => ({
      id: baseId(seed.id),
      organization_id: seed.id,
      name: `${seed.name} handbook`,
    })),
    sources: informed.flatMap(sources),
    custom_voices: owners.flatMap(({ seed, voices, language }) =>
      voices.map((id) => ({
        id,
        organization_id: seed.id,
        name: `${seed.name} voice`,
        language: language === 'es-US' ? 'es' : 'en',
      })),
    ),
  };
}

function baseId(organizationId: string): string {
  return makeUuid(`knowledge base of ${organizationId}`);
}

/** The host under which an organization has its pages. */
function buildSite({ seed }: Company): string {
  const name = seed.name.normalize('NFD').replaceAll(/[^a-zA-Z0-9 ]/g, '');
  return `https://${name.toLowerCase().replaceAll(' ', '-')}.example.test`;
}

function sources(owner: Company): readonly JsonObject[] {
  const id = baseId(owner.seed.id);
  const site = buildSite(owner);
  return [
    { knowledge_base_id: id, url: `${site}/faq`, chunk_count: 14 },
    { knowledge_base_id: id, url: `${site}/opening-hours`, chunk_count: 2 },
    { knowledge_base_id: id, name: 'prices.pdf', content_hash: makeUuid(`prices of ${id}`) },
  ];
}

function emailTemplates({ seed }: Company): readonly JsonObject[] {
  const common = { organization_id: seed.id, from_name: seed.name };
  return [
    {
      ...common,
      name: 'Confirmation',
      subject: 'Your appointment on {{date}}',
      body_html: '<p>Dear {{name|customer}}, we look forward to seeing you on {{date}}.</p>',
      status: 'active',
      version: 3,
    },
    { ...common, name: 'Recall', subject: 'It has been a while', body_html: '<p>{{name}}</p>' },
  ];
}

function smsTemplates({ seed }: Company): readonly JsonObject[] {
  const common = { organization_id: seed.id, message_type: 'sms' };
  return [
    {
      ...common,
      name: 'Reminder',
      body: 'See you on {{date}} at {{time}}. Reply STOP to opt out.',
      tags: ['appointments'],
      status: 'active',
      version: 2,
    },
    { ...common, name: 'Directions', body: 'This is how you find us: {{link}}' },
  ];
}

/** An organization of a generated account, and what its agents have in common. */
type Company = {
  readonly seed: SeedOrganization;
  readonly language: (typeof COMPANIES)[number]['language'];
  readonly timezone: string;
  readonly canBePaid: boolean;
  readonly hasKnowledge: boolean;
  /** Ids of its cloned voices. */
  readonly voices: readonly string[];
};

const LOCKS = [
  [],
  ['llm.alpha-4o', 'integration.pbxProvider'],
  [],
  ['custom_voices'],
  ['knowledge_base', 'template.translator'],
  [],
  ['phi_redaction'],
];

const MERCHANTS = [
  { status: 'active', charges: true },
  { status: 'active', charges: true },
  { status: 'onboarding', charges: false },
  { status: 'active', charges: true },
  { status: 'not_started', charges: false },
  { status: 'restricted', charges: false },
] as const;

/** Organizations spread over the resellers, and as many as each of them has directly under the account. */
function companies(
  count: number,
  resellers: readonly { readonly id: string }[],
): readonly Company[] {
  return Array.from({ length: count }, (_, index) => {
    const id = makeUuid(`organization ${index + 1}`);
    const reseller = resellers[index % (resellers.length + 1)];
    const merchant = nth(MERCHANTS, index);
    const name = numbered(
      COMPANIES.map((company) => company.name),
      index,
    );
    const locks = nth(LOCKS, index);
    return {
      seed: {
        id,
        name,
        ...(reseller === undefined ? {} : { reseller_id: reseller.id }),
        locks,
        merchant,
      },
      language: nth(COMPANIES, index).language,
      timezone: nth(TIME_ZONES, index),
      canBePaid: merchant.charges,
      hasKnowledge: index % 3 !== 2,
      voices: index % 2 === 0 ? [makeUuid(`voice of ${id}`)] : [],
    };
  });
}

/** Resellers of a generated account. */
const RESELLERS = [
  'Tidewater Communications',
  'Summit Voice',
  'Beacon Partners',
  'Larkfield Telecom',
];

/** Organizations of a generated account, with the language that they answer in. */
const COMPANIES = [
  { name: 'Harbor Dental', language: 'en-US' },
  { name: 'Northside Physio', language: 'en-US' },
  { name: 'Cedar Hardware', language: 'en-US' },
  { name: 'Elm Street Legal', language: 'en-US' },
  { name: 'Clínica del Sol', language: 'es-US' },
  { name: 'Orchard Homes', language: 'en-US' },
  { name: 'Copper Kettle Kitchen', language: 'en-US' },
  { name: 'Brightside Care Line', language: 'en-US' },
  { name: 'Lakeview Vets', language: 'en-US' },
  { name: 'Fernhill Pharmacy', language: 'multi' },
  { name: 'Quarry Road Garage', language: 'en-US' },
  { name: 'Meridian Helpdesk', language: 'en-US' },
  { name: 'Librería Aurora Books', language: 'es-US' },
  { name: 'Stonebridge Lettings', language: 'en-US' },
  { name: 'Maple Insurance', language: 'en-US' },
  { name: 'Riverside Health', language: 'multi' },
] as const;

const TIME_ZONES = ['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles'];

/** Who changes agents in the dashboard. */
const PEOPLE = ['user:anna.keller', 'user:ben.ito', 'user:chloe.martin', 'user:support'];

/** A name of a list; those who come after its end get a number. */
function numbered(names: readonly string[], index: number): string {
  const round = Math.floor(index / names.length);
  return round === 0 ? nth(names, index) : `${nth(names, index)} ${round + 1}`;
}
