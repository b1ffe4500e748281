import { describe, expect, test } from 'vitest';
import { agent, type Files, load } from './stack-folder.ts';

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
