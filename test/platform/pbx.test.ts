import { describe, expect, it } from 'vitest';
import { failure, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const line = 'POST /api/v1/sessions/pbx';
const wanted = { operation: 'createPbxSession', body: { profile_id: 'p', claim_id: 'c' } };
const session: Reply = { body: { token: 's', expires_at: '2026-03-01T13:00:00Z' } };

describe("a session of the PBX provider's users", () => {
  it("is asked for with the provider's token and with no other", async () => {
    const seen = script({ [line]: [session] });
    await open({ pbxApiKey: ' pbx-key\n' }).call(wanted);
    expect(seen[0]?.headers['x-pbx-api-key']).toBe('pbx-key');
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('needs no credentials of the platform', async () => {
    script({ [line]: [session] });
    const client = open({ pbxApiKey: 'pbx-key', credentials: undefined });
    await expect(client.call(wanted)).resolves.toMatchObject({ token: 's' });
    const error = await failure(client.call({ operation: 'getMe' }));
    expect(error).toMatchObject({
      code: 'config',
      message: 'there are no credentials for the platform',
      hint: expect.stringMatching(/CALLSHEET_CLIENT_ID/),
    });
  });

  it.each([
    { given: undefined, says: 'none is given' },
    { given: '  ', says: 'none is given' },
    { given: 'canary canary', says: 'the given value is not a token' },
  ])('is not asked for without it: $given', async ({ given, says }) => {
    const client = open({ pbxApiKey: given });
    const error = await failure(client.call(wanted));
    expect(error).toMatchObject({
      code: 'config',
      message: `createPbxSession needs the PBX provider's API token, and ${says}`,
      hint: expect.stringMatching(/CALLSHEET_PBX_API_KEY/),
    });
    expect(client.spent().requests).toBe(0);
    expect(String(error)).not.toContain('canary');
  });

  it('that is refused says whose token it was, and nothing is minted', async () => {
    const body = { error: 'unauthorized', error_description: 'Unknown key canary-pbx' };
    script({ [line]: [{ status: 401, body }] });
    const error = await failure(open({ pbxApiKey: 'canary-pbx' }).call(wanted));
    expect(error).toMatchObject({
      status: 401,
      description: 'Unknown key (secret)',
      hint: expect.stringMatching(/^The PBX provider's API token was refused/),
    });
  });

  it('is the only call that the token is sent with', async () => {
    const seen = script({ 'GET /v1/me': [{ body: { account_id: 'x' } }] });
    await open({ pbxApiKey: 'canary-pbx' }).call({ operation: 'getMe' });
    expect(seen[0]?.headers).not.toHaveProperty('x-pbx-api-key');
  });
});
