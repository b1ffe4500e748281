import schema from '../../schemas/kinds/email_template.schema.json' with { type: 'json' };
import type { Kind } from './kind.ts';
import { restCalls } from './making.ts';

export const emailTemplate: Kind = {
  name: 'email_template',
  section: 'email_templates',
  schema,
  naturalKey: [['organization_id', 'name']],
  tie: 'error',
  refusesTwins: true,
  scope: ['organization_id'],
  columns: ['status', 'subject', 'version', 'updated_at'],
  ...restCalls({
    list: 'listEmailTemplates',
    get: 'getEmailTemplate',
    create: 'createEmailTemplate',
    update: 'updateEmailTemplate',
    delete: 'deleteEmailTemplate',
    id: 'templateId',
  }),
  document: (record) => record,
  facets: [],
};
