import { organizationOf } from './auth.ts';
import { inside } from './json.ts';
import type { Platform } from './platform.ts';
import type { Organization, SentText, TextOrder } from './store.ts';

/** What the carrier says of a number that the account does not own (SMS templates, from_number). */
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
  const isOwned = maySend(organizationOf(platform, agent.organizationId), from);
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
 * Whether a carrier takes messages from a sender for an organization. Short codes and names are taken;
 * a phone number has to be on the organization's SMS account, where the seed says what is on it.
 */
export function maySend({ smsNumbers }: Organization, sender: string): boolean {
  const isPhoneNumber = /^\+?\d{7,15}$/.test(sender.replaceAll(/[\s().-]/g, ''));
  return !isPhoneNumber || smsNumbers === undefined || smsNumbers.has(sender);
}
