import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { locking, owning } from './seed.ts';
import { coded, expectReply, flat, type Row, reads, section, writes } from './suite.ts';
import { type Ask, type Reply, record, type World } from './world.ts';

const TEMPLATES = '/v1/sms-templates';
const WHOLE = { organization_id: ID.harbor, name: 'New', message_type: 'sms' };

/** Creates an SMS template of Harbor Dental. */
export function createSms({ post }: World, fields: JsonObject = {}, ask: Ask = {}): Promise<Reply> {
  return post(TEMPLATES, { body: { ...WHOLE, ...fields }, ...ask });
}

/** The body of a 400, with at least one issue at a field. */
const issues = (path: string) => ({
  error: 'validation_error',
  issues: expect.arrayContaining([{ path, message: expect.stringMatching(/\S/) }]),
});

const refused = (rule: string, path: string, fields: JsonObject) =>
  reads(rule, async (world) => {
    const { status, body } = await createSms(world, fields);
    expect({ status, body }).toEqual({ status: 400, body: issues(path) });
  });

const taken = (rule: string, fields: JsonObject) =>
  writes(rule, async (world) => {
    expect((await createSms(world, fields)).status).toBe(201);
  });

export const smsTemplates: readonly Row[] = [
  ...section(
    'Endpoints · SMS templates · Create',
    writes('id, name, status and version are answered', async (world) => {
      expectReply(await createSms(world, { body: 'Hi', status: 'active' }), 201, {
        data: { id: expect.any(String), name: 'New', status: 'active', version: 1 },
      });
    }),
    writes('a template starts as draft', async (world) => {
      expect(record(await createSms(world)).status).toBe('draft');
    }),
    ...Object.keys(WHOLE).map((field) =>
      reads(`${field} is required`, async ({ post }) => {
        const body = Object.fromEntries(Object.entries(WHOLE).filter(([key]) => key !== field));
        const reply = await post(TEMPLATES, { body });
        expect({ status: reply.status, body: reply.body }).toEqual({
          status: 400,
          body: issues(field),
        });
      }),
    ),
    taken('it can be a text message', { message_type: 'sms' }),
    taken('it can be a multimedia message', { message_type: 'mms' }),
    refused('it is nothing else', 'message_type', { message_type: 'fax' }),
    refused('no template starts as archived', 'status', { status: 'archived' }),
    taken('the body may hold tokens', { body: '{{name}}, {{time|soon}}' }),
    taken('tags are texts', { tags: ['reminder', 'recall'] }),
    refused('tags are nothing else', 'tags', { tags: 'reminder' }),
    taken('the sender can be a phone number', { from_number: '+15550123' }),
    taken('the sender can be a short code', { from_number: '55501' }),
    taken('the sender can be alphanumeric', { from_number: 'HARBOR' }),
    taken('a number that nobody owns is not checked on creation', { from_number: '+19995550000' }),
    refused('the name is text', 'name', { name: 7 }),
  ),
  ...section(
    'Endpoints · SMS templates · Sending',
    writes('the sender of the template goes before that of the agent', async (world) => {
      const { id } = record(await createSms(world, { from_number: '+15550123' }));
      const text = { agentId: ID.desk, templateId: String(id), to: '+15550177' };
      expect(world.sim.sendText(text)).toMatchObject({ from: '+15550123', status: 'sent' });
    }),
    writes('without one the agent’s own number sends', async (world) => {
      const { id } = record(await createSms(world));
      const text = { agentId: ID.desk, templateId: String(id), to: '+15550177' };
      expect(world.sim.sendText(text)).toMatchObject({ from: '+15550100', status: 'sent' });
    }),
    ...(
      [
        ['a number that the account does not own is found on assignment', '+15550123', 400],
        ['a number of the account can be assigned', '+15550100', 200],
        ['a short code can be assigned', '55501', 200],
        ['an alphanumeric sender can be assigned', 'HARBOR', 200],
      ] as const
    ).map(([rule, from_number, status]) =>
      writes(
        rule,
        async (world) => {
          const { id } = record(await createSms(world, { from_number }));
          const body = { smsTemplateId: String(id) };
          expect((await world.put(`/v1/agents/${ID.desk}`, { body })).status).toBe(status);
        },
        owning('+15550100'),
      ),
    ),
    writes(
      'the carrier rejects a number that the account does not own',
      async (world) => {
        const { id } = record(await createSms(world, { from_number: '+15550123' }));
        const text = { agentId: ID.desk, templateId: String(id), to: '+15550177' };
        expect(world.sim.sendText(text)).toMatchObject({ status: 'rejected', errorCode: 21606 });
      },
      owning('+15550100'),
    ),
  ),
  ...section(
    'Endpoints · SMS templates · Errors',
    refused('a malformed organization is an issue', 'organization_id', {
      organization_id: 'harbor',
    }),
    writes(
      'that is said before ownership and locks are looked at',
      async (world) => {
        const fields = { organization_id: 'harbor' };
        const { status, body } = await createSms(world, fields, { as: 'north-key' });
        expect({ status, body }).toEqual({ status: 400, body: issues('organization_id') });
      },
      locking('account', 'sms_templates'),
    ),
    writes(
      'a locked feature has a body of its own',
      async (world) => expectReply(await createSms(world), 403, flat('sms_templates_locked')),
      locking('organization', 'sms_templates'),
    ),
    reads('an organization of others has another', async (world) => {
      const reply = await createSms(world, { organization_id: ID.nobody });
      expectReply(reply, 403, flat('organization not accessible'));
    }),
    reads('one of the account that is outside the scope is forbidden', async (world) => {
      expectReply(await createSms(world, {}, { as: 'north-key' }), 403, coded('forbidden'));
    }),
    writes(
      'ownership is looked at before locks',
      async (world) => {
        const reply = await createSms(world, { organization_id: ID.nobody });
        expectReply(reply, 403, flat('organization not accessible'));
      },
      locking('account', 'sms_templates'),
    ),
    reads('a taken name is a conflict', async (world) => {
      expect((await createSms(world, { name: 'Reminder' })).status).toBe(409);
    }),
    writes('another organization may use the same name', async (world) => {
      const fields = { name: 'Reminder', organization_id: ID.north };
      expect((await createSms(world, fields)).status).toBe(201);
    }),
    reads('the list answers a malformed organization in one member', async ({ get }) => {
      const reply = await get(`${TEMPLATES}?organization_id=harbor`);
      expectReply(reply, 400, flat('invalid organization_id'));
    }),
  ),
];
