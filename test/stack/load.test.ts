import { expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { type Files, HARBOR, loadGood, MAIN, PDF, WAV } from './stack-folder.ts';

const KB = '0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

const everyKind: Files = {
  'voices/harbor.wav': WAV,
  'docs/prices.pdf': PDF,
  'prompts/reception.md': 'You are the receptionist.\n',
  'fleet.yaml': `retry_policies:
  gentle: { name: Gentle, rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } } }
agents:
  reception:
    name: Front desk
    system_prompt: { $file: prompts/reception.md }
    voice_settings: { voice_id: { $ref: custom_voice.harbor } }
    default_retry_policy_id: { $ref: retry_policy.gentle }
    email: [desk@harbor.example.test, night@harbor.example.test]
    extensions:
      tools:
        - type: webhook
          name: crm lookup
          condition: during_call
          method: GET
          url: https://crm.example.test/c
          headers: [{ key: X-Api-Key, value: { $secret: env:CRM } }]
      mcp_servers:
        - connection_name: Calendar
          mcp_endpoint_url: https://mcp.example.test
          transport_type: http
          pre_answer_calls: [{ tool_name: f }, { tool_name: g }]
    sip: { registration_enabled: true }
    payments: { tool_enabled: false }
    lifecycle: { protect: true, ignore: [greeting_message, 'extensions.tools[crm lookup].url'] }
    unchecked: { newField: { a: [1, text] } }
knowledge_bases:
  clinic:
    id: ${KB}
    sources:
      faq: { url: https://harbor.example.test/faq, reingest_after: 7d }
      prices: { file: docs/prices.pdf }
custom_voices:
  harbor: { name: Harbor, clip: voices/harbor.wav, consent: true }
email_templates:
  hello: { name: Hello, subject: "Hi {{name}}", body_html: "<p>{{name|there}}</p>" }
sms_templates:
  hello: { name: Hello, message_type: sms, body: "Hi {{name|there}}" }
`,
};

test('a stack with every kind is loaded whole, in order', async () => {
  const { resources } = await loadGood(everyKind);
  expect(resources.map(({ address }) => address)).toEqual([
    'custom_voice.harbor',
    'retry_policy.gentle',
    'email_template.hello',
    'sms_template.hello',
    'knowledge_source.clinic.faq',
    'knowledge_source.clinic.prices',
    'agent.reception',
  ]);
  const [voice, policy, , , faq, prices, reception] = resources;
  expect(voice?.document).toMatchObject({ organization_id: HARBOR, consent: true });
  expect(policy?.document).not.toHaveProperty('organization_id');
  expect(faq?.document).toEqual({
    knowledge_base_id: KB,
    url: 'https://harbor.example.test/faq',
    reingest_after: '7d',
  });
  expect(prices?.document).toMatchObject({ knowledge_base_id: KB, name: 'prices.pdf' });
  expect(reception).toMatchObject({
    kind: 'agent',
    lifecycle: {
      protect: true,
      ignore: ['greeting_message', 'extensions.tools[crm lookup].url'],
    },
    document: { newField: { a: [1, 'text'] } },
    references: ['custom_voice.harbor', 'retry_policy.gentle'],
    position: { file: 'fleet.yaml', line: 4, column: 3 },
  });
  expect(reception?.document).not.toHaveProperty('lifecycle');
  expect(reception?.document).not.toHaveProperty('organization');
});

test.each([
  ['name', 5, 5],
  ['voice_settings.voice_id', 7, 23],
  ['extensions.tools["crm lookup"].url', 16, 11],
  ['extensions.tools["crm lookup"].headers[X-Api-Key].value', 17, 39],
  ['extensions.mcp_servers[Calendar].pre_answer_calls[1].tool_name', 22, 50],
  ['email[night@harbor.example.test]', 9, 39],
  ['email["night@harbor.example.test"]', 9, 39],
  ['sip.registration_enabled', 23, 12],
  ['organization_id', 4, 3],
  ['voice_settings.speed', 4, 3],
  ['extensions.tools[other].url', 4, 3],
  ['constructor', 4, 3],
])('%s stands at line %i, column %i', async (path, line, column) => {
  const { resources } = await loadGood(everyKind);
  const found = resources.at(-1)?.locate(path);
  expect(found).toEqual({ file: 'fleet.yaml', line, column });
});

test('what a block hands down stands in the block', async () => {
  const { resources } = await loadGood(everyKind);
  expect(resources[4]?.locate('knowledge_base_id')).toEqual({
    file: 'fleet.yaml',
    line: 29,
    column: 5,
  });
});

test('resources come in the order in which people count', async () => {
  const agent = (at: number) => `agents: { c${at}: { name: C${at}, config: {} } }\n`;
  const { resources } = await loadGood({
    'callsheet.yaml': MAIN,
    'c10.yaml': agent(10),
    'c2.yaml': agent(2),
    'c1.yaml': agent(1),
  });
  expect(resources.map(({ address }) => address)).toEqual(['agent.c1', 'agent.c2', 'agent.c10']);
});

const digestWith = async (change: (files: Files) => Files, main = MAIN) =>
  (await loadGood({ ...change(everyKind), 'callsheet.yaml': main })).digest;
const edit = (path: string, from: string, to: string) => (files: Files) => {
  const text = String(files[path]);
  expect(text).toContain(from);
  return { ...files, [path]: text.replace(from, to) };
};

test.each([
  ['a comment', edit('fleet.yaml', 'retry_policies:', '# why\nretry_policies: # so')],
  ['quotes and spaces', edit('fleet.yaml', 'name: Front desk', 'name:   "Front desk"')],
  [
    'the order of keys',
    edit(
      'fleet.yaml',
      'name: Hello, subject: "Hi {{name}}"',
      'subject: "Hi {{name}}", name: Hello',
    ),
  ],
  [
    'another file',
    (files: Files) => ({ ...files, 'fleet.yaml': '', 'x/y.yml': String(files['fleet.yaml']) }),
  ],
])('%s does not change the digest', async (_, change) => {
  expect(await digestWith(change)).toBe(await digestWith((files) => files));
});

test.each([
  ['a field', edit('fleet.yaml', 'Front desk', 'Desk')],
  ['a prompt', edit('prompts/reception.md', 'receptionist', 'nurse')],
  ['a document', (files: Files) => ({ ...files, 'docs/prices.pdf': Buffer.concat([PDF, PDF]) })],
  ['where a secret comes from', edit('fleet.yaml', 'env:CRM', 'env:CRM2')],
  ['protection', edit('fleet.yaml', 'protect: true', 'protect: false')],
  ['what is ignored', edit('fleet.yaml', 'ignore: [greeting_message, ', 'ignore: [')],
  ['what is unchecked', edit('fleet.yaml', 'newField', 'otherField')],
  ['a reference', edit('fleet.yaml', 'voice_id: { $ref: custom_voice.harbor }', 'voice_id: x')],
])('%s changes the digest', async (_, change) => {
  expect(await digestWith(change)).not.toBe(await digestWith((files) => files));
});

test.each([
  ['guards', 'guards: { max_delete: 1 }\n'],
  ['the platform', 'platform: { base_url: https://x.test }\n'],
  ['an assumption', 'platform: { assume: false }\n'],
])('%s change the digest, and where state is kept does not', async (_, line) => {
  const plain = await digestWith((files) => files);
  expect(await digestWith((files) => files, MAIN + line)).not.toBe(plain);
  expect(await digestWith((files) => files, `${MAIN}state: { file: x.json }\n`)).toBe(plain);
  expect(plain).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(plain).not.toBe(computeDigest({}));
});

test.each<readonly [style: string, agents: string]>([
  ['a block', '  a:\n    name: A\n    greeting_message: Hi\n'],
  ['braces', '  a: { name: A,\n   greeting_message: Hi }\n'],
  ['a map behind an explicit key', '  ? a\n  : name: A\n    greeting_message: Hi\n'],
  ['lines of Windows', '  a:\r\n    name: A\r\n    greeting_message: Hi\r\n'],
  ['a text that keeps its end', '  a:\n    name: A\n    greeting_message: |+\n      Hi\n\n'],
  ['comments', '  a: # one\n    # two\n    name: A # three\n    greeting_message: Hi\n'],
  ['an anchor', '  a:\n    name: A\n    description: &hi Hi\n    greeting_message: *hi\n'],
  [
    'an alias',
    '  b: { lifecycle: &l { protect: true }, name: B }\n  a:\n    name: A\n    lifecycle: *l\n    greeting_message: Hi\n',
  ],
])('a resource that is written as %s is found again in its file', async (_, agents) => {
  const text = `agents:\n${agents}`;
  const stack = await loadGood({ 'x.yaml': text });
  const line = text.split('\n').findIndex((one) => one.includes('greeting_message')) + 1;
  const resource = stack.resources.find(({ address }) => address === 'agent.a');
  expect(resource?.locate('greeting_message')).toMatchObject({ file: 'x.yaml', line });
  const origin = stack.traceOrigin('agent.a', ['greeting_message']);
  expect(origin?.value).toBe(resource?.document.greeting_message);
  expect(origin?.layers).toMatchObject([{ by: 'agent.a', says: 'value', position: { line } }]);
  // Once more, in the other order.
  expect(stack.traceOrigin('agent.a', ['name'])?.value).toBe('A');
  expect(resource?.locate('name')?.line).toBe(
    text.slice(0, text.indexOf('name: A')).split('\n').length,
  );
});

test.each([
  ['bases:', 'plain'],
  ['"bases":', 'in quotes'],
  ['"b\\u0061ses":', 'with an escape'],
  ['? bases # that all stand on\n:', 'as an explicit key'],
])('bases are known to the files before theirs: %s', async (key) => {
  const stack = await loadGood({
    'a.yaml': 'agents:\n  a: { base: desk, name: A }\n',
    'z.yaml': `${key}\n  desk: { base: group, language: en-US }\n`,
    'zz.yaml': 'bases:\n  group: { status: active }\n',
  });
  expect(stack.resources[0]?.document).toMatchObject({ language: 'en-US', status: 'active' });
});

test.each([
  ['as it is', ''],
  ['beside a text from a template', '    system_prompt: { $template: p.md, with: { who: Kim } }\n'],
])('what is unchecked is kept whatever it is called, %s', async (_title, prompt) => {
  const agents = `agents:\n  a:\n    name: A\n${prompt}    unchecked: { __proto__: { a: 1 }, other: 2 }\n`;
  const stack = await loadGood({ 'agents.yaml': agents, 'p.md': 'You are ${who}.' });
  const [document = {}] = stack.resources.map((resource) => resource.document);
  expect(Object.entries(document).slice(-2).sort()).toEqual([
    ['__proto__', { a: 1 }],
    ['other', 2],
  ]);
});
