import { symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Ref, Secret } from '../../src/core/value.ts';
import { loadStack } from '../../src/stack/index.ts';
import { agent, broken, folderOf, loadGood, MAIN, said } from './stack-folder.ts';

const prompt = { 'prompts/a.md': 'You answer the phone.\n' };

broken([
  {
    title: 'a file that does not exist, with the nearest of its folder',
    files: { ...prompt, ...agent('system_prompt: { $file: prompts/b.md }') },
    says: [
      'agents.yaml:4:29 file/missing agent.a: system_prompt names "prompts/b.md", which does not exist',
    ],
    hint: 'Did you mean "prompts/a.md"?',
  },
  {
    title: 'paths that leave the stack folder',
    files: agent(
      'system_prompt: { $file: ../a.md }',
      'description: { $file: /etc/hostname }',
      'transfer_rules: { $file: .git/config }',
      'greeting_message: { $file: a\\b.md }',
      'voicemail_message: { $file: prompts/../../a.md }',
    ),
    says: [
      'agents.yaml:4:29 file/outside agent.a: system_prompt names "../a.md", which leaves its folder',
      'agents.yaml:5:27 file/outside agent.a: description names "/etc/hostname", an absolute path',
      'agents.yaml:6:30 file/outside agent.a: transfer_rules names ".git/config", and Callsheet does not read names that begin with a dot',
      'agents.yaml:7:32 file/outside agent.a: greeting_message names "a\\\\b.md", which has a backslash',
      'agents.yaml:8:33 file/outside agent.a: voicemail_message names "prompts/../../a.md", which leaves its folder',
    ],
  },
  {
    title: 'a folder, a text that is none, and one that is too large',
    files: {
      ...prompt,
      'prompts/latin.md': Buffer.from([0xe9, 0x20]),
      'prompts/large.md': Buffer.alloc(10 * 1024 * 1024 + 1, 'x'),
      ...agent(
        'system_prompt: { $file: prompts }',
        'description: { $file: prompts/latin.md }',
        'transfer_rules: { $file: prompts/large.md }',
      ),
    },
    says: [
      'agents.yaml:4:29 file/kind agent.a: system_prompt names "prompts", which is a folder',
      'agents.yaml:5:27 file/encoding agent.a: description names "prompts/latin.md", which is not UTF-8 text',
      'agents.yaml:6:30 file/size agent.a: transfer_rules names "prompts/large.md", which has 10.1 MB; texts may have 10 MB',
    ],
  },
  {
    title: 'warnings about a text that would be sent with what nobody sees',
    files: {
      'p.md': '\uFEFFHello\r\nthere\r\n',
      ...agent('system_prompt: { $file: p.md }', 'greeting_message: { $file: p.md }'),
    },
    says: [
      'p.md:1:1 warning text/bom agent.a: system_prompt comes from a file with a byte order mark, which Callsheet leaves out',
      'p.md:1:1 warning text/line-endings agent.a: system_prompt comes from a file with Windows line endings, which are sent unchanged',
    ],
  },
  {
    title: 'texts that were hardly meant, in a file, in a template and in the YAML',
    files: {
      'merge.md': 'Hello\n<<<<<<< HEAD\nA\n=======\nB\n>>>>>>> main\n',
      'lfs.md': 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n',
      'odd.md': 'Hello \uFFFD and \0\n',
      'blank.md': ' \n\n',
      'agents.yaml': `agents:
  a: { name: A, system_prompt: { $file: merge.md }, description: { $template: merge.md } }
  b: { name: B, system_prompt: { $file: lfs.md } }
  c: { name: C, system_prompt: { $file: odd.md } }
  d: { name: D, system_prompt: { $file: blank.md } }
  e:
    name: E # its name
    system_prompt: Press #1 for help
    description: "Press #1" #for help
    greeting_message: |
      <<<<<<< HEAD
      Hello
`,
    },
    says: [
      'agents.yaml:8:25 warning text/comment agent.e: system_prompt ends before "#1 for help", which YAML reads as a comment',
      'agents.yaml:11:7 warning text/merge-marker agent.e: greeting_message has the marker of a merge that was not finished',
      'blank.md:1:1 warning text/blank agent.d: system_prompt comes from a file that holds nothing',
      'lfs.md:1:1 warning text/lfs-pointer agent.b: system_prompt comes from a pointer of Git LFS, and not from the file itself',
      'merge.md:2:1 warning text/merge-marker agent.a: system_prompt has the marker of a merge that was not finished',
      'odd.md:1:7 warning text/character agent.c: system_prompt has U+FFFD, which stands where another letter was lost',
      'odd.md:1:13 warning text/character agent.c: system_prompt has a NUL character',
    ],
  },
  {
    title: 'a missing file: the same name elsewhere first, and none that another resource uses',
    files: {
      'prompts/pine/greeting.md': 'Pine\n',
      'prompts/oak.md': 'Oak\n',
      'texts/moved.md': 'Moved\n',
      'texts/harbor/intro.md': 'Intro\n',
      'rows.csv': 'slug,prompt\noak,prompts/oak.md\nelm,prompts/oac.md\n',
      'agents.yaml': `agents:
  a: { name: A, system_prompt: { $file: prompts/harbor/greeting.md } }
  b: { name: B, system_prompt: { $file: prompts/moved.md } }
  c: { name: C, system_prompt: { $file: texts/harbor/Intro.md } }
  d: { name: D, system_prompt: { $file: ./prompts/pine/greeting.md } }
  e: { name: E, system_prompt: { $file: prompts/pine/greetings.md } }
  f:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.slug}
    system_prompt: { $file: "\${each.prompt}" }
`,
    },
    says: [
      'agents.yaml:2:41 file/missing agent.a: system_prompt names "prompts/harbor/greeting.md", which does not exist',
      'agents.yaml:3:41 file/missing agent.b: system_prompt names "prompts/moved.md", which does not exist',
      'agents.yaml:4:41 file/missing agent.c: system_prompt names "texts/harbor/Intro.md", which does not exist',
      'agents.yaml:6:41 file/missing agent.e: system_prompt names "prompts/pine/greetings.md", which does not exist',
      'agents.yaml:11:29 file/missing agent.f["elm"]: system_prompt names "prompts/oac.md", which does not exist',
    ],
    hints: [
      'Paths begin at the stack folder',
      'Did you mean "texts/moved.md"?',
      'Did you mean "texts/harbor/intro.md"?',
      'Paths begin at the stack folder',
      'Paths begin at the stack folder',
    ],
  },
  {
    title: '$file where no prose stands',
    files: {
      ...prompt,
      ...agent(
        'status: { $file: prompts/a.md }',
        'voice_settings: { $file: prompts/a.md }',
        'timezone: { $file: prompts/a.md }',
        'echo_detection: { $file: prompts/a.md }',
      ),
    },
    says: [
      'agents.yaml:4:22 file/not-allowed agent.a: status cannot be given as $file',
      'agents.yaml:5:30 file/not-allowed agent.a: voice_settings cannot be given as $file, because it is not a text',
      'agents.yaml:6:24 file/not-allowed agent.a: timezone cannot be given as $file',
      'agents.yaml:7:30 file/not-allowed agent.a: echo_detection cannot be given as $file, because it is not a text',
    ],
  },
  {
    title: 'references that are none, to another kind, or where no id stands',
    files: agent(
      'default_retry_policy_id: { $ref: gentle }',
      'voice_settings: { voice_id: { $ref: agent.a } }',
      'greeting_message: { $ref: custom_voice.v }',
      'config: { other: { $ref: custom_voice.v }, enable_recording: { $ref: custom_voice.v } }',
      'contact_policy: { $ref: agent.a }',
      'integrations: { pbxProvider: { other: { $ref: agent.a } } }',
      'knowledgebase_links: [{ $ref: agent.a }]',
    ),
    says: [
      'agents.yaml:4:38 ref/form agent.a: default_retry_policy_id refers to "gentle", which is not an address',
      'agents.yaml:5:41 ref/kind agent.a: voice_settings.voice_id refers to agent.a, but takes the id of a custom_voice',
      'agents.yaml:6:31 ref/not-allowed agent.a: greeting_message cannot be given as $ref',
      'agents.yaml:7:30 ref/unknown agent.a: config.other refers to custom_voice.v, which does not exist',
      'agents.yaml:7:74 ref/not-allowed agent.a: config.enable_recording cannot be given as $ref, because it is not a text',
      'agents.yaml:8:29 ref/not-allowed agent.a: contact_policy cannot be given as $ref, because it is not a text',
      'agents.yaml:9:51 ref/not-allowed agent.a: integrations.pbxProvider.other cannot be given as $ref',
      'agents.yaml:10:35 ref/not-allowed agent.a: knowledgebase_links[0] cannot be given as $ref',
    ],
    hint: 'retry_policy.gentle',
  },
  {
    title: 'a text that reads like a reference, where the platform accepts any text as an id',
    files: agent('voice_settings: { voice_id: custom_voice.harbor }'),
    says: [
      'agents.yaml:4:33 ref/literal agent.a: voice_settings.voice_id is given as a text that reads like a reference',
    ],
    hint: 'Write { $ref: custom_voice.harbor }',
  },
  {
    title: 'unknown forms, forms with company and forms without a text',
    files: agent(
      'greeting_message: { $fil: x }',
      'description: { $var: x }',
      'transfer_rules: { $file: x.md, with: {} }',
      'voicemail_message: { $file: [x.md] }',
      'config: { nested: { $secert: env:X } }',
    ),
    says: [
      'agents.yaml:4:25 form/unknown agent.a: greeting_message has the unknown form $fil',
      'agents.yaml:5:20 form/unknown agent.a: description has the unknown form $var',
      'agents.yaml:6:36 form/mixed agent.a: transfer_rules has members next to $file',
      'agents.yaml:7:33 form/value agent.a: voicemail_message needs a text after $file',
      'agents.yaml:8:25 form/unknown agent.a: config.nested has the unknown form $secert',
    ],
    hint: 'Did you mean $secret?',
  },
]);

test('every form gives its value, and plain data that looks like one stays as it is', async () => {
  const { resources } = await loadGood({
    ...prompt,
    'voices.yaml': 'retry_policies: { gentle: { name: Gentle } }',
    ...agent(
      'system_prompt: { $file: ./prompts/a.md }',
      'default_retry_policy_id: { $ref: retry_policy.gentle }',
      'config: { note: { $file: prompts/a.md } }',
      'interpreter_config: null',
      'integrations: { ehrProvider: { anything: { $secret: env:EHR } } }',
      'extensions:',
      '  mcp_servers:',
      '    - connection_name: C',
      '      mcp_endpoint_url: https://mcp.example.test',
      '      transport_type: http',
      '      auth_headers: { Authorization: { $secret: "file:token.txt" } }',
      '      initialization_options: { $schema: x, a: { $ref: "#/a" } }',
    ),
  });
  const document = resources.at(-1)?.document;
  expect(document).toMatchObject({
    system_prompt: 'You answer the phone.\n',
    default_retry_policy_id: new Ref('retry_policy.gentle'),
    config: { note: 'You answer the phone.\n' },
    interpreter_config: null,
    integrations: { ehrProvider: { anything: new Secret('env:EHR') } },
    extensions: {
      mcp_servers: [
        {
          auth_headers: { Authorization: new Secret('file:token.txt') },
          initialization_options: { $schema: 'x', a: { $ref: '#/a' } },
        },
      ],
    },
  });
  expect(resources.at(-1)?.references).toEqual(['retry_policy.gentle']);
});

test('a reference of any kind is taken where ids may stand', async () => {
  const { resources } = await loadGood({
    'p.yaml': `retry_policies:
  p: { name: P, on_exhausted: call, on_exhausted_target: { agent_id: { $ref: agent.a } } }
email_templates: { e: { name: E } }
`,
    ...agent(
      'transfer_rules: { $ref: agent.a }',
      'config: { email_template_id: { $ref: email_template.e } }',
      'contact_policy: { fallback_agents: [{ $ref: agent.a }, desk] }',
      'unchecked: { bargeInMode: { $ref: retry_policy.p } }',
    ),
  });
  const documents = Object.fromEntries(resources.map((one) => [one.address, one]));
  expect(documents['agent.a']?.document).toMatchObject({
    transfer_rules: new Ref('agent.a'),
    config: { email_template_id: new Ref('email_template.e') },
    contact_policy: { fallback_agents: [new Ref('agent.a'), 'desk'] },
    bargeInMode: new Ref('retry_policy.p'),
  });
  expect(documents['agent.a']?.references.toSorted()).toEqual([
    'agent.a',
    'email_template.e',
    'retry_policy.p',
  ]);
  expect(documents['retry_policy.p']?.references).toEqual(['agent.a']);
});

test('a link out of the folder is not followed, one inside is', async () => {
  const outside = folderOf({ 'secret.md': 'not for prompts' });
  const dir = folderOf({
    'callsheet.yaml': MAIN,
    ...prompt,
    '.hidden/x.md': 'hidden',
    ...agent(
      'system_prompt: { $file: out.md }',
      'description: { $file: in.md }',
      'greeting_message: { $file: dot.md }',
    ),
  });
  symlinkSync(join(outside, 'secret.md'), join(dir, 'out.md'));
  symlinkSync(join(dir, 'prompts/a.md'), join(dir, 'in.md'));
  symlinkSync(join(dir, '.hidden/x.md'), join(dir, 'dot.md'));
  const { diagnostics } = await loadStack({ dir, env: {}, secrets: 'skip' });
  expect(diagnostics.map(said)).toEqual([
    'agents.yaml:4:29 file/outside agent.a: system_prompt names "out.md", a link that leads out of the stack folder',
    'agents.yaml:6:32 file/outside agent.a: greeting_message names "dot.md", and Callsheet does not read names that begin with a dot',
  ]);
  expect(JSON.stringify(diagnostics)).not.toContain(tmpdir());
});
