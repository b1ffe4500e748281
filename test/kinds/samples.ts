import type { Json, JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { SEED } from '../e2e/clinic.ts';

/** Contents by path. */
type Files = Readonly<Record<string, string | Buffer>>;

/** One resource of a kind on its way through its life. Values are written as in the configuration. */
export type Sample = {
  readonly kind: string;
  readonly title: string;
  /** What the platform has at the start; nothing of the kind unless given. */
  readonly seed?: SeedDocument;
  /** Other resources that it refers to, by section. */
  readonly needs?: JsonObject;
  readonly files?: Files;
  /** As many fields as can be given at once. */
  readonly whole: JsonObject;
  /** The same fields with other values, and other files where those are named. */
  readonly changed: { readonly resource: JsonObject; readonly files?: Files };
  /** With some members of objects and elements of lists taken out. */
  readonly cut?: JsonObject;
  /** With the fields that cannot be left out. */
  readonly least: JsonObject;
};

/** The secrets that samples read. */
export const SECRETS = { SECRET_A: 'canary-a-1b9c', SECRET_B: 'canary-b-77e0' } as const;

const secret = (name: keyof typeof SECRETS): Json => ({ $secret: `env:${name}` });

const WAV = Buffer.from('RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');

const [organization] = SEED.organizations ?? [];

const webhook = (name: string, condition: string, more: JsonObject = {}): JsonObject => ({
  type: 'webhook',
  name,
  friendlyName: `The ${name}`,
  description: `Use it for ${name}.`,
  condition,
  method: 'POST',
  url: `https://crm.example.test/${name}`,
  headers: [
    { key: 'X-Api-Key', value: secret('SECRET_A') },
    { key: 'X-Plain', value: secret('SECRET_B') },
  ],
  parameters: [{ key: 'phone', value: '' }],
  ...more,
});

const connection = (name: string, more: JsonObject = {}): JsonObject => ({
  connection_name: name,
  mcp_endpoint_url: 'https://mcp.example.test/mcp',
  transport_type: 'http',
  auth_headers: { Authorization: secret('SECRET_A') },
  initialization_options: { location: 'harbor', nested: { deep: [1, 2] } },
  allowed_tool_names: ['find_slot', 'book'],
  pre_answer_calls: [
    {
      tool_name: 'find_patient',
      arguments: { phone: '{{caller_id}}' },
      input_schema: { type: 'object', properties: { phone: { type: 'string' } } },
    },
  ],
  ...more,
});

const AGENT: JsonObject = {
  name: 'Sample',
  description: 'Answers the sample line.',
  status: 'active',
  greeting_message: 'Hello.',
  outbound_greeting_message: 'Hello, this is the clinic.',
  outbound_static_greeting: 'This call may be recorded.',
  voicemail_message: 'Please call back.',
  voicemail_message_audio_url: 'https://harbor.example.test/voicemail.mp3',
  warm_transfer_handoff_instructions: 'Name and reason.',
  system_prompt: '# Sample\n\nBe brief.\n',
  agent_type: 'translator',
  interpreter_config: { speaker_identification: 'voice' },
  model: 'alpha-4.1',
  voice_model: 'realtime-1',
  stt_model: 'voxc',
  tts_model: 'cartx',
  voice_settings: { voice_id: { $ref: 'custom_voice.needed' }, speed: 1.05, language: 'en' },
  config: { enable_recording: true, user_timezone: 'America/New_York', inactivity_timeout: 20 },
  extensions: {
    tools: [
      webhook('before', 'before_call'),
      webhook('during', 'during_call'),
      webhook('after', 'after_call'),
    ],
    mcp_servers: [connection('Calendar'), connection('Records', { transport_type: 'sse' })],
  },
  integrations: {
    ehrProvider: { username: 'desk', password: secret('SECRET_A') },
    calendarA: {
      calendar_name: 'Chairs',
      access_token: secret('SECRET_A'),
      refresh_token: secret('SECRET_B'),
    },
    calendarB: {
      calendar_name: 'Rooms',
      access_token: secret('SECRET_B'),
      refresh_token: secret('SECRET_A'),
    },
    smsProvider: {
      account_sid: 'AC01',
      auth_token: secret('SECRET_A'),
      api_key_sid: 'SK01',
      api_key_secret: secret('SECRET_B'),
      fromNumber: '+15550100',
    },
    pbxProvider: { client_id: 'harbor', client_secret: secret('SECRET_A') },
  },
  transfer_enabled: true,
  transfer_rules: 'When asked.',
  web_transfer_enabled: true,
  language: 'en-US',
  timezone: 'America/New_York',
  enable_recording: true,
  echo_detection: true,
  call_detection: false,
  amd_config: {
    enabled: true,
    sensitivity: 'medium',
    on_machine: 'voicemail',
    on_silence: 'hangup',
  },
  ivr_navigation: { enabled: true },
  default_retry_policy_id: { $ref: 'retry_policy.needed' },
  contact_policy: {
    require_consent_basis: true,
    calling_windows: [{ days: ['mon', 'tue'], from: '09:00', to: '18:00' }],
    abandon_rate_alert_threshold: 3,
  },
  screenshare_enabled: false,
  email: ['b@harbor.example.test', 'a@harbor.example.test'],
  email_tool_enabled: true,
  email_tool_instructions: 'Send a summary.',
  knowledgebase_links: ['https://harbor.example.test/b', 'https://harbor.example.test/a'],
  place_id: 'listing-0123',
  payments: {
    tool_enabled: true,
    success_url: 'https://harbor.example.test/paid',
    max_single_charge_cents: 20_000,
    max_per_call_cents: 40_000,
    max_attempts_per_call: 2,
  },
};

const AGENT_CHANGED: JsonObject = {
  ...AGENT,
  description: 'Answers the other line.',
  status: 'inactive',
  greeting_message: 'Hello again.',
  outbound_greeting_message: 'Hello, it is us.',
  outbound_static_greeting: 'This call is recorded.',
  voicemail_message: 'Please call back soon.',
  voicemail_message_audio_url: 'https://harbor.example.test/other.mp3',
  warm_transfer_handoff_instructions: 'Reason, then name.',
  system_prompt: '# Sample\n\nBe very brief.\n',
  agent_type: 'receptionist',
  interpreter_config: { speaker_identification: 'both' },
  model: 'alpha-4o',
  voice_model: 'realtime-2',
  tts_model: 'minx',
  voice_settings: { voice_id: 'builtin-1', speed: 1, language: 'es' },
  config: { enable_recording: false, user_timezone: 'America/Chicago', inactivity_timeout: 30 },
  extensions: {
    tools: [
      webhook('after', 'after_call', { method: 'PUT' }),
      webhook('during', 'during_call', { url: 'https://crm.example.test/v2' }),
      webhook('before', 'before_call'),
      webhook('another', 'during_call'),
    ],
    mcp_servers: [
      connection('Records', { transport_type: 'http', allowed_tool_names: ['book'] }),
      connection('Calendar', { auth_headers: { Authorization: secret('SECRET_B') } }),
    ],
  },
  integrations: {
    ehrProvider: { username: 'frontdesk', password: secret('SECRET_B') },
    calendarA: {
      calendar_name: 'All chairs',
      access_token: secret('SECRET_B'),
      refresh_token: secret('SECRET_A'),
    },
    calendarB: {
      calendar_name: 'All rooms',
      access_token: secret('SECRET_A'),
      refresh_token: secret('SECRET_B'),
    },
    smsProvider: {
      account_sid: 'AC02',
      auth_token: secret('SECRET_B'),
      api_key_sid: 'SK02',
      api_key_secret: secret('SECRET_A'),
      fromNumber: '+15550199',
    },
    pbxProvider: { client_id: 'pinecrest', client_secret: secret('SECRET_B') },
  },
  transfer_enabled: false,
  transfer_rules: 'Never.',
  web_transfer_enabled: false,
  language: 'multi',
  timezone: 'America/Chicago',
  enable_recording: false,
  echo_detection: false,
  call_detection: true,
  amd_config: { enabled: false, sensitivity: 2, on_machine: 'hangup', on_silence: 'wait' },
  ivr_navigation: { enabled: false },
  contact_policy: {
    require_consent_basis: false,
    calling_windows: [{ days: ['wed'], from: '10:00', to: '17:00' }],
    abandon_rate_alert_threshold: 5,
  },
  screenshare_enabled: true,
  email: ['c@harbor.example.test'],
  email_tool_enabled: false,
  email_tool_instructions: 'Never.',
  knowledgebase_links: ['https://harbor.example.test/c'],
  place_id: 'listing-9876',
  payments: {
    tool_enabled: true,
    success_url: 'https://harbor.example.test/thanks',
    max_single_charge_cents: 10_000,
    max_per_call_cents: 30_000,
    max_attempts_per_call: 1,
  },
};

const AGENT_CUT: JsonObject = {
  ...AGENT_CHANGED,
  interpreter_config: null,
  voice_settings: { voice_id: 'builtin-1' },
  config: { user_timezone: 'America/Chicago' },
  extensions: {
    tools: [webhook('during', 'during_call', { headers: [], parameters: [] })],
    mcp_servers: [
      {
        connection_name: 'Records',
        mcp_endpoint_url: 'https://mcp.example.test/mcp',
        transport_type: 'sse',
      },
    ],
  },
  integrations: {
    smsProvider: { account_sid: 'AC02', auth_token: secret('SECRET_B'), fromNumber: '+15550199' },
  },
  amd_config: { enabled: true },
  contact_policy: { require_consent_basis: true },
  email: [],
  payments: { tool_enabled: false },
};

const AGENT_NEEDS: JsonObject = {
  custom_voices: { needed: { name: 'Needed', clip: 'needed.wav', consent: true } },
  retry_policies: { needed: { name: 'Needed' } },
};

export const samples: readonly Sample[] = [
  {
    kind: 'agent',
    title: 'made from nothing',
    needs: AGENT_NEEDS,
    files: { 'needed.wav': WAV },
    whole: AGENT,
    changed: { resource: AGENT_CHANGED },
    cut: AGENT_CUT,
    least: { name: 'Sample' },
  },
  {
    kind: 'agent',
    title: 'made in the dashboard, with a registration',
    seed: {
      ...SEED,
      agents: [
        {
          organization_id: organization?.id ?? '',
          name: 'Sample',
          greeting_message: 'Made by hand.',
          echo_detection: true,
          sip_registration_data: {
            sipDomain: 'sip.example.test',
            username: 'sample',
            password: 'canary-stored',
            proxy: 'proxy.example.test',
            port: 5060,
            transport: 'udp',
            subscribe: false,
            authUsername: null,
            did: null,
            sipRoutingHeaderXDestUser: null,
            registrationEnabled: false,
            extension: '100',
          },
        },
      ],
    },
    whole: { name: 'Sample', greeting_message: 'Hello.', sip: { registration_enabled: true } },
    changed: {
      resource: {
        name: 'Sample',
        greeting_message: 'Hello.',
        sip: { registration_enabled: false },
      },
    },
    least: { name: 'Sample' },
  },
  {
    kind: 'retry_policy',
    title: 'with every field',
    whole: {
      name: 'Sample',
      rules: {
        no_answer: { delay_seconds: 900, max_attempts: 3 },
        busy: { delay_seconds: 60, max_attempts: 1 },
      },
      contact_policy: { max_per_day: 2, quiet: { from: '20:00' } },
      on_exhausted: 'notify',
      on_exhausted_target: 'queue-callbacks',
      reschedule_out_of_window: true,
    },
    changed: {
      resource: {
        name: 'Sample',
        rules: { no_answer: { delay_seconds: 600, max_attempts: 3 } },
        contact_policy: { max_per_day: 1, quiet: { from: '21:00' } },
        on_exhausted: 'notify',
        on_exhausted_target: 'queue-others',
        reschedule_out_of_window: false,
      },
    },
    cut: { name: 'Sample', rules: {}, contact_policy: { max_per_day: 1 }, on_exhausted: 'end' },
    least: { name: 'Sample' },
  },
  {
    kind: 'email_template',
    title: 'with every field',
    whole: {
      name: 'Sample',
      subject: 'Your visit on {{date}}',
      body_html: '<p>Hello {{name|there}}</p>\n',
      from_name: 'Harbor Dental',
      status: 'active',
    },
    changed: {
      resource: {
        name: 'Sample renamed',
        subject: 'A visit on {{date}}',
        body_html: '<p>Good day</p>',
        from_name: 'Harbor',
        status: 'draft',
      },
    },
    least: { name: 'Sample renamed' },
  },
  {
    kind: 'sms_template',
    title: 'with every field',
    whole: {
      name: 'Sample',
      message_type: 'sms',
      description: 'Sent a day before.',
      body: 'See you at {{time}}.',
      tags: ['reminder', 'appointment'],
      from_number: '+15550100',
      status: 'active',
    },
    changed: {
      resource: {
        name: 'Sample',
        // Another type replaces the template.
        message_type: 'mms',
        description: 'Sent two days before.',
        body: 'See you.',
        tags: ['appointment'],
        from_number: '+15550199',
        status: 'draft',
      },
    },
    least: { name: 'Sample', message_type: 'mms' },
  },
  {
    kind: 'knowledge_source',
    title: 'a page',
    whole: { url: 'https://harbor.example.test/faq', reingest_after: '7d' },
    // Another address is another source; the old one stays on the platform.
    changed: { resource: { url: 'https://harbor.example.test/questions' } },
    least: { url: 'https://harbor.example.test/questions' },
  },
  {
    kind: 'knowledge_source',
    title: 'a document',
    files: { 'prices.csv': 'check-up,80\n' },
    whole: { file: 'prices.csv' },
    changed: { resource: { file: 'prices.csv' }, files: { 'prices.csv': 'check-up,85\n' } },
    least: { file: 'prices.csv' },
  },
  {
    kind: 'custom_voice',
    title: 'with every field',
    files: { 'sample.wav': WAV },
    whole: {
      name: 'Sample',
      clip: 'sample.wav',
      language: 'en',
      description: 'The voice of the samples.',
      consent: true,
    },
    // A voice cannot be changed: one of another name is made beside it.
    changed: {
      resource: { name: 'Sample again', clip: 'sample.wav', language: 'de', consent: true },
    },
    least: { name: 'Sample again', clip: 'sample.wav', language: 'de', consent: true },
  },
];
