import type { JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { CALLS } from './calls.ts';
import { FULL_AGENT } from './full-agent.ts';
import { ID } from './ids.ts';

/** What the PBX provider calls with. */
export const PBX_KEY = 'pbx-key-example';

/** An account with two resellers, three organizations, keys of each reach and one of every record. */
export const SEED: SeedDocument = {
  account_id: ID.account,
  resellers: [
    { id: ID.tidewater, name: 'Tidewater' },
    { id: ID.lakeside, name: 'Lakeside' },
  ],
  organizations: [
    { id: ID.harbor, name: 'Harbor Dental', reseller_id: ID.tidewater },
    { id: ID.north, name: 'Northside Vets', reseller_id: ID.lakeside },
    { id: ID.west, name: 'West Optics', reseller_id: ID.tidewater },
  ],
  keys: [
    {
      client_id: 'tidewater-key',
      client_secret: 'tidewater-example',
      scope: { level: 'reseller', id: ID.tidewater },
    },
    {
      client_id: 'north-key',
      client_secret: 'north-example',
      scope: { level: 'organization', id: ID.north },
    },
  ],
  agents: [
    FULL_AGENT,
    { id: ID.recall, organization_id: ID.north, name: 'Recall', agent_type: 'outbound' },
    { id: ID.bare, organization_id: ID.harbor, name: 'Bare' },
    { id: ID.night, organization_id: ID.west, name: 'Night line', status: 'inactive' },
    { id: ID.elsewhere, organization_id: ID.harbor, name: 'On another provider', supported: false },
    { id: ID.gone, organization_id: ID.harbor, name: 'Gone', deleted: true },
  ],
  retry_policies: [
    {
      id: ID.gentle,
      name: 'Gentle',
      rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } },
      contact_policy: { max_per_day: 2 },
      on_exhausted: 'end',
      on_exhausted_target: null,
      reschedule_out_of_window: true,
    },
    { id: ID.brisk, name: 'Brisk' },
  ],
  email_templates: [
    {
      id: ID.email,
      organization_id: ID.harbor,
      name: 'Confirmation',
      subject: 'See you on {{date}}',
      body_html: '<p>Hello {{name|there}}</p>',
      from_name: 'Harbor Dental',
      status: 'active',
    },
    { id: ID.draft, organization_id: ID.north, name: 'Newsletter', status: 'draft' },
  ],
  sms_templates: [
    { id: ID.sms, organization_id: ID.harbor, name: 'Reminder', message_type: 'sms', body: 'Hi' },
  ],
  knowledge_bases: [
    { id: ID.base, organization_id: ID.harbor, name: 'Clinic' },
    { id: ID.northBase, organization_id: ID.north, name: 'Vets' },
  ],
  sources: [
    { knowledge_base_id: ID.base, url: 'https://harbor.example.test/faq' },
    { knowledge_base_id: ID.base, name: 'prices.pdf', content_hash: 'hash-of-prices' },
  ],
  custom_voices: [
    {
      id: ID.voice,
      organization_id: ID.harbor,
      name: 'Harbor',
      language: 'fr',
      description: 'The voice of the desk.',
    },
  ],
  calls: CALLS,
  profiles: [{ id: ID.profile, organization_id: ID.harbor }],
  claims: [{ id: ID.claim, profile_id: ID.profile }],
  pbx_api_keys: [PBX_KEY],
};

/** The seed with locks placed on the account, on Tidewater, or on Harbor Dental. */
export function locking(
  level: 'account' | 'reseller' | 'organization',
  ...locks: readonly string[]
): { readonly seed: SeedDocument } {
  const at = <T extends { readonly id: string }>(all: readonly T[] | undefined, id: string) =>
    (all ?? []).map((one) => (one.id === id ? { ...one, locks } : one));
  switch (level) {
    case 'account':
      return { seed: { ...SEED, locks } };
    case 'reseller':
      return { seed: { ...SEED, resellers: at(SEED.resellers, ID.tidewater) } };
    case 'organization':
      return { seed: { ...SEED, organizations: at(SEED.organizations, ID.harbor) } };
  }
}

/** The seed with other fields on one agent. */
export function withAgent(id: string, fields: JsonObject): { readonly seed: SeedDocument } {
  const agents = (SEED.agents ?? []).map((one) => (one.id === id ? { ...one, ...fields } : one));
  return { seed: { ...SEED, agents } };
}

/** The seed with another payment account for Harbor Dental. */
export function withMerchant(
  status: 'not_started' | 'onboarding' | 'active' | 'restricted',
  charges: boolean,
): { readonly seed: SeedDocument } {
  const organizations = (SEED.organizations ?? []).map((one) =>
    one.id === ID.harbor ? { ...one, merchant: { status, charges } } : one,
  );
  return { seed: { ...SEED, organizations } };
}

/** The seed where Harbor Dental can send texts from these numbers only. */
export function owning(...numbers: readonly string[]): { readonly seed: SeedDocument } {
  const organizations = (SEED.organizations ?? []).map((one) =>
    one.id === ID.harbor ? { ...one, sms_numbers: numbers } : one,
  );
  return { seed: { ...SEED, organizations } };
}
