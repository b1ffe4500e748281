import { expect } from 'vitest';
import { desk, IDS, locked, section, type World, withDesk } from './world.ts';

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
    rule: 'the change is picked up later',
    does: sip({ registrationEnabled: false }),
    status: 200,
    also: async ({ sim, call }) => {
      expect(sim.store.sipChanges).toMatchObject([
        { agentId: IDS.desk, enabled: false, pickedUpAt: null },
      ]);
      await call('getAgent', { path: { agentId: IDS.desk } });
      expect(sim.store.sipChanges).toMatchObject([{ pickedUpAt: expect.any(String) }]);
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
    rule: 'so does a merchant that may not charge',
    does: (world) => {
      const merchant = world.sim.store.organizations.get(IDS.harbor)?.merchant;
      if (merchant !== undefined) merchant.charges = false;
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
