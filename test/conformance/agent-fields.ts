import { expect } from 'vitest';
import { FULL_AGENT } from './full-agent.ts';
import { ID, TIMESTAMP, UUID } from './ids.ts';
import { expectReply, type Row, reads, section, writes } from './suite.ts';
import { record, records } from './world.ts';

const TEXT = expect.any(String);
const FLAG = expect.any(Boolean);
const OBJECT = expect.toSatisfy(
  (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const TEXTS = expect.toSatisfy(
  (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
);

/** What a read of an agent that has everything holds in each field. */
const READ: { readonly [field: string]: unknown } = {
  id: expect.stringMatching(UUID),
  organization_id: expect.stringMatching(UUID),
  name: TEXT,
  description: TEXT,
  status: TEXT,
  is_active: FLAG,
  greeting_message: TEXT,
  outbound_greeting_message: TEXT,
  outbound_static_greeting: TEXT,
  voicemail_message: TEXT,
  voicemail_message_audio_url: TEXT,
  warm_transfer_handoff_instructions: TEXT,
  system_prompt: TEXT,
  agent_type: TEXT,
  interpreter_config: OBJECT,
  model: TEXT,
  voice_model: TEXT,
  stt_model: TEXT,
  tts_model: TEXT,
  voice_settings: expect.objectContaining({ voice_id: TEXT, speed: expect.any(Number) }),
  config: expect.objectContaining({
    enable_recording: FLAG,
    user_timezone: TEXT,
    inactivity_timeout: expect.any(Number),
  }),
  extensions: { tools: expect.any(Array), mcp_servers: expect.any(Array) },
  integrations: OBJECT,
  transfer_enabled: FLAG,
  transfer_rules: TEXT,
  web_transfer_enabled: FLAG,
  language: TEXT,
  timezone: TEXT,
  enable_recording: FLAG,
  echo_detection: FLAG,
  call_detection: FLAG,
  amd_config: expect.objectContaining({ enabled: FLAG, on_machine: TEXT, on_silence: TEXT }),
  ivr_navigation: OBJECT,
  default_retry_policy_id: expect.stringMatching(UUID),
  contact_policy: expect.objectContaining({ require_consent_basis: FLAG }),
  screenshare_enabled: FLAG,
  email: TEXTS,
  email_tool_enabled: FLAG,
  email_tool_instructions: TEXT,
  knowledgebase_links: TEXTS,
  sip_registration_data: OBJECT,
  place_id: TEXT,
  place_data: OBJECT,
  place_context: TEXT,
  place_fetched_at: TEXT,
  created_at: expect.stringMatching(TIMESTAMP),
  updated_at: expect.stringMatching(TIMESTAMP),
};

/** The name that a field is written under, a value, and the name that it is read under. */
const WRITTEN: readonly (readonly [write: string, value: unknown, read: string])[] = [
  ['name', 'Other name', 'name'],
  ['description', 'Other description', 'description'],
  ['status', 'inactive', 'status'],
  ['greetingMessage', 'Other greeting', 'greeting_message'],
  ['outboundGreetingMessage', 'Other outbound greeting', 'outbound_greeting_message'],
  ['outboundStaticGreeting', 'Other fixed line', 'outbound_static_greeting'],
  ['voicemailMessage', 'Other message', 'voicemail_message'],
  ['voicemailMessageAudioUrl', 'https://x.example.test/v.mp3', 'voicemail_message_audio_url'],
  ['warmTransferHandoffInstructions', 'Be brief.', 'warm_transfer_handoff_instructions'],
  ['systemPrompt', 'Other prompt', 'system_prompt'],
  ['agentType', 'message_taker', 'agent_type'],
  ['model', 'beta-3-fast', 'model'],
  ['voiceModel', 'realtime-2', 'voice_model'],
  ['sttModel', 'voxc', 'stt_model'],
  ['ttsModel', 'minx', 'tts_model'],
  ['transferEnabled', false, 'transfer_enabled'],
  ['transferRules', 'Never.', 'transfer_rules'],
  ['webTransferEnabled', false, 'web_transfer_enabled'],
  ['language', 'multi', 'language'],
  ['timezone', 'Europe/Berlin', 'timezone'],
  ['enableRecording', false, 'enable_recording'],
  ['echoDetection', false, 'echo_detection'],
  ['callDetection', true, 'call_detection'],
  ['defaultRetryPolicyId', ID.brisk, 'default_retry_policy_id'],
  ['screenshareEnabled', true, 'screenshare_enabled'],
  ['email', ['other@harbor.example.test', 'b@harbor.example.test'], 'email'],
  ['emailToolEnabled', false, 'email_tool_enabled'],
  ['emailToolInstructions', 'Never.', 'email_tool_instructions'],
  ['knowledgebaseLinks', ['https://harbor.example.test/prices'], 'knowledgebase_links'],
  ['placeId', 'listing-2', 'place_id'],
  ['voiceSettings', { voice_id: 'builtin-2', speed: 0.9, language: 'en' }, 'voice_settings'],
  [
    'config',
    { enable_recording: false, user_timezone: 'Europe/Berlin', inactivity_timeout: 5 },
    'config',
  ],
  [
    'amdConfig',
    { enabled: false, sensitivity: 'high', on_machine: 'hangup', on_silence: 'wait' },
    'amd_config',
  ],
  ['ivrNavigation', { enabled: false }, 'ivr_navigation'],
  [
    'contactPolicy',
    { require_consent_basis: false, calling_windows: [], abandon_rate_alert_threshold: 5 },
    'contact_policy',
  ],
  [
    'interpreterConfig',
    { speaker_identification: 'both', first: 'en', second: 'es' },
    'interpreter_config',
  ],
];

/** Fields that the service keeps itself, and a value that a write may not give them. */
const KEPT: readonly (readonly [write: string, value: unknown, read: string])[] = [
  ['id', ID.nobody, 'id'],
  ['isActive', false, 'is_active'],
  ['placeData', { title: 'Forged' }, 'place_data'],
  ['placeContext', 'Forged', 'place_context'],
  ['placeFetchedAt', '2030-01-01T00:00:00.000Z', 'place_fetched_at'],
  ['createdAt', '2030-01-01T00:00:00.000Z', 'created_at'],
];

const DESK = `/v1/agents/${ID.desk}`;

export const agentFields: readonly Row[] = [
  ...section(
    'Resources · Agent · Fields read',
    Object.entries(READ).map(([field, matcher]) =>
      reads(`${field} is returned, in its type`, async ({ get }) => {
        expect(record(await get(DESK))[field]).toEqual(matcher);
      }),
    ),
    reads('a read holds these fields and no others', async ({ get }) => {
      expect(Object.keys(record(await get(DESK))).sort()).toEqual(Object.keys(READ).sort());
    }),
    reads('items of the list carry some of the fields', async ({ get }) => {
      const item = records(await get('/v1/agents')).find(({ id }) => id === ID.desk) ?? {};
      const whole = record(await get(DESK));
      expect(whole).toMatchObject(item);
      expect(Object.keys(item).length).toBeLessThan(Object.keys(whole).length);
    }),
    reads('settings come back as they are stored', async ({ get }) => {
      const { config, amd_config, contact_policy, ivr_navigation, voice_settings } = FULL_AGENT;
      expect(record(await get(DESK))).toMatchObject({
        config,
        amd_config,
        contact_policy,
        ivr_navigation,
        voice_settings,
      });
    }),
    reads('interpreter settings that were never stored are null', async ({ get }) => {
      expect(record(await get(`/v1/agents/${ID.bare}`)).interpreter_config).toBeNull();
    }),
    reads('an agent without a SIP registration shows none', async ({ get }) => {
      const { sip_registration_data: data } = record(await get(`/v1/agents/${ID.bare}`));
      expect(data ?? null).toBeNull();
    }),
  ),
  ...section(
    'Resources · Agent · Fields written',
    WRITTEN.map(([write, value, read]) =>
      writes(`${write} is written, and read as ${read}`, async ({ get, put }) => {
        expectReply(await put(DESK, { body: { [write]: value } }), 200);
        expect(record(await get(DESK))[read]).toEqual(value);
      }),
    ),
    writes('names in snake_case are no names to write under', async ({ get, put }) => {
      const before = record(await get(DESK));
      for (const [write, value, read] of WRITTEN)
        if (write !== read) await put(DESK, { body: { [read]: value } });
      expect({ ...record(await get(DESK)), updated_at: before.updated_at }).toEqual(before);
    }),
    KEPT.map(([write, value, read]) =>
      writes(`${read} is kept by the service`, async ({ get, put }) => {
        const before = record(await get(DESK))[read];
        await put(DESK, { body: { [write]: value } });
        expect(record(await get(DESK))[read]).toEqual(before);
      }),
    ),
    writes('email_tool_instructions can be null', async ({ get, put }) => {
      expectReply(await put(DESK, { body: { emailToolInstructions: null } }), 200);
      expect(record(await get(DESK)).email_tool_instructions ?? null).toBeNull();
    }),
    writes('updated_at moves with an update and created_at stays', async ({ get, put }) => {
      const before = record(await get(DESK));
      await put(DESK, { body: { name: 'Later' } });
      const after = record(await get(DESK));
      expect(after.created_at).toBe(before.created_at);
      expect(String(after.updated_at) > String(before.updated_at)).toBe(true);
    }),
  ),
];
