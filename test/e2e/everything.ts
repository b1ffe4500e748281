import type { JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { AGENT, AGENT_CHANGED, AGENT_CUT } from '../kinds/agent-sample.ts';
import { type Sample, samples } from '../kinds/samples.ts';
import { SEED } from './clinic.ts';

const [base] = SEED.knowledge_bases ?? [];
const [organization] = SEED.organizations ?? [];

function sampleOf(kind: string, title?: string): Sample {
  const found = samples.find((one) => one.kind === kind && (title ?? one.title) === one.title);
  if (found === undefined) throw new Error(`there is no sample of ${kind}`);
  return found;
}

const WIRED = sampleOf('agent', 'made in the dashboard, with a registration');
const POLICY = sampleOf('retry_policy');
const EMAIL = sampleOf('email_template');
const SMS = sampleOf('sms_template');
const PAGE = sampleOf('knowledge_source', 'a page');
const DOCUMENT = sampleOf('knowledge_source', 'a document');
const VOICE = sampleOf('custom_voice');

/** An account whose only agent was made in the dashboard and has a SIP registration. */
export const EVERYTHING_SEED: SeedDocument = {
  ...SEED,
  agents: WIRED.seed?.agents?.map((agent) => ({ ...agent, name: 'Wired' })) ?? [],
};

/** A stack with a resource of every kind, and with every field that each of them can have. */
export type Version = {
  readonly stack: JsonObject;
  readonly files: Readonly<Record<string, string | Buffer>>;
};

type Parts = {
  readonly agent: JsonObject;
  readonly wired: JsonObject;
  readonly policy: JsonObject;
  readonly email: JsonObject;
  readonly sms: JsonObject;
  readonly files?: Version['files'];
};

function version({ agent, wired, policy, email, sms, files = {} }: Parts): Version {
  const followed = { default_retry_policy_id: { $ref: 'retry_policy.sample' } };
  const stack: JsonObject = {
    callsheet: 1,
    organization: organization?.id ?? '',
    custom_voices: {
      needed: { name: 'Needed', clip: 'sample.wav', consent: true },
      sample: VOICE.whole,
    },
    retry_policies: { needed: { name: 'Needed' }, sample: policy },
    email_templates: { sample: email },
    sms_templates: { sample: sms },
    knowledge_bases: {
      clinic: { id: base?.id ?? '', sources: { page: PAGE.whole, document: DOCUMENT.whole } },
    },
    agents: { sample: agent, wired: { ...wired, name: 'Wired', ...followed } },
  };
  return { stack, files: { ...VOICE.files, ...DOCUMENT.files, ...files } };
}

export const WHOLE_VERSION = version({
  agent: AGENT,
  wired: WIRED.whole,
  policy: POLICY.whole,
  email: EMAIL.whole,
  sms: SMS.whole,
});

/** Every field has another value, the document other bytes. */
export const CHANGED_VERSION = version({
  agent: AGENT_CHANGED,
  wired: WIRED.changed.resource,
  policy: POLICY.changed.resource,
  email: EMAIL.changed.resource,
  sms: SMS.changed.resource,
  files: DOCUMENT.changed.files ?? {},
});

/** Members of objects, elements of lists and whole fields are gone. */
export const CUT_VERSION = version({
  agent: AGENT_CUT,
  wired: WIRED.least,
  policy: POLICY.cut ?? POLICY.least,
  email: EMAIL.least,
  sms: SMS.least,
  files: DOCUMENT.changed.files ?? {},
});
