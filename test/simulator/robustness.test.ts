import { createConnection } from 'node:net';
import { Client } from 'undici';
import { describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/platform/operations.generated.ts';
import { getRules, validatorAt } from '../../src/simulator/validation.ts';
import { createWorld, IDS, SEED, tokenOf } from './world.ts';

const IDS_OF_PATH: { readonly [name: string]: string } = {
  agentId: IDS.desk,
  versionId: '1',
  knowledgeBaseId: IDS.base,
  sourceId: IDS.nobody,
  templateId: IDS.sms,
  policyId: IDS.policy,
};

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const wide = `{${Array.from({ length: 5000 }, (_, index) => `"field${index}":${index}`).join()}}`;

/** Bodies that nobody should send. */
const BODIES: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['no JSON', '{"name":'],
  ['a list', '[]'],
  ['a text', '"x"'],
  ['null', 'null'],
  ['a list in every field', '{"name":[],"url":[],"enabled":[],"sourceType":[],"profile_id":[]}'],
  ['a prototype', '{"__proto__":{"isAdmin":true},"name":"x"}'],
  ['a hidden prototype', '{"extensions":{"\\u005f_proto__":{"tools":[]}},"name":"x"}'],
  [
    'inherited names',
    '{"constructor":{"name":1},"toString":"x","hasOwnProperty":null,"valueOf":[]}',
  ],
  ['great depth', deep(100_000)],
  ['some depth', `{"config":${deep(60)}}`],
  ['many fields', wide],
  ['an endless number', '{"voiceSettings":{"speed":1e999},"fileSize":1e999}'],
  ['strange texts', '{"name":"\\u0000\\ud800","organization_id":"\\u0000","client_id":"💥"}'],
  ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]).toString('latin1')],
];

/** Ends of an address that nobody should send. */
const QUERIES = [
  '?page=0&page=-1&limit=1e9',
  '?limit=99999999999999999999&page=99999999999999999999',
  '?organization_id=&organization_id=x&organizationId=%00&reseller_id=%ff',
  '?__proto__=1&constructor=2&startDate=-271821-04-20&endDate=275760-09-13T00:00:00Z',
  '?startDate=0000-00-00&endDate=9999-99-99&start_date=0001-01-01&end_date=9999-12-31',
  '?start_date=2026-01-01&end_date=2026-01-31&organization_ids=,,,&reseller_ids[]=&reseller_ids[]=x',
  '?%zz=%&%e0%a4%a&refresh=1&status=nonsense',
  `?organization_id=${'x'.repeat(8000)}`,
];

type Sent = { readonly status: number; readonly text: string };
type Send = (
  method: string,
  path: string,
  body?: string | null,
  headers?: Record<string, string>,
) => Promise<Sent>;

/** Sends requests as they are written, with a token. */
async function connect(): Promise<{ readonly send: Send; readonly url: string } & AsyncDisposable> {
  const world = await createWorld({ seed: SEED });
  const authorization = await tokenOf(world, world.sim.clientId, world.sim.clientSecret);
  const client = new Client(world.sim.url);
  const send: Send = async (method, path, body = null, headers = {}) => {
    const reply = await client.request({
      method: method as 'GET',
      path,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: reply.statusCode, text: await reply.body.text() };
  };
  const close = async () => {
    await client.close();
    await world[Symbol.asyncDispose]();
  };
  return { send, url: world.sim.url, [Symbol.asyncDispose]: close };
}

/** Nothing but what the contract has comes back, and never a failure. */
function expectContract(id: OperationId, what: string, status: number, text: string): void {
  const { answers } = getRules(id);
  expect([...answers.keys()], `${id} with ${what} answers ${status} ${text}`).toContain(
    String(status),
  );
  expect(status, `${id} with ${what} answers ${text}`).toBeLessThan(500);
  const pointer = answers.get(String(status));
  if (pointer === undefined) return;
  const validate = validatorAt(pointer);
  expect(
    validate(JSON.parse(text)) ? [] : validate.errors,
    `${id} with ${what} answers ${status} ${text.slice(0, 300)}`,
  ).toEqual([]);
}

const all = Object.keys(operations) as OperationId[];
const pathOf = (id: OperationId) =>
  operations[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => IDS_OF_PATH[name] ?? 'x');

const FORMS = ['', '--x--', '--x\r\n\r\nno name\r\n--x--', '--x\r\nbroken'];
const TYPES = ['text/plain', 'application/xml', 'multipart/form-data', ''];
const NAMES = ['%00', '..%2f..', '__proto__', '1e400', '-1', '0', 'x'.repeat(450), '%F0%9F%92%A5'];

describe('whatever comes, the answer is one of the contract', () => {
  test.each(all)('%s', async (id) => {
    await using world = await connect();
    const { method, path } = operations[id];
    const attempt = async (what: string, ...[at, body, headers]: [string, string?, object?]) => {
      const { status, text } = await world.send(method, at, body, { ...headers });
      expectContract(id, what, status, text);
    };
    if (method !== 'GET') {
      for (const [what, body] of BODIES) await attempt(what, pathOf(id), body);
      for (const type of TYPES)
        await attempt(`type ${type}`, pathOf(id), '{"name":"x"}', { 'content-type': type });
      const type = { 'content-type': 'multipart/form-data; boundary=x' };
      for (const body of FORMS) await attempt(`form ${body}`, pathOf(id), body, type);
    }
    for (const query of QUERIES) await attempt(query, `${pathOf(id)}${query}`);
    if (path.includes('{'))
      for (const one of NAMES) await attempt(one, path.replaceAll(/\{\w+\}/g, one));
  });
});

test.each(['%zz', '%', '%e0%a4%a', 'x'.repeat(600)])('no record is called %s', async (name) => {
  await using world = await connect();
  const { status, text } = await world.send('GET', `/v1/agents/${name}`);
  expect([status, JSON.parse(text)]).toMatchObject([404, { error: 'not_found' }]);
});

test.each([
  ['/v1/agents', 'GET, POST'],
  ['/v1/agents/x?page=1', 'GET, PUT, DELETE'],
  ['/oauth/token', 'POST'],
  ['/', undefined],
  ['//', undefined],
  ['/uploads/x', undefined],
])('%s takes %s and no other method', async (path, allow) => {
  await using world = await connect();
  const methods = ['OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PATCH', 'CALL'];
  for (const method of methods) {
    const answer = await sendRaw(world.url, `${method} ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(answer, `${method} ${path}`).toMatch(
      allow === undefined ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 405 /,
    );
    const [, allowed] = /^allow: (.*)$/im.exec(answer) ?? [];
    expect(allowed, `${method} ${path}`).toBe(allow);
    expect(answer).toContain(allow === undefined ? 'not_found' : 'method_not_allowed');
  }
});

test('what is no HTTP is a 400', async () => {
  await using world = await connect();
  expect(await sendRaw(world.url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
});

test('after a long form that cannot be read its connection is of use', async () => {
  await using world = await connect();
  const type = { 'content-type': 'multipart/form-data' };
  const long = 'x'.repeat(4_000_000);
  expect((await world.send('POST', '/v1/custom-voices', long, type)).status).toBe(400);
  expect((await world.send('GET', '/v1/me')).status).toBe(200);
});

/** What comes back for bytes that no client library would send. */
async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.end(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

test('what was stored under strange names comes back, and nothing else is touched', async () => {
  await using world = await createWorld({ seed: SEED });
  const path = { agentId: IDS.desk };
  const config = { constructor: 'a', toString: 'b', hasOwnProperty: true };
  const { body } = await world.call('updateAgent', { path, body: { config } });
  expect(Object(body.data).config).toEqual(config);
  expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false);
});

test.each([
  { what: 'a number beyond all numbers', config: '{"limit":1e999}' },
  { what: 'a thousand levels', config: deep(1000) },
])('$what is not stored', async ({ config }) => {
  await using world = await connect();
  const { status, text } = await world.send(
    'PUT',
    `/v1/agents/${IDS.desk}`,
    `{"config":${config}}`,
  );
  expect([status, JSON.parse(text)]).toMatchObject([400, { error: 'invalid_request' }]);
});

test('a member named __proto__ is ignored', async () => {
  await using world = await connect();
  const body = '{"config":{"__proto__":{"a":1},"b":2}}';
  const { status, text } = await world.send('PUT', `/v1/agents/${IDS.desk}`, body);
  expect([status, JSON.parse(text).data.config]).toEqual([200, expect.objectContaining({ b: 2 })]);
  expect(text).not.toContain('__proto__');
});

test('a body of forty levels is taken', async () => {
  await using world = await createWorld({ seed: SEED });
  const config = JSON.parse(deep(40));
  const { status } = await world.call('updateAgent', {
    path: { agentId: IDS.desk },
    body: { config },
  });
  expect(status).toBe(200);
});
