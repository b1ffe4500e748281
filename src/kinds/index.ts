import { type Address, getKind, matchesAddress } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { PlanOptions } from '../core/plan-document.ts';
import { ANY_KIND } from '../core/walk.ts';
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

/** A look-up by kind and id that also takes `ANY_KIND`, of ids of which no field says the kind. */
export function inAnyKind<T>(
  find: (kind: string, id: string) => T | undefined,
): (kind: string, id: string) => T | undefined {
  return (kind, id) => {
    if (kind !== ANY_KIND) return find(kind, id);
    for (const { name } of kinds) {
      const found = find(name, id);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** The kind of that name. Addresses and state are checked when they are read, so an unknown one is a bug. */
export function kindNamed(name: string): Kind {
  const kind = byName.get(name);
  if (kind === undefined) throw new Error(`unknown kind: ${name}`);
  return kind;
}

/** Throws where one of the addresses that a command was given names no resource. */
export function checkAddresses(given: readonly string[], known: readonly Address[]): void {
  refuseUnknown({ '': given }, known);
}

/** The same for the flags that choose resources. */
export function checkChosen(
  { target, exclude, resend_secrets: resend }: PlanOptions,
  known: readonly Address[],
): void {
  const resent = typeof resend === 'boolean' ? [] : resend;
  refuseUnknown({ '--target ': target, '--exclude ': exclude, '--resend-secrets ': resent }, known);
}

/**
 * A slip of the finger must not read as "nothing to change". A kind may be chosen whether the stack has resources of
 * it or not. `given`: patterns by the flag that they come from.
 */
function refuseUnknown(
  given: { readonly [flag: string]: readonly string[] },
  known: readonly Address[],
): void {
  for (const [flag, patterns] of Object.entries(given)) {
    const unknown = patterns.find(
      (pattern) => !byName.has(pattern) && !known.some((one) => matchesAddress(pattern, one)),
    );
    if (unknown === undefined) continue;
    throw new CallsheetError('usage', `${flag}${unknown} matches no resource of this stack`, {
      hint: didYouMean(unknown, known, '`callsheet plan` shows their addresses.'),
    });
  }
}

/** `agent.clinic` of `agents.clinic`, with whatever stands behind it. */
export function byKind(text: string): string {
  const first = getKind(text);
  const kind = kinds.find(({ section, nested }) => section === first && nested === undefined);
  return kind === undefined ? text : `${kind.name}${text.slice(first.length)}`;
}
