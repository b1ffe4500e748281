import type { JsonObject } from '../../core/value.ts';
import { uuidOf } from '../ids.ts';
import type { SeedDocument } from '../seed.ts';
import type { Company } from './companies.ts';

/** Templates, knowledge bases with their sources, and cloned voices of the organizations. */
export function belongings(owners: readonly Company[]): SeedDocument {
  const informed = owners.filter(({ hasKnowledge }) => hasKnowledge);
  return {
    email_templates: owners.flatMap(emailTemplates),
    sms_templates: owners.flatMap(smsTemplates),
    knowledge_bases: informed.map(({ seed }) => ({
      id: baseId(seed.id),
      organization_id: seed.id,
      name: `${seed.name} handbook`,
    })),
    sources: informed.flatMap(sources),
    custom_voices: owners.flatMap(({ seed, voices, language }) =>
      voices.map((id) => ({
        id,
        organization_id: seed.id,
        name: `${seed.name} voice`,
        language: language === 'es-US' ? 'es' : 'en',
      })),
    ),
  };
}

function baseId(organizationId: string): string {
  return uuidOf(`knowledge base of ${organizationId}`);
}

/** The host under which an organization has its pages. */
export function siteOf({ seed }: Company): string {
  const name = seed.name.normalize('NFD').replaceAll(/[^a-zA-Z0-9 ]/g, '');
  return `https://${name.toLowerCase().replaceAll(' ', '-')}.example.test`;
}

function sources(owner: Company): readonly JsonObject[] {
  const id = baseId(owner.seed.id);
  const site = siteOf(owner);
  return [
    { knowledge_base_id: id, url: `${site}/faq`, chunk_count: 14 },
    { knowledge_base_id: id, url: `${site}/opening-hours`, chunk_count: 2 },
    { knowledge_base_id: id, name: 'prices.pdf', content_hash: uuidOf(`prices of ${id}`) },
  ];
}

function emailTemplates({ seed }: Company): readonly JsonObject[] {
  const common = { organization_id: seed.id, from_name: seed.name };
  return [
    {
      ...common,
      name: 'Confirmation',
      subject: 'Your appointment on {{date}}',
      body_html: '<p>Dear {{name|customer}}, we look forward to seeing you on {{date}}.</p>',
      status: 'active',
      version: 3,
    },
    { ...common, name: 'Recall', subject: 'It has been a while', body_html: '<p>{{name}}</p>' },
  ];
}

function smsTemplates({ seed }: Company): readonly JsonObject[] {
  const common = { organization_id: seed.id, message_type: 'sms' };
  return [
    {
      ...common,
      name: 'Reminder',
      body: 'See you on {{date}} at {{time}}. Reply STOP to opt out.',
      tags: ['appointments'],
      status: 'active',
      version: 2,
    },
    { ...common, name: 'Directions', body: 'This is how you find us: {{link}}' },
  ];
}
