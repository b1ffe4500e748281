import schema from '../../../schemas/kinds/email_template.schema.json' with { type: 'json' };
import { data, GONE } from '../answer.ts';
import { page } from '../pages.ts';
import type { Platform, Routes } from '../platform.ts';
import { organizationFilter } from '../reach.ts';
import { violation } from '../violations.ts';
import { createTemplate, reachedTemplate, type TemplateKind, updateTemplate } from './templates.ts';

/** E-mails that agents send (Email templates). */
export const emailTemplates: Routes<
  | 'listEmailTemplates'
  | 'createEmailTemplate'
  | 'getEmailTemplate'
  | 'updateEmailTemplate'
  | 'deleteEmailTemplate'
> = {
  listEmailTemplates: (input, platform) => {
    const wanted = organizationFilter(platform, input);
    const { status } = input.query;
    const found = [...platform.store.emailTemplates.values()].filter(
      (template) =>
        wanted(String(template.organization_id)) &&
        (status === undefined || template.status === status),
    );
    return page(found, input, (template) => template);
  },
  createEmailTemplate: (input, platform) =>
    data(createTemplate(platform, kind(platform), input), 201),
  getEmailTemplate: (input, platform) => data(reachedTemplate(platform, kind(platform), input)),
  updateEmailTemplate: (input, platform) => data(updateTemplate(platform, kind(platform), input)),
  deleteEmailTemplate: (input, platform) => {
    const { id } = reachedTemplate(platform, kind(platform), input);
    platform.store.emailTemplates.delete(String(id));
    return GONE;
  },
};

function kind({ store }: Platform): TemplateKind {
  return {
    schema,
    records: store.emailTemplates,
    feature: 'email_templates',
    locked: 'email_templates_locked',
    empty: { organization_id: null, name: '', subject: '', body_html: '', from_name: null },
    broken: ({ status, subject }) =>
      status === 'active' && subject === ''
        ? [violation('subject', 'required for an active template')]
        : [],
  };
}
