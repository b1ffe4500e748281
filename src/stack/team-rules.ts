import type { DesiredResource } from '../core/desired.ts';
import { didYouMean } from '../core/nearest.ts';
import type { PlanRules } from '../core/plan-document.ts';
import { findFilled, getOwn, invert, type Json } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Rule, RuleFinding } from '../rules/index.ts';
import type { RuleProblem, WrittenRule } from '../rules/rule.ts';
import { checkName, type Report } from './diagnostics.ts';
import { fileMessage, isUnreadable } from './folder.ts';
import { resolve } from './resolve.ts';
import {
  type Context,
  fail,
  isResolvedList,
  memberField,
  type Resolved,
  type ResolvedObject,
  rootField,
  toObject,
} from './resolved.ts';
import { KIND_NAMES, rulesSchema, settingsSchema } from './settings-schema.ts';
import {
  rangeOfText as find,
  findMember,
  type Member,
  membersIn,
  onlyMember,
  type SourceRange,
  type SyntaxNode,
  textIn,
  toPosition,
  withKeys,
} from './source.ts';
import { parseYaml } from './yaml.ts';

/** A rule of the team with the ranges of its parts. */
export type PlacedRule = WrittenRule & {
  /** `on` is one kind, and no list. */
  readonly isOneKind: boolean;
  readonly keyPlace: SourceRange;
  /** Returns the place of a member's value, or of the value that keys lead to in its JSON Schema. */
  readonly findRange: (member: string, keys?: readonly string[]) => SourceRange;
};

type ReadRules = {
  readonly rules: readonly PlacedRule[];
  /** The settings' schema judges it. */
  readonly document: Resolved | undefined;
};

/** Reads `rules:`. A rule of which something is wrong is left out; its schema speaks of most of it. */
export function readRules(node: SyntaxNode | undefined, context: Context): ReadRules {
  if (node?.type !== 'map') {
    const document = node && resolve(node, rootField(rulesSchema), context);
    return { rules: [], document };
  }
  const read = membersIn(node).map((member): [string, Resolved, PlacedRule | undefined] => {
    const { resolved, schema } = resolveRule(member, context);
    const isNamed = checkName(member, NAMING, context.report);
    // One that cannot be read was reported, and stands all the same.
    const isShaped = findMember(member.value, 'schema') !== undefined;
    const document = { ...resolved, ...(isShaped ? { schema: {} } : {}) };
    const isMap = member.value.type === 'map';
    const rule = isNamed && isMap ? placedRule(member, resolved, schema) : undefined;
    return [member.key, isMap ? document : toJson(member.value), rule && checked(rule, context)];
  });
  return {
    rules: read.flatMap(([, , rule]) => rule ?? []),
    document: Object.fromEntries(read.map(([name, document]) => [name, document])),
  };
}

function findField(name: string) {
  return memberField(memberField(rootField(settingsSchema), 'rules'), name);
}

/** A rule's members. Its JSON Schema has `$` keys of its own, so no form is looked for in it. */
function resolveRule(
  { key, value }: Member,
  context: Context,
): { readonly resolved: ResolvedObject; readonly schema: SyntaxNode | undefined } {
  if (value.type !== 'map') return { resolved: {}, schema: undefined };
  const schema = value.members.get('schema');
  const rest = withKeys(value, (name) => name !== 'schema');
  const resolved = toObject(resolve(rest, findField(key), context));
  return { resolved, schema: schema && readSchema(key, schema, context) };
}

/** A JSON Schema that is written out, or the file that holds it. */
function readSchema(rule: string, { value }: Member, context: Context): SyntaxNode | undefined {
  const file = onlyMember(value, '$file')?.value;
  const path = textIn(file);
  if (file === undefined || path === undefined) return value;
  const read = context.folder.text(path);
  if (isUnreadable(read)) {
    fail(context, { path: ['rules', rule, 'schema'] }, file.range, fileMessage(path, read));
    return undefined;
  }
  // JSON is YAML, and both are read with the same bounds.
  const { root, problems } = parseYaml(read.source);
  for (const problem of problems) context.report.add(problem);
  return root;
}

const NAMING = { rule: 'rules/name', holder: 'rules', what: 'a rule' };

function placedRule(
  { key, keyPlace, value }: Member,
  resolved: ResolvedObject,
  schema: SyntaxNode | undefined,
): PlacedRule | undefined {
  const text = (name: string) => findFilled(resolved[name]);
  const { on } = resolved;
  const kinds = (isResolvedList(on) ? on : [on]).filter((kind) => typeof kind === 'string');
  const message = text('message');
  const require = text('require');
  if (message === undefined || (require === undefined && schema === undefined)) return undefined;
  const { file, line } = toPosition(keyPlace);
  const over = text('over');
  return {
    name: key,
    over: over === 'change' || over === 'plan' ? over : 'resource',
    on: on === undefined ? undefined : kinds,
    isOneKind: typeof on === 'string',
    when: text('when'),
    require,
    schema: schema && toJson(schema),
    field: text('field'),
    message,
    severity: text('severity') === 'warning' ? 'warning' : 'error',
    source: `${file}:${line}`,
    keyPlace,
    findRange: (member, keys = []) =>
      (keys.length > 0 && schema !== undefined ? rangeBelow(schema, keys) : undefined) ??
      findMember(value, member)?.value.range ??
      keyPlace,
  };
}

/** The key or element that keys lead to. */
function rangeBelow(node: SyntaxNode, keys: readonly string[]): SourceRange | undefined {
  let [at, range]: readonly [SyntaxNode | undefined, SourceRange | undefined] = [node, undefined];
  for (const key of keys) {
    const member = findMember(at, key);
    const next: SyntaxNode | undefined =
      at?.type === 'list' ? at.items[Number(key)] : member?.value;
    [at, range] = [next, member?.keyPlace ?? next?.range];
  }
  return range;
}

/** Checks a rule for mistakes that a schema cannot express. */
function checked(rule: PlacedRule, context: Context): PlacedRule | undefined {
  const { name, over, on = [], findRange } = rule;
  // In a list its schema tells.
  const unknown = rule.isOneKind ? on.find((kind) => !KIND_NAMES.includes(kind)) : undefined;
  const tell = (member: string, message: string, hint: string) => {
    fail(context, { path: ['rules', name, member] }, findRange(member), {
      rule: 'rules/invalid',
      message,
      hint,
    });
    return undefined;
  };
  if (unknown !== undefined) {
    const list = `The kinds are ${KIND_NAMES.join(', ')}`;
    const hint = didYouMean(unknown, KIND_NAMES, list);
    return tell('on', `names ${JSON.stringify(unknown)}, which is not a kind`, hint);
  }
  if (over === 'resource') return rule;
  const given = (['schema', 'field'] as const).find((member) => rule[member] !== undefined);
  if (given !== undefined) {
    return tell(
      given,
      `has no effect in a rule over ${over}`,
      'Use require, or write a rule over resources',
    );
  }
  if (over === 'plan' && on.length > 0) {
    return tell('on', 'has no effect in a rule over plan', 'Use over: change');
  }
  return rule;
}

/** A node as the plain data that it is, with no form followed and nothing filled in. */
function toJson(node: SyntaxNode): Json {
  if (node.type === 'scalar') return node.value;
  if (node.type === 'list') return node.items.map(toJson);
  return Object.fromEntries(membersIn(node).map(({ key, value }) => [key, toJson(value)]));
}

/** The team's rules, ready to judge. */
type TeamRules = {
  readonly judge: (
    resources: readonly DesiredResource[],
    organizations: Readonly<Record<string, string>>,
  ) => readonly RuleFinding[];
  readonly plan: PlanRules;
};

const NONE: TeamRules = { judge: () => [], plan: () => ({ refusals: [], notes: [] }) };

/** Compiles the rules of a team, and reports what is wrong with them. A stack without any loads no CEL. */
export async function openRules(
  written: readonly PlacedRule[],
  kinds: readonly Kind[],
  report: Report,
): Promise<TeamRules> {
  if (written.length === 0) return NONE;
  const { compileRule, judgeResources, planRules } = await import('../rules/index.ts');
  const schemas = new Map(kinds.map(({ name, schema }) => [name, schema]));
  const findSchema = (kind: string) => schemas.get(kind);
  const names = kinds.map(({ name }) => name);
  const rules = written.flatMap((one): readonly Rule[] => {
    const compiled = compileRule(one, findSchema, names);
    if ('rule' in compiled) return [compiled.rule];
    for (const problem of compiled.problems) reportProblem(one, problem, report);
    return [];
  });
  return {
    judge: (resources, organizations) => {
      const byId = invert(organizations);
      return judgeResources(
        rules.filter(({ over }) => over === 'resource'),
        { resources, findSchema, getOrganizationName: (id) => getOwn(byId, id) ?? id },
      );
    },
    plan: planRules(rules.filter(({ over }) => over !== 'resource')),
  };
}

function reportProblem(rule: PlacedRule, problem: RuleProblem, report: Report): void {
  const { member, message, hint, span, at } = problem;
  const text = rule[member];
  report.add({
    rule: 'rules/invalid',
    message: `rules.${rule.name}: ${member} ${message}`,
    hint,
    path: `rules.${rule.name}.${member}`,
    range:
      typeof text === 'string'
        ? rangeIn(text, span, rule.findRange(member))
        : rule.findRange(member, at),
  });
}

/** A part of a text as it stands in the YAML, where quotes and indentation may shift it: its line is looked for. */
function rangeIn(text: string, span: RuleProblem['span'], inside: SourceRange): SourceRange {
  if (span === undefined) return inside;
  const start = Math.min(span.start, text.length);
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const end = text.indexOf('\n', from);
  const line = text.slice(from, end < 0 ? text.length : end);
  const range = find(line, inside);
  const isFound = range.end - range.start === line.length;
  if (line.trim() === '' || !isFound) return inside;
  const at = range.start + start - from;
  const last = Math.min(range.start + span.end - from, range.end);
  return { source: inside.source, start: at, end: Math.max(at, last) };
}
