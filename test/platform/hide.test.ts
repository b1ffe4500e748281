import { describe, expect, it } from 'vitest';
import { hideSecrets } from '../../src/platform/trace.ts';
import { failure, KEY, minted, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

describe('a secret is hidden', () => {
  it.each([
    {
      secret: 'canary-1',
      text: 'auth_token canary-1 is too short',
      gives: 'auth_token (secret) is too short',
    },
    { secret: 'a"b\\c\nd', text: 'got "a\\"b\\\\c\\nd"', gives: 'got "(secret)"' },
    {
      secret: 'a"b\\c\nd',
      text: JSON.stringify('got "a\\"b\\\\c\\nd"'),
      gives: '"got \\"(secret)\\""',
    },
    { secret: 'canary-1', text: 'Basic Y2FuYXJ5LTE=', gives: 'Basic (secret)=' },
    { secret: '~~canary?>', text: 'fn5jYW5hcnk_Pg', gives: '(secret)' },
    { secret: 'canary-1', text: '0x63616e6172792d31', gives: '0x(secret)' },
    { secret: 'k&y=1/2', text: 'at /?x=k%26y%3D1%2F2', gives: 'at /?x=(secret)' },
    { secret: 'Bearer canary-22', text: 'canary-22 is wrong', gives: '(secret) is wrong' },
    { secret: 'first-line\nsecond-line', text: 'second-line?', gives: '(secret)?' },
    { secret: 'abc', text: 'abc', gives: '(secret)' },
    { secret: 'abc', text: 'abcdef', gives: 'abcdef' },
    { secret: '', text: 'nothing', gives: 'nothing' },
    { secret: '$&', text: '$&', gives: '(secret)' },
  ])('$secret in $text', ({ secret, text, gives }) => {
    expect(hideSecrets([secret]).text(text)).toBe(gives);
  });

  it('the longer one where one holds the other', () => {
    expect(hideSecrets(['canary', 'canary-long']).text('canary-long')).toBe('(secret)');
  });

  it('in every member of a value, and in their names', () => {
    const { json } = hideSecrets(['canary-1']);
    expect(json({ a: ['canary-1', 7, null], 'x canary-1': { b: true } })).toEqual({
      a: ['(secret)', 7, null],
      'x (secret)': { b: true },
    });
  });
});

describe('a refusal that repeats what was sent', () => {
  const integrations = {
    smsProvider: { account_sid: 'AC0123', auth_token: 'canary-sms' },
    newProvider: { anything: 'canary-new' },
  };
  const extensions = {
    tools: [{ name: 'crm', headers: [{ key: 'X-Key', value: 'canary-header' }] }],
    mcp_servers: [{ authHeaders: { Authorization: 'Bearer canary-mcp-token' } }],
  };
  const body = { name: 'Front desk', integrations, extensions };

  it('says what is wrong without the secrets', async () => {
    const reply: Reply = {
      status: 400,
      body: {
        error: 'invalid_request',
        error_description:
          'auth_token canary-sms, header canary-header and canary-mcp-token of Front desk (AC0123)',
        details: [
          { path: 'integrations', message: 'canary-new is not allowed', received: 'canary-new' },
        ],
        'echo canary-sms': { token: 'canary-token' },
      },
    };
    script({ 'PUT /v1/agents/a': [reply] });
    const error = await failure(
      open().call({ operation: 'updateAgent', path: { agentId: 'a' }, body }),
    );
    expect(JSON.stringify([String(error), error])).not.toContain('canary');
    expect(error).toMatchObject({
      description: 'auth_token (secret), header (secret) and (secret) of Front desk (AC0123)',
      issues: [{ path: 'integrations', message: '(secret) is not allowed' }],
    });
  });

  it('keeps the secret of the key to itself when it mints', async () => {
    const reply: Reply = {
      status: 401,
      body: {
        error: 'unauthorized',
        error_description: `wrong secret ${KEY.clientSecret} for key-1`,
      },
    };
    script({ 'POST /oauth/token': [reply] });
    const error = await failure(open({ credentials: KEY }).call({ operation: 'getMe' }));
    expect(error).toMatchObject({
      message: expect.stringContaining('wrong secret (secret) for key-1'),
    });
    const cause = error instanceof Error ? error.cause : undefined;
    expect(JSON.stringify([String(error), error, cause])).not.toContain('canary');
  });

  it('keeps a minted token to itself', async () => {
    const reply: Reply = { status: 403, body: { error: 'token canary-minted is not for this' } };
    script({ 'POST /oauth/token': [minted('canary-minted')], 'GET /v1/me': [reply] });
    const error = await failure(open({ credentials: KEY }).call({ operation: 'getMe' }));
    expect(error).toMatchObject({ error: 'token (secret) is not for this' });
  });
});
