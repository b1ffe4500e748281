import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { answers, coded, expectReply, type Row, reads, section } from './suite.ts';
import { credentials, type Reply, type World } from './world.ts';

const mint = ({ post, sim }: World, change: (body: JsonObject) => JsonObject): Promise<Reply> =>
  post('/oauth/token', { authorization: null, body: change(credentials(sim)) });

const PARAMETERS = ['client_id', 'client_secret', 'audience', 'grant_type'];

export const token: readonly Row[] = [
  ...section(
    'Endpoints · Token',
    reads(
      'a key is exchanged for a bearer token',
      answers((world) => mint(world, (body) => body), 200, {
        access_token: expect.stringMatching(/\S/),
        token_type: 'Bearer',
        expires_in: 86400,
      }),
    ),
    reads('no bearer header is needed', async ({ post, sim }) => {
      const { status } = await post('/oauth/token', {
        authorization: null,
        body: credentials(sim),
      });
      expect(status).toBe(200);
    }),
    ...PARAMETERS.map((name) =>
      reads(
        `${name} is required, and the refusal names it`,
        answers(
          (world) =>
            mint(world, (body) =>
              Object.fromEntries(Object.entries(body).filter(([key]) => key !== name)),
            ),
          400,
          coded('invalid_request', new RegExp(name)),
        ),
      ),
    ),
    ...PARAMETERS.map((name) =>
      reads(
        `${name} is text`,
        answers(
          (world) => mint(world, (body) => ({ ...body, [name]: 7 })),
          400,
          coded('invalid_request', new RegExp(name)),
        ),
      ),
    ),
    reads(
      'no other grant is given',
      answers(
        (world) => mint(world, (body) => ({ ...body, grant_type: 'password' })),
        400,
        coded('invalid_request', /grant_type/),
      ),
    ),
    reads('the audience is the base address with a slash at its end', async (world) => {
      const { status } = await mint(world, (body) => ({ ...body, audience: world.sim.url }));
      expect(status).toBe(401);
    }),
    reads('the audience is no other service', async (world) => {
      const audience = 'https://elsewhere.example.test/';
      const { status } = await mint(world, (body) => ({ ...body, audience }));
      expect(status).toBe(401);
    }),
    reads('the body is JSON', async ({ post }) => {
      const { status, body } = await post('/oauth/token', {
        authorization: null,
        raw: 'grant_type=client_credentials',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect({ status, body }).toEqual({ status: 400, body: coded('invalid_request') });
    }),
  ),
  ...section(
    'Endpoints · Account',
    reads('the account names itself', async ({ get }) => {
      expectReply(await get('/v1/me'), 200, expect.objectContaining({ account_id: ID.account }));
    }),
    reads('an account key reports no scope', async ({ get }) => {
      expect(Object.keys((await get('/v1/me')).body)).toEqual(['account_id']);
    }),
    ...(
      [
        ['tidewater-key', ID.tidewater],
        ['north-key', ID.north],
      ] as const
    ).map(([as, id]) =>
      reads(`${as} reports its scope`, async ({ get }) => {
        const { body, text } = await get('/v1/me', { as });
        expect(body.account_id).toBe(ID.account);
        expect(text).toContain(id);
      }),
    ),
  ),
];
