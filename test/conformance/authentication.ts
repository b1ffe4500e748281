import { expect } from 'vitest';
import { ENDPOINTS, type Endpoint, named, send } from './endpoints.ts';
import { ID } from './ids.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { credentials, record, records, type World } from './world.ts';

const LIFETIME = 86400;
const TOKEN_CODES = /^(invalid_request|invalid_token|unauthorized)$/;

const me = ({ get }: World, authorization: string | null) => get('/v1/me', { authorization });

const MALFORMED = ['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Token abc', 'Bearer one two'];

/** Lists, and what a key of Northside Vets and one of Tidewater see of them. */
const NARROWED: readonly (readonly [path: string, north: number, tidewater: number])[] = [
  ['/v1/agents', 1, 4],
  ['/v1/email-templates', 1, 1],
  ['/v1/sms-templates', 0, 1],
];

/** Requests that name an organization or a reseller outside the scope of Northside Vets. */
const OUTSIDE = [
  `/v1/agents?organization_id=${ID.harbor}`,
  `/v1/email-templates?organization_id=${ID.harbor}`,
  `/v1/sms-templates?organization_id=${ID.harbor}`,
  `/v1/features?organization_id=${ID.harbor}`,
  `/v1/features?reseller_id=${ID.tidewater}`,
  `/v1/llm-models?organization_id=${ID.harbor}`,
  `/v1/custom-voices?organizationId=${ID.harbor}`,
  `/v1/metrics?startDate=2026-01-01&endDate=2026-01-02&organizationId=${ID.harbor}`,
  `/v1/metrics?startDate=2026-01-01&endDate=2026-01-02&resellerId=${ID.tidewater}`,
];

/** Records outside the scope of Northside Vets. */
const HIDDEN = [
  `/v1/agents/${ID.desk}`,
  `/v1/agents/${ID.desk}/history`,
  `/v1/agents/${ID.desk}/payments/readiness`,
  `/v1/knowledge-bases/${ID.base}/sources`,
];

/** Two rows of an endpoint: it answers neither without a token nor to one that does not hold. */
export const closed = (endpoint: Endpoint) => [
  reads(`${named(endpoint)} needs the header`, async (world) => {
    expectReply(
      await send(world, endpoint, null),
      401,
      coded(endpoint.unauthorized ?? 'invalid_request'),
    );
  }),
  reads(`${named(endpoint)} needs a token that holds`, async (world) => {
    expectReply(await send(world, endpoint, 'Bearer no-such-token'), 401, {
      error: endpoint.unauthorized ?? expect.stringMatching(TOKEN_CODES),
      error_description: expect.any(String),
    });
  }),
];

export const authentication: readonly Row[] = [
  ...section(
    'Authentication 1',
    reads('a token of the token endpoint opens the rest', async (world) => {
      expectReply(await me(world, await world.bearer()), 200);
    }),
    reads('the token stands in no other header', async (world) => {
      const headers = { 'x-access-token': (await world.bearer()).slice('Bearer '.length) };
      expect((await world.get('/v1/me', { authorization: null, headers })).status).toBe(401);
    }),
    reads('one token serves many requests', async (world) => {
      const authorization = await world.bearer();
      const all = await Promise.all([1, 2, 3].map(() => me(world, authorization)));
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    }),
  ),
  ...section(
    'Authentication 2',
    writes('a token holds for a day', async (world) => {
      const authorization = await world.bearer();
      world.sim.advance((LIFETIME - 60) * 1000);
      expectReply(await me(world, authorization), 200);
    }),
    writes('an expired token gets a 401', async (world) => {
      const authorization = await world.bearer();
      world.sim.advance((LIFETIME + 1) * 1000);
      expect((await me(world, authorization)).status).toBe(401);
    }),
    writes('a new token holds beside the expired one', async (world) => {
      const old = await world.bearer();
      world.sim.advance((LIFETIME + 1) * 1000);
      const { body } = await world.post('/oauth/token', {
        authorization: null,
        body: credentials(world.sim),
      });
      expectReply(await me(world, `Bearer ${String(body.access_token)}`), 200);
      expect((await me(world, old)).status).toBe(401);
    }),
    writes('a token from before a rotation gets a 401', async (world) => {
      const authorization = await world.bearer();
      world.sim.rotateSecret();
      expect((await me(world, authorization)).status).toBe(401);
    }),
  ),
  ...section(
    'Authentication 3',
    ...MALFORMED.map((authorization) =>
      reads(
        `a header of ${JSON.stringify(authorization)} is malformed`,
        answers(
          (world) => me(world, authorization),
          401,
          coded('invalid_request', /Authorization/i),
        ),
      ),
    ),
    ENDPOINTS.flatMap((endpoint) => closed(endpoint)),
  ),
  ...section(
    'Authentication 4',
    reads('an account key reaches every organization', async ({ get }) => {
      const owners = records(await get('/v1/agents')).map((agent) => agent.organization_id);
      expect(new Set(owners).size).toBe(3);
    }),
    ...[
      `/v1/agents/${ID.nobody}`,
      `/v1/agents/${ID.nobody}/history`,
      `/v1/knowledge-bases/${ID.nobody}/sources`,
      `/v1/retry-policies/${ID.nobody}`,
      `/v1/features?organization_id=${ID.nobody}`,
      `/v1/llm-models?organization_id=${ID.nobody}`,
      `/v1/custom-voices?organizationId=${ID.nobody}`,
    ].map((path) =>
      reads(`what is outside the account is not found: ${path}`, async ({ get }) => {
        expect((await get(path)).status).toBe(404);
      }),
    ),
    ...['/v1/agents', '/v1/email-templates'].map((path) =>
      reads(
        `a list of an organization outside is forbidden: ${path}`,
        answers(({ get }) => get(`${path}?organization_id=${ID.nobody}`), 403, coded('forbidden')),
      ),
    ),
  ),
  ...section(
    'Authentication 5',
    NARROWED.flatMap(([path, north, tidewater]) => [
      reads(`a key of an organization sees its part of ${path}`, async ({ get }) => {
        const items = records(await get(path, { as: 'north-key' }));
        expect(items).toHaveLength(north);
        expect(items.filter((item) => item.organization_id !== ID.north)).toEqual([]);
      }),
      reads(`a key of a reseller sees its part of ${path}`, async ({ get }) => {
        const items = records(await get(path, { as: 'tidewater-key' }));
        expect(items).toHaveLength(tidewater);
        expect(items.filter((item) => item.organization_id === ID.north)).toEqual([]);
      }),
    ]),
    reads('the total of a narrowed list is narrowed', async ({ get }) => {
      const { body } = await get('/v1/agents', { as: 'north-key' });
      expect(body.pagination).toMatchObject({ total: 1, totalPages: 1 });
    }),
    OUTSIDE.map((path) =>
      reads(
        `naming what is outside is forbidden: ${path.replace(/=[0-9a-f-]{36}$/, '')}`,
        answers(({ get }) => get(path, { as: 'north-key' }), 403, coded('forbidden')),
      ),
    ),
    HIDDEN.map((path) =>
      reads(`a record outside is not found: ${path}`, async ({ get }) => {
        expect((await get(path, { as: 'north-key' })).status).toBe(404);
      }),
    ),
    reads('naming what is inside is allowed', async ({ get }) => {
      const path = `/v1/agents?organization_id=${ID.west}`;
      expect(records(await get(path, { as: 'tidewater-key' }))).toHaveLength(1);
    }),
    reads('a key of a reseller may name it', async ({ get }) => {
      const path = `/v1/features?reseller_id=${ID.tidewater}`;
      expectReply(await get(path, { as: 'tidewater-key' }), 200);
    }),
    writes('a scoped key writes inside its scope', async ({ get, put }) => {
      const path = `/v1/agents/${ID.recall}`;
      await put(path, { as: 'north-key', body: { name: 'Renamed' } });
      expect(record(await get(path)).name).toBe('Renamed');
    }),
  ),
  ...section(
    'Authentication 6',
    ...(
      [
        ['get', '/v1/billing-report?start_date=2026-01-01&end_date=2026-01-02', undefined],
        ['post', '/api/v1/sessions', { profile_id: ID.nobody }],
        ['patch', `/v1/retry-policies/${ID.gentle}`, { name: 'Mine' }],
        ['delete', `/v1/retry-policies/${ID.gentle}`, undefined],
        ['post', '/v1/retry-policies', { name: 'Mine' }],
      ] as const
    ).flatMap(([method, path, body]) =>
      ['north-key', 'tidewater-key'].map((as) =>
        reads(
          `${method.toUpperCase()} ${path.replace(/\?.*/, '')} is closed to ${as}`,
          answers((world) => world[method](path, { as, body }), 403, coded('insufficient_scope')),
        ),
      ),
    ),
    reads('a scoped key reads retry policies', async ({ get }) => {
      const path = `/v1/retry-policies/${ID.gentle}`;
      expect(record(await get(path, { as: 'tidewater-key' })).id).toBe(ID.gentle);
    }),
  ),
  ...section(
    'Authentication 7',
    writes('a rotation keeps the client id and replaces the secret', async (world) => {
      const before = credentials(world.sim);
      const client_secret = world.sim.rotateSecret();
      const mint = (body: object) => world.post('/oauth/token', { authorization: null, body });
      expect((await mint(before)).status).not.toBe(200);
      expectReply(await mint({ ...before, client_secret }), 200);
    }),
    writes('the key of a reseller can be rotated, and its tokens end', async (world) => {
      const authorization = await world.bearer('tidewater-key');
      world.sim.rotateSecret('tidewater-key');
      expect((await me(world, authorization)).status).toBe(401);
      expectReply(await me(world, await world.bearer()), 200);
    }),
    writes('other keys keep their tokens', async (world) => {
      const authorization = await world.bearer('north-key');
      world.sim.rotateSecret();
      expectReply(await me(world, authorization), 200);
    }),
  ),
];
