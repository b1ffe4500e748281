import type { Json, JsonObject } from '../../src/core/value.ts';

/** The secrets that samples read. */
export const SECRETS = { SECRET_A: 'canary-a-1b9c', SECRET_B: 'canary-b-77e0' } as const;

const secret = (name: keyof typeof SECRETS): Json => ({ $secret: `env:${name}` });

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

/** Every field that an agent can be given, but those that need a SIP registration. */
export const AGENT: JsonObject = {
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
  config: {
    enable_recording: true,
    user_timezone: 'America/New_York',
    inactivity_timeout: 20,
    phi_redaction: true,
    secure_access: true,
    use_reseller_smtp: true,
  },
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

/** Every one of them with another value. */
export const AGENT_CHANGED: JsonObject = {
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
  config: {
    enable_recording: false,
    user_timezone: 'America/Chicago',
    inactivity_timeout: 30,
    phi_redaction: false,
    secure_access: false,
    use_reseller_smtp: false,
  },
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

/** With some members of objects and elements of lists taken out. */
export const AGENT_CUT: JsonObject = {
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
