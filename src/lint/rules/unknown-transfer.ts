import type { DesiredResource } from '../../core/desired.ts';
import {
  findAll,
  firstOfEach,
  type Mention,
  mentionsIn,
  type Patterns,
  snakeBefore,
} from '../mentions.ts';
import { perText, proseOf } from '../prose.ts';
import type { LintFinding, LintRule } from '../rule.ts';

const QUOTED = '[`"“](?<name>[^`"“”\\n]{1,80})[`"”]';
const NAMED: Patterns = {
  quoted: [
    new RegExp(`${QUOTED}\\s+transfer\\s+rule\\b`, 'dgi'),
    new RegExp(`\\btransfer\\s+rule\\s+(?:called\\s+|named\\s+)?${QUOTED}`, 'dgi'),
  ],
  named: [new RegExp(snakeBefore('\\s+transfer\\s+rule\\b'), 'dg')],
};
const ORDERS = [
  /(?<name>\b(?:warm[- ]|cold[- ])?transfer\s+(?:the\s+|this\s+)?(?:call(?:er)?|customer|patient|client|guest|them|him|her)\b)/dgi,
];
const DENIED = /\b(?:not|never|no|cannot|can['’]t|don['’]t|won['’]t|without|unable|instead of)\b/i;

export const unknownTransfer: LintRule = {
  name: 'prompt/unknown-transfer',
  severity: 'warning',
  description:
    'A prompt names a transfer rule that the agent does not have, or orders a transfer that it cannot make.',
  check: (subject) => {
    const readNames = perText((text) => firstOfEach(mentionsIn(text, NAMED)));
    const readOrders = perText((text) =>
      /transfer/i.test(text) ? findAll(text, ORDERS).filter(isOrder(text)) : [],
    );
    return proseOf(subject, ['instructions']).flatMap((prose): readonly LintFinding[] => {
      const { resource, path } = prose;
      // The rules themselves say what a transfer is.
      if (path === 'transfer_rules') return [];
      const rules = rulesOf(resource);
      const named = readNames(prose).flatMap(({ name, span }): readonly LintFinding[] => {
        if (rules.toLowerCase().includes(name.toLowerCase())) return [];
        const message = `names the transfer rule ${JSON.stringify(name)}, which transfer_rules does not mention`;
        const hint = 'Add it to transfer_rules, or correct the name';
        return [{ resource, path, span, message, hint }];
      });
      const [order] = readOrders(prose);
      const lack = order && lackOf(resource, rules);
      if (order === undefined || lack === undefined) return named;
      return [...named, { resource, path, span: order.span, ...lack }];
    });
  },
};

function rulesOf({ document }: DesiredResource): string {
  return typeof document.transfer_rules === 'string' ? document.transfer_rules : '';
}

/** What an agent lacks to make a transfer. One whose transfers are on may have its rules in the prompt. */
function lackOf(
  { document }: DesiredResource,
  rules: string,
): Pick<LintFinding, 'message' | 'hint'> | undefined {
  const { transfer_enabled: enabled } = document;
  const order = 'tells the model to transfer calls';
  if (enabled === false) {
    return {
      message: `${order}, and transfer_enabled is false`,
      hint: 'Set transfer_enabled: true, or take it out of the prompt',
    };
  }
  if (enabled === true || rules.trim() !== '') return undefined;
  return {
    message: `${order}, and the agent has neither transfer_rules nor transfer_enabled: true`,
    hint: 'Add transfer_rules, or take it out of the prompt',
  };
}

/** How far back a denial is looked for. A prompt without full stops is one sentence, however long it is. */
const LONGEST_SENTENCE = 400;

/** Whether a sentence tells to do it, rather than not to. */
function isOrder(text: string) {
  return ({ span }: Mention): boolean => {
    const before = text.slice(Math.max(0, span.start - LONGEST_SENTENCE), span.start);
    const sentence = before.slice(
      Math.max(...['.', '!', '?', '\n'].map((end) => before.lastIndexOf(end))) + 1,
    );
    return !DENIED.test(sentence);
  };
}
