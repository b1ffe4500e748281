import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../src/core/value.ts';
import { loadStack, readSecrets } from '../../src/stack/index.ts';
import { agent, broken, folderOf, load, MAIN, said } from './stack-folder.ts';

const sms = (token: string) => agent(`integrations: { smsProvider: { auth_token: ${token} } }`);

broken([
  {
    title: 'a literal where a secret belongs',
    files: sms('hunter2'),
    says: [
      'agents.yaml:4:48 secret/literal agent.a: integrations.smsProvider.auth_token is a secret, and must not be written in the configuration',
    ],
    hint: '{ $secret: env:NAME }',
  },
  {
    title: 'a file of the stack where a secret belongs',
    files: sms('{ $file: token.txt }'),
    says: [
      'agents.yaml:4:48 secret/literal agent.a: integrations.smsProvider.auth_token is a secret, and must not be written in the configuration',
    ],
  },
  {
    title: 'sources that are none',
    files: agent(
      'integrations:',
      '  smsProvider: { auth_token: { $secret: hunter2 } }',
      '  ehrProvider: { password: { $secret: "env:no name" } }',
      '  pbxProvider: { client_secret: { $secret: "exec: " } }',
    ),
    says: [
      'agents.yaml:5:45 secret/source agent.a: integrations.smsProvider.auth_token is not a source that a secret can be read from',
      'agents.yaml:6:43 secret/source agent.a: integrations.ehrProvider.password names no environment variable after env:',
      'agents.yaml:7:48 secret/source agent.a: integrations.pbxProvider.client_secret is not a source that a secret can be read from',
    ],
  },
  {
    title: 'secrets where the platform keeps none',
    files: agent(
      'greeting_message: { $secret: env:X }',
      'config: { note: { $secret: env:X } }',
      'unchecked: { note: { $secret: env:X } }',
      'extensions: { tools: [{ type: webhook, name: { $secret: env:X }, condition: during_call, method: GET, url: https://x.test }] }',
    ),
    says: [
      'agents.yaml:4:34 secret/not-allowed agent.a: greeting_message is not a secret field, so the secret would be stored and shown',
      'agents.yaml:5:32 secret/not-allowed agent.a: config.note is not a secret field, so the secret would be stored and shown',
      'agents.yaml:6:35 secret/not-allowed agent.a: unchecked.note is not a secret field, so the secret would be stored and shown',
      'agents.yaml:7:61 secret/not-allowed agent.a: extensions.tools[0].name is not a secret field, so the secret would be stored and shown',
    ],
  },
  {
    title: 'a variable that is only a name that every object has',
    files: sms('{ $secret: env:constructor }'),
    options: { secrets: 'check' },
    says: [
      'agents.yaml:4:59 secret/missing agent.a: integrations.smsProvider.auth_token reads its secret from constructor, which is not set',
    ],
  },
  {
    title: 'secrets that cannot be had, when they are looked for',
    files: {
      'empty.txt': '',
      ...agent(
        'integrations:',
        '  smsProvider: { auth_token: { $secret: env:SMS_TOKEN } }',
        '  ehrProvider: { password: { $secret: env:EHR_PASSWORD } }',
        '  pbxProvider: { client_secret: { $secret: file:no/such.txt } }',
        '  calendarA: { access_token: { $secret: file:empty.txt } }',
        '  calendarB: { access_token: { $secret: file:../token.txt } }',
      ),
    },
    options: { secrets: 'check', env: { EHR_PASSWORD: '' } },
    says: [
      'agents.yaml:5:45 secret/missing agent.a: integrations.smsProvider.auth_token reads its secret from SMS_TOKEN, which is not set',
      'agents.yaml:6:43 secret/missing agent.a: integrations.ehrProvider.password reads its secret from EHR_PASSWORD, which is empty',
      'agents.yaml:7:48 secret/missing agent.a: integrations.pbxProvider.client_secret names "no/such.txt", which does not exist',
      'agents.yaml:8:45 secret/missing agent.a: integrations.calendarA.access_token reads its secret from empty.txt, which is empty',
      'agents.yaml:9:45 file/outside agent.a: integrations.calendarB.access_token names "../token.txt", which leaves its folder',
    ],
    hint: 'Set SMS_TOKEN in the environment',
  },
]);

const canary = 'canary-7f3a';

test.each([
  ['a literal', sms(canary)],
  ['a list of literals', sms(`[${canary}, { a: ${canary} }]`)],
  [
    'a block of text',
    agent(
      'integrations:',
      '  smsProvider:',
      '    auth_token: |',
      `      ${canary}`,
      `      ${canary}`,
    ),
  ],
  [
    'an anchor elsewhere',
    agent(`description: &d ${canary}`, 'integrations: { smsProvider: { auth_token: *d } }'),
  ],
  ['a source', sms(`{ $secret: ${canary} }`)],
  [
    'a misspelled key',
    agent(`integrations: { smsProvider: { auth_tokn: ${canary} } }`, 'status: on'),
  ],
  [
    'a repeated key',
    agent(
      'integrations:',
      '  smsProvider:',
      '    auth_token: { $secret: env:X }',
      `    auth_token: ${canary}`,
    ),
  ],
  ['a malformed file', agent('integrations:', '  smsProvider:', `    auth_token: ${canary}: x`)],
  [
    'a malformed line',
    agent(`integrations: { smsProvider: { x: { $secret: env:X }, auth_token: ${canary}`),
  ],
  [
    'a header beside a mistake',
    agent(
      'extensions:',
      '  tools:',
      '    - type: webhook',
      '      name: t',
      '      condition: during_cal',
      `      headers: [{ key: K, value: ${canary} }]`,
      '      method: GTE',
      '      url: x',
    ),
  ],
  [
    'a header of a tool server',
    agent(
      'extensions:',
      '  mcp_servers:',
      '    - connection_name: C',
      `      auth_headers: { A: ${canary} }`,
      '      transport_type: carrier-pigeon',
    ),
  ],
  ['a text where a provider belongs', agent(`integrations: { smsProvider: ${canary} }`)],
  ['a key in the wrong place', agent(`auth_token: ${canary}`)],
  [
    'a list where headers belong',
    agent(
      'extensions:',
      '  mcp_servers:',
      '    - connection_name: C',
      '      mcp_endpoint_url: https://x.test',
      '      transport_type: http',
      `      auth_headers: [{ A: ${canary} }]`,
    ),
  ],
  [
    'credentials in callsheet.yaml',
    {
      'callsheet.yaml': `${MAIN}client_secret: ${canary}\nplatform: { client_secret: ${canary} }\n`,
    },
  ],
  [
    'an address of a state store',
    { 'callsheet.yaml': `${MAIN}state: { file: postgres://u:${canary}@db/x }\n` },
  ],
])('%s is neither quoted nor shown', async (_, files) => {
  const { diagnostics } = await load(files);
  expect(diagnostics.length).toBeGreaterThan(0);
  expect(diagnostics.some(({ frame }) => frame?.includes('***'))).toBe(true);
  expect(JSON.stringify(diagnostics)).not.toContain(canary);
});

test('secrets are read at the moment of need, from the environment and from files', async () => {
  const dir = folderOf({
    'callsheet.yaml': MAIN,
    'token.txt': `${canary}-file\n`,
    ...agent(
      'integrations:',
      '  smsProvider: { auth_token: { $secret: env:SMS }, api_key_secret: { $secret: env:GONE } }',
      '  ehrProvider: { password: { $secret: file:token.txt } }',
      '  calendarA: { access_token: { $secret: env:SMS } }',
    ),
  });
  const { stack } = await loadStack({ dir, env: {}, secrets: 'skip' });
  if (stack === undefined) throw new Error('the stack was not loaded');
  expect(stack.secrets.map(({ source, path }) => `${path} ${source}`)).toEqual([
    'integrations.smsProvider.auth_token env:SMS',
    'integrations.smsProvider.api_key_secret env:GONE',
    'integrations.ehrProvider.password file:token.txt',
    'integrations.calendarA.access_token env:SMS',
  ]);
  const secrets = [
    ...stack.secrets.map(({ source }) => new Secret(source)),
    new Secret('env:PLAN'),
  ];
  const { values, diagnostics } = await readSecrets(stack, secrets, { SMS: canary });
  expect(Object.fromEntries(values)).toEqual({
    'env:SMS': canary,
    'file:token.txt': `${canary}-file`,
  });
  expect(diagnostics.map(said)).toEqual([
    'agents.yaml:5:83 secret/missing agent.a: integrations.smsProvider.api_key_secret reads its secret from GONE, which is not set',
    'secret/missing the plan reads its secret from PLAN, which is not set',
  ]);
  expect(JSON.stringify(diagnostics)).not.toContain(canary);
});

test.each([
  ['abc\n', 'abc'],
  ['abc\r\n', 'abc'],
  ['abc ', 'abc '],
  ['\n', undefined],
])('the final line break of a variable is no part of it: %j', async (set, value) => {
  const dir = folderOf(agent());
  const { values } = await readSecrets({ dir, secrets: [] }, [new Secret('env:TOKEN')], {
    TOKEN: set,
  });
  expect(values.get('env:TOKEN')).toBe(value);
});

test('an absolute path leads to a secret outside the stack folder', async () => {
  const elsewhere = folderOf({ token: 'outside' });
  const dir = folderOf({
    'callsheet.yaml': MAIN,
    ...sms(`{ $secret: "file:${join(elsewhere, 'token')}" }`),
  });
  const { stack, diagnostics } = await loadStack({ dir, env: {}, secrets: 'check' });
  if (stack === undefined) throw new Error(diagnostics.map(said).join());
  writeFileSync(join(elsewhere, 'token'), 'changed\r\n');
  const { values } = await readSecrets(stack, [new Secret(`file:${join(elsewhere, 'token')}`)], {});
  expect([...values.values()]).toEqual(['changed']);
});
