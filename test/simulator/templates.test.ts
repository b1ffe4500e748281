import { expect } from 'vitest';
import { IDS, locked, section, type World } from './world.ts';

const email =
  (body: object) =>
  ({ call }: World) =>
    call('createEmailTemplate', { body: { organization_id: IDS.harbor, name: 'New', ...body } });
const sms =
  (body: object) =>
  ({ call }: World) =>
    call('createSmsTemplate', {
      body: { organization_id: IDS.harbor, name: 'New', message_type: 'sms', ...body },
    });
const patchEmail =
  (body: object) =>
  ({ call }: World) =>
    call('updateEmailTemplate', { path: { templateId: IDS.email }, body });
const patchSms =
  (body: object) =>
  ({ call }: World) =>
    call('updateSmsTemplate', { path: { templateId: IDS.sms }, body });

section('Email templates', [
  {
    rule: 'a template starts as a draft, version 1',
    does: email({ subject: 'Hi {{name|there}}', body_html: '<p>{{x}}</p>', from_name: 'Harbor' }),
    status: 201,
    body: {
      data: {
        id: expect.any(String),
        organization_id: IDS.harbor,
        name: 'New',
        subject: 'Hi {{name|there}}',
        body_html: '<p>{{x}}</p>',
        from_name: 'Harbor',
        status: 'draft',
        version: 1,
      },
    },
  },
  ...(
    [
      ['organization_id', { organization_id: undefined }],
      ['name', { name: undefined }],
      ['name', { name: 'n'.repeat(101) }],
      ['subject', { subject: 's'.repeat(999) }],
      ['from_name', { from_name: 'f'.repeat(129) }],
      ['subject', { status: 'active' }],
      ['subject', { status: 'active', subject: '' }],
      ['status', { status: 'archived' }],
    ] as const
  ).map(([path, body]) => ({
    rule: `${JSON.stringify(body).slice(0, 40)} is refused for its ${path}`,
    does: email(body),
    status: 400,
    body: { error: 'validation_error', issues: [{ path }] },
  })),
  {
    rule: 'an organization outside the account is refused',
    does: email({ organization_id: IDS.nobody }),
    status: 403,
    body: { error: 'organization not accessible' },
  },
  {
    rule: 'a lock has a body of its own',
    seed: locked('account', 'email_templates'),
    does: email({}),
    status: 403,
    body: { error: 'email_templates_locked' },
  },
  {
    rule: 'a name is unique in its organization',
    does: email({ name: 'Confirmation' }),
    status: 409,
    body: { error: 'A template with this name already exists.' },
  },
  {
    rule: 'another organization may use the name',
    does: email({ name: 'Confirmation', organization_id: IDS.north }),
    status: 201,
  },
  {
    rule: 'an update counts the version up',
    does: patchEmail({ subject: 'Changed' }),
    status: 200,
    body: { data: { subject: 'Changed', name: 'Confirmation', version: 2 } },
  },
  {
    rule: 'null clears from_name',
    does: patchEmail({ from_name: null }),
    status: 200,
    body: { data: { from_name: null } },
  },
  {
    rule: 'the subject is asked for on creation alone',
    does: patchEmail({ subject: '' }),
    status: 200,
    body: { data: { status: 'active' } },
  },
  {
    rule: 'a template stays with its organization',
    does: patchEmail({ organization_id: IDS.north }),
    status: 400,
    body: { issues: [{ path: 'organization_id' }] },
  },
  {
    rule: 'it can be archived',
    does: patchEmail({ status: 'archived' }),
    status: 200,
    body: { data: { status: 'archived' } },
  },
  {
    rule: 'writes are refused after the feature is locked',
    seed: locked('organization', 'email_templates'),
    does: patchEmail({ subject: 'x' }),
    status: 403,
    body: { error: 'email_templates_locked' },
  },
  {
    rule: 'the list filters by organization and status, in pages',
    does: async (world) => {
      await email({})(world);
      return world.call('listEmailTemplates', {
        query: { organization_id: IDS.harbor, status: 'draft', limit: '1' },
      });
    },
    status: 200,
    body: { data: [{ name: 'New' }], pagination: { total: 1, limit: 1 } },
  },
  {
    rule: 'a list of an organization outside the account is forbidden',
    does: ({ call }) => call('listEmailTemplates', { query: { organization_id: IDS.nobody } }),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'a deleted template is not found',
    does: async ({ call }) => {
      const path = { templateId: IDS.email };
      expect((await call('deleteEmailTemplate', { path })).status).toBe(204);
      return call('getEmailTemplate', { path });
    },
    status: 404,
    body: { error: 'not_found' },
  },
]);

section('SMS templates', [
  {
    rule: 'a creation answers in short',
    does: sms({
      body: 'Hi {{name|there}}',
      tags: ['a'],
      from_number: '+15550100',
      status: 'active',
    }),
    status: 201,
    also: (_, { body }) =>
      expect(body.data).toEqual({
        id: expect.any(String),
        name: 'New',
        status: 'active',
        version: 1,
      }),
  },
  {
    rule: 'a read has the rest',
    does: async (world) => {
      const { body } = await sms({ body: 'Hi', tags: ['a'] })(world);
      return world.call('getSmsTemplate', { path: { templateId: String(Object(body.data).id) } });
    },
    status: 200,
    body: {
      data: {
        organization_id: IDS.harbor,
        message_type: 'sms',
        body: 'Hi',
        tags: ['a'],
        from_number: null,
      },
    },
  },
  ...(
    [
      ['organization_id', { organization_id: 'x' }],
      ['name', { name: 'n'.repeat(101) }],
      ['description', { description: 'd'.repeat(301) }],
      ['message_type', { message_type: 'fax' }],
      ['message_type', { message_type: undefined }],
      ['tags.0', { tags: [1] }],
      ['status', { status: 'archived' }],
    ] as const
  ).map(([path, body]) => ({
    rule: `${JSON.stringify(body).slice(0, 40)} is refused for its ${path}`,
    does: sms(body),
    status: 400,
    body: { error: 'validation_error', issues: [{ path }] },
  })),
  {
    rule: 'an organization outside the account is one 403',
    seed: locked('account', 'sms_templates'),
    does: sms({ organization_id: IDS.nobody }),
    status: 403,
    body: { error: 'organization not accessible' },
  },
  {
    rule: 'a locked feature is the other 403',
    seed: locked('account', 'sms_templates'),
    does: sms({}),
    status: 403,
    body: { error: 'sms_templates_locked' },
  },
  { rule: 'a name is unique in its organization', does: sms({ name: 'Reminder' }), status: 409 },
  {
    rule: 'message_type cannot change',
    does: patchSms({ message_type: 'mms' }),
    status: 400,
    body: { error: 'validation_error', issues: [{ path: 'message_type' }] },
  },
  {
    rule: 'message_type may be repeated',
    does: patchSms({ message_type: 'sms', body: 'Hello' }),
    status: 200,
    body: { data: { body: 'Hello', version: 2 } },
  },
  {
    rule: 'the list refuses a malformed organization in a flat error',
    does: ({ call }) => call('listSmsTemplates', { query: { organization_id: 'x' } }),
    status: 400,
    body: { error: 'invalid organization_id' },
  },
  {
    rule: 'the list comes in pages',
    does: ({ call }) => call('listSmsTemplates', { query: { organization_id: IDS.harbor } }),
    status: 200,
    body: { data: [{ id: IDS.sms }], pagination: { total: 1, page: 1 } },
  },
  {
    rule: 'a deleted template is not found',
    does: async ({ call }) => {
      const path = { templateId: IDS.sms };
      expect((await call('deleteSmsTemplate', { path })).status).toBe(204);
      return call('getSmsTemplate', { path });
    },
    status: 404,
  },
]);
