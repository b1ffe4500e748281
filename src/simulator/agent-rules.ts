import type { JsonObject } from '../core/value.ts';
import { RECORDED, TEMPLATES, writeName } from './agent-fields.ts';
import { isRecord, recordsOf } from './json.ts';
import type { Platform } from './platform.ts';
import { organizationOf } from './reach.ts';
import { maySend } from './texts.ts';
import { bodyViolations } from './validation.ts';
import { type Violation, violation } from './violations.ts';

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
