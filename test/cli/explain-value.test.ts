import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import schema from '../../schemas/value.schema.json' with { type: 'json' };
import { explain } from '../../src/cli/commands/explain.ts';
import type { ValueDocument } from '../../src/core/documents.ts';
import { renderValueText } from '../../src/render/explain.ts';
import { folderOf } from '../stack/stack-folder.ts';
import { openAuthorStage } from './author-stage.ts';

const FILES = {
  'callsheet.yaml': `callsheet: 1
organization: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11
variables: { hello: { default: Hello } }
environments:
  staging: { patches: { 'agent.clinic["oak"]': { voice_settings: { speed: 0.9 } } } }
`,
  'agents.yaml': `bases:
  desk: { greeting_message: "\${var.hello}, \${each.name}", voice_settings: { speed: 1 } }
agents:
  clinic:
    base: desk
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.name}
    voice_settings: { speed: "\${each.speed}" }
    integrations: { smsProvider: { account_sid: AC1, auth_token: { $secret: env:SMS_TOKEN } } }
`,
  'rows.csv': 'slug,name,speed\nharbor,Harbor,1.1\noak,Oak,\n',
};

async function explained(
  name: string,
  more: { readonly env?: string; readonly format?: 'json' } = {},
) {
  const { context, said } = openAuthorStage();
  const flags = { dir: folderOf(FILES), format: 'text' as const, ...more };
  const exit = await explain(name, flags, context);
  return { exit, out: said() };
}

test('a value that went through base, row and overlay', async () => {
  const { exit, out } = await explained('agent.clinic["oak"].voice_settings.speed', {
    env: 'staging',
  });
  expect(exit).toBe(0);
  expect(out.trimEnd()).toBe(`agent.clinic["oak"]  voice_settings.speed

  0.9

  From, the last wins
    base desk            1  agents.yaml:2:84
    agent.clinic         \${each.speed} (nothing in this row, so the value of the
                         layer below applies)  agents.yaml:9:30
    environment staging  0.9  callsheet.yaml:5:75`);
});

test.each(['constructor', 'toString', '__proto__'])('%s is no field', async (field) => {
  await expect(explained(`agent.clinic["oak"].${field}`)).rejects.toThrow(/has no field/);
});

test('the same for programs', async () => {
  const { out } = await explained('agent.clinic["oak"].greeting_message', { format: 'json' });
  const document = JSON.parse(out);
  const check = new Ajv2020({ strict: false }).compile(schema);
  check(document);
  expect(check.errors).toBeNull();
  expect(document).toMatchObject({
    address: 'agent.clinic["oak"]',
    field: 'greeting_message',
    value: 'Hello, Oak',
    filled: [
      { expression: `\${var.hello}`, value: 'Hello', by: 'its default' },
      { expression: `\${each.name}`, value: 'Oak', position: { file: 'rows.csv', line: 3 } },
    ],
  });
});

describe('a name', () => {
  test('of a secret shows where it is read from', async () => {
    const { out } = await explained('agent.clinic["oak"].integrations.smsProvider.auth_token');
    expect(out).toContain('env:SMS_TOKEN');
  });

  test('of a field of a kind still documents it', async () => {
    const { out } = await explained('agent.voice_settings.speed');
    expect(out).toContain('Speaking rate');
  });

  test.each([
    ['agent.clinic.name', 'agent.clinic has 2 rows; choose one'],
    ['agent.clinic["oak"].nam', 'agent has no field nam'],
    ['agent.clinic["elm"].name', 'the stack has no agent.clinic["elm"]'],
    ["agents.clinic['oka'].name", "the stack has no agent.clinic['oka']"],
    ['agent.nobody', 'the stack has no agent.nobody'],
  ])('%s is refused in words', async (name, words) => {
    await expect(explained(name)).rejects.toThrow(words);
  });

  test('of a field that is cut short names the whole one', async () => {
    await expect(explained('agent.greeting')).rejects.toMatchObject({
      hint: 'Did you mean agent.greeting_message?',
    });
  });
});

test('a resource is shown as its files have it, a prompt in lines', async () => {
  const resource: ValueDocument = {
    ...{ format: 'callsheet-value', version: 1, address: 'agent.night', field: '' },
    ...{ given: true, layers: [], filled: [] },
    value: { name: 'Night line', system_prompt: 'Be brief.\nSay good night.\n' },
  };
  const text = renderValueText(resource, { width: 80, color: false, verbose: false });
  expect(text).toContain(
    '  name: Night line\n  system_prompt: |\n    Be brief.\n    Say good night.\n',
  );
});
