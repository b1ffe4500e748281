import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HARBOR } from '../stack/stack-folder.ts';
import { type LanguageServer, startLanguageServer } from './language-server.ts';

// What somebody sees who writes a stack in VS Code: the language server of its YAML extension, with the
// schema of this repository by a relative path. It may be slow on a busy machine.
const SLOW = 30_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const FIRST = '# yaml-language-server: $schema=../schemas/callsheet.schema.json\n';

let server: LanguageServer;
beforeAll(async () => {
  server = await startLanguageServer(root);
}, SLOW);
afterAll(() => server.close(), SLOW);

/** A file that is opened in the folder `stack`, with the line that names the schema. */
const written = (text: string): readonly [string, string] => ['stack/x.yaml', FIRST + text];

/** An agent with these lines. */
const agent = (...lines: readonly string[]) =>
  `agents:\n  a:\n    name: A\n${lines.map((line) => `    ${line}\n`).join('')}`;

describe('completion', () => {
  test.concurrent.each<[title: string, text: string, label: string, inserts: string]>([
    ['the first line of a stack', '§', 'callsheet', 'callsheet: 1'],
    ['a section', '§', 'agents', `agents:\n  \${1:name}:\n    name: \${2:Front desk}`],
    [
      'a section of several required fields',
      '§',
      'custom_voices',
      `custom_voices:\n  \${1:name}:\n    name: \${2:Harbor}\n    clip: \${3:voices/harbor.wav}\n    consent: true`,
    ],
    ['a resource', 'agents:\n  §', 'new agent', `\${1:name}:\n  name: \${2:Front desk}`],
    ['a field of an agent', agent('§'), 'greeting_message', 'greeting_message: '],
    ['a field with known values', agent('§'), 'agent_type', 'agent_type: '],
    ['a field of a map', agent('voice_settings:', '  §'), 'speed', `speed: \${1:1.05}`],
    ['a value of an enum', agent('status: §'), 'inactive', 'inactive'],
    ['a switch', agent('echo_detection: §'), 'true', 'true'],
    [
      'a text from a file',
      agent('system_prompt: §'),
      '{ $file: … }',
      `{ \\$file: \${1:prompts/reception.md} }`,
    ],
    [
      'a reference',
      agent('default_retry_policy_id: §'),
      '{ $ref: … }',
      `{ \\$ref: \${1:retry_policy.name} }`,
    ],
    [
      'a secret',
      agent('integrations:', '  smsProvider:', '    auth_token: §'),
      '{ $secret: … }',
      `{ \\$secret: \${1:env:SMS_TOKEN} }`,
    ],
    ['the member of a form', agent('system_prompt: { $§ }'), '$file', '$file'],
    [
      'a webhook with what it needs',
      agent('extensions:', '  tools:', '    - §'),
      'webhook tool',
      `type: webhook\n  name: \${2:crm_lookup}\n  condition: \${3:during_call}\n  method: \${4:GET}\n  url: \${5:https://crm.example.test/c}`,
    ],
    [
      'a knowledge source',
      `knowledge_bases:\n  k:\n    id: ${HARBOR}\n    §`,
      'sources',
      `sources:\n  \${1:name}:\n    url: \${2:https://harbor.example.test/faq}`,
    ],
    ['a guard', 'guards:\n  §', 'max_delete', `max_delete: \${1:5}`],
  ])('%s', async (_, text, label, inserts) => {
    const offered = await server.complete(...written(text));
    const item = offered.find((one) => one.label === label);
    expect(item?.insertText, offered.map((one) => one.label).join('\n')).toBe(inserts);
  });

  test.each([agent('system_prompt: §'), agent('default_retry_policy_id: §'), '§', 'agents:\n  §'])(
    'every label says something: %j',
    async (text) => {
      const labels = (await server.complete(...written(text))).map(({ label }) => label);
      expect(labels.join('\n')).not.toMatch(/object|undefined|\(Callsheet\)/i);
      expect(labels).not.toEqual([]);
    },
  );
});

describe('hover', () => {
  test.concurrent.each<[title: string, text: string, says: readonly string[]]>([
    [
      'a field that must be given',
      'sms_templates: { a: { na§me: X } }',
      [
        'Unique in the organization',
        '- Required.',
        '- Not empty, at most 100 characters.',
        'Reminder',
      ],
    ],
    [
      'an enum that a feature locks',
      agent('agent§_type: simple'),
      [
        'The template that the agent is built on',
        'template.VALUE',
        'Cannot be cleared',
        '`custom`',
      ],
    ],
    [
      'a text that stands in a file',
      agent('system§_prompt: { $file: a.md }'),
      ['The instructions that the model works from', '`{ $file: PATH }`', '`null` clears it'],
    ],
    [
      'a reference',
      agent('default_retry§_policy_id: { $ref: retry_policy.a }'),
      ['Retry policy that', '`{ $ref: retry_policy.NAME }`', 'A history revert does not change it'],
    ],
    [
      'a secret',
      agent('integrations: { smsProvider: { auth§_token: { $secret: env:X } } }'),
      ['Auth token', 'never shown or stored'],
    ],
    [
      'a field with a variable in it',
      agent(`sta§tus: \${var.status}`),
      ['Whether the agent takes calls'],
    ],
    ['a list', agent('knowledgebase§_links: []'), ['order does not matter', 'For example `[http']],
    ['a form', agent('system_prompt: { $fi§le: a.md }'), ['The text of a file of the stack']],
    ['a setting', 'guards: { max§_change_percent: 5 }', ['- At least 0, at most 100.']],
  ])('%s', async (_, text, says) => {
    const shown = await server.hover(...written(text));
    for (const words of says) expect(shown).toContain(words);
    expect(shown).not.toMatch(/\|\||undefined|\[object/);
  });
});

/** `4:12-4:14 message`, counted from 0 as editors do. */
async function problemsOf(file: string, text: string): Promise<readonly string[]> {
  const found = await server.check(file, text);
  return found.map(({ range: { start, end }, message }) => {
    const place = `${start.line}:${start.character}-${end.line}:${end.character}`;
    return `${place} ${message}`;
  });
}

describe('errors', () => {
  test.concurrent.each<[title: string, text: string, says: readonly string[]]>([
    [
      'null for what cannot be cleared',
      agent('status: null'),
      ['4:12-4:16 Incorrect type. Expected "string".'],
    ],
    [
      'a slip in the name of a field',
      agent('greting_message: x'),
      ['4:4-4:19 Property greting_message is not allowed.'],
    ],
    [
      'a slip in the name of a form',
      agent('system_prompt: { $fle: a.md }'),
      ['4:21-4:25 Property $fle is not allowed.'],
    ],
    [
      'a number for a text',
      agent('greeting_message: 12'),
      ['4:22-4:24 Incorrect type. Expected one of string, null, object.'],
    ],
    [
      'a text for a number',
      agent('voice_settings: { speed: fast }'),
      ['4:29-4:33 Incorrect type. Expected one of number, null.'],
    ],
    ['a missing name', 'agents:\n  a:\n    status: active\n', ['2:2-2:3 Missing property "name".']],
    [
      'a secret in clear',
      agent('integrations: { smsProvider: { auth_token: abc } }'),
      ['4:47-4:50 A secret cannot be written in the file. Write { $secret: env:NAME }.'],
    ],
    [
      'a secret where none is taken',
      agent('greeting_message: { $secret: env:X }'),
      ['4:24-4:31 Property $secret is not allowed.'],
    ],
    [
      'a reference to another kind',
      agent('default_retry_policy_id: { $ref: agent.a }'),
      ['4:37-4:44 Refer to a resource of the kind retry_policy: retry_policy.NAME.'],
    ],
    [
      'values newer than the schema',
      agent(
        'status: suspended',
        'extensions:',
        '  tools:',
        '    - { type: sms, name: x, condition: on_hold, method: GET, url: "HTTPS://x.test", to: a }',
      ),
      [],
    ],
    [
      'with beside no template',
      agent('system_prompt: { $file: a.md, with: { name: A } }'),
      ['4:19-4:53 Object is missing property $template required by property with.'],
    ],
    ['a move without its end', 'moved: [{ from: agent.a }]\n', ['1:8-1:9 Missing property "to".']],
    [
      'a slip in a base',
      'bases: { x: { greting_message: A } }\n',
      ['1:14-1:29 Property greting_message is not allowed.'],
    ],
    [
      'a source of both sorts',
      `knowledge_bases: { k: { id: ${HARBOR}, sources: { s: { url: "https://x.test", file: x } } } }\n`,
      ['1:105-1:109 Property file is not allowed.'],
    ],
  ])('%s', async (_, text, says) => {
    expect(await problemsOf(...written(text))).toEqual(says);
  });

  test.concurrent.each(globSync('examples/*/**/*.yaml', { cwd: root }).filter(namesSchema))(
    'there is none in %s',
    async (file) => {
      expect(await problemsOf(file, readFileSync(`${root}${file}`, 'utf8'))).toEqual([]);
    },
  );

  // One row for each value form and each key of Callsheet's own.
  test.concurrent.each<[form: string, text: string]>([
    ['$file', agent('system_prompt: { $file: a.md }')],
    ['$ref', agent('default_retry_policy_id: { $ref: retry_policy.a }')],
    ['$ref beside ids', agent('voice_settings: { voice_id: { $ref: custom_voice.a } }')],
    ['$secret', agent('integrations: { smsProvider: { auth_token: { $secret: file:/run/x } } }')],
    ['$secret, sensitive', agent('integrations: { smsProvider: { newer: { $secret: env:X } } }')],
    [`\${var}`, agent(`status: \${var.a}`, `voice_settings: { speed: "\${var.b}" }`)],
    ['lifecycle', agent('lifecycle: { protect: true, ignore: [status], adopt: x }')],
    ['unchecked', agent('unchecked: { any: { thing: [1] } }')],
    ['null', agent('greeting_message: null', 'voice_settings: null')],
    ['organization', agent('organization: harbor')],
    ['$template', agent('system_prompt: { $template: a.md, with: { name: A, beds: 4 } }')],
    [`\${each}`, agent(`status: \${each.a}`, `voice_settings: { speed: "\${each.b}" }`)],
    ['base', 'bases: { x: { status: active, base: [y] } }\nagents: { a: { base: x } }\n'],
    ['for_each', agent('for_each: { $file: rows.csv }', `key: \${each.slug}`, 'allow_empty: true')],
    ['rows in place', agent('for_each: [{ slug: a }]', `key: \${each.slug}`)],
    ['$remove', agent('greeting_message: { $remove: true }', 'voice_settings: { $remove: true }')],
    [
      '$remove of an element',
      agent('extensions: { tools: [{ $remove: crm }, { name: b, url: "https://b.test" }] }'),
    ],
    ['$replace', agent('voice_settings: { $replace: { speed: 1 } }')],
    [
      'environments',
      'callsheet: 1\nenvironments: { staging: { organization: bay, patches: { agent.a: { status: active } } } }\n',
    ],
    ['moved and forget', 'moved: [{ from: agent.a, to: agent.b }]\nforget: [agent.c]\n'],
    ['include', 'callsheet: 1\ninclude: ["a/*.yaml"]\n'],
    ['freeze', 'guards: { freeze: [{ zone: Europe/Berlin, weekdays: [sat] }] }\n'],
  ])('%s is known', async (_, text) => {
    expect(await problemsOf(...written(text))).toEqual([]);
  });
});

function namesSchema(file: string): boolean {
  return readFileSync(`${root}${file}`, 'utf8').startsWith('# yaml-language-server: $schema=');
}

test('a schema that is not there is said, so the tests above do read it', async () => {
  const problems = await problemsOf(
    'stack/x.yaml',
    '# yaml-language-server: $schema=../schemas/nowhere.json\nagents: {}\n',
  );
  expect(problems.join('\n')).toMatch(/nowhere\.json/);
});
