import { describe, expect, it } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { BASE, failure, KEY, minted, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const me = { operation: 'getMe' };
const ok: Reply = { body: { account_id: 'acct' } };
const refused: Reply = {
  status: 401,
  body: { error: 'invalid_token', error_description: 'The access token has expired' },
};

describe('minting', () => {
  it('asks for the base address with a trailing slash, then sends the token', async () => {
    const seen = script({ 'POST /oauth/token': [minted('t1')], 'GET /v1/me': [ok] });
    await expect(open({ credentials: KEY }).call(me)).resolves.toEqual({ account_id: 'acct' });
    const [mint, call] = seen;
    expect(JSON.parse(mint?.body ?? '')).toEqual({
      client_id: 'key-1',
      client_secret: 'canary-client-secret',
      audience: `${BASE}/`,
      grant_type: 'client_credentials',
    });
    expect(mint?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(mint?.headers).not.toHaveProperty('authorization');
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer t1',
      accept: 'application/json',
    });
  });

  it('keeps the path of the base address, in the audience too', async () => {
    const seen = script({ 'POST /api/oauth/token': [minted('t1')], 'GET /api/v1/me': [ok] });
    await open({ credentials: KEY, baseUrl: `${BASE}/api/` }).call(me);
    expect(seen[0]?.body).toContain(`"audience":"${BASE}/api/"`);
  });

  it('is shared by concurrent calls and kept for later ones', async () => {
    const seen = script({
      'POST /oauth/token': [minted('t1')],
      'GET /v1/me': Array.from({ length: 7 }, () => ok),
    });
    const client = open({ credentials: KEY });
    await Promise.all(Array.from({ length: 6 }, () => client.call(me)));
    await client.call(me);
    expect(seen.filter(({ path }) => path === '/oauth/token')).toHaveLength(1);
    expect(client.spent().requests).toBe(8);
  });

  it.each([
    { lives: 86_400, passes: 86_339, mints: 1 },
    { lives: 86_400, passes: 86_340, mints: 2 },
    { lives: 30, passes: 26, mints: 1 },
    { lives: 30, passes: 27, mints: 2 },
    { lives: 0, passes: 86_339, mints: 1 },
    { lives: 0, passes: 86_340, mints: 2 },
  ])('a token for $lives s: $mints minting(s) in $passes s', async ({ lives, passes, mints }) => {
    const seen = script({
      'POST /oauth/token': [minted('t1', lives), minted('t2', lives)].slice(0, mints),
      'GET /v1/me': [ok, ok],
    });
    const client = open({ credentials: KEY });
    await client.call(me);
    client.pass(passes);
    await client.call(me);
    expect(seen.at(-1)?.headers.authorization).toBe(`Bearer t${mints}`);
  });

  it.each<{ fault: string; reply: Reply; waits: readonly number[] }>([
    { fault: '429', reply: { status: 429, headers: { 'retry-after': '3' } }, waits: [3000] },
    { fault: '503', reply: { status: 503 }, waits: [250] },
    { fault: 'a reset', reply: { fault: 'ECONNRESET' }, waits: [250] },
  ])('outlasts $fault', async ({ reply, waits }) => {
    script({ 'POST /oauth/token': [reply, minted('t1')], 'GET /v1/me': [ok] });
    const client = open({ credentials: KEY });
    await client.call(me);
    expect(client.waits).toEqual(waits);
  });

  it.each<{ reply: Reply; says: RegExp; hint: RegExp }>([
    {
      reply: {
        status: 400,
        body: { error: 'invalid_request', error_description: 'audience is missing.' },
      },
      says: /^the platform refused the credentials: POST .*\/oauth\/token answered 400: invalid_request; audience is missing$/,
      hint: /CALLSHEET_CLIENT_SECRET; rotating/,
    },
    {
      reply: { status: 401, body: { error: 'unauthorized' } },
      says: /refused the credentials: .* answered 401: unauthorized$/,
      hint: /CALLSHEET_CLIENT_ID/,
    },
    { reply: { status: 403 }, says: /refused the credentials/, hint: /CALLSHEET_CLIENT_ID/ },
    {
      reply: { status: 404, body: '<html>', headers: { 'content-type': 'text/html' } },
      says: /^no access token: .* answered 404$/,
      hint: /base_url/,
    },
    {
      reply: { status: 500, body: { error: 'internal' } },
      says: /500: internal/,
      hint: /base_url/,
    },
    { reply: { status: 302, headers: { location: '/login' } }, says: /302/, hint: /base_url/ },
    { reply: { body: {} }, says: /200 without an access_token/, hint: /base_url/ },
    { reply: minted(''), says: /200 without an access_token/, hint: /base_url/ },
    { reply: minted('two words'), says: /200 without an access_token/, hint: /base_url/ },
    { reply: {}, says: /200 without an access_token/, hint: /base_url/ },
    {
      reply: { body: 'access_token=canary-token', headers: { 'content-type': 'text/plain' } },
      says: /answered 200 with text\/plain instead of JSON/,
      hint: /base_url/,
    },
  ])('reports $says', async ({ reply, says, hint }) => {
    script({ 'POST /oauth/token': [reply] });
    const error = await failure(open({ credentials: KEY }).call(me));
    expect(error).toMatchObject({ code: 'api', message: expect.stringMatching(says) });
    expect(error).toMatchObject({ hint: expect.stringMatching(hint) });
    expect(everythingOf(error)).not.toContain('canary');
  });

  it('is tried again by a call that comes after one that failed', async () => {
    script({ 'POST /oauth/token': [{ status: 500 }, minted('t1')], 'GET /v1/me': [ok] });
    const client = open({ credentials: KEY });
    await failure(client.call(me));
    await expect(client.call(me)).resolves.toEqual({ account_id: 'acct' });
  });
});

describe('401', () => {
  it('mints once more, for all calls that it befell, and sends them again', async () => {
    const seen = script({
      'POST /oauth/token': [minted('t1'), minted('t2')],
      'GET /v1/me': [refused, refused, refused, ok, ok, ok],
    });
    const client = open({ credentials: KEY });
    await Promise.all([client.call(me), client.call(me), client.call(me)]);
    const tokens = seen.flatMap(({ headers }) => headers.authorization ?? []);
    expect(tokens).toEqual([
      ...Array.from({ length: 3 }, () => 'Bearer t1'),
      ...Array.from({ length: 3 }, () => 'Bearer t2'),
    ]);
    expect(client.waits).toEqual([]);
  });

  it('sends a create again with its body: nothing was made', async () => {
    const seen = script({
      'POST /oauth/token': [minted('t1'), minted('t2')],
      'POST /v1/agents': [refused, { status: 201, body: { data: { id: 'a' } } }],
    });
    const client = open({ credentials: KEY });
    await client.call({ operation: 'createAgent', body: { name: 'Front desk' } });
    const bodies = seen.filter(({ path }) => path === '/v1/agents').map(({ body }) => body);
    expect(bodies).toEqual(['{"name":"Front desk"}', '{"name":"Front desk"}']);
  });

  it('is an error the second time: a fresh token cannot have expired', async () => {
    script({
      'POST /oauth/token': [minted('t1'), minted('t2')],
      'GET /v1/me': [refused, refused],
    });
    const error = await failure(open({ credentials: KEY }).call(me));
    expect(error).toMatchObject({ name: 'ApiError', status: 401, error: 'invalid_token' });
    expect(error).toMatchObject({ hint: expect.stringMatching(/new token.*rotated/) });
  });

  it('says that the secret was rotated where the second minting is refused', async () => {
    script({
      'POST /oauth/token': [minted('t1'), { status: 401, body: { error: 'unauthorized' } }],
      'GET /v1/me': [refused],
    });
    const error = await failure(open({ credentials: KEY }).call(me));
    expect(error).toMatchObject({ hint: expect.stringMatching(/worked until now.*rotated/) });
  });

  it.each([
    { said: 'The access token has expired', hint: /has expired: tokens live 24 hours/ },
    { said: 'Issued before the secret was rotated', hint: /before its key's secret was rotated/ },
    { said: 'The token is not valid', hint: /expired.*or its key was rotated/ },
  ])('of CALLSHEET_ACCESS_TOKEN ends the call: $said', async ({ said, hint }) => {
    script({
      'GET /v1/me': [{ status: 401, body: { error: 'invalid_token', error_description: said } }],
    });
    const error = await failure(open().call(me));
    expect(error).toMatchObject({ status: 401, hint: expect.stringMatching(hint) });
  });
});

describe('CALLSHEET_ACCESS_TOKEN', () => {
  it('is sent as it is, without minting, and without the line break of a file', async () => {
    const seen = script({ 'GET /v1/me': [ok] });
    await open({ credentials: { accessToken: 'given-token\n' } }).call(me);
    expect(seen[0]?.headers.authorization).toBe('Bearer given-token');
  });

  it.each(['Bearer canary', 'canary\ncanary', '“canary”', ' '])(
    'is refused before anything is sent: %j',
    (accessToken) => {
      const opening = () => open({ credentials: { accessToken } });
      expect(opening).toThrow(CallsheetError);
      expect(opening).toThrow(/^CALLSHEET_ACCESS_TOKEN is not a token$/);
    },
  );
});

/** All texts of an error, its causes among them, as a careless printer would show them. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const members = JSON.stringify(Object.fromEntries(Object.entries(error)));
  return [error.message, error.stack, members, everythingOf(error.cause)].join('\n');
}
