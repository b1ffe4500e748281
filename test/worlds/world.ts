import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/core/value.ts';
import type { Dialect, Fault } from '../../src/simulator/index.ts';
import { VALUES } from '../e2e/dialect-table.ts';
import { fault } from './faults.ts';

/** What a team wants, by section and key, as the configuration has it. */
export type Wanted = { readonly [section: string]: { readonly [key: string]: JsonObject } };

/** What stands on the platform, by section, as it stores it: secrets and all. */
export type Stored = { readonly [section: string]: readonly JsonObject[] };

/** One step in the life of a stack: what is wanted from then on, and what goes wrong meanwhile. */
export type Step = {
  readonly wanted: Wanted;
  readonly faults: readonly Fault[];
  /** Edits in the dashboard before it, by name of the agent. */
  readonly edits: { readonly [agent: string]: JsonObject };
  readonly allowDelete: boolean;
  /** Whether the state is thrown away before it. */
  readonly forget: boolean;
  /** Tells secrets of one step from those of another. */
  readonly generation: number;
};

export type World = {
  readonly live: Stored;
  readonly dialect: Partial<Dialect>;
  readonly steps: readonly Step[];
};

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';

const text = fc.constantFrom('one', 'two', 'three\n', 'a longer text '.repeat(9), 'ü “q” {{x}}');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const some = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .record(Object.fromEntries(Object.entries(members).map(([name, one]) => [name, maybe(one)])))
    .map(compact);

/** Without members that are undefined: those were left out. */
function compact(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** A secret as the configuration gives it, from one of two sources of the same value, and as the platform has it. */
const SECRETS = [{ $secret: 'env:WORLD_SECRET' }, { $secret: 'env:WORLD_SECRET_AGAIN' }];
const given = { secret: fc.constantFrom(...SECRETS) };
const kept = { secret: fc.constantFrom('kept-1', 'kept-2') };

type Secrets = { readonly secret: fc.Arbitrary<unknown> };

const keyed = (key: string, members: (name: string) => fc.Arbitrary<JsonObject>) =>
  fc
    .subarray(['a', 'b', 'c'])
    .chain((names) =>
      fc.tuple(...names.map((name) => members(name))).map((all) => ({ names, all })),
    )
    .map(({ names, all }) => names.map((name, at) => ({ [key]: name, ...all[at] })));

const tools = (secrets: Secrets) =>
  keyed('name', () =>
    fc
      .record({
        more: some({ friendlyName: text, description: text }),
        headers: maybe(keyed('key', () => fc.record({ value: secrets.secret }).map(compact))),
        url: fc.constantFrom('https://x.test/1', 'https://x.test/2'),
      })
      .map(({ more, headers, url }) =>
        compact({
          type: 'webhook',
          condition: 'during_call',
          method: 'GET',
          url,
          headers,
          ...more,
        }),
      ),
  );

/** Ids of connections that were saved, which have what the platform adds to them. */
const SAVED: Readonly<Record<string, string>> = {
  a: '0d5c7e4a-5f2e-4a3b-9a51-2c8f0a7d3e0a',
  b: '0d5c7e4a-5f2e-4a3b-9a51-2c8f0a7d3e0b',
  c: '0d5c7e4a-5f2e-4a3b-9a51-2c8f0a7d3e0c',
};

const servers = (secrets: Secrets) =>
  keyed('connection_name', (name) =>
    fc
      .record({
        more: some({
          allowed_tool_names: fc.constantFrom(['x'], ['x', 'y']),
          initialization_options: fc.constantFrom({ a: 1 }, { a: { b: ['c'] } }),
        }),
        auth: maybe(fc.record({ Authorization: secrets.secret })),
      })
      .map(({ more, auth }) =>
        compact({
          ...(secrets === kept ? { id: SAVED[name], tools: [] } : {}),
          mcp_endpoint_url: 'https://mcp.test/x',
          transport_type: 'http',
          auth_headers: auth,
          ...more,
        }),
      ),
  );

/** Fields of an agent in the names that reads use. */
const agentFields = (secrets: Secrets) => ({
  description: text,
  greeting_message: text,
  system_prompt: text,
  outbound_greeting_message: text,
  status: fc.constantFrom('active', 'inactive'),
  language: fc.constantFrom('en-US', 'multi'),
  echo_detection: fc.boolean(),
  enable_recording: fc.boolean(),
  email: fc.subarray(['a@x.test', 'b@x.test', 'c@x.test'], { minLength: 1 }),
  // A cloned voice brings its language along where none is written.
  voice_settings: fc.record({
    voice_id: fc.constantFrom('builtin-1', 'builtin-2'),
    language: fc.constantFrom('en', 'es'),
    ...{ speed: fc.constantFrom(1, 1.5) },
  }),
  config: some({
    user_timezone: fc.constantFrom('America/New_York', 'Europe/Vienna'),
    inactivity_timeout: fc.constantFrom(10, 20),
  }),
  extensions: some({ tools: tools(secrets), mcp_servers: servers(secrets) }),
  integrations: some({
    smsProvider: some({
      account_sid: fc.constantFrom('AC1', 'AC2'),
      auth_token: secrets.secret,
      fromNumber: fc.constantFrom('+15550100', '+15550199'),
    }),
    ehrProvider: some({ username: fc.constantFrom('u1', 'u2'), password: secrets.secret }),
  }),
  contact_policy: some({
    require_consent_basis: fc.boolean(),
    abandon_rate_alert_threshold: fc.constantFrom(3, 5),
  }),
  amd_config: some({ enabled: fc.boolean(), on_machine: fc.constantFrom('voicemail', 'hangup') }),
});

const policyFields = {
  rules: fc.constantFrom(
    { no_answer: { delay_seconds: 900, max_attempts: 3 } },
    {
      no_answer: { delay_seconds: 60, max_attempts: 1 },
      busy: { delay_seconds: 5, max_attempts: 2 },
    },
  ),
  reschedule_out_of_window: fc.boolean(),
};
const emailFields = {
  subject: fc.constantFrom('Hello {{date}}', 'Bye'),
  body_html: fc.constantFrom('<p>x</p>', '<p>y</p>\n'),
  from_name: fc.constantFrom('Harbor', 'Bay'),
};
const smsFields = {
  body: fc.constantFrom('See you.', 'Come {{time}}'),
  description: text,
  from_number: fc.constantFrom('+15550100', '+15550199'),
};

const NAMES = ['a', 'b', 'c'] as const;

/** A part of the names, each with fields of its own. */
const named = (fields: fc.Arbitrary<JsonObject>, base: JsonObject = {}) =>
  fc
    .subarray([...NAMES])
    .chain((names) =>
      fc
        .tuple(...names.map(() => fields))
        .map((all) =>
          Object.fromEntries(names.map((name, at) => [name, { ...base, name, ...all[at] }])),
        ),
    );

const EMAIL: JsonObject = { subject: 'S', body_html: 'B', status: 'draft' };
const SMS: JsonObject = { message_type: 'sms', body: 'B', status: 'draft' };

const wanted: fc.Arbitrary<Wanted> = fc
  .record({
    agents: named(some(agentFields(given))),
    retry_policies: named(some(policyFields)),
    email_templates: named(some(emailFields), EMAIL),
    sms_templates: named(some(smsFields), SMS),
    sources: fc.subarray([...NAMES]),
    voices: fc.subarray([...NAMES]),
    follows: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES))),
    speaks: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES))),
  })
  .map(({ sources, voices, follows, speaks, ...rest }) => {
    const agents: Record<string, JsonObject> = { ...rest.agents };
    const refer = (pairs: readonly (readonly [string, string])[], has: (key: string) => boolean) =>
      pairs.filter(([agent, other]) => agents[agent] !== undefined && has(other));
    for (const [agent, policy] of refer(follows, (key) => key in rest.retry_policies))
      agents[agent] = {
        ...agents[agent],
        default_retry_policy_id: { $ref: `retry_policy.${policy}` },
      };
    for (const [agent, voice] of refer(speaks, (key) => voices.includes(key as 'a')))
      agents[agent] = {
        ...agents[agent],
        voice_settings: { voice_id: { $ref: `custom_voice.${voice}` }, language: 'en' },
      };
    return {
      ...rest,
      agents,
      sources: Object.fromEntries(sources.map((key) => [key, { url: `https://x.test/${key}` }])),
      custom_voices: Object.fromEntries(
        voices.map((key) => [key, { name: key, clip: 'clip.wav', language: 'en', consent: true }]),
      ),
    };
  });

/** What the platform has: some of the names that may be wanted, and one of each that nobody ever wants. */
const stored: fc.Arbitrary<Stored> = fc
  .record({
    agents: named(some(agentFields(kept))),
    foreign: some(agentFields(kept)),
    retry_policies: named(some(policyFields)),
    email_templates: named(some(emailFields), EMAIL),
    sms_templates: named(some(smsFields), SMS),
    sources: fc.subarray([...NAMES]),
  })
  .map(({ agents, foreign, retry_policies, email_templates, sms_templates, sources }) => ({
    agents: [...Object.values(agents), { name: 'foreign', ...foreign }].map((one) => ({
      organization_id: HARBOR,
      ...one,
    })),
    retry_policies: [...Object.values(retry_policies), { name: 'foreign' }],
    email_templates: [...Object.values(email_templates), { name: 'foreign', ...EMAIL }].map(
      (one) => ({ organization_id: HARBOR, ...one }),
    ),
    sms_templates: [...Object.values(sms_templates), { name: 'foreign', ...SMS }].map((one) => ({
      organization_id: HARBOR,
      ...one,
    })),
    sources: sources.map((key) => ({
      knowledge_base_id: BASE,
      source_type: 'url',
      status: 'active',
      url: `https://x.test/${key}`,
    })),
  }));

/** Without a list nobody can tell whether a creation whose answer was lost took. */
const LISTED: Partial<Dialect>[] = [
  { absent: [] },
  { absent: ['getEmailTemplate', 'getSmsTemplate'] },
];

const dialect: fc.Arbitrary<Partial<Dialect>> = fc
  .record(
    Object.fromEntries(
      Object.entries(VALUES)
        .filter(([name]) => name !== 'absent')
        .map(([name, values]) => [
          name,
          fc.constantFrom<Json | undefined>(...(values as unknown as Json[])),
        ]),
    ),
  )
  // Names and values come from one table.
  .chain((one) =>
    fc.constantFrom(...LISTED).map((listed) => ({ ...one, ...listed }) as Partial<Dialect>),
  );

const step: fc.Arbitrary<Omit<Step, 'generation'>> = fc.record({
  wanted,
  faults: fc.array(fault, { maxLength: 4 }),
  edits: fc.dictionary(fc.constantFrom(...NAMES, 'foreign'), some(agentFields(kept)), {
    maxKeys: 2,
  }),
  allowDelete: fc.boolean(),
  forget: fc.boolean(),
});

/** Any live × any desired, twice × any dialect × any faults. */
export const worlds: fc.Arbitrary<World> = fc
  .record({ live: stored, dialect, steps: fc.array(step, { minLength: 1, maxLength: 3 }) })
  .map(({ steps, ...rest }) => ({
    ...rest,
    steps: steps.map((one, generation) => ({ ...one, generation })),
  }));
