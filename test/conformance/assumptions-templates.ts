import { expect } from 'vitest';
import { createEmail } from './email-templates.ts';
import { ID } from './ids.ts';
import { locking } from './seed.ts';
import { createSms } from './sms-templates.ts';
import { answers, coded, expectReply, flat, type Row, reads, section, writes } from './suite.ts';
import { record } from './world.ts';

const TAKEN = flat('A template with this name already exists.');

/** Reading, changing and deleting a template, which both kinds are assumed to have alike. */
const templateRows = (kind: string, path: string, id: string, name: string) => [
  reads(`${kind}.get: a template stands under data`, async ({ get }) => {
    expect(record(await get(`${path}/${id}`))).toMatchObject({ id, name });
  }),
  reads(
    `${kind}.get: an unknown one is not found`,
    answers(({ get }) => get(`${path}/${ID.nobody}`), 404, coded('not_found')),
  ),
  reads(`${kind}.get: one outside the scope is not found`, async ({ get }) => {
    expect((await get(`${path}/${id}`, { as: 'north-key' })).status).toBe(404);
  }),
  writes(`${kind}.update: a field can change, and the version counts on`, async ({ patch }) => {
    const reply = await patch(`${path}/${id}`, { body: { name: 'Renamed' } });
    expect(reply.status).toBe(200);
    expect(record(reply)).toMatchObject({ id, name: 'Renamed', version: 2 });
  }),
  writes(`${kind}.update: a template can be archived`, async ({ patch }) => {
    const reply = await patch(`${path}/${id}`, { body: { status: 'archived' } });
    expect(record(reply).status).toBe('archived');
  }),
  reads(`${kind}.update: an unknown one is not found`, async ({ patch }) => {
    expect((await patch(`${path}/${ID.nobody}`, { body: {} })).status).toBe(404);
  }),
  writes(`${kind}.update: a taken name is told flat`, async ({ patch, post }) => {
    const fields = { organization_id: ID.harbor, name: 'Second', message_type: 'sms' };
    const second = String(record(await post(path, { body: fields })).id);
    expectReply(await patch(`${path}/${second}`, { body: { name } }), 409, TAKEN);
  }),
  writes(
    `${kind}.update: a lock is told flat`,
    async ({ patch }) => {
      const reply = await patch(`${path}/${id}`, { body: { name: 'Renamed' } });
      expectReply(reply, 403, flat(`${kind}s_locked`));
    },
    locking('organization', `${kind}s`),
  ),
  reads(`${kind}.update: a bad field is an issue`, async ({ patch }) => {
    const { status, body } = await patch(`${path}/${id}`, { body: { name: 7 } });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'validation_error' });
  }),
  writes(`${kind}.delete: 204, and it is gone`, async (world) => {
    expect((await world.delete(`${path}/${id}`)).status).toBe(204);
    expect((await world.get(`${path}/${id}`)).status).toBe(404);
  }),
  reads(`${kind}.delete: an unknown one is not found`, async (world) => {
    expect((await world.delete(`${path}/${ID.nobody}`)).status).toBe(404);
  }),
];

export const templateAssumptions: readonly Row[] = [
  ...section(
    'Assumptions · Templates',
    reads('email_template.list-shape: data and pagination', async ({ get }) => {
      expect((await get('/v1/email-templates')).body).toEqual({
        data: expect.any(Array),
        pagination: expect.objectContaining({ page: 1, limit: 50, total: 2 }),
      });
    }),
    writes('email_template.create-answers: 201', async (world) => {
      expect((await createEmail(world)).status).toBe(201);
    }),
    writes(
      'email_template.create-answers: a lock is a 403',
      async (world) => expectReply(await createEmail(world), 403, flat('email_templates_locked')),
      locking('organization', 'email_templates'),
    ),
    reads('email_template.create-answers: a taken name is a 409', async (world) => {
      expectReply(await createEmail(world, { name: 'Confirmation' }), 409, TAKEN);
    }),
    reads('email_template.create-answers: a bad field is an issue', async (world) => {
      const { status, body } = await createEmail(world, { name: 7 });
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'validation_error' });
    }),
    templateRows('email_template', '/v1/email-templates', ID.email, 'Confirmation'),
    reads('sms_template.list: data and pagination', async ({ get }) => {
      const { body } = await get(`/v1/sms-templates?organization_id=${ID.harbor}`);
      expect(body).toEqual({
        data: [expect.objectContaining({ id: ID.sms })],
        pagination: expect.objectContaining({ page: 1, limit: 50, total: 1 }),
      });
    }),
    reads('sms_template.name-taken: told as for e-mail', async (world) => {
      expectReply(await createSms(world, { name: 'Reminder' }), 409, TAKEN);
    }),
    writes('sms_template.get: the creation fields are read back', async (world) => {
      const fields = {
        body: 'Hi {{name}}',
        description: 'A reminder.',
        tags: ['recall'],
        from_number: '+15550123',
      };
      const { id } = record(await createSms(world, fields));
      expect(record(await world.get(`/v1/sms-templates/${String(id)}`))).toMatchObject({
        ...fields,
        message_type: 'sms',
        organization_id: ID.harbor,
      });
    }),
    templateRows('sms_template', '/v1/sms-templates', ID.sms, 'Reminder'),
  ),
];
