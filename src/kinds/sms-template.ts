import schema from '../../schemas/kinds/sms_template.schema.json' with { type: 'json' };
import type { Kind } from './kind.ts';
import { restCalls } from './making.ts';

export const smsTemplate: Kind = {
  name: 'sms_template',
  section: 'sms_templates',
  schema,
  naturalKey: [['organization_id', 'name']],
  tie: 'error',
  refusesTwins: true,
  scope: ['organization_id'],
  columns: ['status', 'message_type', 'body', 'version', 'updated_at'],
  ...restCalls({
    list: 'listSmsTemplates',
    get: 'getSmsTemplate',
    create: 'createSmsTemplate',
    update: 'updateSmsTemplate',
    delete: 'deleteSmsTemplate',
    id: 'templateId',
  }),
  document: (record) => record,
  facets: [],
};
