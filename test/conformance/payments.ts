import { expect } from 'vitest';
import { ID } from './ids.ts';
import { locking, withAgent, withMerchant } from './seed.ts';
import { answers, expectReply, flat, type Row, reads, section, writes } from './suite.ts';
import type { Reply, World } from './world.ts';

const at = (agent: string) => `/v1/agents/${agent}/payments`;
const readiness = ({ get }: World, agent: string = ID.desk): Promise<Reply> =>
  get(`${at(agent)}/readiness`);
const arm = ({ put }: World, enabled: boolean, agent: string = ID.desk): Promise<Reply> =>
  put(`${at(agent)}/tool`, { body: { enabled } });

const READY: { readonly [field: string]: unknown } = {
  agent_id: ID.desk,
  can_enable: true,
  feature_locked: false,
  can_accept_payments: true,
  account_status: 'active',
  charges_enabled: true,
  twilio_configured: true,
  payment_tool_enabled: false,
  success_url: expect.stringMatching(/^https?:/),
  max_single_charge_cents: expect.toSatisfy(Number.isInteger),
  max_per_call_cents: expect.toSatisfy(Number.isInteger),
  max_attempts_per_call: expect.toSatisfy(Number.isInteger),
};

const ARMED = {
  enabled: true,
  success_url: 'https://harbor.example.test/paid',
  max_single_charge_cents: 20000,
  max_per_call_cents: 40000,
  max_attempts_per_call: 2,
};

const MERCHANTS = [
  ['not_started', false, false],
  ['not_started', true, false],
  ['onboarding', false, false],
  ['onboarding', true, false],
  ['restricted', false, false],
  ['restricted', true, false],
  ['active', false, false],
  ['active', true, true],
] as const;

export const payments: readonly Row[] = [
  ...section(
    'Endpoints · Payment readiness',
    Object.entries(READY).map(([field, value]) =>
      reads(`${field} is part of the answer`, async (world) => {
        expect((await readiness(world)).body[field]).toEqual(value);
      }),
    ),
    reads('nothing else is, so that the fee is not told', async (world) => {
      expect(Object.keys((await readiness(world)).body).sort()).toEqual(Object.keys(READY).sort());
    }),
    reads('without SMS credentials the tool cannot be armed', async (world) => {
      expect((await readiness(world, ID.bare)).body).toMatchObject({
        twilio_configured: false,
        can_accept_payments: true,
        can_enable: false,
      });
    }),
    ...(
      [
        ['an account id alone is no full credential', { account_sid: 'AC9' }, false],
        [
          'an account id without its secret is none',
          { account_sid: 'AC9', fromNumber: '+15550109' },
          false,
        ],
        [
          'a secret without its account id is none',
          { auth_token: 'example', fromNumber: '+15550109' },
          false,
        ],
        [
          'account id, secret and number are one',
          { account_sid: 'AC9', auth_token: 'example', fromNumber: '+15550109' },
          true,
        ],
      ] as const
    ).map(([rule, smsProvider, configured]) =>
      writes(
        rule,
        async (world) => {
          expect((await readiness(world, ID.bare)).body).toMatchObject({
            twilio_configured: configured,
            can_enable: configured,
          });
        },
        withAgent(ID.bare, { integrations: { smsProvider } }),
      ),
    ),
    ...(['account', 'reseller', 'organization'] as const).map((level) =>
      writes(
        `a lock of the ${level} keeps the tool from being armed`,
        async (world) => {
          expect((await readiness(world)).body).toMatchObject({
            feature_locked: true,
            can_accept_payments: true,
            can_enable: false,
          });
        },
        locking(level, 'card_payments'),
      ),
    ),
    ...['true', 'false'].map((refresh) =>
      reads(`refresh can be ${refresh}`, async ({ get }) => {
        expect((await get(`${at(ID.desk)}/readiness?refresh=${refresh}`)).status).toBe(200);
      }),
    ),
    writes('a refresh shows what the processor says now', async ({ get, sim }) => {
      const path = `${at(ID.desk)}/readiness`;
      expect((await get(path)).body.charges_enabled).toBe(true);
      const organization = sim.store.organizations.get(ID.harbor);
      if (organization !== undefined) organization.merchant = { status: 'active', charges: false };
      expect((await get(`${path}?refresh=true`)).body).toMatchObject({
        charges_enabled: false,
        can_enable: false,
      });
    }),
    writes('without a refresh the cached status is told', async ({ get, sim }) => {
      const path = `${at(ID.desk)}/readiness`;
      expect((await get(path)).body.charges_enabled).toBe(true);
      const organization = sim.store.organizations.get(ID.harbor);
      if (organization !== undefined) organization.merchant = { status: 'active', charges: false };
      expect((await get(path)).body.charges_enabled).toBe(true);
    }),
    writes(
      'an armed tool reports its own limits',
      async (world) => {
        const { enabled: _, ...limits } = ARMED;
        expect((await readiness(world)).body).toMatchObject({
          ...limits,
          payment_tool_enabled: true,
        });
      },
      withAgent(ID.desk, { payments: ARMED }),
    ),
    writes(
      'a tool that is off reports the defaults',
      async (world) => {
        const off = (await readiness(world)).body;
        const never = (await readiness(world, ID.bare)).body;
        const limits = ['success_url', 'max_single_charge_cents', 'max_per_call_cents'];
        expect(limits.map((name) => off[name])).toEqual(limits.map((name) => never[name]));
      },
      withAgent(ID.desk, { payments: { ...ARMED, enabled: false } }),
    ),
    reads('refresh is nothing else', async ({ get }) => {
      expect((await get(`${at(ID.desk)}/readiness?refresh=soon`)).status).toBe(400);
    }),
    reads(
      'an agent that does not exist is told flat',
      answers((world) => readiness(world, ID.nobody), 404, flat('Agent not found')),
    ),
    reads('an agent outside the scope is not told about', async ({ get }) => {
      const reply = await get(`${at(ID.desk)}/readiness`, { as: 'north-key' });
      expectReply(reply, 404, flat('Agent not found'));
    }),
    writes('a 403 is told flat, where one is asked for', async (world) => {
      world.sim.faults.add({
        operation: 'getPaymentReadiness',
        status: 403,
        body: { error: 'Forbidden' },
      });
      expectReply(await readiness(world), 403, flat('Forbidden'));
    }),
    writes('a failing processor is told flat', async (world) => {
      world.sim.faults.add({ operation: 'getPaymentReadiness', status: 502 });
      expectReply(await readiness(world), 502, flat('Failed to load payment status'));
    }),
  ),
  ...section(
    'States · Payment account',
    MERCHANTS.map(([status, charges, can]) =>
      writes(
        `an account that is ${status} with charges ${charges ? 'on' : 'off'} can${can ? '' : 'not'} be paid`,
        async (world) => {
          expect((await readiness(world)).body).toMatchObject({
            account_status: status,
            charges_enabled: charges,
            can_accept_payments: can,
            can_enable: can,
          });
        },
        withMerchant(status, charges),
      ),
    ),
  ),
  ...section(
    'States · In-call payment tool',
    writes('it can be armed where it may be', async (world) => {
      expect((await arm(world, true)).status).toBe(200);
      expect((await readiness(world)).body.payment_tool_enabled).toBe(true);
    }),
    writes('it can be disarmed', async (world) => {
      await arm(world, true);
      expect((await arm(world, false)).status).toBe(200);
      expect((await readiness(world)).body.payment_tool_enabled).toBe(false);
    }),
    reads('it is not armed where it may not be', async (world) => {
      const { status } = await arm(world, true, ID.bare);
      expect(status).toBeGreaterThanOrEqual(400);
      expect((await readiness(world, ID.bare)).body.payment_tool_enabled).toBe(false);
    }),
    writes(
      'arming while card payments are locked is a 403',
      async (world) => {
        expect((await arm(world, true)).status).toBe(403);
        expect((await readiness(world)).body.payment_tool_enabled).toBe(false);
      },
      locking('organization', 'card_payments'),
    ),
    writes(
      'an armed tool can be disarmed while they are locked',
      async (world) => {
        world.sim.lock('organization', ID.harbor, 'card_payments');
        expect((await arm(world, false)).status).toBe(200);
        expect((await readiness(world)).body.payment_tool_enabled).toBe(false);
      },
      withAgent(ID.desk, { payments: ARMED }),
    ),
  ),
];
