import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Blob as StackFile } from '../../src/core/value.ts';
import type { TraceEntry } from '../../src/platform/operation.ts';
import { BASE, failure, KEY, minted, open, START, script, useScripts } from './platform.ts';
import { listen, respond } from './wire.ts';

useScripts();

/** A client that writes its trace into a list. */
function traced(options: Parameters<typeof open>[0] = {}) {
  const entries: TraceEntry[] = [];
  return { client: open({ trace: (entry) => entries.push(entry), ...options }), entries };
}

const agent = { path: { agentId: 'a' } };

/** A secret in every place that a request of an agent has for one. */
const SECRETS = {
  integrations: {
    ehrProvider: { username: 'frontdesk', password: 'canary-ehr' },
    calendarA: { access_token: 'canary-access', refresh_token: 'canary-refresh' },
    smsProvider: { account_sid: 'AC0123', auth_token: 'canary-sms', api_key_secret: 'canary-api' },
    pbxProvider: { client_id: 'pbx', client_secret: 'canary-pbx', extra: { deep: 'canary-extra' } },
    futureProvider: { token: 'canary-future' },
  },
  extensions: {
    tools: [
      {
        name: 'crm',
        url: 'https://crm.example.test/c?key=canary-query',
        headers: [{ key: 'X-Api-Key', value: 'canary-webhook' }],
      },
    ],
    mcp_servers: [
      {
        connectionName: 'm',
        authHeaders: { Authorization: 'Bearer canary-mcp' },
        token: 'canary-odd',
      },
    ],
  },
  someFieldOfTomorrow: 'canary-tomorrow',
};

describe('an entry', () => {
  it('tells of a request and its answer what may be told', async () => {
    const headers = {
      'content-type': 'application/json',
      'x-request-id': 'r-1',
      'set-cookie': 'session=canary-cookie',
      'x-internal-token': 'canary-internal',
      location: 'https://me:canary@elsewhere.example.test/x?sig=canary',
    };
    const body = {
      data: {
        id: 'a',
        name: 'Front desk',
        extensions: { mcp_servers: [{ auth_headers: { A: 'canary' } }] },
      },
    };
    script({ 'PUT /v1/agents/a': [{ body, headers }] });
    const { client, entries } = traced();
    await client.call({
      operation: 'updateAgent',
      ...agent,
      body: { name: 'Front desk', ...SECRETS },
    });
    expect(JSON.stringify(entries)).not.toContain('canary');
    expect(entries).toEqual([
      {
        time: new Date(START).toISOString(),
        operation: 'updateAgent',
        method: 'PUT',
        url: `${BASE}/v1/agents/a`,
        attempt: 1,
        status: 200,
        milliseconds: 0,
        request_id: 'r-1',
        request: {
          headers: {
            accept: 'application/json',
            'user-agent': expect.stringMatching(/^callsheet\/\d/),
            authorization: '(secret)',
            'content-type': 'application/json',
          },
          body: {
            name: 'Front desk',
            integrations: {
              ehrProvider: { username: 'frontdesk', password: '(secret)' },
              calendarA: { access_token: '(secret)', refresh_token: '(secret)' },
              smsProvider: {
                account_sid: 'AC0123',
                auth_token: '(secret)',
                api_key_secret: '(secret)',
              },
              pbxProvider: { client_id: 'pbx', client_secret: '(secret)', extra: '(secret)' },
              futureProvider: '(secret)',
            },
            extensions: {
              tools: [
                {
                  name: 'crm',
                  url: 'https://crm.example.test/c?key=(secret)',
                  headers: [{ key: 'X-Api-Key', value: '(secret)' }],
                },
              ],
              mcp_servers: [{ connectionName: 'm', authHeaders: '(secret)', token: '(secret)' }],
            },
            someFieldOfTomorrow: '(secret)',
          },
        },
        answer: {
          headers: {
            'content-type': 'application/json',
            'x-request-id': 'r-1',
            'set-cookie': '(secret)',
            'x-internal-token': '(secret)',
            location: 'https://elsewhere.example.test/x',
          },
          body: {
            data: {
              id: 'a',
              name: 'Front desk',
              extensions: { mcp_servers: [{ auth_headers: '(secret)' }] },
            },
          },
        },
        error: null,
      },
    ]);
  });

  it('comes for every try, with its number and what came of it', async () => {
    script({
      'POST /oauth/token': [minted('canary-1'), minted('canary-2')],
      'GET /v1/me': [
        { status: 503, body: { error: 'temporarily_unavailable' } },
        {
          status: 401,
          body: { error: 'invalid_token', error_description: 'canary-1 has expired' },
        },
        { fault: 'ECONNRESET' },
        { body: { account_id: 'acct' } },
      ],
    });
    const { client, entries } = traced({ credentials: KEY });
    await client.call({ operation: 'getMe' });
    expect(JSON.stringify(entries)).not.toContain('canary');
    expect(entries.map((entry) => [entry.operation, entry.attempt, entry.status])).toEqual([
      ['createToken', 1, 200],
      ['getMe', 1, 503],
      ['getMe', 2, 401],
      ['createToken', 1, 200],
      ['getMe', 3, null],
      ['getMe', 4, 200],
    ]);
    expect(entries[2]?.answer?.body).toEqual({
      error: 'invalid_token',
      error_description: '(secret) has expired',
    });
    expect(entries[4]).toMatchObject({
      answer: null,
      error: expect.stringMatching(/GET .*\/v1\/me/),
    });
    expect(entries[0]?.request.body).toEqual({
      client_id: 'key-1',
      client_secret: '(secret)',
      audience: `${BASE}/`,
      grant_type: 'client_credentials',
    });
  });

  it('keeps the query of a call, and says how long a page is', async () => {
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    script({ 'GET /v1/features': [{ status: 404, body: '<p>canary</p>', headers }] });
    const { client, entries } = traced();
    await failure(client.call({ operation: 'listFeatures', query: { organization_id: 'o 1' } }));
    expect(entries[0]).toMatchObject({
      url: `${BASE}/v1/features?organization_id=o+1`,
      answer: { body: '(text/html, 13 characters)' },
    });
  });

  it('of a session has neither key nor token', async () => {
    const minted = { body: { token: 'canary-session', expires_at: '2026-03-01T13:00:00Z' } };
    script({ 'POST /api/v1/sessions/pbx': [minted] });
    const { client, entries } = traced({ pbxApiKey: 'canary-pbx-key' });
    await client.call({ operation: 'createPbxSession', body: { profile_id: 'p', claim_id: 'c' } });
    expect(JSON.stringify(entries)).not.toContain('canary');
    expect(entries[0]?.answer?.body).toEqual({
      token: '(secret)',
      expires_at: '2026-03-01T13:00:00Z',
    });
  });

  it('of an upload and of a form names the file and nothing of the signature', async () => {
    const server = await listen((socket) =>
      socket.end(respond('"canary"', '200 OK', 'etag: canary\r\n')),
    );
    const bytes = Buffer.from('RIFF');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = new StackFile('voices/harbor.wav', sha256, bytes.length, 'audio/wav');
    const { client, entries } = traced({ openFile: async () => new Blob([bytes]) });
    await client.upload(`${server.baseUrl}/bucket/k?X-Signature=canary`, file);
    await server.close();
    script({ 'POST /v1/custom-voices': [{ status: 201, body: { data: { id: 'v' } } }] });
    const form = { fields: { name: 'Harbor', consent: 'true' }, files: { clip: file } };
    await client.call({ operation: 'createCustomVoice', form });
    expect(JSON.stringify(entries)).not.toContain('canary');
    expect(entries).toMatchObject([
      {
        operation: null,
        url: `${server.baseUrl}/bucket/k?…`,
        request: { body: '(4 bytes)' },
        answer: { body: '(application/json, 8 characters)' },
      },
      {
        operation: 'createCustomVoice',
        request: {
          body: {
            name: 'Harbor',
            consent: 'true',
            clip: '(voices/harbor.wav, audio/wav, 4 bytes)',
          },
        },
      },
    ]);
  });
});
