import { isObject, type JsonObject, objectsIn } from '../core/value.ts';
import { RECORDED, TEMPLATES, writeName } from './agent-fields.ts';
import { forbidden, getOrganization } from './auth.ts';
import { organizationLocks } from './catalogue.ts';
import { inside, listTexts } from './json.ts';
import type { Platform } from './platform.ts';
import type { Organization, SentText, TextOrder } from './store.ts';
import { bodyViolations, type Violation, violation } from './validation.ts';

/** A rule that no schema states: of which field, and what a record breaks of it. */
type AgentRule = {
  readonly field: string;
  /** True if it holds for every save, also of a field that the save leaves alone. */
  readonly always?: boolean;
  readonly broken: (
    platform: Platform,
    record: JsonObject,
  ) => string | readonly string[] | undefined;
  /** The path that messages name; the field's write name unless given. */
  readonly place?: string;
};

const AGENT_RULES: readonly AgentRule[] = [
  {
    // Names are unique among an agent's webhooks (Webhook tool). How many there may be, the schema says.
    field: 'extensions',
    place: 'extensions.tools',
    broken: (_platform, { extensions }) => {
      const names = objectsIn(inside(extensions, 'tools')).map(({ name }) => name);
      return names
        .filter((name, index) => names.indexOf(name) !== index)
        .map((name) => `the name ${String(name)} is used twice`);
    },
  },
  {
    field: 'model',
    always: true,
    broken: ({ catalogue }, { model }) =>
      catalogue.models.some(({ id }) => id === model)
        ? undefined
        : `there is no model ${String(model)}`,
  },
  {
    field: 'stt_model',
    always: true,
    broken: ({ catalogue }, { stt_model: model }) =>
      catalogue.speech.some(({ id }) => id === model)
        ? undefined
        : `there is no speech-to-text provider ${String(model)}`,
  },
  {
    field: 'default_retry_policy_id',
    broken: ({ store }, { default_retry_policy_id: id }) =>
      store.retryPolicies.has(String(id)) ? undefined : 'there is no such retry policy',
  },
  {
    // A cloned voice belongs to one organization; any other voice id may be a built-in one.
    field: 'voice_settings',
    always: true,
    place: 'voiceSettings.voice_id',
    broken: ({ store }, { voice_settings: settings, organization_id: owner }) => {
      const voice = isObject(settings) ? store.voices.get(String(settings.voice_id)) : undefined;
      return voice === undefined || voice.organizationId === owner
        ? undefined
        : 'the voice belongs to another organization';
    },
  },
  {
    field: TEMPLATES.email,
    always: true,
    broken: ({ store }, { [TEMPLATES.email]: id, organization_id: owner }) =>
      store.emailTemplates.get(String(id))?.organization_id === owner
        ? undefined
        : 'the organization has no such e-mail template',
  },
  { field: TEMPLATES.sms, place: 'smsTemplateId', broken: unfitSmsTemplate },
];

/** Checks a record against the rules of the fields that the write touched. */
export function brokenRules(
  platform: Platform,
  before: JsonObject,
  next: JsonObject,
): readonly Violation[] {
  const touched = AGENT_RULES.filter(({ field }) => next[field] !== before[field]);
  return touched.flatMap((rule) => listViolations(rule, platform, next));
}

/** Rules that hold for every save of an agent, over the record that a revert would save (Revert, rule 3). */
export function brokenSettings(platform: Platform, record: JsonObject): readonly Violation[] {
  const names = RECORDED.filter((name) => record[name] !== undefined);
  const body = Object.fromEntries(names.map((name) => [writeName(name), record[name]]));
  const rules = AGENT_RULES.filter(({ always }) => always === true);
  return [
    ...bodyViolations(platform.dialect, 'updateAgent', body),
    ...rules.flatMap((rule) => listViolations(rule, platform, record)),
  ];
}

/** A field that is not there breaks nothing. */
function listViolations(
  { field, broken, place = writeName(field) }: AgentRule,
  platform: Platform,
  record: JsonObject,
): readonly Violation[] {
  const messages = record[field] === undefined ? [] : [broken(platform, record) ?? []].flat();
  return messages.map((message) => violation(place, message));
}

/** A template's sender is not checked before the template is assigned to an agent (SMS templates). */
function unfitSmsTemplate(
  platform: Platform,
  { [TEMPLATES.sms]: id, organization_id: owner }: JsonObject,
): string | undefined {
  const template = platform.store.smsTemplates.get(String(id));
  if (template === undefined || template.organization_id !== owner)
    return 'the organization has no such SMS template';
  const { from_number: sender } = template;
  const organization = getOrganization(platform, String(owner));
  if (typeof sender !== 'string' || maySend(organization, sender)) return undefined;
  return `${sender} is not an SMS-capable number of the SMS account of the organization`;
}

/** A feature that a save would switch on, and what to say when it is locked. */
type Use = { readonly feature: string; readonly message: string };

/**
 * 403 where a save switches on what is locked for the organization. Keeping a setting that is already on
 * is allowed (Revert, rule 2; Limits).
 */
export function refuseLocked(
  platform: Platform,
  organizationId: string,
  before: JsonObject,
  next: JsonObject,
  options: { readonly reverting?: boolean } = {},
): void {
  const locks = organizationLocks(platform, getOrganization(platform, organizationId));
  if (locks.size === 0) return;
  const uses = [
    ...newUses(platform, before, next),
    ...(options.reverting ? changedKnowledge(before, next) : []),
  ];
  const refused = uses.filter(({ feature }) => locks.has(feature));
  if (refused.length > 0)
    throw forbidden([...new Set(refused.map(({ message }) => message))].join(' '));
}

function newUses(platform: Platform, before: JsonObject, next: JsonObject): readonly Use[] {
  return [
    ...named('model', before, next, `llm.${String(next.model)}`),
    ...named('agent_type', before, next, `template.${String(next.agent_type)}`),
    ...named('tts_model', before, next, `tts.${String(next.tts_model)}`),
    ...integrations(before, next),
    ...clonedVoice(platform, before, next),
    ...when(
      isOn(next.warm_transfer_handoff_instructions) &&
        !isOn(before.warm_transfer_handoff_instructions),
      'warm_transfer',
    ),
    ...when(addsLinks(before, next), 'knowledge_base', 'RAG is not enabled for this organization.'),
    ...OPT_INS.flatMap((name) => when(isOptedIn(next, name) && !isOptedIn(before, name), name)),
    ...named(TEMPLATES.email, before, next, 'email_templates'),
    ...named(TEMPLATES.sms, before, next, 'sms_templates'),
  ];
}

/** While knowledge bases are locked a revert may not change their settings at all (Revert, rule 2). */
function changedKnowledge(before: JsonObject, next: JsonObject): readonly Use[] {
  const links = ({ knowledgebase_links: value }: JsonObject) => JSON.stringify(listTexts(value));
  return when(
    links(before) !== links(next),
    'knowledge_base',
    'RAG is not enabled for this organization.',
  );
}

function named(
  field: string,
  before: JsonObject,
  next: JsonObject,
  feature: string,
): readonly Use[] {
  return when(isOn(next[field]) && next[field] !== before[field], feature);
}

function integrations(before: JsonObject, next: JsonObject): readonly Use[] {
  const has = isObject(next.integrations) ? Object.keys(next.integrations) : [];
  return has.flatMap((name) =>
    when(inside(before.integrations, name) === undefined, `integration.${name}`),
  );
}

function clonedVoice({ store }: Platform, before: JsonObject, next: JsonObject): readonly Use[] {
  const [had, has] = [getVoice(before), getVoice(next)];
  const message = 'Custom voices are not enabled for this organization.';
  return when(has !== had && store.voices.has(has), 'custom_voices', message);
}

function getVoice({ voice_settings: settings }: JsonObject): string {
  return isObject(settings) ? String(settings.voice_id) : '';
}

function addsLinks(before: JsonObject, next: JsonObject): boolean {
  const had = listTexts(before.knowledgebase_links);
  return listTexts(next.knowledgebase_links).some((link) => !had.includes(link));
}

/**
 * Features whose availability is the permission to opt in; a lock leaves existing use alone (Features,
 * notes). Where an agent opts in is not specified: here it is the member of `config` of the same name.
 */
const OPT_INS = ['phi_redaction', 'secure_access', 'use_reseller_smtp'];

function isOptedIn({ config }: JsonObject, name: string): boolean {
  return inside(config, name) === true;
}

function isOn(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function when(
  condition: boolean,
  feature: string,
  message = `The feature ${feature} is not available for this organization.`,
): readonly Use[] {
  return condition ? [{ feature, message }] : [];
}

/** The carrier's error code for a number that the account does not own (SMS templates, from_number). */
const NOT_OWNED = 21606;

/**
 * Sends a text message as the carrier takes it, and remembers it. A template's sender goes before the
 * agent's own. Throws where agent or template do not exist, or where neither names a sender.
 */
export function sendText(platform: Platform, { agentId, templateId, to }: TextOrder): SentText {
  const { store } = platform;
  const agent = store.agents.get(agentId);
  if (agent === undefined) throw new Error(`no agent ${agentId}`);
  const template = templateId === undefined ? undefined : store.smsTemplates.get(templateId);
  if (templateId !== undefined && template === undefined)
    throw new Error(`no SMS template ${templateId}`);
  const from =
    template?.from_number ?? inside(agent.record, 'integrations', 'smsProvider', 'fromNumber');
  if (typeof from !== 'string') throw new Error(`neither template nor agent names a sender`);
  const isOwned = maySend(getOrganization(platform, agent.organizationId), from);
  const text: SentText = {
    agentId,
    templateId: templateId ?? null,
    from,
    to,
    status: isOwned ? 'sent' : 'rejected',
    errorCode: isOwned ? null : NOT_OWNED,
    at: platform.stamp(),
  };
  store.texts.push(text);
  return text;
}

/**
 * Short codes and names may send. A phone number has to be on the organization's SMS account, if the seed
 * lists the numbers of that account.
 */
function maySend({ smsNumbers }: Organization, sender: string): boolean {
  const isPhoneNumber = /^\+?\d{7,15}$/.test(sender.replaceAll(/[\s().-]/g, ''));
  return !isPhoneNumber || smsNumbers === undefined || smsNumbers.has(sender);
}
