import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { stateIn } from '../cli/state-stage.ts';
import { SEED } from '../e2e/clinic.ts';
import type { Stage } from './stage.ts';

/** A stack with one resource, of any kind, and somebody else's of the same name beside it. */

const [HARBOR] = (SEED.organizations ?? []).map(({ id }) => id);
const BASE = SEED.knowledge_bases?.[0]?.id ?? '';
const BAY = '7d1f2c3b-4a5e-4f60-8b9c-0d1e2f3a4b5c';
export const TWO: SeedDocument = {
  ...SEED,
  organizations: [...(SEED.organizations ?? []), { id: BAY, name: 'Bay' }],
};
/** The id of what is somebody else's. */
export const STRANGER = '0e1d2c3b-4a59-4687-9a0b-1c2d3e4f5a6b';

/** How a sample of a kind is written: under a name, and with another value of a field that cannot be changed. */
export type Sample = {
  readonly kind: string;
  readonly way?: string;
  readonly yaml: (name: string, isOther: boolean) => JsonObject;
  /** The field that `isOther` changes; undefined: there is none. */
  readonly other?: string;
  readonly stranger: (stage: Stage, name: string, isOther: boolean) => void;
};

const owner = (isOther: boolean) => (isOther ? BAY : (HARBOR ?? ''));
const within = (isOther: boolean) => (isOther ? { organization: BAY } : {});

function now(): string {
  return new Date().toISOString();
}

export const SAMPLES: readonly Sample[] = [
  {
    kind: 'agent',
    other: 'organization',
    yaml: (name, isOther) => ({ name, greeting_message: 'Ours', ...within(isOther) }),
    stranger: ({ sim: { store } }, name, isOther) => {
      const organizationId = owner(isOther);
      const times = { created_at: now(), updated_at: now() };
      const fields = { name, status: 'active', greeting_message: 'By hand' };
      const record = { id: STRANGER, organization_id: organizationId, ...fields, ...times };
      const payments = { enabled: false, limits: {} };
      store.agents.set(STRANGER, {
        id: STRANGER,
        organizationId,
        record,
        payments,
        supported: true,
      });
    },
  },
  {
    kind: 'custom_voice',
    other: 'language',
    yaml: (name, isOther) => ({
      name,
      clip: 'voices/harbor.wav',
      language: isOther ? 'fr' : 'en',
      description: 'Ours',
      consent: true,
    }),
    stranger: ({ sim: { store } }, name) => {
      const fields = { provider: 'cartx', custom: true, language: 'en', description: 'By hand' };
      store.voices.set(STRANGER, {
        id: STRANGER,
        organizationId: HARBOR ?? '',
        record: { id: STRANGER, name, ...fields },
        clip: Buffer.from('another'),
      });
    },
  },
  {
    kind: 'knowledge_source',
    way: 'document',
    yaml: (name) => ({ file: `documents/${name}.csv` }),
    stranger: (stage, name) =>
      plantSource(stage, { source_type: 'file', name: `${name}.csv` }, 'canary by hand'),
  },
  {
    kind: 'retry_policy',
    yaml: (name) => ({ name, rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } } }),
    stranger: ({ sim: { store } }, name) => {
      const rules = { no_answer: { delay_seconds: 60, max_attempts: 9 } };
      const fields = { name, rules, contact_policy: null, on_exhausted: 'end' };
      const rest = { on_exhausted_target: null, reschedule_out_of_window: false };
      const times = { created_at: now(), updated_at: now() };
      store.retryPolicies.set(STRANGER, { id: STRANGER, ...fields, ...rest, ...times });
    },
  },
  {
    kind: 'email_template',
    other: 'organization',
    yaml: (name, isOther) => ({ name, subject: 'Ours', status: 'draft', ...within(isOther) }),
    stranger: ({ sim: { store } }, name, isOther) => {
      const fields = { name, subject: 'By hand', body_html: '', from_name: null, status: 'draft' };
      const organization_id = owner(isOther);
      store.emailTemplates.set(STRANGER, { id: STRANGER, organization_id, ...fields, version: 1 });
    },
  },
  {
    kind: 'sms_template',
    other: 'message_type',
    yaml: (name, isOther) => ({
      name,
      message_type: isOther ? 'mms' : 'sms',
      body: 'Ours',
      status: 'draft',
    }),
    stranger: ({ sim: { store } }, name) => {
      const fields = { name, message_type: 'sms', description: null, body: 'By hand', tags: [] };
      const rest = { from_number: null, status: 'draft', version: 1 };
      const organization_id = HARBOR ?? '';
      store.smsTemplates.set(STRANGER, { id: STRANGER, organization_id, ...fields, ...rest });
    },
  },
];

function plantSource({ sim: { store } }: Stage, fields: JsonObject, text: string): void {
  const id = STRANGER;
  store.sources.set(id, {
    id,
    knowledgeBaseId: BASE,
    record: {
      id,
      knowledge_base_id: BASE,
      organization_id: HARBOR ?? '',
      ...fields,
      status: 'active',
      chunk_count: 3,
      last_synced_at: now(),
      created_at: now(),
    },
    upload: {
      fileKey: 'documents/by-hand',
      mime: 'text/csv',
      size: text.length,
      contentHash: 'by-hand',
      bytes: Buffer.from(text),
    },
    pendingReads: undefined,
  });
}

export async function prepare(stage: Stage, { kind }: Sample): Promise<void> {
  await stage.remove('agents.yaml');
  await stage.remove('resources.yaml');
  if (kind !== 'knowledge_source') return;
  for (const name of ['Own', 'Taken'])
    await stage.write(`documents/${name}.csv`, `of ${name}\n1,2\n`);
}

export async function write(
  stage: Stage,
  { kind, yaml }: Sample,
  name: string,
  isOther: boolean,
  adopt?: string,
): Promise<void> {
  const { section, nested } = kindNamed(kind);
  const one = { ...yaml(name, isOther), ...(adopt === undefined ? {} : { lifecycle: { adopt } }) };
  const block = nested === undefined ? { one } : { clinic: { id: BASE, [nested.key]: { one } } };
  await stage.write('one.yaml', `${JSON.stringify({ [section]: block })}\n`);
}

export async function idsInState(stage: Stage): Promise<readonly string[]> {
  const state = await stateIn(stage).catch(() => undefined);
  return Object.values(state?.resources ?? {}).map(({ id }) => id);
}
