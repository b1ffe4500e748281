import { coded, data } from './answer.ts';
import { namedOrganization, namedReseller } from './auth.ts';
import type { Input, Platform, Routes } from './platform.ts';
import type { Catalogue, CatalogueEntry, Feature, Level, Organization } from './store.ts';

/** The platform's own lists: models, speech providers and lockable features (LLM model option, Feature entry). */

type Category =
  | 'CAPABILITY'
  | 'TEMPLATE'
  | 'LLM_MODEL'
  | 'TTS'
  | 'INTEGRATION'
  | 'OPERATIONAL'
  | 'COMMERCIAL';

/** The model that new agents get and that no lock takes away (LLM model option). */
const FLOOR_MODEL = 'alpha-4.1';

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

function isNamed({ key }: Feature): boolean {
  return NAMED.test(key);
}

/** Lists that a seed may bring. */
export type Offers = {
  readonly features?: readonly Feature[];
  readonly llm_models?: readonly CatalogueEntry[];
  readonly stt_providers?: readonly CatalogueEntry[];
};

/** The lists of a seed, or those above. */
export function buildCatalogue({
  features = FEATURES,
  llm_models: models = LLM_MODELS,
  stt_providers: speech = STT_PROVIDERS,
}: Offers): Catalogue {
  return { features, models, speech };
}

function feature(key: string, category: Category, description: string): Feature {
  const words = key.replaceAll(/[._]/g, ' ');
  return { key, name: words.charAt(0).toUpperCase() + words.slice(1), description, category };
}

/** Features with their locks, models and speech providers (Features, LLM models, STT providers). */
export const catalogue: Routes<'listFeatures' | 'listLlmModels' | 'listSttProviders'> = {
  listFeatures: (input, platform) => {
    const { level, id, locks } = featureScope(platform, input);
    const all = platform.catalogue.features;
    const features = platform.dialect.featureRows === 'all' ? all : all.filter(isNamed);
    return {
      status: 200,
      body: {
        feature_administration_enabled: platform.store.account.featureAdministration,
        scope: { level, id },
        data: features.map((feature) => {
          const lock = locks.get(feature.key);
          return {
            ...feature,
            state: lock === undefined ? 'available' : 'locked',
            locked_scope: lock === undefined ? null : lock.level === level ? 'here' : 'inherited',
            decided_by: lock?.by ?? allowedBy(platform, feature.key, id),
          };
        }),
      },
    };
  },

  listLlmModels: ({ key, query }, platform) => {
    const id = query.organization_id;
    const locks =
      id === undefined
        ? getLocks(platform)
        : organizationLocks(platform, namedOrganization(platform, key, String(id)));
    return data(platform.catalogue.models.filter((model) => !locks.has(`llm.${model.id}`)));
  },

  listSttProviders: (_input, { catalogue: { speech } }) => data(speech),
};

type FeatureScope = { readonly level: Level; readonly id: string; readonly locks: Locks };

function featureScope(platform: Platform, { key, query }: Input): FeatureScope {
  const { organization_id: organizationId, reseller_id: resellerId } = query;
  if (organizationId !== undefined && resellerId !== undefined)
    throw coded(400, 'invalid_request', 'organization_id and reseller_id exclude each other');
  if (organizationId !== undefined) {
    const organization = namedOrganization(platform, key, String(organizationId));
    return {
      level: 'organization',
      id: organization.id,
      locks: organizationLocks(platform, organization),
    };
  }
  if (resellerId !== undefined) {
    const { id } = namedReseller(platform, key, String(resellerId));
    return { level: 'reseller', id, locks: getLocks(platform, id) };
  }
  return { level: 'account', id: platform.store.account.id, locks: getLocks(platform) };
}

/** Which features are locked for somebody; the nearest level that locks one counts (Feature locks). */
type Locks = ReadonlyMap<string, Lock>;

type Lock = {
  readonly level: Level;
  readonly by: 'feature_administration' | 'legacy_column';
};

/** Somebody who can lock features, with what older settings say of them. */
type Holder = {
  readonly locks: ReadonlySet<string>;
  readonly settings?: ReadonlyMap<string, boolean>;
};

/** The whole chain: the organization's locks, its reseller's and the account's. */
export function organizationLocks(platform: Platform, organization: Organization): Locks {
  return getLocks(platform, organization.resellerId, organization);
}

/**
 * Returns what decided that a feature is available: the allow-list for integrations, an older setting where those
 * govern, otherwise the default (Features, notes).
 */
function allowedBy(
  { store: { account, organizations } }: Platform,
  feature: string,
  organizationId: string | undefined,
): 'legacy_column' | 'default_available' {
  const settings = [account.settings, organizations.get(organizationId ?? '')?.settings];
  const isSet =
    (!account.featureAdministration && settings.some((one) => one?.has(feature))) ||
    (account.integrationsAllowed !== undefined && isIntegration(feature));
  return isSet ? 'legacy_column' : 'default_available';
}

/** Places or lifts a lock. Throws where there is no such level or feature, and for the floor model. */
export function setLock(
  { store, catalogue }: Platform,
  { level, id, feature }: { level: Level; id: string; feature: string },
  isLocked: boolean,
): void {
  if (feature === FLOOR_FEATURE) throw new Error(`${FLOOR_MODEL} can never be locked`);
  if (!catalogue.features.some(({ key }) => key === feature))
    throw new Error(`no feature ${feature}`);
  const holder = {
    account: () => store.account,
    reseller: () => store.resellers.get(id),
    organization: () => store.organizations.get(id),
  }[level]();
  if (holder === undefined) throw new Error(`no ${level} ${id}`);
  if (isLocked) holder.locks.add(feature);
  else holder.locks.delete(feature);
}

/** The floor model has no row of its own, and no lock takes it away (LLM model option). */
const FLOOR_FEATURE = `llm.${FLOOR_MODEL}`;

/** Locks of the account, and of the reseller and the organization where they are given. */
function getLocks(
  { store: { account, resellers }, catalogue }: Platform,
  resellerId?: string,
  organization?: Organization,
): Locks {
  const chain: readonly (readonly [Level, Holder | undefined])[] = [
    ['account', account],
    ['reseller', resellers.get(resellerId ?? '')],
    ['organization', organization],
  ];
  const locks = new Map<string, Lock>();
  for (const [level, holder] of chain) {
    const locked = account.featureAdministration ? holder?.locks : legacyLocks(level, holder);
    const by = account.featureAdministration ? 'feature_administration' : 'legacy_column';
    for (const feature of locked ?? []) locks.set(feature, { level, by });
  }
  if (account.integrationsAllowed !== undefined)
    for (const { key } of catalogue.features)
      if (isIntegration(key) && !account.integrationsAllowed.has(key.slice(INTEGRATION.length)))
        locks.set(key, { level: 'account', by: 'legacy_column' });
  locks.delete(FLOOR_FEATURE);
  return locks;
}

/** Without the feature matrix, accounts and organizations have settings, and resellers have none. */
function legacyLocks(level: Level, holder: Holder | undefined): readonly string[] {
  if (holder === undefined || level === 'reseller') return [];
  const settings = [...(holder.settings ?? [])];
  const off = settings.filter(([, isOn]) => !isOn).map(([feature]) => feature);
  return [...off, ...[...holder.locks].filter((feature) => holder.settings?.get(feature) !== true)];
}

const INTEGRATION = 'integration.';

function isIntegration(feature: string): boolean {
  return feature.startsWith(INTEGRATION);
}
