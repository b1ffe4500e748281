import type { JsonObject } from '../core/value.ts';
import type { SeedDocument } from './seed.ts';

/** The platform's own lists: models, speech providers and lockable features (LLM model option, Feature entry). */

type Category =
  | 'CAPABILITY'
  | 'TEMPLATE'
  | 'LLM_MODEL'
  | 'TTS'
  | 'INTEGRATION'
  | 'OPERATIONAL'
  | 'COMMERCIAL';

export type Feature = {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
};

/** The model that new agents get and that no lock takes away (LLM model option). */
export const FLOOR_MODEL = 'alpha-4.1';

const LLM_MODELS = [
  model('alpha-4.1', 'alpha', 'The default: steady and quick enough for every agent.'),
  model('alpha-4o', 'alpha', 'Fluent in conversation.'),
  model('alpha-4o-mini', 'alpha', 'Smaller and quicker than alpha-4o.'),
  model('alpha-4.1-mini', 'alpha', 'Smaller and quicker than the default.'),
  model('alpha-4.1-nano', 'alpha', 'The smallest of its family.'),
  model('beta-3-fast', 'beta', 'Short pauses.'),
  model('gamma/model-K2.6', 'gamma', 'Long instructions.'),
  model('delta-sonnet-4-6', 'delta', 'Careful with tools.'),
  model('epsilon/model-4-31b-it', 'epsilon', 'Open weights.'),
];

function model(id: string, provider: string, description: string) {
  return { id, name: id, description, provider };
}

const STT_PROVIDERS = [
  { id: 'voxc', name: 'Voxc', description: 'Transcribes speech while it is spoken.' },
];

const TEMPLATES = [
  'simple',
  'advanced',
  'custom',
  'appointment_scheduler',
  'receptionist',
  'message_taker',
  'blank_slate',
  'outbound',
  'opentable_reservation',
  'translator',
];
const INTEGRATIONS = ['ehrProvider', 'calendarA', 'calendarB', 'smsProvider', 'pbxProvider'];
const VOICE_PROVIDERS = ['cartx', 'minx', 'voxc'];

/** Every feature, in the order of keys. The floor model has none. */
export const FEATURES: readonly Feature[] = [
  feature('card_payments', 'COMMERCIAL', 'Taking card payments during a call.'),
  feature('custom_voices', 'CAPABILITY', 'Cloning voices and using them.'),
  feature('email_templates', 'CAPABILITY', 'E-mail templates.'),
  feature('knowledge_base', 'CAPABILITY', 'Answering from documents and pages.'),
  feature('phi_redaction', 'OPERATIONAL', 'Opting in to redaction of personal data.'),
  feature('secure_access', 'OPERATIONAL', 'Opting in to restricted access.'),
  feature('sms_templates', 'CAPABILITY', 'SMS templates.'),
  feature('use_reseller_smtp', 'OPERATIONAL', "Opting in to the reseller's mail server."),
  feature('warm_transfer', 'CAPABILITY', 'Briefing a person before a call is handed over.'),
  ...INTEGRATIONS.map((name) =>
    feature(`integration.${name}`, 'INTEGRATION', `Connecting agents to ${name}.`),
  ),
  ...LLM_MODELS.filter(({ id }) => id !== FLOOR_MODEL).map(({ id }) =>
    feature(`llm.${id}`, 'LLM_MODEL', `Assigning ${id}.`),
  ),
  ...TEMPLATES.map((name) => feature(`template.${name}`, 'TEMPLATE', `Agents of type ${name}.`)),
  ...VOICE_PROVIDERS.map((name) => feature(`tts.${name}`, 'TTS', `Speaking through ${name}.`)),
].sort((a, b) => (a.key < b.key ? -1 : 1));

/** Features whose keys the specification names; those of groups count with their group (Feature entry). */
const NAMED =
  /^(knowledge_base|custom_voices|integration\..+|llm\..+|template\.outbound|secure_access|phi_redaction|use_reseller_smtp)$/;

export function isNamed({ key }: Feature): boolean {
  return NAMED.test(key);
}

/** What one platform offers: its own lists, where a seed does not bring those of another. */
export type Catalogue = {
  readonly features: readonly Feature[];
  readonly models: readonly CatalogueEntry[];
  readonly speech: readonly CatalogueEntry[];
};

/** An entry of a list, with at least its id. */
export type CatalogueEntry = JsonObject & { readonly id: string };

/** The lists of a seed, or those above. */
export function catalogueOf({
  features = FEATURES,
  llm_models: models = LLM_MODELS,
  stt_providers: speech = STT_PROVIDERS,
}: Pick<SeedDocument, 'features' | 'llm_models' | 'stt_providers'>): Catalogue {
  return { features, models, speech };
}

function feature(key: string, category: Category, description: string): Feature {
  const words = key.replaceAll(/[._]/g, ' ');
  return { key, name: words.charAt(0).toUpperCase() + words.slice(1), description, category };
}
