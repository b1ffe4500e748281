import { expect } from 'vitest';
import type { SeedDocument } from '../../src/simulator/index.ts';
import type { Merchant } from '../../src/simulator/store.ts';
import { desk, IDS, locked, SEED, section, type World, withDesk } from './world.ts';

const sip =
  (body: unknown, agentId: string = IDS.desk) =>
  ({ call }: World) =>
    call('setSipRegistration', { path: { agentId }, body });

section('SIP registration', [
  {
    rule: 'the flag is flipped and everything else kept',
    does: sip({ registrationEnabled: false }),
    status: 200,
    body: {
      success: true,
      data: {
        sipDomain: 'sip.example.test',
        port: 5060,
        registrationEnabled: false,
        authUsername: null,
        did: null,
      },
    },
    also: (world) => {
      expect(desk(world)).toMatchObject({
        status: 'active',
        sip_registration_data: { password: 'sip-password' },
      });
      expect(desk(world)).toHaveProperty('sip_registration_data.registrationEnabled', false);
    },
  },
  {
    rule: 'the change is stored at once and picked up later',
    options: { dialect: { sipLagMs: 5000 } },
    does: async (world) => {
      await sip({ registrationEnabled: false })(world);
      expect(world.sim.isRegistered(IDS.desk)).toBe(true);
      return world.call('getAgent', { path: { agentId: IDS.desk } });
    },
    status: 200,
    body: { data: { status: 'active', sip_registration_data: { registrationEnabled: false } } },
    also: ({ sim }) => {
      sim.advance(5000);
      expect(sim.isRegistered(IDS.desk)).toBe(false);
    },
  },
  {
    rule: 'the flag is a boolean',
    does: sip({ registrationEnabled: 'yes' }),
    status: 400,
    body: {
      error: 'Invalid request data',
      details: [
        {
          code: 'invalid_type',
          expected: 'boolean',
          received: 'string',
          path: ['registrationEnabled'],
          message: expect.any(String),
        },
      ],
    },
  },
  {
    rule: 'the flag is required',
    does: sip({}),
    status: 400,
    body: {
      error: 'Invalid request data',
      details: [{ path: ['registrationEnabled'], received: 'undefined' }],
    },
  },
  {
    rule: 'any other property is refused',
    does: sip({ registrationEnabled: true, port: 5061 }),
    status: 400,
    body: { error: 'Invalid request data', details: [{ code: 'unrecognized_keys' }] },
  },
  {
    rule: 'an agent without a registration has nothing to flip',
    does: sip({ registrationEnabled: true }, IDS.recall),
    status: 404,
    body: { error: 'not_found', error_description: expect.stringContaining('registration') },
  },
  {
    rule: 'a wrong body is found before a missing registration',
    does: sip({ registrationEnabled: 1 }, IDS.recall),
    status: 400,
  },
  {
    rule: 'an unknown agent is not found',
    does: sip({ registrationEnabled: true }, IDS.nobody),
    status: 404,
  },
  {
    rule: 'an agent on another provider is refused',
    does: sip({ registrationEnabled: true }, IDS.foreign),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'history does not record it',
    does: async (world) => {
      await sip({ registrationEnabled: false })(world);
      return world.call('listAgentHistory', { path: { agentId: IDS.desk } });
    },
    status: 200,
    also: (_, { body }) => expect(body.data).toHaveLength(1),
  },
]);

const readiness = (world: World, agentId: string = IDS.desk) =>
  world.call('getPaymentReadiness', { path: { agentId } });
const stopCharges = ({ sim }: World) => {
  const organization = sim.store.organizations.get(IDS.harbor);
  if (organization !== undefined) organization.merchant = { status: 'active', charges: false };
};
const withMerchant = (merchant: Merchant): SeedDocument => ({
  ...SEED,
  organizations: (SEED.organizations ?? []).map((one) => ({ ...one, merchant })),
});
const arm =
  (body: object, agentId: string = IDS.desk) =>
  ({ call }: World) =>
    call('setPaymentTool', { path: { agentId }, body });
const armed = withDesk({ payments: { enabled: true, max_single_charge_cents: 700 } });

section('Payment readiness', [
  {
    rule: 'can_enable needs charges, SMS credentials and no lock',
    does: readiness,
    status: 200,
    body: {
      agent_id: IDS.desk,
      can_enable: true,
      feature_locked: false,
      can_accept_payments: true,
      account_status: 'active',
      charges_enabled: true,
      twilio_configured: true,
      payment_tool_enabled: false,
    },
  },
  {
    rule: 'a lock takes can_enable away',
    seed: locked('reseller', 'card_payments'),
    does: readiness,
    status: 200,
    body: { can_enable: false, feature_locked: true },
  },
  {
    rule: 'so do missing SMS credentials',
    does: (world) => readiness(world, IDS.recall),
    status: 200,
    body: { can_enable: false, twilio_configured: false },
  },
  {
    rule: 'what the payment processor changed is not known at once',
    does: (world) => {
      stopCharges(world);
      return readiness(world);
    },
    status: 200,
    body: { can_enable: true, can_accept_payments: true, charges_enabled: true },
  },
  {
    rule: 'refresh asks the payment processor again, and what it says stays known',
    does: async (world) => {
      stopCharges(world);
      const path = { agentId: IDS.desk };
      const fresh = await world.call('getPaymentReadiness', { path, query: { refresh: 'true' } });
      expect(fresh.body).toMatchObject({ can_enable: false, charges_enabled: false });
      return readiness(world);
    },
    status: 200,
    body: {
      can_enable: false,
      can_accept_payments: false,
      charges_enabled: false,
      account_status: 'active',
    },
  },
  ...(['not_started', 'onboarding', 'restricted'] as const).map((status) => ({
    rule: `an account that is ${status} accepts no payments even with charges enabled`,
    seed: withMerchant({ status, charges: true }),
    does: readiness,
    status: 200,
    body: { account_status: status, can_accept_payments: false, charges_enabled: true },
  })),
  {
    rule: 'refresh is true or false',
    does: ({ call }) =>
      call('getPaymentReadiness', { path: { agentId: IDS.desk }, query: { refresh: 'yes' } }),
    status: 400,
    body: { error: 'invalid refresh' },
  },
  {
    rule: 'arming takes limits, and reports them',
    does: arm({ enabled: true, max_single_charge_cents: 900 }),
    status: 200,
    body: { payment_tool_enabled: true, max_single_charge_cents: 900, max_attempts_per_call: 3 },
  },
  {
    rule: 'a tool that is not armed reports the defaults',
    seed: armed,
    does: arm({ enabled: false }),
    status: 200,
    body: { payment_tool_enabled: false, max_single_charge_cents: 50_000 },
  },
  {
    rule: 'arming while the feature is locked is refused',
    seed: locked('organization', 'card_payments'),
    does: arm({ enabled: true }),
    status: 403,
    body: { error: 'Forbidden' },
  },
  {
    rule: 'disarming succeeds while the feature is locked',
    seed: { ...armed, locks: ['card_payments'] },
    does: arm({ enabled: false }),
    status: 200,
    body: { payment_tool_enabled: false, feature_locked: true },
  },
  {
    rule: 'arming an agent that cannot take payments is refused',
    does: arm({ enabled: true }, IDS.recall),
    status: 400,
    body: { error: 'invalid_request', details: [{ path: 'enabled' }] },
  },
  { rule: 'limits are whole cents', does: arm({ max_per_call_cents: 1.5 }), status: 400 },
  {
    rule: 'an unknown agent has a flat error',
    does: (world) => readiness(world, IDS.nobody),
    status: 404,
    body: { error: 'Agent not found' },
  },
]);
