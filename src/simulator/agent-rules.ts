import type { JsonObject } from '../core/value.ts';
import { RECORDED, TEMPLATES, writeName } from './agent-fields.ts';
import { forbidden, organizationOf } from './auth.ts';
import { organizationLocks } from './catalogue.ts';
import { isRecord, recordsOf, textsOf } from './json.ts';
import type { Platform } from './platform.ts';
import { maySend } from './texts.ts';
import { bodyViolations, type Violation, violation } from './validation.ts';

/** What a record breaks of the rules that no schema states. Only what the write touched is looked at. */
export function brokenRules(
  platform: Platform,
  before: JsonObject,
  next: JsonObject,
): readonly Violation[] {
  const changed = (field: string) => next[field] !== before[field];
  return [
    ...(changed('extensions') ? brokenWebhooks(next) : []),
    ...(changed('model') ? unknownModel(platform, next) : []),
    ...(changed('stt_model') ? unknownSpeech(platform, next) : []),
    ...(changed('default_retry_policy_id') ? unknownPolicy(platform, next) : []),
    ...(changed('voice_settings') ? foreignVoice(platform, next) : []),
    ...(changed(TEMPLATES.email) ? unknownEmailTemplate(platform, next) : []),
    ...(changed(TEMPLATES.sms) ? unfitSmsTemplate(platform, next) : []),
  ];
}

/** Rules that hold for every save of an agent, over the record that a revert would save (Revert, rule 3). */
export function brokenSettings(platform: Platform, record: JsonObject): readonly Violation[] {
  const names = RECORDED.filter((name) => record[name] !== undefined);
  const body = Object.fromEntries(names.map((name) => [writeName(name), record[name]]));
  return [
    ...bodyViolations('updateAgent', body),
    ...unknownModel(platform, record),
    ...unknownSpeech(platform, record),
    ...foreignVoice(platform, record),
    ...unknownEmailTemplate(platform, record),
  ];
}

/** Names are unique among an agent's webhooks (Webhook tool). How many there may be, the schema says. */
function brokenWebhooks({ extensions }: JsonObject): readonly Violation[] {
  const tools = isRecord(extensions) ? recordsOf(extensions.tools) : [];
  const names = tools.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return twice.map((name) =>
    violation('extensions.tools', `the name ${String(name)} is used twice`),
  );
}

function unknownModel({ catalogue }: Platform, { model }: JsonObject): readonly Violation[] {
  if (model === undefined || catalogue.models.some(({ id }) => id === model)) return [];
  return [violation('model', `there is no model ${String(model)}`)];
}

function unknownSpeech(
  { catalogue }: Platform,
  { stt_model: model }: JsonObject,
): readonly Violation[] {
  if (model === undefined || catalogue.speech.some(({ id }) => id === model)) return [];
  return [violation('sttModel', `there is no speech-to-text provider ${String(model)}`)];
}

function unknownPolicy({ store }: Platform, next: JsonObject): readonly Violation[] {
  const id = next.default_retry_policy_id;
  if (id === undefined || store.retryPolicies.has(String(id))) return [];
  return [violation('defaultRetryPolicyId', 'there is no such retry policy')];
}

/** A cloned voice belongs to one organization; a voice id that nobody cloned may be a built-in one. */
function foreignVoice({ store }: Platform, next: JsonObject): readonly Violation[] {
  const settings = next.voice_settings;
  const voice = isRecord(settings) ? store.voices.get(String(settings.voice_id)) : undefined;
  if (voice === undefined || voice.organizationId === next.organization_id) return [];
  return [violation('voiceSettings.voice_id', 'the voice belongs to another organization')];
}

function unknownEmailTemplate({ store }: Platform, next: JsonObject): readonly Violation[] {
  const id = next[TEMPLATES.email];
  const template = store.emailTemplates.get(String(id));
  if (id === undefined || template?.organization_id === next.organization_id) return [];
  return [violation('emailTemplateId', 'the organization has no such e-mail template')];
}

/** A template's sender is not checked before the template is assigned to an agent (SMS templates). */
function unfitSmsTemplate(platform: Platform, next: JsonObject): readonly Violation[] {
  const id = next[TEMPLATES.sms];
  if (id === undefined) return [];
  const template = platform.store.smsTemplates.get(String(id));
  if (template === undefined || template.organization_id !== next.organization_id)
    return [violation('smsTemplateId', 'the organization has no such SMS template')];
  const { from_number: sender } = template;
  const organization = organizationOf(platform, String(next.organization_id));
  if (typeof sender !== 'string' || maySend(organization, sender)) return [];
  const account = 'the SMS account of the organization';
  return [violation('smsTemplateId', `${sender} is not an SMS-capable number of ${account}`)];
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
  const locks = organizationLocks(platform, organizationOf(platform, organizationId));
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
  const links = ({ knowledgebase_links: value }: JsonObject) => JSON.stringify(textsOf(value));
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
  const had = isRecord(before.integrations) ? before.integrations : {};
  const has = isRecord(next.integrations) ? Object.keys(next.integrations) : [];
  return has.flatMap((name) => when(had[name] === undefined, `integration.${name}`));
}

function clonedVoice({ store }: Platform, before: JsonObject, next: JsonObject): readonly Use[] {
  const [had, has] = [voiceOf(before), voiceOf(next)];
  const message = 'Custom voices are not enabled for this organization.';
  return when(has !== had && store.voices.has(has), 'custom_voices', message);
}

function voiceOf({ voice_settings: settings }: JsonObject): string {
  return isRecord(settings) ? String(settings.voice_id) : '';
}

function addsLinks(before: JsonObject, next: JsonObject): boolean {
  const had = textsOf(before.knowledgebase_links);
  return textsOf(next.knowledgebase_links).some((link) => !had.includes(link));
}

/**
 * Features whose availability is the permission to opt in; a lock leaves existing use alone (Features,
 * notes). Where an agent opts in is not specified: here it is the member of `config` of the same name.
 */
const OPT_INS = ['phi_redaction', 'secure_access', 'use_reseller_smtp'];

function isOptedIn({ config }: JsonObject, name: string): boolean {
  return isRecord(config) && config[name] === true;
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
