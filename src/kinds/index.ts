import { agent } from './agent.ts';
import { customVoice } from './custom-voice.ts';
import { emailTemplate } from './email-template.ts';
import type { Kind } from './kind.ts';
import { knowledgeSource } from './knowledge-source.ts';
import { retryPolicy } from './retry-policy.ts';
import { smsTemplate } from './sms-template.ts';

/** Every kind, in the order in which plans list them. */
export const kinds: readonly Kind[] = [
  customVoice,
  retryPolicy,
  emailTemplate,
  smsTemplate,
  knowledgeSource,
  agent,
];

const byName = new Map(kinds.map((kind) => [kind.name, kind]));

/** The kind of that name. Addresses and state are checked when they are read, so an unknown one is a bug. */
export function kindNamed(name: string): Kind {
  const kind = byName.get(name);
  if (kind === undefined) throw new Error(`unknown kind: ${name}`);
  return kind;
}
