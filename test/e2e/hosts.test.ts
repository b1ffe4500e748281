import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { STORES } from '../../src/core/stores.ts';
import { CLINIC } from './clinic.ts';
import { runHere } from './in-process.ts';
import { copyStack, type StackCopy } from './stack-copy.ts';

/** A proxy that every request to another machine would have to take, and that reaches nobody. */
const reached: string[] = [];
const proxy = createServer((_, response) => response.writeHead(502).end()).on(
  'connect',
  ({ url }, socket) => {
    reached.push(url ?? '');
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  },
);
let stack: StackCopy;

beforeAll(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  stack = copyStack(CLINIC);
});
beforeEach(() => {
  reached.length = 0;
});
afterAll(async () => {
  proxy.close();
  stack.discard();
});

const EVIL = 'evil.example.test';
const SETTINGS = `callsheet: 1
organizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }
organization: harbor
`;

async function planWith(settings: string, env: Record<string, string> = {}, ...flags: string[]) {
  await stack.write('callsheet.yaml', `${SETTINGS}${settings}\n`);
  const { port } = proxy.address() as AddressInfo;
  return runHere(['plan', '--dir', stack.folder, ...flags], {
    cwd: stack.folder,
    env: {
      PATH: process.env.PATH,
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
      CALLSHEET_CLIENT_ID: 'id',
      CALLSHEET_CLIENT_SECRET: 'canary-client-1f0e',
      CALLSHEET_STATE_PASSWORD: 'canary-state-77aa',
      CALLSHEET_STATE_TIMEOUT: '1',
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_SECRET_ACCESS_KEY: 'canary-aws-90b1',
      SMS_TOKEN: 'canary-a',
      CRM_KEY: 'canary-b',
      MCP_TOKEN: 'canary-c',
      ...env,
    },
  });
}

const AT_HOME = { CALLSHEET_BASE_URL: 'http://127.0.0.1:9' };
type Row = [what: string, settings: string, line: number, env?: Record<string, string>];
const ROWS: Row[] = [
  ['the platform', `platform: { base_url: "https://${EVIL}" }`, 4],
  [
    'the platform by a default',
    `platform: { base_url: "\${var.u}" }\nvariables:\n  u: { default: "https://${EVIL}" }`,
    6,
  ],
  [
    'a platform whose host the stack puts together',
    `platform: { base_url: "https://\${var.u}.example.test" }\nvariables: { u: { env: CALLSHEET_VAR_U } }`,
    4,
    { CALLSHEET_VAR_U: 'evil' },
  ],
  ['a state over HTTP', `state: { http: { address: "https://${EVIL}/state" } }`, 4, AT_HOME],
  [
    'the lock of a state over HTTP',
    `state:\n  http:\n    address: "http://127.0.0.1:9/state"\n    lock_address: "https://${EVIL}/lock"`,
    7,
    AT_HOME,
  ],
  [
    'an S3 service',
    `state: { s3: { bucket: b, key: k, endpoint: "https://${EVIL}" } }`,
    4,
    AT_HOME,
  ],
  [
    'an S3 region that is a host',
    `state: { s3: { bucket: b, key: k, region: "${EVIL}/x" } }`,
    4,
    AT_HOME,
  ],
  ['a database', `state: { postgres: { url: "postgres://u@${EVIL}/d", stack: s } }`, 4, AT_HOME],
];

test('every store is among the rows', () => {
  const text = ROWS.map(([, settings]) => settings).join('\n');
  const named = Object.keys(STORES).filter((store) => new RegExp(`\\b${store}:`).test(text));
  expect(named).toEqual(Object.keys(STORES));
});

test.each(ROWS)('%s that the stack names gets no credentials', async (_, settings, line, env) => {
  const { exit, err } = await planWith(settings, env);
  expect(err).toContain(EVIL);
  expect(err).toMatch(new RegExp(`callsheet\\.yaml:${line}\\b`));
  expect(err).toContain('CALLSHEET_ALLOW_HOSTS');
  expect(exit).toBe(1);
  expect(reached).toEqual([]);
});

test.each(['disable', 'require', 'verify-ca', 'prefer', 'Disable'])(
  'a database that the stack names with sslmode=%s gets no credentials, though its host is allowed',
  async (mode) => {
    const state = `state: { postgres: { url: "postgres://u@${EVIL}/d?sslmode=${mode}", stack: s } }`;
    const { exit, err } = await planWith(state, { ...AT_HOME, CALLSHEET_ALLOW_HOSTS: EVIL });
    const told = err.replaceAll(/\s+/g, ' ');
    expect(told).toContain(`are not sent to ${EVIL}: only the stack asks for sslmode=${mode}`);
    expect(told).toMatch(/callsheet\.yaml:4\b/);
    expect(told).toContain('CALLSHEET_STATE');
    expect(exit).toBe(1);
  },
);

test('a database with sslmode=disable is asked where the environment names it', async () => {
  const address = 'postgres://u@127.0.0.1:9/d?sslmode=disable&stack=s';
  const { err } = await planWith('', { ...AT_HOME, CALLSHEET_STATE: address });
  expect(err).toContain('no server listens there');
});

test.each(ROWS.filter(([what]) => /^(the platform|a state|an S3 service)/.test(what)))(
  '%s does where the environment names it',
  async (_, settings, __, env) => {
    const hosts = `other.test, ${EVIL}`;
    const { exit } = await planWith(settings, { ...env, CALLSHEET_ALLOW_HOSTS: hosts });
    expect(exit).toBe(1);
    expect(new Set(reached)).toEqual(new Set([`${EVIL}:443`]));
  },
);

test('a host with a port is that port alone', async () => {
  const settings = `platform: { base_url: "https://${EVIL}:8443" }`;
  const { err } = await planWith(settings, { CALLSHEET_ALLOW_HOSTS: `${EVIL}:443` });
  expect(err).toContain(`CALLSHEET_ALLOW_HOSTS=${EVIL}:8443`);
  expect(reached).toEqual([]);
  await planWith(settings, { CALLSHEET_ALLOW_HOSTS: `${EVIL}:8443` });
  expect(reached).toContain(`${EVIL}:8443`);
});

test('an address that the command line gives is named', async () => {
  const settings = 'platform: { base_url: "${var.u}" }\nvariables: { u: {} }';
  await planWith(settings, {}, '--var', `u=https://${EVIL}`);
  expect(reached).toContain(`${EVIL}:443`);
});

test('a list that names no hosts is refused', async () => {
  const { exit, err } = await planWith(ROWS[0]?.[1] ?? '', {
    CALLSHEET_ALLOW_HOSTS: `https://${EVIL}`,
  });
  expect(exit).toBe(1);
  expect(err).toContain('CALLSHEET_ALLOW_HOSTS holds');
  expect(reached).toEqual([]);
});
