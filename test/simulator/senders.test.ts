import { expect } from 'vitest';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { desk, IDS, locked, SEED, section, type World } from './world.ts';

const path = { agentId: IDS.desk };
const OWNED = '+15550100';
const FOREIGN = '+15550999';

/** Harbor has one number on its SMS account. */
const seed: SeedDocument = {
  ...SEED,
  organizations: (SEED.organizations ?? []).map((one) => ({ ...one, sms_numbers: [OWNED] })),
};

const create = (world: World, from_number: string) =>
  world.call('createSmsTemplate', {
    body: {
      organization_id: IDS.harbor,
      name: `From ${from_number}`,
      message_type: 'sms',
      from_number,
    },
  });
const createdFrom = async (world: World, sender: string): Promise<string> =>
  String(Object((await create(world, sender)).body.data).id);
const assign = (world: World, smsTemplateId: string | null) =>
  world.call('updateAgent', { path, body: { smsTemplateId } });

section(
  'SMS templates, from_number',
  [
    {
      rule: 'it is not checked at creation',
      does: (world: World) => create(world, FOREIGN),
      status: 201,
    },
    {
      rule: 'a number that the organization does not own is found when the template is assigned',
      does: async (world: World) => assign(world, await createdFrom(world, FOREIGN)),
      status: 400,
      body: {
        error: 'invalid_request',
        details: [{ path: 'smsTemplateId', message: expect.stringContaining(FOREIGN) }],
      },
      also: (world: World) => expect(desk(world).sms_template_id).toBeUndefined(),
    },
    ...[OWNED, '55501', 'HARBOR'].map((sender) => ({
      rule: `${sender} can be assigned, and sends`,
      does: async (world: World) => assign(world, await createdFrom(world, sender)),
      status: 200,
      also: (world: World) => {
        const templateId = String(desk(world).sms_template_id);
        const text = world.sim.sendText({ agentId: IDS.desk, templateId, to: '+15551234' });
        expect(text).toMatchObject({ from: sender, status: 'sent', errorCode: null });
      },
    })),
    {
      rule: 'the carrier rejects a foreign number at send time with 21606',
      does: async (world: World) => {
        const templateId = await createdFrom(world, FOREIGN);
        world.sim.sendText({ agentId: IDS.desk, templateId, to: '+15551234' });
        expect(world.sim.store.texts).toMatchObject([
          { from: FOREIGN, status: 'rejected', errorCode: 21606 },
        ]);
        return world.call('getMe');
      },
      status: 200,
    },
    {
      rule: "without one the agent's own number sends",
      does: async (world: World) => {
        world.sim.sendText({ agentId: IDS.desk, templateId: IDS.sms, to: '+15551234' });
        expect(world.sim.store.texts).toMatchObject([{ from: OWNED, status: 'sent' }]);
        return world.call('getMe');
      },
      status: 200,
    },
    {
      rule: 'a template of another organization cannot be assigned',
      does: (world: World) => assign(world, IDS.nobody),
      status: 400,
      body: { details: [{ path: 'smsTemplateId' }] },
    },
  ],
  seed,
);

const email = (emailTemplateId: string | null) => (world: World) =>
  world.call('updateAgent', { path, body: { emailTemplateId } });

section('Agents, templates that they send', [
  {
    rule: 'an e-mail template of the organization can be assigned and is returned',
    does: email(IDS.email),
    status: 200,
    body: { data: { email_template_id: IDS.email } },
  },
  {
    rule: 'one that is none cannot',
    does: email(IDS.nobody),
    status: 400,
    body: { details: [{ path: 'emailTemplateId' }] },
  },
  {
    rule: 'none can while the feature is locked',
    seed: locked('account', 'email_templates'),
    does: email(IDS.email),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'revert rule 2: an e-mail template is not switched on again while it is locked',
    does: async (world) => {
      await email(IDS.email)(world);
      await email(null)(world);
      world.sim.lock('account', '', 'email_templates');
      const { body } = await world.call('listAgentHistory', { path });
      const entry = Object(Array.isArray(body.data) ? body.data[1] : undefined);
      return world.call('revertAgent', { path: { ...path, versionId: String(entry.id) } });
    },
    status: 403,
    body: { error: 'forbidden', error_description: expect.stringContaining('email_templates') },
    also: (world) => expect(desk(world).email_template_id).toBeUndefined(),
  },
]);
