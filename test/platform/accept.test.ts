import { describe, expect, it } from 'vitest';
import type { Call } from '../../src/kinds/kind.ts';
import { BASE, failure, KEY, minted, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const html = { body: '<!doctype html>', headers: { 'content-type': 'text/html; charset=utf-8' } };
const get = { operation: 'getAgent', path: { agentId: 'a' } };
const NO_LIST = 'without a `data` list of objects';
const list = { operation: 'listCustomVoices', query: { organizationId: 'o' } };

describe('a good answer', () => {
  it.each<{ reply: Reply; gives: unknown }>([
    { reply: { status: 200, body: { data: {} } }, gives: { data: {} } },
    {
      reply: { status: 201, body: { data: { id: 'a', newer: { than: ['we'] } }, more: 1 } },
      gives: { data: { id: 'a', newer: { than: ['we'] } }, more: 1 },
    },
    {
      reply: { body: '{"data":{"a":1}}', headers: { 'content-type': 'text/plain' } },
      gives: { data: { a: 1 } },
    },
  ])('$reply', async ({ reply, gives }) => {
    script({ 'GET /v1/agents/a': [reply] });
    await expect(open().call(get)).resolves.toEqual(gives);
  });
});

describe('an answer of another shape than the contract gives', () => {
  const path = { agentId: 'a' };
  const change = { path, body: {} };
  it.each<{ wanted: Call; line: string; reply: Reply; says: string }>([
    { wanted: get, line: 'GET /v1/agents/a', reply: {}, says: 'with an empty body' },
    { wanted: get, line: 'GET /v1/agents/a', reply: { body: 'x' }, says: 'with a string instead' },
    {
      wanted: get,
      line: 'GET /v1/agents/a',
      reply: { body: { data: [] } },
      says: 'without a `data` object',
    },
    {
      wanted: { operation: 'getMe' },
      line: 'GET /v1/me',
      reply: { body: { data: { name: 'x' } } },
      says: 'without `account_id`',
    },
    {
      wanted: { operation: 'setSipRegistration', ...change },
      line: 'PATCH /v1/agents/a/sip/registration',
      reply: { body: { data: {} } },
      says: 'without `success`',
    },
  ])('is an error with method and address: $line $says', async ({ wanted, line, reply, says }) => {
    const headers = { 'content-type': 'application/json' };
    script({ [line]: [typeof reply.body === 'string' ? { body: '"x"', headers } : reply] });
    const error = await failure(open().call(wanted));
    const [method, at] = line.split(' ');
    expect(error).toMatchObject({
      code: 'api',
      message: expect.stringContaining(`${method} ${BASE}${at} answered 200 ${says}`),
      hint: expect.stringMatching(/base_url/),
    });
  });

  it('may stand under `data` where its wrapper is only assumed', async () => {
    const body = { data: { account_id: 'acct' } };
    script({ 'GET /v1/me': [{ body }] });
    await expect(open().call({ operation: 'getMe' })).resolves.toEqual(body);
  });

  it('names the assumption that the shape rests on', async () => {
    script({ 'GET /v1/me': [{ body: {} }] });
    const error = await failure(open().call({ operation: 'getMe' }));
    expect(error).toMatchObject({ hint: expect.stringContaining('assumption account.me-shape') });
  });

  it.each<Reply>([{}, { status: 204 }, { body: { done: true } }])(
    'is taken where the specification shows none, since the write is done: %j',
    async (reply) => {
      script({ 'PUT /v1/agents/a': [reply] });
      const { body = null } = reply;
      await expect(open().call({ operation: 'updateAgent', ...change })).resolves.toEqual(body);
    },
  );
});

it('a base address with the version that paths begin with is named', async () => {
  const url = `${BASE}/v1`;
  script({ 'GET /v1/v1/agents/a': [{ status: 404, body: { error: 'not_found' } }] });
  const error = await failure(open({ baseUrl: url }).call(get));
  expect(error).toMatchObject({ hint: expect.stringContaining('base_url ends in /v1') });
});

describe('an answer that is none of the platform', () => {
  it.each<{ reply: Reply; says: string }>([
    { reply: html, says: 'answered 200 with text/html instead of JSON' },
    {
      reply: { body: 'hello', headers: {} },
      says: 'answered 200 with something that is not JSON',
    },
  ])('is an error at once, without its text: $says', async ({ reply, says }) => {
    script({ 'GET /v1/agents/a': [reply] });
    const client = open();
    const error = await failure(client.call(get));
    expect(error).toMatchObject({
      code: 'api',
      message: `GET ${BASE}/v1/agents/a ${says}`,
      hint: expect.stringMatching(/base_url.*website or proxy/),
    });
    expect(error).not.toHaveProperty('cause');
    expect(client.waits).toEqual([]);
  });

  it.each([400, 404, 405, 418, 500])(
    'is told apart from a refusal of the platform: %i',
    async (status) => {
      script({ 'GET /v1/agents/a': [{ ...html, status }] });
      const error = await failure(open().call(get));
      expect(error).toMatchObject({
        name: 'ApiError',
        status,
        body: undefined,
        hint: expect.stringMatching(/base_url/),
      });
    },
  );

  it.each([502, 503, 504])('may come from something on the way: %i', async (status) => {
    script({ 'POST /v1/agents': [{ ...html, status }] });
    const error = await failure(open().call({ operation: 'createAgent', body: {} }));
    expect(error).toMatchObject({ status, hint: expect.stringMatching(/^Something between here/) });
  });

  it('is no word on the credentials', async () => {
    script({ 'GET /v1/agents/a': [{ ...html, status: 401 }] });
    const error = await failure(open().call(get));
    expect(error).toMatchObject({ status: 401, hint: expect.stringMatching(/base_url/) });
  });

  it('keeps its status where its JSON is cut short', async () => {
    const headers = { 'content-type': 'application/json' };
    script({ 'POST /v1/agents': [{ status: 400, body: '{"error":"inval', headers }] });
    const error = await failure(open().call({ operation: 'createAgent', body: {} }));
    expect(error).toMatchObject({ name: 'ApiError', status: 400, body: undefined });
  });

  it.each<{ reply: Reply; says: string }>([
    { reply: {}, says: 'with an empty body' },
    { reply: { body: {} }, says: NO_LIST },
    { reply: { body: { data: {} } }, says: NO_LIST },
    { reply: { body: { data: null } }, says: NO_LIST },
    { reply: { body: [{ id: 'a' }] }, says: 'with a list instead of an object' },
    { reply: { body: { data: ['a'] } }, says: NO_LIST },
    { reply: { body: { data: [{ id: 'a' }, null] } }, says: NO_LIST },
  ])('is an error of a list, never an empty fleet: $reply.body', async ({ reply, says }) => {
    script({ 'GET /v1/custom-voices': [reply] });
    const error = await failure(open().list(list));
    expect(error).toMatchObject({
      code: 'api',
      message: `GET ${BASE}/v1/custom-voices answered 200 ${says}`,
      hint: expect.stringMatching(/base_url/),
    });
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    const location = 'https://me:canary@elsewhere.example.test/v1/agents/a?canary=1';
    const seen = script({ 'GET /v1/agents/a': [{ status, headers: { location } }] });
    const error = await failure(open().call(get));
    expect(error).toMatchObject({
      code: 'api',
      message: `GET ${BASE}/v1/agents/a answered ${status}, a redirect to https://elsewhere.example.test/v1/agents/a`,
      hint: expect.stringMatching(/not sent on/),
    });
    expect(seen).toHaveLength(1);
  });

  it('without a location is one too', async () => {
    script({ 'POST /v1/agents': [{ status: 303 }] });
    const error = await failure(open().call({ operation: 'createAgent', body: {} }));
    expect(error).toMatchObject({ message: expect.stringMatching(/a redirect to nowhere$/) });
  });
});

describe('the hint of a refusal', () => {
  const template = { operation: 'getEmailTemplate', path: { templateId: 't' } };
  const line = 'GET /v1/email-templates/t';
  it.each<{ reply: Reply; hint: RegExp | undefined }>([
    { reply: { status: 403, body: { error: 'insufficient_scope' } }, hint: /whole account/ },
    { reply: { status: 403, body: { error: 'sms_templates_locked' } }, hint: /locked/ },
    { reply: { status: 404, body: { error: 'not_found' } }, hint: /email_template\.get/ },
    { reply: { status: 405, ...html }, hint: /email_template\.get/ },
    { reply: { status: 400, body: { error: 'invalid_request' } }, hint: /^Correct the named/ },
    { reply: { status: 418, body: { error: 'teapot' } }, hint: undefined },
  ])('$reply.status $reply.body.error', async ({ reply, hint }) => {
    script({ [line]: [reply] });
    const error = await failure(open().call(template));
    expect(error).toMatchObject({
      status: reply.status,
      hint: hint === undefined ? undefined : expect.stringMatching(hint),
    });
  });

  it.each([
    { operation: 'getAgent', line: 'GET /v1/agents/a' },
    { operation: 'getPaymentReadiness', line: 'GET /v1/agents/a/payments/readiness' },
  ])('names no assumption where the specification shows the call: $line', async (row) => {
    script({ [row.line]: [{ status: 404, body: { error: 'not_found' } }] });
    const error = await failure(open().call({ ...get, operation: row.operation }));
    expect(error).toMatchObject({ status: 404, hint: expect.not.stringMatching(/assumption/) });
  });
});

it('no token stands in what a refused call throws', async () => {
  script({
    'POST /oauth/token': [minted('canary-1'), minted('canary-2')],
    'GET /v1/agents/a': [{ status: 401 }, { status: 401 }],
  });
  const error = await failure(open({ credentials: KEY }).call(get));
  expect(JSON.stringify([String(error), error])).not.toContain('canary');
});
