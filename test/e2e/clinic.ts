import { join } from 'node:path';
import type { SeedDocument, Simulator } from '../../src/simulator/index.ts';

/** The stack beside this file: a resource of every kind, small enough to be read in one go. */
export const CLINIC = join(import.meta.dirname, 'clinic');

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

/** An account in which nothing of the clinic exists yet but its knowledge base. */
export const SEED: SeedDocument = {
  account_id: 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316',
  organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
  knowledge_bases: [
    { id: '7c346549-f8c6-406a-809e-72392ed69b41', organization_id: HARBOR, name: 'Clinic' },
  ],
};

/** The clinic's secrets, by the variables that hold them. Their values can come from nowhere else. */
export const CANARIES = {
  SMS_TOKEN: 'canary-sms-5f1c9a7e',
  CRM_KEY: 'canary-crm-83d20b46',
  MCP_TOKEN: 'canary-mcp-c71e4f92',
} as const;

/** Secret too. Without a key every command would spend its time on scrypt. */
export const FINGERPRINT_KEY = 'canary-key-0b6de1f4';

/**
 * What runs in this process are made from, in `CI_COMMIT_SHA`: to ask Git takes a process, and to start one takes a
 * worker of many tests 10 ms and more.
 */
export const COMMIT = '1f3a9c2b7d10';

/** Everything that the clinic wants, in the order of plans. */
export const ADDRESSES = [
  'custom_voice.harbor',
  'retry_policy.gentle',
  'email_template.reminder',
  'sms_template.reminder',
  'knowledge_source.clinic.faq',
  'knowledge_source.clinic.prices',
  'agent.desk',
  'agent.recall',
];

/** The live agent of that name. Agents are created side by side, so no place in the store is one's own. */
export function agentNamed({ store }: Pick<Simulator, 'store'>, name = 'Front desk') {
  const found = [...store.agents.values()].find(({ record }) => record.name === name);
  if (found === undefined) throw new Error(`No agent is named ${name}.`);
  return found;
}

/** Bytes of the clinic's document. */
const PRICES_BYTES = 40;

/**
 * What there is of everything that the clinic wants. A document that was announced and never arrived
 * stays behind, as the platform deletes none; it does not count.
 */
export function inventory({ store }: Simulator) {
  const names = (records: Iterable<{ readonly [key: string]: unknown }>) =>
    [...records].map(({ name }) => name);
  return {
    voices: names([...store.voices.values()].map(({ record }) => record)),
    policies: names(store.retryPolicies.values()),
    emails: names(store.emailTemplates.values()),
    messages: names(store.smsTemplates.values()),
    sources: [...store.sources.values()]
      .filter(({ record }) => record.status === 'active')
      .map(({ record, upload }) => `${record.name}: ${upload?.bytes?.length ?? 'page'}`)
      .sort(),
    agents: names([...store.agents.values()].map(({ record }) => record)).sort(),
  };
}

/** The inventory once the clinic is applied: one of each, none twice. */
export const WHOLE: ReturnType<typeof inventory> = {
  voices: ['Harbor'],
  policies: ['Gentle redial'],
  emails: ['Reminder'],
  messages: ['Reminder'],
  sources: ['https://harbor.example.test/faq: page', `prices.csv: ${PRICES_BYTES}`],
  agents: ['Front desk', 'Recall'],
};
