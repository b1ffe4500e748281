import type { JsonObject } from '../core/value.ts';
import { TEMPLATES } from './agent-fields.ts';
import { isRecord, textsOf } from './json.ts';
import { organizationLocks } from './locks.ts';
import type { Platform } from './platform.ts';
import { forbidden, organizationOf } from './reach.ts';

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
