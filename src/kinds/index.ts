import { type Address, matchesAddress } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { PlanOptions } from '../core/plan-document.ts';
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

/** Throws where one of the addresses that a command was given names no resource. */
export function checkAddresses(given: readonly string[], known: readonly Address[]): void {
  refuseUnknown(
    given.map((pattern) => ({ pattern, flag: '' })),
    known,
  );
}

/** The same for the flags that choose resources. */
export function checkChosen(
  { target, exclude, resend_secrets: resend }: PlanOptions,
  known: readonly Address[],
): void {
  const flagged = (flag: string, patterns: readonly string[]) =>
    patterns.map((pattern) => ({ pattern, flag: `${flag} ` }));
  const given = [
    ...flagged('--target', target),
    ...flagged('--exclude', exclude),
    ...flagged('--resend-secrets', typeof resend === 'boolean' ? [] : resend),
  ];
  refuseUnknown(given, known);
}

/**
 * A slip of the finger must not read as "nothing to change". A kind may be chosen whether the stack has resources of
 * it or not.
 */
function refuseUnknown(
  given: readonly { readonly pattern: string; readonly flag: string }[],
  known: readonly Address[],
): void {
  const names = new Set(kinds.map(({ name }) => name));
  const unknown = given.find(
    ({ pattern }) =>
      !names.has(pattern) && !known.some((address) => matchesAddress(pattern, address)),
  );
  if (unknown === undefined) return;
  const { flag, pattern } = unknown;
  throw new CallsheetError('usage', `${flag}${pattern} matches no resource of this stack`, {
    hint: didYouMean(pattern, known, 'callsheet plan shows their addresses.'),
  });
}
