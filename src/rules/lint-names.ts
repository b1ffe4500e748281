import type { DesiredResource } from '../core/desired.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import { isList, isObject, type Value, type ValueObject } from '../core/value.ts';
import type { LintFinding, LintRule } from './prose.ts';
import {
  findAll,
  firstOfEach,
  type Mention,
  mentionsIn,
  type Patterns,
  perText,
  proseOf,
  snakeAfter,
  snakeBefore,
} from './prose.ts';

const QUOTED_TOOL = '[`"“](?<name>[A-Za-z][\\w-]*)[`"”]';
const NOUN = '(?:tool|function|webhook)\\b';
const VERB = '\\b(?:call|use|invoke|run|trigger)(?:s|ing)?\\s+(?:the\\s+)?';

/** What counts as speaking of a tool; `docs/rules.md` says it in words. */
const TOOL_PATTERNS: Patterns = {
  quoted: [
    new RegExp(`${QUOTED_TOOL}\\s+${NOUN}`, 'dgi'),
    new RegExp(`\\b(?:tool|function|webhook)\\s+(?:called\\s+|named\\s+)?${QUOTED_TOOL}`, 'dgi'),
  ],
  named: [
    new RegExp(snakeBefore(`\\s+${NOUN}`), 'dg'),
    new RegExp(`${snakeAfter(`${VERB}\`?`)}\\b(?![\\w{}|.])`, 'dgi'),
    new RegExp(snakeBefore('\\('), 'dg'),
  ],
};

/** Words that stand before "tool" and name none. */
const WORDS = new Set(['the', 'a', 'this', 'that', 'right', 'correct', 'any', 'each']);

export const unknownTool: LintRule = {
  name: 'prompt/unknown-tool',
  severity: 'warning',
  description: 'A prompt tells the model to use a tool that the agent does not have.',
  check: (subject) => {
    const { settings } = subject;
    const read = perText((text) => firstOfEach(mentionsIn(text, TOOL_PATTERNS)));
    const boxes = new Map<unknown, Toolbox>();
    return proseOf(subject, ['instructions']).flatMap((prose) => {
      const { resource, path } = prose;
      const mentions = read(prose);
      if (mentions.length === 0) return [];
      const box = boxes.get(resource) ?? toolboxOf(resource);
      boxes.set(resource, box);
      const known = [...box.names, ...settings.tools];
      return mentions.flatMap(({ name, span }): readonly LintFinding[] => {
        if (known.includes(name) || box.parameters.has(name) || WORDS.has(name.toLowerCase())) {
          return [];
        }
        const close = nearest(name, known);
        // A server that offers all its tools may have this one, too; a slip of the keyboard stays one.
        if (box.isOpen && close === undefined) return [];
        const message = `mentions the tool ${name}, which the agent does not have`;
        return [{ resource, path, span, message, hint: hintFor(close, known) }];
      });
    });
  },
};

const MOST_NAMED = 8;

function hintFor(close: string | undefined, known: readonly string[]): string {
  if (close !== undefined) return `Did you mean ${close}?`;
  const add = 'Add it under extensions, or name it in lint.tools if the platform has it';
  if (known.length === 0) return `The agent has no tools. ${add}`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : '';
  return `It has ${known.slice(0, MOST_NAMED).join(', ')}${more}. ${add}`;
}

/** The tools that an agent has, as far as the stack tells. */
type Toolbox = {
  readonly names: ReadonlySet<string>;
  /** A tool server publishes more than the stack lists, as it allows all of them. */
  readonly isOpen: boolean;
  /** Names of the values that tools are given: they look like tools and are none. */
  readonly parameters: ReadonlySet<string>;
};

/** Webhooks, and what tool servers are allowed to offer. */
function toolboxOf({ document }: DesiredResource): Toolbox {
  const extensions = objectOf(document.extensions);
  const webhooks = objectsIn(extensions.tools);
  const servers = objectsIn(extensions.mcp_servers);
  const called = servers.flatMap(({ pre_answer_calls: calls }) => objectsIn(calls));
  const names = [
    ...webhooks.map(({ name }) => name),
    ...servers.flatMap(({ allowed_tool_names: allowed }) => (isList(allowed) ? allowed : [])),
    ...called.map(({ tool_name: name }) => name),
  ];
  const parameters = [
    ...webhooks.flatMap(({ parameters }) => objectsIn(parameters).map(({ key }) => key)),
    ...called.flatMap((call) => Object.keys(objectOf(call.arguments))),
  ];
  return {
    names: new Set(names.filter((name) => typeof name === 'string')),
    isOpen: servers.some(({ allowed_tool_names: allowed }) => !isList(allowed) || !allowed.length),
    parameters: new Set(parameters.filter((name) => typeof name === 'string')),
  };
}

function objectOf(value: Value | undefined): ValueObject {
  return isObject(value) ? value : {};
}

function objectsIn(value: Value | undefined): readonly ValueObject[] {
  return isList(value) ? value.filter((one) => isObject(one)) : [];
}

const QUOTED_TEMPLATE = '[`"“](?<name>[^`"“”\\n]{1,100})[`"”]';
const MEDIUM = '(?:(?:e-?mail|sms|mms|text|message)\\s+)?';

const TEMPLATE_PATTERNS: Patterns = {
  quoted: [
    new RegExp(`${QUOTED_TEMPLATE}\\s+${MEDIUM}template\\b`, 'dgi'),
    new RegExp(`\\btemplate\\s+(?:called\\s+|named\\s+)?${QUOTED_TEMPLATE}`, 'dgi'),
  ],
  named: [
    new RegExp(snakeBefore(`\\s+${MEDIUM}template\\b`), 'dg'),
    new RegExp(`${snakeAfter('\\btemplate\\s+(?:called\\s+|named\\s+)?')}\\b`, 'dg'),
  ],
};

export const unknownTemplate: LintRule = {
  name: 'prompt/unknown-template',
  severity: 'warning',
  description: 'A prompt names an e-mail or SMS template that the organization does not have.',
  check: (subject) => {
    const templates = subject.resources.filter(({ kind }) => kind.endsWith('_template'));
    // A stack without any keeps them elsewhere.
    if (templates.length === 0) return [];
    const read = perText((text) => firstOfEach(mentionsIn(text, TEMPLATE_PATTERNS)));
    const byOwner = new Map<unknown, readonly string[]>();
    return proseOf(subject, ['instructions']).flatMap((prose) => {
      const { resource, path } = prose;
      const mentions = read(prose);
      if (mentions.length === 0) return [];
      const owner = resource.document.organization_id;
      const own = byOwner.get(owner) ?? namesFor(owner, templates);
      byOwner.set(owner, own);
      const known = [...own, ...subject.settings.templates];
      const plain = new Set(known.map((name) => name.toLowerCase()));
      return mentions.flatMap(({ name, span }): readonly LintFinding[] => {
        if (plain.has(name.toLowerCase())) return [];
        const hint = didYouMean(
          name,
          known,
          'Add it to the stack, or list it in lint.templates if another stack or person manages it',
        );
        const message = `names the template ${JSON.stringify(name)}, which its organization does not have`;
        return [{ resource, path, span, message, hint }];
      });
    });
  },
};

/** Names that a template of an organization may be called by: its own, and that in the stack. */
function namesFor(owner: unknown, templates: readonly DesiredResource[]): readonly string[] {
  return templates
    .filter(({ document }) => document.organization_id === owner)
    .flatMap(({ document, address }) => {
      const short = address.slice(address.indexOf('.') + 1);
      return typeof document.name === 'string' ? [document.name, short] : [short];
    });
}

const QUOTED_RULE = '[`"“](?<name>[^`"“”\\n]{1,80})[`"”]';
const RULE_PATTERNS: Patterns = {
  quoted: [
    new RegExp(`${QUOTED_RULE}\\s+transfer\\s+rule\\b`, 'dgi'),
    new RegExp(`\\btransfer\\s+rule\\s+(?:called\\s+|named\\s+)?${QUOTED_RULE}`, 'dgi'),
  ],
  named: [new RegExp(snakeBefore('\\s+transfer\\s+rule\\b'), 'dg')],
};
const TRANSFER_ORDERS = [
  /(?<name>\b(?:warm[- ]|cold[- ])?transfer\s+(?:the\s+|this\s+)?(?:call(?:er)?|customer|patient|client|guest|them|him|her)\b)/dgi,
];
const DENIED = /\b(?:not|never|no|cannot|can['’]t|don['’]t|won['’]t|without|unable|instead of)\b/i;

export const unknownTransfer: LintRule = {
  name: 'prompt/unknown-transfer',
  severity: 'warning',
  description:
    'A prompt names a transfer rule that the agent does not have, or orders a transfer that it cannot make.',
  check: (subject) => {
    const readNames = perText((text) => firstOfEach(mentionsIn(text, RULE_PATTERNS)));
    const readOrders = perText((text) =>
      /transfer/i.test(text) ? findAll(text, TRANSFER_ORDERS).filter(isOrder(text)) : [],
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
      hint: 'Set transfer_enabled: true, or remove it from the prompt',
    };
  }
  if (enabled === true || rules.trim() !== '') return undefined;
  return {
    message: `${order}, and the agent has neither transfer_rules nor transfer_enabled: true`,
    hint: 'Add transfer_rules, or remove it from the prompt',
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
