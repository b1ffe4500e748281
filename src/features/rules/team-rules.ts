import type { DesiredResource } from '../../core/desired.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { PlanRules } from '../../core/plan-document.ts';
import { findFilled, getOwn, invert, type Json } from '../../core/value.ts';
import type { Kind } from '../../kinds/kind.ts';
import { checkName, type Report } from '../../stack/diagnostics.ts';
import { type Folder, fileMessage, isUnreadable, STACK_FILE } from '../../stack/folder.ts';
import {
  fail,
  followPath,
  isResolvedList,
  type LocatedValue,
  type ResolvedObject,
  toObject,
} from '../../stack/resolved.ts';
import { KIND_NAMES } from '../../stack/settings-schema.ts';
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
} from '../../stack/source.ts';
import { parseYaml } from '../../stack/yaml.ts';
import type { Rule, RuleFinding } from './judge.ts';
import type { RuleProblem, WrittenRule } from './rule.ts';

/** A rule of the team with the ranges of its parts. */
export type PlacedRule = WrittenRule & {
  /** `on` is one kind, and no list. */
  readonly isOneKind: boolean;
  readonly keyPlace: SourceRange;
  /** Returns the place of a member's value, or of the value that keys lead to in its JSON Schema. */
  readonly findRange: (member: string, keys?: readonly string[]) => SourceRange;
};

/** Rules are read with these. */
type Reading = { readonly folder: Folder; readonly report: Report };

/** Reads `rules:` of the settings. A rule of which something is wrong is left out; its schema speaks of most of it. */
export function readRules(root: LocatedValue, reading: Reading): readonly PlacedRule[] {
  const { value, written } = followPath(root, ['rules']) ?? {};
  const resolved = toObject(value);
  return membersIn(written).flatMap((member) => {
    const { key, value: node } = member;
    const schema = findMember(node, 'schema');
    const placed = schema && readSchema(key, schema, reading);
    const isNamed = checkName(member, NAMING, reading.report);
    if (!isNamed || node.type !== 'map') return [];
    const rule = placedRule(member, toObject(resolved[key]), placed);
    return (rule && checked(rule, reading)) ?? [];
  });
}

/** A JSON Schema that is written out, or the file that holds it. */
function readSchema(
  rule: string,
  { value }: Member,
  { folder, report }: Reading,
): SyntaxNode | undefined {
  const file = onlyMember(value, '$file')?.value;
  const path = textIn(file);
  if (file === undefined || path === undefined) return value;
  const read = folder.text(path);
  if (isUnreadable(read)) {
    const at = { path: ['rules', rule, 'schema'] };
    fail(subject(report), at, file.range, fileMessage(path, read));
    return undefined;
  }
  // JSON is YAML, and both are read with the same bounds.
  const { root, problems } = parseYaml(read.source);
  for (const problem of problems) report.add(problem);
  return root;
}

function subject(report: Report) {
  return { report, subject: STACK_FILE, address: undefined };
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
function checked(rule: PlacedRule, { report }: Reading): PlacedRule | undefined {
  const { name, over, on = [], findRange } = rule;
  // In a list its schema tells.
  const unknown = rule.isOneKind ? on.find((kind) => !KIND_NAMES.includes(kind)) : undefined;
  const tell = (member: string, message: string, hint: string) => {
    fail(subject(report), { path: ['rules', name, member] }, findRange(member), {
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
  const { compileRule, judgeResources, planRules } = await import('./judge.ts');
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
