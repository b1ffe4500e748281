import { describe, expect, test } from 'vitest';
import { agent, broken, type Files, load, MAIN } from './stack-folder.ts';

const tool = (rest: string) =>
  agent(
    `extensions: { tools: [{ type: webhook, name: crm, condition: during_call, method: GET, ${rest} }] }`,
  );
const header = (key: string, value: string) =>
  tool(`url: https://crm.example.test, headers: [{ key: ${key}, value: ${value} }]`);
const address = (url: string) => tool(`url: "${url}"`);
const connection = (headers: string) =>
  agent(
    `extensions: { mcp_servers: [{ connection_name: Calendar, mcp_endpoint_url: https://mcp.example.test, transport_type: http, auth_headers: ${headers} }] }`,
  );

describe('what looks like a credential in clear is warned of, and never shown', () => {
  test.each([
    ['secret/plain-header', header('Authorization', 'Bearer hunter2')],
    ['secret/plain-header', header('authorization', 'hunter2')],
    ['secret/plain-header', header('X-Api-Key', 'hunter2')],
    ['secret/plain-header', header('Cookie', 'sid=hunter2')],
    ['secret/plain-header', header('X-Auth-Token', 'hunter2')],
    ['secret/plain-header', connection('{ Authorization: Basic hunter2 }')],
    ['secret/plain-address', address('https://kim:hunter2@crm.example.test/a')],
    ['secret/plain-address', address('https://hunter2@crm.example.test/a')],
    ['secret/plain-address', address('https://crm.example.test/a?page=1&api_key=hunter2')],
    ['secret/plain-address', address('https://crm.example.test/a?token=hunter2')],
  ])('%s', async (rule, files) => {
    const { diagnostics, stack } = await load(files);
    expect(stack).toBeDefined();
    expect(diagnostics).toMatchObject([
      { severity: 'warning', rule, hint: expect.stringContaining('{ $secret: env:NAME }') },
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
  });
});

describe('no frame shows a file that a secret is read from', () => {
  test.each<readonly [title: string, value: string, text: string]>([
    ['Windows line endings', '{ $file: t.txt }', 'hunter2\r\nhunter2\r\n'],
    ['a byte order mark', '{ $file: t.txt }', '\ufeffhunter2'],
    ['a template', '{ $template: t.txt }', 'hunter2 ${var.x}\r\n'],
  ])('%s', async (_title, value, text) => {
    const fields: readonly Files[] = [
      header('Authorization', value),
      agent(`unchecked: { api_token: ${value} }`),
    ];
    for (const files of fields) {
      const { diagnostics } = await load({ ...files, 't.txt': text });
      expect(diagnostics).not.toEqual([]);
      expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
    }
  });

  test('nor a cell, in a row that comes to nothing', async () => {
    const { diagnostics } = await load({
      'agents.yaml':
        'agents: { a: { for_each: { $file: r.csv }, key: "${each.k}", name: n, unchecked: { api_token: "${each.t}" } } }\n',
      'r.csv': 'k,t\n,hunter2\n',
    });
    expect(diagnostics).not.toEqual([]);
    expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
  });
});

test('nor does one of a table that another resource reads under another spelling', async () => {
  const rows = (name: string, path: string, field: string) =>
    `  ${name}: { for_each: { $file: ${path} }, key: "\${each.k}", name: ${name}, ${field} }\n`;
  const { diagnostics } = await load({
    'agents.yaml': `agents:\n${rows('a', 'r.csv', 'unchecked: { api_token: "${each.t}" }')}${rows('b', './r.csv', 'status: "${each.s}"')}`,
    'r.csv': 'k,s,t\nx,wrong,hunter2\n',
  });
  expect(diagnostics).not.toEqual([]);
  expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
});

describe('what tells nothing is not', () => {
  test.each([
    ['another header', header('X-Tenant', 'harbor')],
    ['a key that is only part of a name', header('X-Keyboard-Layout', 'us')],
    ['a prompt variable', header('Authorization', '"Bearer {{session_token}}"')],
    ['a plain address', address('https://crm.example.test/a?page=1&tokens=5')],
    ['a variable of the platform in an address', address('https://crm.example.test/a?token={{t}}')],
    ['a connection without credentials', connection('{ X-Tenant: harbor }')],
  ])('%s', async (_title, files) => {
    expect((await load(files)).diagnostics).toEqual([]);
  });
});

const row = (url: string, cells: string, status = '${each.s}') => ({
  'agents.yaml': `agents: { a: { for_each: { $file: r.csv }, key: "\${each.k}", name: n, status: "${status}", extensions: { tools: [{ type: webhook, name: crm, condition: during_call, method: GET, url: "${url}" }] } } }\n`,
  'r.csv': `k,s,t\n${cells}\n`,
});

broken([
  {
    title: 'a credential in an address is warned of where it stands: in a cell',
    files: row('https://crm.test/?api_key=${each.t}', 'x,active,hunter2'),
    says: [
      'r.csv:2:10 warning secret/plain-address agent.a["x"]: extensions.tools[crm].url has a value of "api_key" in its address, which is readable in this file',
    ],
  },
  {
    title: 'in the default of a variable',
    files: {
      'callsheet.yaml': `${MAIN}variables: { pw: { default: hunter2 } }\n`,
      ...address('https://kim:${var.pw}@crm.test/'),
    },
    says: [
      'callsheet.yaml:4:29 warning secret/plain-address agent.a: extensions.tools[crm].url has a password in its address, which is readable in this file',
    ],
  },
  {
    title: 'in a template, and in a value of with',
    files: {
      ...agent(
        'unchecked: { one: { $template: t.txt, with: { tok: hunter2 } }, two: { $file: u.txt } }',
      ),
      't.txt': 'https://crm.test/?api_key=${tok}\n',
      'u.txt': 'https://crm.test/?api_key=hunter2\n',
    },
    says: [
      'agents.yaml:4:56 warning secret/plain-address agent.a: unchecked.one has a value of "api_key" in its address, which is readable in this file',
      'u.txt:1:27 warning secret/plain-address agent.a: unchecked.two has a value of "api_key" in its address, which is readable in this file',
    ],
  },
  {
    title: 'a value with the name of a secret, text or number',
    files: agent('unchecked: { newToken: hunter2, pin: { pass_code: 1, passcode: 1234 } }'),
    says: [
      'agents.yaml:4:28 warning secret/plain-name agent.a: unchecked.newToken has the name of a secret and is in the files in clear, so plans show it',
      'agents.yaml:4:68 warning secret/plain-name agent.a: unchecked.pin.passcode has the name of a secret and is in the files in clear, so plans show it',
    ],
  },
]);

describe('what comes from outside of the files is not warned of, and not quoted', () => {
  test.each([
    ['a variable in an address', address('https://kim:${var.pw}@crm.test/')],
    ['a variable with the name of a secret', agent('unchecked: { newToken: "${var.pw}" }')],
    ['a header', header('Authorization', '"Bearer ${var.pw}"')],
  ])('%s', async (_, files) => {
    const main = { 'callsheet.yaml': `${MAIN}variables: { pw: { env: CALLSHEET_VAR_PW } }\n` };
    const given = { env: { CALLSHEET_VAR_PW: 'hunter2' } };
    expect((await load({ ...main, ...files }, given)).diagnostics).toEqual([]);
    const wrong = String(files['agents.yaml']).replace(
      /( *)name: /,
      '$1status: "${var.pw}"\n$1name: ',
    );
    const { diagnostics } = await load({ ...main, 'agents.yaml': wrong }, given);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'agent.a: status is "***", which the specification does not have',
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
  });
});

describe('a cell with a secret is in no frame and no message, whatever is wrong', () => {
  const secretUrl = 'https://crm.test/?api_key=${each.t}';
  test.each<readonly [string, Files]>([
    ['a message that quotes it', row(secretUrl, 'x,y,hunter2', '${each.t}')],
    ['a message that quotes a text with it', row(secretUrl, 'x,y,hunter2', 'is ${each.t}!')],
    ['a row of too many cells', row(secretUrl, 'x,active,hunter2,y')],
    ['an open quote', row(secretUrl, 'x,active,hunter2\ny,"active,hunter2')],
    ['rows without keys', row(secretUrl, ',active,hunter2\n,active,hunter2')],
    [
      'a template that the rows fill',
      {
        ...row('https://crm.test', 'x,active,hunter2,y'),
        'agents.yaml':
          'agents: { a: { for_each: { $file: r.csv }, key: "${each.k}", name: n, system_prompt: { $template: t.md, with: { tok: "${each.t}" } } } }\n',
        't.md': 'Ask https://crm.test/?api_key=${tok} first.\n',
      },
    ],
    [
      'a pair in a list without names',
      {
        'agents.yaml':
          'agents: { a: { for_each: { $file: r.csv }, key: "${each.k}", name: n, status: "${each.s}", config: { settings: [{ key: api_key, value: "${each.t}" }] } } }\n',
        'r.csv': 'k,s,t\nx,wrong,hunter2\n',
      },
    ],
  ])('%s', async (_, files) => {
    const { diagnostics } = await load(files);
    expect(diagnostics).not.toEqual([]);
    expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
  });

  test('while the key of a row, which is in its address, is named', async () => {
    const { diagnostics } = await load(row('https://crm.test/?api_key=${each.k}', 'hunter2,no,x'));
    expect(diagnostics.map(({ message }) => message)).toContain(
      'agent.a["hunter2"]: status is "no", which the specification does not have',
    );
  });
});

test('no frame shows lines of a private key in a file', async () => {
  const { diagnostics } = await load({
    ...agent('unchecked: { pem: { $file: key.pem } }'),
    'key.pem': '-----BEGIN PRIVATE KEY-----\r\nhunter2\r\nhunter2\r\n-----END PRIVATE KEY-----\r\n',
  });
  expect(diagnostics).not.toEqual([]);
  expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
});

test('what an alias stands for is hidden where it stands', async () => {
  const { diagnostics } = await load({
    'agents.yaml': `agents:
  a:
    name: A
    status: wrong
    greeting_message: &link "https://kim:\${var.x}hunter2@crm.test/"
    language: wrong
    unchecked: { hook: *link }
`,
    'callsheet.yaml': `${MAIN}variables: { x: { default: y } }\n`,
  });
  expect(JSON.stringify(diagnostics)).not.toContain('hunter2');
});
