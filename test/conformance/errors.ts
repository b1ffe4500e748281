import { expect } from 'vitest';
import { createEmail } from './email-templates.ts';
import { ASSUMED, ENDPOINTS, type Endpoint, named, OPEN, send } from './endpoints.ts';
import { ID } from './ids.ts';
import { add, document } from './knowledge.ts';
import { SEED } from './seed.ts';
import { createSms } from './sms-templates.ts';
import { coded, expectReply, flat, type Row, reads, section, writes } from './suite.ts';
import type { Ask, Reply, World } from './world.ts';

const DESK = `/v1/agents/${ID.desk}`;

/** The seed with every template feature locked for the account. */
const LOCKED = { seed: { ...SEED, locks: ['email_templates', 'sms_templates'] } };
const SCOPED: Ask = { as: 'north-key' };

type Case = readonly [
  error: string,
  status: number | undefined,
  ask: (world: World) => Promise<Reply>,
];

/** Every code and text that the specification lists, and a request that gets it. */
const CODED: readonly Case[] = [
  ['invalid_request', 400, ({ post }) => post(`${DESK}/history/0/revert`)],
  ['invalid_request', 401, ({ get }) => get('/v1/me', { authorization: null })],
  ['invalid_token', 401, ({ get }) => get('/v1/agents', { authorization: 'Bearer none' })],
  ['unauthorized', 401, ({ get }) => get('/v1/features', { authorization: 'Bearer none' })],
  ['forbidden', 403, ({ get }) => get(`/v1/agents?organization_id=${ID.nobody}`)],
  ['insufficient_scope', 403, (world) => world.delete(`/v1/retry-policies/${ID.gentle}`, SCOPED)],
  ['not_found', 404, ({ get }) => get(`/v1/agents/${ID.nobody}`)],
];

const FLAT: readonly Case[] = [
  ['email_templates_locked', undefined, (world) => createEmail(world)],
  ['sms_templates_locked', 403, (world) => createSms(world)],
  ['organization not accessible', 403, (world) => createSms(world, { organization_id: ID.nobody })],
  ['invalid organization_id', 400, ({ get }) => get('/v1/sms-templates?organization_id=x')],
  ['Agent not found', 404, ({ get }) => get(`/v1/agents/${ID.nobody}/payments/readiness`)],
];

const UNAVAILABLE = [
  ['revertAgent', 503, coded('temporarily_unavailable')],
  ['listFeatures', 503, coded('service_unavailable')],
  ['getPaymentReadiness', 502, flat('Failed to load payment status')],
] as const;

const RETRIED = {
  revertAgent: (world: World) => world.post(`${DESK}/history/1/revert`),
  listFeatures: (world: World) => world.get('/v1/features'),
  getPaymentReadiness: (world: World) => world.get(`${DESK}/payments/readiness`),
};

/** A row where the platform answers a request with a status and does nothing. */
export const struck = (rule: string, endpoint: Endpoint, status: number) =>
  writes(rule, async (world) => {
    const authorization = OPEN.includes(endpoint) ? null : await world.bearer();
    const before = JSON.stringify(world.sim.dump());
    world.sim.faults.add({ operation: '*', status });
    expect((await send(world, endpoint, authorization)).status).toBe(status);
    expect(JSON.stringify(world.sim.dump())).toBe(before);
  });

export const errors: readonly Row[] = [
  ...section(
    'Errors · Shapes',
    reads('coded: a code and a description', async ({ get }) => {
      const { body } = await get(`/v1/agents/${ID.nobody}`);
      expect(Object.keys(body).sort()).toEqual(['error', 'error_description']);
    }),
    reads('schema: details with lists as paths', async ({ patch }) => {
      const { status, body } = await patch(`${DESK}/sip/registration`, { body: {} });
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          error: 'Invalid request data',
          details: [expect.objectContaining({ path: ['registrationEnabled'] })],
        },
      });
    }),
    reads('validation: issues with text as paths', async (world) => {
      const { status, body } = await createSms(world, { message_type: 'fax' });
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          error: 'validation_error',
          issues: [{ path: 'message_type', message: expect.any(String) }],
        },
      });
    }),
    reads('invalid request: details with text as paths', async ({ get }) => {
      const { status, body } = await get('/v1/billing-report?start_date=x&end_date=2026-01-02');
      expect({ status, body }).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_request',
          details: [{ path: 'start_date', message: expect.any(String) }],
        },
      });
    }),
    reads('flat: one member', async ({ get }) => {
      const { body } = await get(`/v1/agents/${ID.nobody}/payments/readiness`);
      expect(Object.keys(body)).toEqual(['error']);
    }),
  ),
  ...section(
    'Errors · Codes and bodies',
    CODED.map(([error, status, ask]) =>
      reads(`${error} with ${String(status)} is coded`, async (world) => {
        expectReply(await ask(world), Number(status), coded(error));
      }),
    ),
    FLAT.map(([error, status, ask]) =>
      writes(
        `${error} is flat`,
        async (world) => {
          const reply = await ask(world);
          expectReply(reply, status ?? reply.status, flat(error));
          expect(reply.status).toBeGreaterThanOrEqual(400);
        },
        LOCKED,
      ),
    ),
    reads('a taken template name is flat', async (world) => {
      const { body } = await createEmail(world, { name: 'Confirmation' });
      expect(body).toEqual(flat('A template with this name already exists.'));
    }),
    reads('duplicate_source is coded and names the source', async (world) => {
      const { status, body } = await add(world, document({ contentHash: 'hash-of-prices' }));
      expect({ status, body }).toMatchObject({
        status: 409,
        body: { ...coded('duplicate_source'), details: { existingSource: {} } },
      });
    }),
    reads('two refusals of one status differ in their error', async (world) => {
      const closed = await world.delete(`/v1/retry-policies/${ID.gentle}`, SCOPED);
      const outside = await world.get(`/v1/agents?organization_id=${ID.harbor}`, SCOPED);
      expect([closed.status, outside.status]).toEqual([403, 403]);
      expect(closed.body.error).not.toBe(outside.body.error);
    }),
    UNAVAILABLE.map(([operation, status, body]) =>
      writes(`${operation} fails with ${status} and recovers`, async (world) => {
        world.sim.faults.add({ operation, status });
        expectReply(await RETRIED[operation](world), status, body);
        expect((await RETRIED[operation](world)).status).toBe(200);
      }),
    ),
  ),
  ...section(
    'Errors · Statuses',
    [...ENDPOINTS, ...ASSUMED, ...OPEN].flatMap((endpoint) => [
      struck(`${named(endpoint)} can be too many`, endpoint, 429),
      struck(`${named(endpoint)} can fail inside`, endpoint, 500),
      struck(`${named(endpoint)} can be unavailable`, endpoint, 503),
    ]),
    writes('after a failure the next request is answered', async ({ get, sim }) => {
      sim.faults.add({ operation: 'getAgent', status: 500 });
      expect((await get(DESK)).status).toBe(500);
      expect((await get(DESK)).status).toBe(200);
    }),
    reads('an unknown path is a 404', async ({ get }) => {
      expect((await get('/v1/nothing')).status).toBe(404);
    }),
  ),
];
