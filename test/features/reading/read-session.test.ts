import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import { type SessionFlags, session } from '../../../src/features/reading/catalogues.ts';
import { openReadStage, type ReadStage, Refusal, readDocument } from '../../cli/read-stage.ts';

const PROFILE = '44444444-4444-4444-a444-444444444444';
const CLAIM = '66666666-6666-4666-a666-666666666666';
const MINTED = { token: 'canary-session-token', expires_at: '2026-11-21T10:45:00.000Z' };
const ANSWERS = {
  'POST /api/v1/sessions': MINTED,
  'POST /api/v1/sessions/pbx': MINTED,
};
const PBX = { CALLSHEET_ACCESS_TOKEN: undefined, CALLSHEET_PBX_API_KEY: 'canary-pbx-key' };

function mint(
  stage: ReadStage,
  flags: Partial<SessionFlags>,
  options: { readonly exit?: number; readonly env?: Context['env'] } = {},
) {
  const all = { dir: stage.dir, format: 'text', profile: PROFILE, ...flags } as const;
  return stage.run((to) => session(all, to), options);
}

test('the token is all of standard output', async () => {
  const stage = await openReadStage(ANSWERS);
  const { out, err } = await mint(stage, { user: 'u-1' });
  expect(out).toBe('canary-session-token\n');
  expect(err).toBe(
    'Standard output is a session token: anyone who has it can use the session until 2026-11-21T10:45:00Z. Keep it out of logs.\n',
  );
  expect(stage.bodies).toEqual([{ profile_id: PROFILE, user_id: 'u-1' }]);
  expect(stage.lastHeaders().authorization).toBe('Bearer canary-access-token');
});

test('as JSON', async () => {
  const stage = await openReadStage(ANSWERS);
  const { out, err } = await mint(stage, { format: 'json' });
  expect(readDocument(out)).toEqual({ format: 'callsheet-session', version: 1, data: MINTED });
  expect(err).not.toContain('canary');
});

test("the PBX provider's key is sent instead of a token, and no other credentials are needed", async () => {
  const stage = await openReadStage(ANSWERS);
  const { out } = await mint(stage, { pbx: true, claim: CLAIM }, { env: PBX });
  expect(out).toBe('canary-session-token\n');
  expect(stage.bodies).toEqual([{ profile_id: PROFILE, claim_id: CLAIM }]);
  expect(stage.lastHeaders()).toMatchObject({ 'x-pbx-api-key': 'canary-pbx-key' });
  expect(stage.lastHeaders()).not.toHaveProperty('authorization');
});

describe('a wrong command line sends nothing', () => {
  test.each([
    [{ claim: CLAIM }, '--claim is only for --pbx'],
    [{ pbx: true }, '--pbx needs --claim'],
    [{ pbx: true, claim: CLAIM }, 'CALLSHEET_PBX_API_KEY'],
  ])('%j', async (flags, message) => {
    const stage = await openReadStage(ANSWERS);
    const { err } = await mint(stage, flags, { exit: 1 });
    expect(err).toContain(message);
    expect(stage.requests).toEqual([]);
  });
});

test.each([
  [403, { error: 'insufficient_scope' }, 'this needs a key for the whole account'],
  [404, { error: 'not_found', error_description: 'Profile not found' }, 'Check the profile id.'],
  [
    400,
    {
      error: 'Invalid request data',
      details: [{ code: 'invalid_string', message: 'Invalid uuid', path: ['profile_id'] }],
    },
    'profile_id: Invalid uuid',
  ],
])('a refusal with %d', async (status, body, message) => {
  const stage = await openReadStage({ 'POST /api/v1/sessions': new Refusal(status, body) });
  const { out, err } = await mint(stage, {}, { exit: 1 });
  expect(out).toBe('');
  expect(err).toContain(message);
});

test('an answer without a token is an error', async () => {
  const stage = await openReadStage({ 'POST /api/v1/sessions': { expires_at: 'soon' } });
  const { out, err } = await mint(stage, {}, { exit: 1 });
  expect(out).toBe('');
  expect(err).toContain('without `token`');
});
