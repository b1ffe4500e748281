import schema from '../../../schemas/kinds/sms_template.schema.json' with { type: 'json' };
import { data, GONE } from '../answer.ts';
import { page } from '../pages.ts';
import type { Platform, Routes } from '../platform.ts';
import { organizationFilter } from '../reach.ts';
import { createTemplate, reachedTemplate, type TemplateKind, updateTemplate } from './templates.ts';

/** Text messages that agents send (SMS templates). */
export const smsTemplates: Routes<
  | 'listSmsTemplates'
  | 'createSmsTemplate'
  | 'getSmsTemplate'
  | 'updateSmsTemplate'
  | 'deleteSmsTemplate'
> = {
  listSmsTemplates: (input, platform) => {
    const wanted = organizationFilter(platform, input);
    const found = [...platform.store.smsTemplates.values()].filter((template) =>
      wanted(String(template.organization_id)),
    );
    return page(found, input, (template) => template);
  },
  /** Answers less than a read does. */
  createSmsTemplate: (input, platform) => {
    const { id, name, status, version } = createTemplate(platform, kind(platform), input);
    return data(
      { id: id ?? null, name: name ?? null, status: status ?? null, version: version ?? null },
      201,
    );
  },
  getSmsTemplate: (input, platform) => data(reachedTemplate(platform, kind(platform), input)),
  updateSmsTemplate: (input, platform) => data(updateTemplate(platform, kind(platform), input)),
  deleteSmsTemplate: (input, platform) => {
    const { id } = reachedTemplate(platform, kind(platform), input);
    platform.store.smsTemplates.delete(String(id));
    return GONE;
  },
};

function kind({ store }: Platform): TemplateKind {
  return {
    schema,
    records: store.smsTemplates,
    feature: 'sms_templates',
    locked: 'sms_templates_locked',
    empty: {
      organization_id: null,
      name: '',
      message_type: 'sms',
      description: null,
      body: '',
      tags: [],
      from_number: null,
    },
    broken: () => [],
  };
}
