import { describe, expect, it } from 'vitest';
import { BASE, failure, KEY, minted, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const html = { body: '<!doctype html>', headers: { 'content-type': 'text/html; charset=utf-8' } };
const get = { operation: 'getAgent', path: { agentId: 'a' } };
const list = { operation: 'listCustomVoices', query: { organizationId: 'o' } };

describe('a good answer', () => {
  it.each<{ reply: Reply; gives: unknown }>([
    { reply: { status: 200, body: { data: [] } }, gives: { data: [] } },
    { reply: { status: 201, body: { data: { id: 'a' } } }, gives: { data: { id: 'a' } } },
    { reply: { status: 204 }, gives: null },
    { reply: { status: 200 }, gives: null },
    {
      reply: { body: '{"a":1}', headers: { 'content-type': 'text/plain' } },
      gives: { a: 1 },
    },
  ])('$reply', async ({ reply, gives }) => {
    script({ 'GET /v1/agents/a': [reply] });
    await expect(open().call(get)).resolves.toEqual(gives);
  });
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

  it('keeps its status where its JSON is cut short', async () => {
    const headers = { 'content-type': 'application/json' };
    script({ 'POST /v1/agents': [{ status: 400, body: '{"error":"inval', headers }] });
    const error = await failure(open().call({ operation: 'createAgent', body: {} }));
    expect(error).toMatchObject({ name: 'ApiError', status: 400, body: undefined });
  });

  it.each<{ what: string; reply: Reply }>([
    { what: 'an empty body', reply: {} },
    { what: 'an empty object', reply: { body: {} } },
    { what: 'an object as data', reply: { body: { data: {} } } },
    { what: 'null as data', reply: { body: { data: null } } },
    { what: 'a bare list', reply: { body: [{ id: 'a' }] } },
    { what: 'a list of texts', reply: { body: { data: ['a'] } } },
    { what: 'a list with a hole', reply: { body: { data: [{ id: 'a' }, null] } } },
  ])('is an error of a list, never an empty fleet: $what', async ({ reply }) => {
    script({ 'GET /v1/custom-voices': [reply] });
    const error = await failure(open().list(list));
    expect(error).toMatchObject({
      code: 'api',
      message: 'listCustomVoices answered without a `data` list',
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
    { reply: { status: 400, body: { error: 'invalid_request' } }, hint: undefined },
    { reply: { status: 409 }, hint: undefined },
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
    expect(error).toMatchObject({ status: 404, hint: undefined });
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
