import { expect, test } from 'vitest';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { createWorld, IDS, type Row, SEED, section, tokenOf, type World } from './world.ts';

const PROFILE = 'bbbbbbbb-0000-4000-a000-000000000001';
const OTHER = 'bbbbbbbb-0000-4000-a000-000000000002';
const CLAIM = 'cccccccc-0000-4000-a000-000000000001';
const NOW = '2026-03-06T12:00:00.000Z';

const WITH_PROFILES: SeedDocument = {
  ...SEED,
  profiles: [
    { id: PROFILE, organization_id: IDS.harbor },
    { id: OTHER, organization_id: IDS.north },
  ],
  claims: [{ id: CLAIM, profile_id: PROFILE }],
  pbx_api_keys: ['pbx-key'],
};
const options = { now: () => new Date(NOW) };

const session = ({ call }: World, body: unknown, authorization?: string) =>
  call('createSession', { body, ...(authorization === undefined ? {} : { authorization }) });
const pbxSession = ({ call }: World, body: unknown, key?: string) =>
  call('createPbxSession', { body, headers: key === undefined ? {} : { 'x-pbx-api-key': key } });
const pbxBody = { profile_id: PROFILE, claim_id: CLAIM };

/** What both endpoints have in common. */
const both: readonly {
  readonly path: string;
  readonly ask: (world: World, body: object) => ReturnType<World['call']>;
}[] = [
  { path: 'sessions', ask: (world, body) => session(world, body) },
  {
    path: 'sessions/pbx',
    ask: (world, body) => pbxSession(world, { claim_id: CLAIM, ...body }, 'pbx-key'),
  },
];

const ROWS: readonly Row[] = [
  ...both.flatMap(({ path, ask }): readonly Row[] => [
    {
      rule: `${path} mints a token that ends`,
      does: (world) => ask(world, { profile_id: PROFILE, user_id: 'user-1' }),
      status: 200,
      body: {
        token: expect.stringMatching(/^[0-9a-f]{64}$/),
        expires_at: '2026-03-06T13:00:00.000Z',
      },
    },
    {
      rule: `${path} refuses an id that is no UUID`,
      does: (world) => ask(world, { profile_id: 'front-desk' }),
      status: 400,
      body: {
        error: 'Invalid request data',
        details: [
          {
            code: 'invalid_string',
            validation: 'uuid',
            message: expect.any(String),
            path: ['profile_id'],
          },
        ],
      },
    },
    {
      rule: `${path} needs a profile`,
      does: (world) => ask(world, {}),
      status: 400,
      body: { error: 'Invalid request data', details: [{ path: ['profile_id'] }] },
    },
    {
      rule: `${path} refuses a user that is no text`,
      does: (world) => ask(world, { profile_id: PROFILE, user_id: 7 }),
      status: 400,
      body: { details: [{ code: 'invalid_type', path: ['user_id'] }] },
    },
    {
      rule: `${path} knows no such profile`,
      does: (world) => ask(world, { profile_id: IDS.nobody }),
      status: 404,
      body: { error: 'not_found' },
    },
  ]),
  {
    rule: 'a claim belongs to one profile',
    does: (world) => pbxSession(world, { ...pbxBody, profile_id: OTHER }, 'pbx-key'),
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'an unknown claim is not found',
    does: (world) => pbxSession(world, { ...pbxBody, claim_id: IDS.nobody }, 'pbx-key'),
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'the PBX provider needs a claim',
    does: (world) => pbxSession(world, { profile_id: PROFILE }, 'pbx-key'),
    status: 400,
    body: { details: [{ path: ['claim_id'] }] },
  },
  ...[undefined, '', 'other-key'].map((key) => ({
    rule: `the PBX key ${key ?? 'missing'} is refused (Authentication 8)`,
    does: (world: World) => pbxSession(world, pbxBody, key),
    status: 401,
    body: { error: 'unauthorized', error_description: expect.stringMatching(/PBX/i) },
  })),
  {
    rule: "the account's token does not stand for the PBX key (Authentication 8)",
    does: async (world) => {
      const { sim, call } = world;
      const authorization = await tokenOf(world, sim.clientId, sim.clientSecret);
      return call('createPbxSession', { body: pbxBody, authorization });
    },
    status: 401,
  },
  {
    rule: 'without a token there is no session',
    does: ({ call }) =>
      call('createSession', { body: { profile_id: PROFILE }, authorization: null }),
    status: 401,
  },
  ...['scoped', 'reseller'].map((key) => ({
    rule: `sessions are closed to the ${key} key (Authentication 6)`,
    does: async (world: World) =>
      session(world, { profile_id: PROFILE }, await tokenOf(world, key, `${key}-secret`)),
    status: 403,
    body: { error: 'insufficient_scope' },
  })),
];

section(
  'Sessions',
  ROWS.map((row) => ({ options, ...row })),
  WITH_PROFILES,
);

test('Sessions: no two tokens are alike, and the same requests give the same ones again', async () => {
  const mint = async () => {
    await using world = await createWorld({ seed: WITH_PROFILES, ...options });
    const replies = [
      await session(world, { profile_id: PROFILE }),
      await session(world, { profile_id: PROFILE }),
      await pbxSession(world, pbxBody, 'pbx-key'),
    ];
    return replies.map(({ body }) => body.token);
  };
  const tokens = await mint();
  expect(new Set(tokens).size).toBe(3);
  expect(await mint()).toEqual(tokens);
});
