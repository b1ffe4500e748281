import type { DesiredResource } from '../../core/desired.ts';
import type { Severity } from '../../core/diagnostics.ts';
import { formatCount, formatFirst, formatNumber } from '../../core/errors.ts';
import { didYouMean, editDistance, nearest } from '../../core/nearest.ts';
import { isList, isObject, objectsIn, type Value, type ValueObject } from '../../core/value.ts';
import {
  findAll,
  findUnbalanced,
  firstOfEach,
  type LintFinding,
  type LintRule,
  type LintSettings,
  type LintSubject,
  listProse,
  type Mention,
  mentionsIn,
  type Origin,
  type Patterns,
  type Prose,
  perText,
  type Span,
  snakeAfter,
  snakeBefore,
  textKey,
} from './prose.ts';

const unbalanced: LintRule = {
  name: 'template/unbalanced',
  severity: 'warning',
  check: (subject) => {
    const read = perText(findUnbalanced);
    return listProse(subject, ['instructions', 'speech', 'message']).flatMap((prose) =>
      read(prose).map(({ span, message }) => ({
        resource: prose.resource,
        path: prose.path,
        span,
        message,
        hint: 'Tokens are written {{name}} or {{name|fallback}}; other braces are sent as they are',
      })),
    );
  },
};

const growth: LintRule = {
  name: 'prompt/growth',
  severity: 'warning',
  check: (subject) => {
    const { max_prompt_characters: most } = subject.settings;
    return listProse(subject, ['instructions'])
      .filter(({ text }) => text.length > most)
      .map(({ resource, path, text }) => ({
        resource,
        path,
        message: `has ${formatNumber(text.length)} characters; more than ${formatNumber(most)} make every turn of a call slow`,
        hint: 'Move reference material into a knowledge base or a tool, or raise lint.max_prompt_characters',
      }));
  },
};

const duplicated: LintRule = {
  name: 'prompt/duplicated',
  severity: 'warning',
  check: (subject) => {
    const { min_duplicate_characters: least } = subject.settings;
    const long = listProse(subject, ['instructions']).filter(({ text }) => text.length >= least);
    const bare = perText((text) => textKey(text.trim()));
    const same = Map.groupBy(long, bare);
    return [...same.values()].flatMap((uses) => (uses.length < 2 ? [] : repeatsIn(uses, subject)));
  },
};

/** Every place after the first at which a text is written. */
function repeatsIn(uses: readonly Prose[], { findOrigin }: LintSubject): readonly LintFinding[] {
  const places = new Map<string, { readonly prose: Prose; readonly origin: Origin }>();
  for (const prose of uses) {
    const origin = findOrigin(prose.resource, prose.path);
    if (!places.has(origin.key)) places.set(origin.key, { prose, origin });
  }
  const [first, ...others] = places.values();
  if (first === undefined) return [];
  const { resource, path } = first.prose;
  return others.map(({ prose }) => ({
    resource: prose.resource,
    path: prose.path,
    message: `is word for word the ${path} of ${resource.address} (${first.origin.label})`,
    hint: 'Write it once: in a base that both take, or in one file that both name with $file',
  }));
}

type Language = 'en' | 'es';

const NAMES: Readonly<Record<Language, string>> = { en: 'English', es: 'Spanish' };

/** Words that greetings of a language hold and those of the other do not. */
const MARKS: Readonly<Record<Language, RegExp>> = {
  en: /(?<!\p{L})(?:hello|hi|thank(?:s| you)|you|your|how|help|the|this|calling|welcome|english)(?!\p{L})/iu,
  es: /[¿¡]|(?<!\p{L})(?:hola|gracias|buen[oa]s|usted|español|ayudar(?:le)?|bienvenid[oa]s?|llamar|para|soy|puedo)(?!\p{L})/iu,
};

const GREETINGS: readonly string[] = ['greeting_message', 'outbound_greeting_message'];

const oneGreeting: LintRule = {
  name: 'prompt/one-greeting',
  severity: 'warning',
  check: (subject) =>
    listProse(subject, ['speech']).flatMap(({ resource, path, text }): readonly LintFinding[] => {
      if (!GREETINGS.includes(path)) return [];
      const declared = declaredBy(resource);
      const spoken = declared.filter((language) => MARKS[language].test(text));
      const [only] = spoken;
      // A greeting that is a name and nothing else is in any language.
      if (declared.length < 2 || only === undefined || spoken.length > 1) return [];
      const other: Language = only === 'en' ? 'es' : 'en';
      return [
        {
          resource,
          path,
          message: `greets in ${NAMES[only]} alone, but ${howDeclared(resource)}`,
          hint: `Add a sentence in ${NAMES[other]}, or set language to the language of the greeting`,
        },
      ];
    }),
};

/** The languages that an agent is to speak, of those that the platform has. */
function declaredBy({ document }: DesiredResource): readonly Language[] {
  const declared = [document.language, voiceLanguage(document)].flatMap((language) => {
    if (language === 'multi') return ['en', 'es'];
    return typeof language === 'string' ? [language.slice(0, 2)] : [];
  });
  return (['en', 'es'] as const).filter((language) => declared.includes(language));
}

function howDeclared({ document }: DesiredResource): string {
  if (document.language === 'multi') return 'language is multi';
  return `language is ${String(document.language)} with voice_settings.language ${String(voiceLanguage(document))}`;
}

function voiceLanguage({ voice_settings: voice }: DesiredResource['document']) {
  return isObject(voice) ? voice.language : undefined;
}

/** A token without a fallback: `{{name}}`. */
const BARE = [/\{\{\s*(?<name>[A-Za-z_][\w.-]*)\s*\}\}/dg];
/** Any token. */
const TOKENS = [/\{\{\s*(?<name>[A-Za-z_][\w.-]*)\s*(?:\|[^{}\n]*)?\}\}/dg];

/** Call placeholders that the specification names (MCP connection, `pre_answer_calls`). */
const DOCUMENTED: readonly string[] = ['caller_id'];

const unsuppliedToken: LintRule = {
  name: 'prompt/unsupplied-token',
  severity: 'warning',
  check: (subject) => {
    const { tokens } = subject.settings;
    const prose = listProse(subject, ['instructions', 'speech', 'message']);
    const uses = usesIn(prose, BARE);
    const known = [...DOCUMENTED, ...(tokens ?? commonIn(prose))];
    const isSupplied = findSupplier(known);
    // One declaration by the team settles a token everywhere, so each is reported once.
    return [...uses].flatMap(([name, all]): readonly LintFinding[] => {
      if (isSupplied(name)) return [];
      const [first] = all;
      const slip = known.find((token) => isSlip(name, token));
      if (first === undefined || (tokens === undefined && slip === undefined)) return [];
      const also = tokens === undefined ? '' : others(all.length - 1);
      return [
        {
          resource: first.prose.resource,
          path: first.prose.path,
          span: first.span,
          message: `holds {{${name}}}, which ${tokens === undefined ? 'nothing else uses' : `lint.tokens does not list${also}`}`,
          hint: tokenHint(name, slip ?? (tokens && nearest(name, known))),
        },
      ];
    });
  },
};

type Use = { readonly prose: Prose; readonly span: Span };

/** Returns the uses of tokens by name: the first in each text. */
function usesIn(
  prose: readonly Prose[],
  patterns: readonly RegExp[],
): ReadonlyMap<string, readonly Use[]> {
  const read = perText((text) => (text.includes('{{') ? firstOfEach(findAll(text, patterns)) : []));
  const found = prose.flatMap((one) =>
    read(one).map(({ name, span }) => ({ name, prose: one, span })),
  );
  return Map.groupBy(found, ({ name }) => name);
}

/** Tokens that several texts use: the specification lists none, so use is what tells. */
function commonIn(prose: readonly Prose[]): readonly string[] {
  return [...usesIn(prose, TOKENS)].flatMap(([name, { length }]) => (length > 1 ? [name] : []));
}

/** `contact.*` stands for all that begin so. */
function findSupplier(tokens: readonly string[]) {
  const exact = new Set(tokens);
  const beginnings = tokens.flatMap((token) => (token.endsWith('*') ? [token.slice(0, -1)] : []));
  return (name: string): boolean =>
    exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

/** One letter too many, too few, another or swapped: `last_name` is no slip of `first_name`, nor `line_2` of `line_1`. */
function isSlip(name: string, token: string): boolean {
  const withoutDigits = (text: string) => text.replace(/\d/g, '');
  return (
    name.length > 4 &&
    Math.abs(name.length - token.length) <= 1 &&
    editDistance(name, token) === 1 &&
    withoutDigits(name) !== withoutDigits(token)
  );
}

function others(count: number): string {
  return count === 0
    ? ''
    : `; ${formatCount(count, 'other text holds', 'other texts hold')} it too`;
}

function tokenHint(name: string, close: string | undefined): string {
  const add = `Name it in lint.tokens if it is supplied, or write {{${name}|fallback}}`;
  return close === undefined ? add : `Did you mean {{${close}}}? ${add}`;
}

const QUOTED_TOOL = '[`"“](?<name>[A-Za-z][\\w-]*)[`"”]';
const NOUN = '(?:tool|function|webhook)\\b';
const VERB = '\\b(?:call|use|invoke|run|trigger)(?:s|ing)?\\s+(?:the\\s+)?';

/** Mentions of a tool; `docs/rules.md` describes them in words. */
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

const unknownTool: LintRule = {
  name: 'prompt/unknown-tool',
  severity: 'warning',
  check: (subject) => {
    const { settings } = subject;
    const read = perText((text) => firstOfEach(mentionsIn(text, TOOL_PATTERNS)));
    const boxes = new Map<unknown, Toolbox>();
    return listProse(subject, ['instructions']).flatMap((prose) => {
      const { resource, path } = prose;
      const mentions = read(prose);
      if (mentions.length === 0) return [];
      const box = boxes.get(resource) ?? getToolbox(resource);
      boxes.set(resource, box);
      const known = [...box.names, ...settings.tools];
      return mentions.flatMap(({ name, span }): readonly LintFinding[] => {
        if (known.includes(name) || box.parameters.has(name) || WORDS.has(name.toLowerCase())) {
          return [];
        }
        // A server that offers all its tools may have this one, too; a slip of the keyboard stays one.
        const hint = didYouMean(name, known, box.isOpen ? undefined : toolsHint(known));
        if (hint === undefined) return [];
        const message = `mentions the tool ${name}, which the agent does not have`;
        return [{ resource, path, span, message, hint }];
      });
    });
  },
};

const MOST_NAMED = 8;

function toolsHint(known: readonly string[]): string {
  const add = 'Add it under extensions, or name it in lint.tools if the platform has it';
  if (known.length === 0) return `The agent has no tools. ${add}`;
  return `It has ${formatFirst(known, MOST_NAMED)}. ${add}`;
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
function getToolbox({ document }: DesiredResource): Toolbox {
  const extensions = toObject(document.extensions);
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
    ...called.flatMap((call) => Object.keys(toObject(call.arguments))),
  ];
  return {
    names: new Set(names.filter((name) => typeof name === 'string')),
    isOpen: servers.some(({ allowed_tool_names: allowed }) => !isList(allowed) || !allowed.length),
    parameters: new Set(parameters.filter((name) => typeof name === 'string')),
  };
}

function toObject(value: Value | undefined): ValueObject {
  return isObject(value) ? value : {};
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

const unknownTemplate: LintRule = {
  name: 'prompt/unknown-template',
  severity: 'warning',
  check: (subject) => {
    const templates = subject.resources.filter(({ kind }) => kind.endsWith('_template'));
    // A stack without any keeps them elsewhere.
    if (templates.length === 0) return [];
    const read = perText((text) => firstOfEach(mentionsIn(text, TEMPLATE_PATTERNS)));
    const byOwner = new Map<unknown, readonly string[]>();
    return listProse(subject, ['instructions']).flatMap((prose) => {
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

const unknownTransfer: LintRule = {
  name: 'prompt/unknown-transfer',
  severity: 'warning',
  check: (subject) => {
    const readNames = perText((text) => firstOfEach(mentionsIn(text, RULE_PATTERNS)));
    const readOrders = perText((text) =>
      /transfer/i.test(text) ? findAll(text, TRANSFER_ORDERS).filter(isOrder(text)) : [],
    );
    return listProse(subject, ['instructions']).flatMap((prose): readonly LintFinding[] => {
      const { resource, path } = prose;
      // The rules themselves say what a transfer is.
      if (path === 'transfer_rules') return [];
      const rules = getRules(resource);
      const named = readNames(prose).flatMap(({ name, span }): readonly LintFinding[] => {
        if (rules.toLowerCase().includes(name.toLowerCase())) return [];
        const message = `names the transfer rule ${JSON.stringify(name)}, which transfer_rules does not mention`;
        const hint = 'Add it to transfer_rules, or correct the name';
        return [{ resource, path, span, message, hint }];
      });
      const [order] = readOrders(prose);
      const lack = order && findLack(resource, rules);
      if (order === undefined || lack === undefined) return named;
      return [...named, { resource, path, span: order.span, ...lack }];
    });
  },
};

function getRules({ document }: DesiredResource): string {
  return typeof document.transfer_rules === 'string' ? document.transfer_rules : '';
}

/** Finds what an agent lacks to make a transfer. If its transfers are on, its rules may stand in the prompt. */
function findLack(
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

/** Returns true if a sentence tells to do it, rather than not to. */
function isOrder(text: string) {
  return ({ span }: Mention): boolean => {
    const before = text.slice(Math.max(0, span.start - LONGEST_SENTENCE), span.start);
    const sentence = before.slice(
      Math.max(...['.', '!', '?', '\n'].map((end) => before.lastIndexOf(end))) + 1,
    );
    return !DENIED.test(sentence);
  };
}

/** The rules that look at resources. */
export const lintRules: readonly LintRule[] = [
  unknownTool,
  unknownTemplate,
  unknownTransfer,
  unsuppliedToken,
  unbalanced,
  growth,
  duplicated,
  oneGreeting,
];

/** Found where the comments are read. */
export const UNUSED_IGNORE: Omit<LintRule, 'check'> = {
  name: 'lint/unused-ignore',
  severity: 'warning',
};

/** Every rule that `lint.rules` of callsheet.yaml may name. */
export const namedRules: readonly Omit<LintRule, 'check'>[] = [...lintRules, UNUSED_IGNORE];

/** A finding with the rule that made it and how much it weighs. */
export type Weighed = LintFinding & { readonly rule: string; readonly severity: Severity };

/** Returns the findings of all rules that are not switched off. */
export function lint(subject: LintSubject): readonly Weighed[] {
  return lintRules.flatMap((rule) => {
    const severity = getSeverity(rule, subject.settings);
    if (severity === 'off') return [];
    return fewOfEach(rule.check(subject)).map((finding) => ({
      ...finding,
      rule: rule.name,
      severity,
    }));
  });
}

/** A field with more of one rule is not what it was meant to be; saying so this often is enough. */
const MOST = 20;

function fewOfEach(findings: readonly LintFinding[]): readonly LintFinding[] {
  const counts = new Map<unknown, Map<string, number>>();
  return findings.filter(({ resource, path }) => {
    const byPath = counts.get(resource) ?? new Map<string, number>();
    const count = (byPath.get(path) ?? 0) + 1;
    counts.set(resource, byPath.set(path, count));
    return count <= MOST;
  });
}

export function getSeverity(
  { name, severity }: Pick<LintRule, 'name' | 'severity'>,
  { severities }: Pick<LintSettings, 'severities'>,
): Severity | 'off' {
  return severities.get(name) ?? severity;
}
