import type { JsonObject } from '../core/value.ts';
import { makeUuid } from './ids.ts';
import type { SeedAgent, SeedDocument, SeedOrganization } from './seed.ts';

/** Organizations of a generated account. */
const NAMES = [
  'Harbor Dental',
  'Northside Physio',
  'Lakeview Vets',
  'Elm Street Legal',
  'Orchard Homes',
];

/** The agents of a fleet take these in turn. */
export const ROLES = [
  {
    type: 'receptionist',
    title: 'Front desk',
    task: 'greet callers, find out what they need and see that they get it',
  },
  {
    type: 'appointment_scheduler',
    title: 'Scheduling',
    task: 'book, move and cancel appointments',
  },
  {
    type: 'outbound',
    title: 'Recall',
    task: 'call people who are due for a visit and offer them a time',
  },
  {
    type: 'message_taker',
    title: 'After hours',
    task: 'take messages while nobody is in, and tell an emergency from the rest',
  },
  {
    type: 'translator',
    title: 'Interpreter',
    task: 'interpret between a caller and a member of staff',
  },
] as const;
type Role = (typeof ROLES)[number];

const MODELS = ['alpha-4.1', 'alpha-4o', 'alpha-4.1-mini', 'beta-3-fast'];

/**
 * An account with a number of agents, the same for the same number. Agents are spread over the
 * organizations given, or over five of its own. They are made at the start unless `createdAt` says when.
 */
export function generateFleet(
  count: number,
  given: readonly SeedOrganization[] = [],
  createdAt?: string,
): SeedDocument {
  const organizations =
    given.length > 0 ? given : NAMES.map((name) => ({ id: makeUuid(name), name }));
  const policy = {
    id: makeUuid('policy'),
    name: 'Gentle redial',
    rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } },
  };
  return {
    ...(given.length > 0 ? {} : { organizations }),
    ...(count > 0 ? { retry_policies: [policy] } : {}),
    agents: Array.from({ length: count }, (_, index) => ({
      ...generateAgent(index, nth(organizations, index), nth(ROLES, index), policy.id),
      ...(createdAt === undefined ? {} : { created_at: createdAt }),
    })),
  };
}

/** A member of a list that is not empty; the list begins again where it ends. */
export function nth<T>(list: readonly T[], index: number): T {
  const member = list[index % list.length];
  if (member === undefined) throw new Error('a list that is taken in turns has members');
  return member;
}

/** One agent of a fleet, the same for the same index. */
export function generateAgent(
  index: number,
  owner: SeedOrganization,
  role: Role,
  policyId: string,
): SeedAgent {
  const number = index + 1;
  const name = `${role.title} ${number}`;
  return {
    id: makeUuid(`agent ${number}`),
    organization_id: owner.id,
    name,
    description: `${role.title} of ${owner.name}.`,
    agent_type: role.type,
    model: nth(MODELS, index),
    greeting_message: `Thank you for calling ${owner.name}, how can I help?`,
    system_prompt: prompt(name, owner.name, role.task),
    voice_settings: { voice_id: `builtin-${index % 7}`, speed: 1 },
    config: { enable_recording: true, user_timezone: 'America/New_York', inactivity_timeout: 20 },
    timezone: 'America/New_York',
    transfer_enabled: index % 2 === 0,
    enable_recording: true,
    ...(role.type === 'outbound' ? { default_retry_policy_id: policyId } : {}),
    ...(index % 3 === 0 ? { extensions: extensions(index, owner) } : {}),
    ...(index % 4 === 0 ? { integrations: integrations(number, owner) } : {}),
    ...(index % 5 === 0 ? { sip_registration_data: registration(number) } : {}),
  };
}

function prompt(name: string, company: string, task: string): string {
  return [
    `You are ${name}, who answers the phone for ${company}. Your task is to ${task}.`,
    '',
    '## How to speak',
    '- One or two short sentences at a time; then let the caller answer.',
    '- Say numbers, dates and times the way people say them.',
    '- Repeat names and phone numbers back before you rely on them.',
    '',
    '## What to find out',
    '1. Who is calling, and the number that they can be reached on.',
    '2. What it is about, and how urgent it is.',
    '3. When somebody can call them back.',
    '',
    '## What not to do',
    '- Give no advice that needs a professional; offer a call back instead.',
    '- Never read out what another person told us.',
    `- Do not say that you are a person. If somebody asks, you are the assistant of ${company}.`,
    '',
  ].join('\n');
}

/** An organization has one account with each of its providers, whatever agents use it. */
function nameAccount({ name }: SeedOrganization): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function extensions(index: number, owner: SeedOrganization): JsonObject {
  const tool = {
    type: 'webhook',
    name: 'crm_lookup',
    friendlyName: 'CRM lookup',
    description: 'Find the caller by phone number.',
    condition: 'during_call',
    method: 'GET',
    url: 'https://crm.example.test/contacts',
    headers: [{ key: 'X-Api-Key', value: `crm-key-of-${nameAccount(owner)}` }],
    parameters: [{ key: 'phone', value: '' }],
  };
  const server = {
    connection_name: 'Calendar',
    mcp_endpoint_url: 'https://mcp.example.test/mcp',
    transport_type: 'http',
    tools: [{ name: 'find_slot', description: 'Find a free time.' }],
  };
  return { tools: [tool], mcp_servers: index % 2 === 0 ? [server] : [] };
}

function integrations(number: number, owner: SeedOrganization): JsonObject {
  return {
    smsProvider: {
      account_sid: `AC-${nameAccount(owner)}`,
      auth_token: `token-of-${nameAccount(owner)}`,
      fromNumber: `+1555${String(number).padStart(7, '0')}`,
    },
  };
}

function registration(number: number): JsonObject {
  return {
    sipDomain: 'sip.example.test',
    username: `agent-${number}`,
    password: `sip-password-of-agent-${number}`,
    proxy: 'proxy.example.test',
    port: 5060,
    transport: 'udp',
    subscribe: false,
    extension: String(1000 + number),
    registrationEnabled: true,
  };
}
