import schema from '../../../schemas/kinds/sms_template.schema.json' with { type: 'json' };
import { data } from '../answer.ts';
import { dress } from '../dress.ts';
import { assumedPage, ordered } from '../pages.ts';
import type { Platform, Routes } from '../platform.ts';
import { organizationFilter } from '../reach.ts';
import { deleted, updated } from '../written.ts';
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
    const all = ordered(platform.dialect, found, ({ name }) => name);
    return assumedPage(platform.dialect, all, input, (one) => dress(platform.dialect, one));
  },
  /** Answers less than a read does. */
  createSmsTemplate: (input, platform) => {
    const { id, name, status, version } = createTemplate(platform, kind(platform), input);
    return data(
      { id: id ?? null, name: name ?? null, status: status ?? null, version: version ?? null },
      201,
    );
  },
  getSmsTemplate: (input, platform) =>
    data(dress(platform.dialect, reachedTemplate(platform, kind(platform), input))),
  updateSmsTemplate: (input, platform) => {
    const { dialect } = platform;
    const template = updateTemplate(platform, kind(platform), input);
    return updated(dialect, data(dress(dialect, template)));
  },
  deleteSmsTemplate: (input, platform) => {
    const { id } = reachedTemplate(platform, kind(platform), input);
    platform.store.smsTemplates.delete(String(id));
    return deleted(platform.dialect);
  },
};

function kind({ store }: Platform): TemplateKind {
  return {
    schema,
    records: store.smsTemplates,
    feature: schema['x-lock'],
    locked: 'sms_templates_locked',
    statuses: { locked: 403, taken: 409 },
    empty: {
      organization_id: null,
      name: '',
      message_type: 'sms',
      description: null,
      body: '',
      tags: [],
      from_number: null,
    },
  };
}
