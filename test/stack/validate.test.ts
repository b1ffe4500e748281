import { agent, broken, MAIN } from './stack-folder.ts';

const tool = (name: string, condition = 'during_call') =>
  `    - { type: webhook, name: ${name}, condition: ${condition}, method: GET, url: https://x.test }`;

broken([
  {
    title: 'values of the wrong type',
    files: agent(
      'greeting_message: 12',
      'echo_detection: "yes"',
      'voice_settings: loud',
      'email: desk@harbor.example.test',
      'system_prompt: [a]',
      'description: { a: b }',
    ),
    says: [
      'agents.yaml:4:23 schema/type agent.a: greeting_message must be text, not a number',
      'agents.yaml:5:21 schema/type agent.a: echo_detection must be true or false, not text',
      'agents.yaml:6:21 schema/type agent.a: voice_settings must be a map, not text',
      'agents.yaml:7:12 schema/type agent.a: email must be a list, not text',
      'agents.yaml:8:20 schema/type agent.a: system_prompt must be text, not a list',
      'agents.yaml:9:18 schema/type agent.a: description must be text, not a map',
    ],
    hint: 'Put it in quotes',
  },
  {
    title: 'values that are not among those allowed, with the nearest',
    files: agent('agent_type: receptionst', 'language: de-DE', 'tts_model: cartX'),
    says: [
      'agents.yaml:4:17 warning schema/enum agent.a: agent_type is "receptionst", which the specification does not have',
      'agents.yaml:5:15 warning schema/enum agent.a: language is "de-DE", which the specification does not have',
      'agents.yaml:6:16 warning schema/enum agent.a: tts_model is "cartX", which the specification does not have',
    ],
    hint: 'Did you mean receptionist?',
  },
  {
    title: 'fields that do not exist, with the nearest',
    files: agent(
      'sytem_prompt: x',
      'systemPrompt: x',
      'organization_id: x',
      'sip: { enabled: true }',
    ),
    says: [
      'agents.yaml:4:5 schema/unknown-key agent.a has no field "sytem_prompt"',
      'agents.yaml:5:5 schema/unknown-key agent.a has no field "systemPrompt"',
      'agents.yaml:6:5 schema/unknown-key agent.a has no field "organization_id"',
      'agents.yaml:7:12 schema/unknown-key agent.a: sip has no field "enabled"',
    ],
    hint: 'Did you mean system_prompt?',
  },
  {
    title: 'keys that look like what every object has',
    files: agent('constructor: x', '__proto__: x', 'config: { toString: x }'),
    says: [
      'agents.yaml:4:5 schema/unknown-key agent.a has no field "constructor"',
      'agents.yaml:5:5 schema/unknown-key agent.a has no field "__proto__"',
    ],
  },
  {
    title: 'a slip in an open object is a warning, as the platform may know the key',
    files: agent('voice_settings: { voiceId: x, pitch: 2 }'),
    says: [
      'agents.yaml:4:23 warning schema/unknown-key agent.a: voice_settings has "voiceId", which the schema does not name',
    ],
    hint: 'Did you mean voice_id?',
  },
  {
    title: 'fields that only the platform sets',
    files: {
      ...agent('id: x', 'is_active: true'),
      'k.yaml': `knowledge_bases: { kb: { id: 0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11, sources: { s: { url: https://x.test, name: S } } } }`,
    },
    says: [
      'agents.yaml:4:5 schema/read-only agent.a gives id, which only the platform sets',
      'agents.yaml:5:5 schema/read-only agent.a gives is_active, which only the platform sets',
      'k.yaml:1:105 schema/read-only knowledge_source.kb.s gives name, which follows from the place of the resource',
    ],
  },
  {
    title: 'an empty value is not null, and null only clears what can be cleared',
    files: agent(
      'greeting_message:',
      'status: null',
      'description: null',
      'voice_settings: { speed: ~ }',
    ),
    says: [
      'agents.yaml:4:5 schema/empty agent.a: greeting_message has no value',
      'agents.yaml:5:13 schema/type agent.a: status must be text; it cannot be cleared with null',
    ],
    hint: 'write null to clear the field',
  },
  {
    title: 'numbers and texts beyond their limits',
    files: {
      'x.yaml': `retry_policies: { p: { name: P, rules: { no_answer: { delay_seconds: -1 } } } }
email_templates: { e: { name: "${'n'.repeat(101)}", subject: S } }
sms_templates: { s: { name: "", message_type: sms } }
agents: { a: { name: A, voice_settings: { speed: 0 }, payments: { max_attempts_per_call: 1.5 } } }`,
    },
    says: [
      'x.yaml:1:70 warning schema/limit retry_policy.p: rules.no_answer.delay_seconds should be at least 0',
      'x.yaml:2:31 schema/limit email_template.e: name must have at most 100 characters, and has 101',
      'x.yaml:3:29 warning schema/limit sms_template.s: name should not be empty',
      'x.yaml:4:50 warning schema/limit agent.a: voice_settings.speed should be more than 0',
      'x.yaml:4:90 schema/type agent.a: payments.max_attempts_per_call must be a whole number, not a number',
    ],
  },
  {
    title: 'texts of the wrong form',
    files: {
      ...agent(
        'timezone: America/New_Yrok',
        'config: { user_timezone: "+02:00" }',
        'email: [desk@harbor.example.test, desk]',
        'knowledgebase_links: [harbor]',
        'voicemail_message_audio_url: "https://x.test/{{lang}}.mp3"',
        'default_retry_policy_id: gentle',
      ),
      'v.yaml': `knowledge_bases: { kb: { id: kb-1, sources: { s: { url: "ftp://x.test", reingest_after: weekly } } } }`,
    },
    says: [
      'agents.yaml:4:15 schema/format agent.a: timezone must be an IANA time zone',
      'agents.yaml:5:30 schema/format agent.a: config.user_timezone must be an IANA time zone',
      'agents.yaml:6:39 warning schema/format agent.a: email[desk] should be an e-mail address',
      'agents.yaml:7:27 warning schema/format agent.a: knowledgebase_links[harbor] should be an address',
      'agents.yaml:9:30 schema/format agent.a: default_retry_policy_id must be an id (UUID)',
      'v.yaml:1:30 schema/format knowledge_bases.kb: id must be an id (UUID)',
      'v.yaml:1:57 warning schema/format knowledge_source.kb.s: url should be an address: it begins with ftp:, not with http:// or https://',
      'v.yaml:1:89 schema/pattern knowledge_source.kb.s: reingest_after does not have the form that the platform or Callsheet reads',
    ],
    hint: 'Did you mean America/New_York?',
  },
  {
    title: 'more webhooks than the platform allows, at the first too many',
    files: agent(
      'extensions:',
      '  tools:',
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => tool(name)),
      tool('g', 'after_call'),
      tool('h', 'before_call'),
      tool('i', 'before_call'),
    ),
    says: [
      'agents.yaml:10:11 schema/limit agent.a has 6 during_call webhooks; the platform allows 4',
      'agents.yaml:14:11 schema/limit agent.a has 2 before_call webhooks; the platform allows 1',
    ],
  },
  {
    title: 'two entries of one identity',
    files: agent(
      'extensions:',
      '  tools:',
      tool('a'),
      tool('a'),
      '  mcp_servers: [{ connection_name: C, mcp_endpoint_url: https://x.test, transport_type: sse }, { connection_name: C, mcp_endpoint_url: https://y.test, transport_type: SSE }]',
    ),
    says: [
      'agents.yaml:7:34 identity/duplicate agent.a: extensions.tools has two entries whose name is "a"',
      'agents.yaml:8:119 identity/duplicate agent.a: extensions.mcp_servers has two entries whose connection_name is "C"',
      'agents.yaml:8:172 schema/pattern agent.a: extensions.mcp_servers[C#2].transport_type must be in lower case',
    ],
  },
  {
    title: 'no repeated header or parameter, which HTTP allows',
    files: agent(
      'extensions:',
      '  tools: [{ type: webhook, name: a, condition: during_call, method: GET, url: https://x.test, headers: [{ key: X-A, value: { $secret: env:A } }, { key: X-A, value: { $secret: env:B } }], parameters: [{ key: q, value: "1" }, { key: q, value: "2" }] }]',
    ),
    says: [],
  },
  {
    title: 'what is missing, also where something else makes it needed',
    files: {
      'x.yaml': `agents: { a: { model: alpha-4.1 } }
email_templates: { e: { name: E, status: active } }
sms_templates: { s: { nam: S, message_type: sms } }
custom_voices: { v: { name: V } }
knowledge_bases: { kb: { sources: { s: {}, t: { url: https://x.test, file: a.md } } } }`,
      'a.md': 'text',
    },
    says: [
      'x.yaml:1:11 schema/required agent.a needs name',
      'x.yaml:2:20 schema/required email_template.e needs subject when status is active',
      'x.yaml:3:23 schema/unknown-key sms_template.s has no field "nam"',
      'x.yaml:4:18 schema/required custom_voice.v needs clip',
      'x.yaml:4:18 schema/required custom_voice.v needs consent',
      'x.yaml:5:20 schema/required knowledge_bases.kb needs id',
      'x.yaml:5:37 schema/required knowledge_source.kb.s needs one of url and file',
      'x.yaml:5:44 schema/required knowledge_source.kb.t gives url and file, and takes only one',
    ],
  },
  {
    title: 'what the platform does not take of one field beside another',
    files: {
      'x.yaml': `agents:
  a: { name: A, agent_type: translator, interpreter_config: null }
  b: { name: B, agent_type: simple, interpreter_config: null }
  c: { name: C, agent_type: translator, interpreter_config: { speaker_identification: voice } }
retry_policies:
  p: { name: P, on_exhausted_target: queue }
  q: { name: Q, on_exhausted_target: queue, on_exhausted: end }`,
    },
    says: [
      'x.yaml:2:61 schema/type agent.a: interpreter_config must be a map; it cannot be cleared with null when agent_type is translator',
      'x.yaml:6:3 schema/required retry_policy.p needs on_exhausted when on_exhausted_target is given',
    ],
  },
  {
    title: 'a lifecycle that names what does not exist',
    files: agent(
      'lifecycle: { ignore: [greting_message, voice_settings.any, sip.enabled, "tools["], protect: maybe, adopts: x }',
    ),
    says: [
      'agents.yaml:4:27 lifecycle/path agent.a: lifecycle.ignore names "greting_message", which is no field of agent',
      'agents.yaml:4:64 lifecycle/path agent.a: lifecycle.ignore names "sip.enabled", which is no field of agent',
      'agents.yaml:4:77 lifecycle/path agent.a: lifecycle.ignore names "tools[", which is no field of agent',
      'agents.yaml:4:97 schema/type agent.a: lifecycle.protect must be true or false, not text',
      'agents.yaml:4:104 schema/unknown-key agent.a: lifecycle has no field "adopts"',
    ],
  },
  {
    title: 'paths to ignore that ignore nothing',
    files: agent(
      'lifecycle:',
      '  ignore:',
      ...[
        'extensions.tools[*].url',
        'extensions.tools[0].url',
        'extensions.tools.url',
        'extensions.tools[a].urll',
        'email[0]',
        'greeting_message.x',
        'greeting_message[x]',
        'voice_settings.sped',
        'organization',
        'organization_id',
        'created_at',
        'extensions.mcp_servers[a].initialization_options.x',
        'extensions.tools[a].headers[X-Key].value',
        'extensions.tools[a].headers.X-Key',
        'model',
        '"\\"model\\""',
      ].map((path) => `    - ${path}`),
    ),
    says: [
      [
        '6',
        'extensions.tools[*].url',
        'an element by its position, and elements have no fixed position',
      ],
      [
        '7',
        'extensions.tools[0].url',
        'an element by its position, and elements have no fixed position',
      ],
      ['8', 'extensions.tools.url', 'below extensions.tools, which is a list'],
      ['9', 'extensions.tools[a].urll', 'no known field of extensions.tools[a]'],
      ['10', 'email[0]', 'an element of email, whose elements have no identity'],
      ['11', 'greeting_message.x', 'below greeting_message, which has no members'],
      ['12', 'greeting_message[x]', 'an element of greeting_message, which is not a list'],
      ['13', 'voice_settings.sped', 'no known field of voice_settings'],
      ['14', 'organization', 'the organization of a resource, which cannot be ignored'],
      ['15', 'organization_id', 'the organization of a resource, which cannot be ignored'],
      ['16', 'created_at', 'a field that only the platform sets, and that is never compared'],
      [
        '17',
        'extensions.mcp_servers[a].initialization_options.x',
        'a part of extensions.mcp_servers[a].initialization_options, which is compared as a whole',
      ],
      [
        '19',
        'extensions.tools[a].headers.X-Key',
        'below extensions.tools[a].headers, which is a list',
      ],
    ]
      .map(([line, path, what]) => {
        const severity = line === '9' || line === '13' ? 'warning ' : '';
        return `agents.yaml:${line}:11 ${severity}lifecycle/path agent.a: lifecycle.ignore names "${path}", which is ${what}`;
      })
      .concat(
        'agents.yaml:21:11 warning lifecycle/path agent.a: lifecycle.ignore names "\\"model\\"" twice',
      ),
    hint: 'Name elements by their name, such as extensions.tools[crm_lookup].url',
  },
  {
    title: 'sections, names and bodies that are none',
    files: {
      'x.yaml': `agnets: {}
agents:
  "front desk": { name: A }
  b: text
  c:
variables: {}
retry_policies:
knowledge_bases: { kb: [] }
`,
    },
    says: [
      'x.yaml:1:1 schema/unknown-key "agnets" is not a section that Callsheet knows',
      'x.yaml:3:3 address/name agents has "front desk", which is not a valid name for a resource',
      'x.yaml:4:6 schema/type agent.b must be a map of fields, not text',
      'x.yaml:5:3 schema/empty agent.c has no value',
      'x.yaml:6:1 stack/misplaced variables belongs in callsheet.yaml',
      'x.yaml:7:1 schema/empty retry_policies has no value',
      'x.yaml:8:24 schema/type knowledge_bases.kb must be a map of fields, not a list',
    ],
    hint: 'Did you mean agents?',
  },
  {
    title: 'every problem of a stack in one go, by file and line',
    files: {
      'callsheet.yaml': `${MAIN}guards: { max_delete: x }\n`,
      ...agent('status: on'),
      'b.yaml': 'agents: { b: {} }',
    },
    says: [
      'agents.yaml:4:13 warning schema/enum agent.a: status is "on", which the specification does not have',
      'b.yaml:1:11 schema/required agent.b needs name',
      'callsheet.yaml:4:23 schema/type callsheet.yaml: guards.max_delete must be a whole number, not text',
    ],
  },
]);
