import type { Json, JsonObject } from '../../src/core/value.ts';

/**
 * Unusual configurations, written from the specification alone. Each is allowed, or `refused` names the section of
 * the specification that forbids it.
 */
export type Unusual = {
  readonly title: string;
  /** A top-level key of a stack. */
  readonly of: string;
  /** A knowledge source lies in a base of its own; everything else has `name` unless the row gives one. */
  readonly fields: JsonObject;
  readonly files?: Readonly<Record<string, Uint8Array>>;
  readonly refused?: string;
};

type Rest = Pick<Unusual, 'files' | 'refused'>;

const x = (count: number): string => 'x'.repeat(count);
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const utf16 = (text: string): Uint8Array => Buffer.from(`\uFEFF${text}`, 'utf16le');
const padded = (start: string, size: number): Uint8Array => {
  const all = Buffer.alloc(size);
  all.write(start, 'latin1');
  return all;
};

const row =
  (of: string) =>
  (title: string, fields: JsonObject, rest: Rest = {}): Unusual => ({ title, of, fields, ...rest });
const agent = row('agents');
const policy = row('retry_policies');
const email = row('email_templates');
const sms = row('sms_templates');
const source = row('knowledge_bases');

/** A tool that is a webhook with these members besides what each has. */
const webhook = (members: JsonObject, rest: Rest = {}, title = JSON.stringify(members)): Unusual =>
  agent(
    `webhook ${title}`,
    {
      extensions: {
        tools: [
          {
            type: 'webhook',
            name: 'lookup',
            condition: 'during_call',
            method: 'GET',
            url: 'https://crm.example.test/c',
            ...members,
          },
        ],
      },
    },
    rest,
  );
const webhooks = (count: number, condition: string, rest: Rest = {}): Unusual =>
  agent(
    `${count} webhooks ${condition}`,
    {
      extensions: {
        tools: Array.from({ length: count }, (_, at) => ({
          type: 'webhook',
          name: `t${at}`,
          condition,
          method: 'POST',
          url: 'https://crm.example.test/c',
        })),
      },
    },
    rest,
  );
const mcp = (members: JsonObject, rest: Rest = {}): Unusual =>
  agent(
    `MCP ${JSON.stringify(members)}`,
    {
      extensions: {
        mcp_servers: [
          {
            connection_name: 'Calendar',
            mcp_endpoint_url: 'https://mcp.example.test/',
            transport_type: 'http',
            ...members,
          },
        ],
      },
    },
    rest,
  );
const sender = (from: string): Unusual => sms(`from_number ${from}`, { from_number: from });
const prompt = (title: string, text: string): Unusual =>
  agent(`prompt: ${title}`, { system_prompt: text });
const clip = (
  name: string,
  content: Uint8Array,
  rest: Rest = {},
  fields: JsonObject = {},
): Unusual => ({
  title: `clip ${name}, ${content.length} bytes ${JSON.stringify(fields)}`,
  of: 'custom_voices',
  fields: { clip: `files/${name}`, consent: true, ...fields },
  files: { [`files/${name}`]: content },
  ...rest,
});
const document = (name: string, content: Uint8Array, rest: Rest = {}): Unusual => ({
  title: `document ${name}, ${content.length} bytes`,
  of: 'knowledge_bases',
  fields: { file: `files/${name}` },
  files: { [`files/${name}`]: content },
  ...rest,
});

const WAV = 'RIFF\0\0\0\0WAVEfmt \0\0\0\0';
const OGG = 'OggS\0\x02\0\0';
const PDF = '%PDF-1.4\n';
const MB = 1024 * 1024;

const AGENTS: readonly Unusual[] = [
  agent('name of one letter', { name: 'Q' }),
  agent('name in several scripts', { name: '夜間受付 · приёмная · ‏قبول 🦷' }),
  agent('name of 2,000 letters', { name: x(2000) }),
  agent('description empty', { description: '' }),
  agent('description over many lines', { description: 'a\n\n\tb\n   c' }),
  ...['active', 'inactive', 'cancelled', 'pending', 'suspended'].map((status) =>
    agent(`status ${status}`, { status }),
  ),
  agent('greeting empty', { greeting_message: '' }),
  agent('greeting of white space', { greeting_message: '   ' }),
  agent('greeting with SSML', { greeting_message: '<speak>Hello<break time="1s"/></speak>' }),
  agent('outbound greetings', { outbound_greeting_message: '', outbound_static_greeting: '{{' }),
  agent('voicemail message of 50,000 letters', { voicemail_message: x(50_000) }),
  ...[
    'HTTPS://cdn.example.test/v.MP3',
    '/media/v.mp3',
    's3://bucket/v.mp3',
    '',
    'https://münchen.test/ü.wav',
  ].map((url) => agent(`voicemail audio ${url}`, { voicemail_message_audio_url: url })),
  agent('hand-off instructions with braces', {
    warm_transfer_handoff_instructions: 'Say {{ caller }} or {name}.',
  }),
  ...[
    'simple',
    'advanced',
    'custom',
    'appointment_scheduler',
    'receptionist',
    'message_taker',
    'blank_slate',
    'outbound',
    'opentable_reservation',
    'concierge',
  ].map((type) => agent(`agent_type ${type}`, { agent_type: type })),
  agent('translator with its settings', {
    agent_type: 'translator',
    interpreter_config: { speaker_identification: 'voice', languages: ['en', 'es'] },
  }),
  agent('interpreter settings of another type', {
    interpreter_config: { speaker_identification: 'both' },
  }),
  agent('interpreter settings with a newer value', {
    interpreter_config: { speaker_identification: 'turn' },
  }),
  ...['alpha-4.1-nano', 'gamma/model-K2.6', 'epsilon/model-4-31b-it', 'alpha-5', 'ALPHA-4.1'].map(
    (model) => agent(`model ${model}`, { model }),
  ),
  agent('voice_model that nobody lists', { voice_model: 'realtime-2027-preview' }),
  agent('stt_model that is new', { stt_model: 'voxd' }),
  agent('tts_model that is new', { tts_model: 'hume' }),
  agent('tts_model minx', { tts_model: 'minx' }),
  agent('voice_settings with members of a provider', {
    voice_settings: {
      voice_id: 'v',
      speed: 0.25,
      language: 'pt-BR',
      stability: 0.5,
      style: { a: [] },
    },
  }),
  agent('voice_settings with another number and no voice', { voice_settings: { speed: -3 } }),
  agent('voice_settings empty', { voice_settings: {} }),
  agent('config with members of its own', {
    config: {
      enable_recording: false,
      user_timezone: 'Etc/GMT+12',
      inactivity_timeout: 0.5,
      hold: { music: null },
    },
  }),
  agent('config with a large number', { config: { inactivity_timeout: 1e9 } }),
  agent('extensions empty', { extensions: {} }),
  agent('extensions with empty lists', { extensions: { tools: [], mcp_servers: [] } }),
  agent('extensions with a member that is new', { extensions: { functions: [{ name: 'f' }] } }),
  agent('integrations of each provider', {
    integrations: {
      ehrProvider: { username: 'u', practice: 7 },
      calendarA: { calendar_names: ['A', 'B'] },
      calendarB: {},
      pbxProvider: { client_id: 'c' },
    },
  }),
  agent('integration of a provider that is new', {
    integrations: { crmProvider: { region: 'eu' } },
  }),
  ...[
    '+15550100',
    '+1 555 010 0100',
    '(555) 010-0100',
    '24365',
    'ACME',
    'whatsapp:+15550100',
    '',
  ].map((from) =>
    agent(`fromNumber ${from}`, {
      integrations: { smsProvider: { account_sid: 'AC1', fromNumber: from } },
    }),
  ),
  agent('transfer off with rules', {
    transfer_enabled: false,
    transfer_rules: '',
    web_transfer_enabled: true,
  }),
  ...['en-US', 'es-US', 'multi', 'fr-CA', 'EN-us'].map((language) =>
    agent(`language ${language}`, { language }),
  ),
  ...['UTC', 'Etc/GMT+5', 'America/Argentina/ComodRivadavia', 'Europe/Kyiv', 'Asia/Calcutta'].map(
    (timezone) => agent(`timezone ${timezone}`, { timezone }),
  ),
  agent('timezone that is no zone', { timezone: 'Mars/Base' }, { refused: 'Agent: timezone' }),
  agent('flags all off', {
    enable_recording: false,
    echo_detection: false,
    call_detection: false,
    screenshare_enabled: false,
    email_tool_enabled: false,
  }),
  agent('amd_config with newer values', {
    amd_config: {
      enabled: true,
      sensitivity: 'paranoid',
      on_machine: 'hum',
      on_silence: 3,
      more: { deep: [1, 'a'] },
    },
  }),
  agent('amd_config with a number of sensitivity', { amd_config: { sensitivity: 0.73 } }),
  agent('ivr_navigation of any form', {
    ivr_navigation: { enabled: true, menus: [{ press: '0' }] },
  }),
  agent('contact_policy with members of its own', {
    contact_policy: {
      require_consent_basis: false,
      calling_windows: [{ days: ['mon'], from: '08:00', to: '20:00' }],
      abandon_rate_alert_threshold: 0.03,
      quiet: true,
    },
  }),
  agent('contact_policy with a threshold of percent', {
    contact_policy: { abandon_rate_alert_threshold: 300 },
  }),
  ...[
    ['desk@harbor.example.test'],
    ['Front Desk <desk@harbor.example.test>'],
    ['"a b"@example.test'],
    ['büro@müller.example'],
    ['desk@localhost'],
    ['{{caller_email}}'],
    ['DESK@EXAMPLE.TEST', 'desk@example.test'],
    [],
  ].map((list) => agent(`email ${JSON.stringify(list)}`, { email: list })),
  agent('fifty addresses', { email: Array.from({ length: 50 }, (_, at) => `a${at}@example.test`) }),
  agent('email instructions null', { email_tool_instructions: null }),
  ...[
    'HTTPS://Harbor.example.test/FAQ',
    'harbor.example.test/faq',
    'https://harbor.example.test/a b',
  ].map((url) => agent(`link ${url}`, { knowledgebase_links: [url] })),
  agent('links none', { knowledgebase_links: [] }),
  agent('place_id of another form', { place_id: 'ChIJ_x-0/ü' }),
  agent(
    'place_data',
    { place_data: { name: 'Harbor' } },
    { refused: 'Agent: place_data is read-only' },
  ),
  agent(
    'place_context',
    { place_context: 'Open.' },
    { refused: 'Agent: place_context is read-only' },
  ),
  agent(
    'organization_id that is no UUID',
    { organization_id: 'harbor-dental' },
    { refused: 'Resources and their fields: identifiers' },
  ),
  agent('policy by an id in capitals', {
    default_retry_policy_id: '3C6E0B8A-9C15-4F1D-9F0E-5D2B7F1A2C11',
  }),
  agent('SIP on', { sip: { registration_enabled: true } }),
  agent(
    'SIP with another setting',
    { sip: { port: 5061 } },
    { refused: 'SIP registration: exactly one field' },
  ),
  agent('payments with newer limits', { payments: { tool_enabled: false } }),
];

const WEBHOOKS: readonly Unusual[] = [
  webhooks(1, 'before_call'),
  webhooks(2, 'before_call', { refused: 'Limits: webhook actions per agent' }),
  webhooks(4, 'during_call'),
  webhooks(5, 'during_call', { refused: 'Limits: webhook actions per agent' }),
  webhooks(1, 'after_call'),
  webhooks(2, 'after_call', { refused: 'Limits: webhook actions per agent' }),
  webhooks(7, 'on_hold'),
  webhook({ name: 'Look up · 顧客 #1' }),
  webhook({ name: x(300) }, {}, 'name of 300 letters'),
  webhook({ friendlyName: '', description: '' }),
  webhook({ description: 'If {{caller_id}} is {"known": {"a": 1}}' }),
  webhook({ method: 'DELETE' }),
  webhook({ method: 'HEAD' }),
  webhook({ url: 'HTTPS://CRM.example.test/c' }),
  webhook({ url: 'http://10.0.0.1:8080/c?x={{caller_id}}#f' }),
  webhook({ url: 'https://{{tenant}}.example.test/c' }),
  webhook({ timeout_ms: 3000, retry: { attempts: 2 } }),
  webhook({ headers: [], parameters: [] }),
  webhook({ headers: [{ key: 'Accept', value: 'application/json', enabled: true }] }),
  webhook({
    headers: [
      { key: 'Accept', value: '' },
      { key: 'accept', value: 'a' },
    ],
  }),
  webhook({
    parameters: [
      { key: 'q', value: '' },
      { key: 'q[]', value: '{{caller_id}}' },
    ],
  }),
  webhook({ parameters: [{ key: 'q', value: 'a', type: 'string', required: false }] }),
  webhook({ parameters: [{ key: 'a b', value: '{"a":{"b":1}}' }] }),
  webhook({ type: 'sms_sender' }),
  agent(
    'two webhooks of one name',
    {
      extensions: {
        tools: ['GET', 'POST'].map((method) => ({
          type: 'webhook',
          name: 'same',
          condition: 'during_call',
          method,
          url: 'https://crm.example.test/c',
        })),
      },
    },
    { refused: 'Webhook tool: name is unique' },
  ),
  mcp({ transport_type: 'sse' }),
  mcp({ transport_type: 'websocket' }),
  mcp(
    { transport_type: 'HTTP' },
    { refused: 'MCP connection as stored and returned: lowercase only' },
  ),
  mcp({ mcp_endpoint_url: 'HTTP://mcp.example.test:8443/sse' }),
  mcp(
    { mcp_endpoint_url: 'wss://mcp.example.test' },
    { refused: 'MCP connection as stored and returned: scheme' },
  ),
  mcp({ connection_name: '' }),
  mcp({ initialization_options: { any: [1, null, { deep: 'x' }] } }),
  mcp({ allowed_tool_names: [] }),
  mcp({ allowed_tool_names: ['a b', 'ä'] }),
  mcp({ pre_answer_calls: [{ tool_name: 'find', arguments: { id: '{{caller_id}}', n: 1 } }] }),
  mcp({ timeout: 5 }),
];

const TEXTS: readonly Unusual[] = [
  prompt('JSON with doubled braces', '{"a": {"b": {}}}\n{{"c": 1}}'),
  prompt('LangChain', 'Answer {question} as {{"answer": "..."}}.'),
  prompt('braces over two lines', 'Say {{\n  name\n}} now'),
  prompt('braces that open alone', 'Use {{ to begin'),
  prompt('braces that close alone', 'function f() { if (a) { b() }}'),
  prompt('Jinja', '{% if a %}{{ a | upper }}{% endif %}'),
  prompt('Mustache', '{{#items}}{{{raw}}}{{/items}}{{^none}}{{/none}}'),
  prompt('LaTeX', '$\\frac{{a}}{{b}}$'),
  prompt('empty', ''),
  prompt('CRLF', 'a\r\nb\r\n'),
  prompt('100,000 letters', x(100_000)),
  prompt('control and joined characters', 'tab\there, 👩‍⚕️, e\u0301, \u00a0, \u200b'),
  prompt('token with a fallback', 'Hello {{name|friend of ours}}'),
  agent('doubled braces in other texts', {
    transfer_rules: '{{',
    email_tool_instructions: '}}',
    description: '{{a',
    voicemail_message: '{{ }}',
  }),
];

const POLICIES: readonly Unusual[] = [
  policy('no_answer only', { rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } } }),
  policy('zero and fractions', { rules: { no_answer: { delay_seconds: 0, max_attempts: 0.5 } } }),
  policy('large numbers', {
    rules: { no_answer: { delay_seconds: 31_536_000, max_attempts: 10_000 } },
  }),
  policy('outcomes that are not shown', {
    rules: { busy: { delay_seconds: 1 }, 'no answer (weekend)': {} },
  }),
  policy('members that are not shown', {
    rules: { no_answer: { delay_seconds: 5, backoff: { factor: 2 } } },
  }),
  policy('rules none', { rules: {} }),
  policy('on_exhausted that is not shown', {
    on_exhausted: 'transfer',
    on_exhausted_target: '+1 555 0100',
  }),
  policy('target null', { on_exhausted: 'end', on_exhausted_target: null }),
  policy('contact_policy null', { contact_policy: null }),
  policy('contact_policy of any form', { contact_policy: { max_per_day: 3, windows: [] } }),
  policy('reschedule off', { reschedule_out_of_window: false }),
  policy('name of 500 letters', { name: `p${x(499)}` }),
];

const TEMPLATES: readonly Unusual[] = [
  email('name of 100 characters outside of the basic plane', { name: '🦷'.repeat(100) }),
  email('name of 101', { name: x(101) }, { refused: 'Email templates: name' }),
  email('subject of 998', { subject: x(998) }),
  email('subject of 999', { subject: x(999) }, { refused: 'Email templates: subject' }),
  email('from_name of 128', { from_name: '{{clinic|Harbor}}'.padEnd(128, '·') }),
  email('from_name of 129', { from_name: x(129) }, { refused: 'Email templates: from_name' }),
  email(
    'active without a subject',
    { status: 'active' },
    { refused: 'Email templates: subject when active' },
  ),
  email('draft with nothing', { status: 'draft' }),
  email('status that is new', { status: 'scheduled', subject: 'S' }),
  email('body empty', { body_html: '', subject: '' }),
  email('body with CSS and script', {
    body_html: '<style>a{b{c:d}}</style><script>if(a){{b()}}</script>',
  }),
  email('body with a token of another form', {
    body_html: '<p>{{ first name | dear guest }} {{a.b}} {{a-b}}</p>',
  }),
  email('body with a token that does not end', { body_html: '<p>{{name</p>' }),
  email('body of 2 MB', { body_html: x(2 * MB) }),
  email('fallback empty', { subject: 'Hi {{name|}}' }),
  sms('description of 300', { description: 'é'.repeat(300) }),
  sms('description of 301', { description: x(301) }, { refused: 'SMS templates: description' }),
  sms('name of 101', { name: x(101) }, { refused: 'SMS templates: name' }),
  sms('mms', { message_type: 'mms', tags: [] }),
  sms('message type that is new', { message_type: 'rcs' }),
  sms('tags of any form', { tags: ['', 'a b', 'a b', '#ü', x(500)] }),
  sms('body of ten messages', { body: '☎ {{name|you}} '.repeat(110) }),
  sms('body empty', { body: '' }),
  sms('status that is new', { status: 'archived' }),
  ...[
    '+15550100',
    '+1 555 010 0100',
    '+1-555-010-0100',
    '5550100',
    '24365',
    '12',
    'ACME-NEWS',
    'Harbor Dental & Co',
    'Zahnärzte',
    'whatsapp:+15550100',
    'rcs:harbor',
    'MG0123456789abcdef0123456789abcdef',
    '',
  ].map(sender),
];

const FILES: readonly Unusual[] = [
  clip('a.wav', padded(WAV, 4 * MB)),
  clip('big.wav', padded(WAV, 4 * MB + 1), { refused: 'Limits: voice clip size' }),
  clip('empty.wav', bytes(''), { refused: 'Custom voices: empty clip' }),
  clip('a.ogg', bytes(OGG)),
  clip('a.oga', bytes(OGG)),
  clip('a.opus', bytes(OGG)),
  clip('a.WAV', bytes(WAV)),
  clip('a.wave', bytes(WAV)),
  clip('a.mp3', bytes('ID3\x03\0\0\0\0\0\0')),
  clip('layer2.mp3', bytes('\xff\xfd\x90\0')),
  clip('a.flac', bytes('fLaC\0\0\0\x22')),
  clip('a.weba', bytes('\x1aE\xdf\xa3\x9fB\x82\x84webm')),
  clip('a.webm', bytes('\x1aE\xdf\xa3\x9fB\x82\x84webm')),
  clip('rf64.wav', bytes('RF64\xff\xff\xff\xffWAVEds64')),
  clip('a.m4a', bytes('\0\0\0\x20ftypM4A '), { refused: 'Custom voices: unsupported type' }),
  clip('b.wav', bytes(WAV), {}, { language: 'ka', description: '' }),
  clip('c.wav', bytes(WAV), {}, { language: 'sw' }),
  clip('d.wav', bytes(WAV), {}, { description: x(2000) }),
  clip('e.wav', bytes(WAV), { refused: 'Custom voices: consent' }, { consent: false }),
  document('a.pdf', bytes(PDF)),
  document('junk-first.pdf', bytes(`\n\n${PDF}`)),
  document('empty.txt', bytes('')),
  document('utf16.txt', utf16('Öffnungszeiten: 8–18 Uhr')),
  document('utf16.csv', utf16('a,b\n1,2\n')),
  document('latin1.txt', bytes('Pr\xe4mie')),
  document('mark.md', utf8('\uFEFF# Preise')),
  document('a.markdown', utf8('# Preise')),
  document('a.htm', utf8('<p>hi')),
  document('a.HTML', utf8('hi')),
  document('nul.txt', bytes('a\0b')),
  document('a.csv', utf8('a;b\r\n"x\ny";1\r\n')),
  document('a.xlsx', bytes('PK\x03\x04'), { refused: 'Knowledge base sources: fileMime' }),
  ...[
    'https://harbor.example.test/faq',
    'HTTPS://Harbor.Example.test/FAQ#a',
    'http://harbor.example.test:8080/?q=1&q=2',
    'https://harbor.example.test/a b',
    'https://münchen.example/preise',
    'https://192.0.2.7/',
  ].map((url) => source(`page ${url}`, { url })),
];

export const UNUSUAL: readonly Unusual[] = [
  ...AGENTS,
  ...WEBHOOKS,
  ...TEXTS,
  ...POLICIES,
  ...TEMPLATES,
  ...FILES,
];

/** The top-level keys of a stack with one row, under this name. */
export function stackWith({ of, fields }: Unusual, name: string, id: string): JsonObject {
  const record: JsonObject = {
    name,
    ...(of === 'sms_templates' ? { message_type: 'sms' } : {}),
    ...fields,
  };
  const resource: Json = of === 'knowledge_bases' ? { id, sources: { s: fields } } : record;
  return { [of]: { [name]: resource } };
}
