import schema from '../../../schemas/kinds/email_template.schema.json' with { type: 'json' };
import { data } from '../answer.ts';
import { dress } from '../dress.ts';
import { assumedPage, ordered } from '../pages.ts';
import type { Platform, Routes } from '../platform.ts';
import { organizationFilter } from '../reach.ts';
import { deleted, updated } from '../written.ts';
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
    const all = ordered(platform.dialect, found, ({ name }) => name);
    return assumedPage(platform.dialect, all, input, (one) => dress(platform.dialect, one));
  },
  createEmailTemplate: (input, platform) => {
    const { dialect } = platform;
    const template = createTemplate(platform, kind(platform), input);
    return data(dress(dialect, template), dialect.createdStatus);
  },
  getEmailTemplate: (input, platform) =>
    data(dress(platform.dialect, reachedTemplate(platform, kind(platform), input))),
  updateEmailTemplate: (input, platform) => {
    const { dialect } = platform;
    const template = updateTemplate(platform, kind(platform), input);
    return updated(dialect, data(dress(dialect, template)));
  },
  deleteEmailTemplate: (input, platform) => {
    const { id } = reachedTemplate(platform, kind(platform), input);
    platform.store.emailTemplates.delete(String(id));
    return deleted(platform.dialect);
  },
};

function kind({ store, dialect }: Platform): TemplateKind {
  return {
    schema,
    records: store.emailTemplates,
    feature: schema['x-lock'],
    locked: 'email_templates_locked',
    // The specification gives these errors no status.
    statuses:
      dialect.emailErrors === 'apart' ? { locked: 403, taken: 409 } : { locked: 400, taken: 400 },
    empty: { organization_id: null, name: '', subject: '', body_html: '', from_name: null },
  };
}
