import type { DesiredResource } from '../core/desired.ts';
import type { PlanRules } from '../core/plan-rules.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Rule, RuleFinding } from '../rules/index.ts';
import type { RuleProblem } from '../rules/rule.ts';
import type { Report } from './problems.ts';
import type { PlacedRule } from './rules.ts';
import { placeOf as find, type Place } from './source.ts';

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
  const schemaOf = (kind: string) => schemas.get(kind);
  const names = kinds.map(({ name }) => name);
  const rules = written.flatMap((one): readonly Rule[] => {
    const compiled = compileRule(one, schemaOf, names);
    if ('rule' in compiled) return [compiled.rule];
    for (const problem of compiled.problems) reportProblem(one, problem, report);
    return [];
  });
  return {
    judge: (resources, organizations) => {
      const byId = new Map(Object.entries(organizations).map(([name, id]) => [id, name]));
      return judgeResources(
        rules.filter(({ over }) => over === 'resource'),
        { resources, schemaOf, organizationOf: (id) => byId.get(id) ?? id },
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
    place:
      typeof text === 'string'
        ? placeIn(text, span, rule.placeOf(member))
        : rule.placeOf(member, at),
  });
}

/** A part of a text as it stands in the YAML, where quotes and indentation may shift it: its line is looked for. */
function placeIn(text: string, span: RuleProblem['span'], inside: Place): Place {
  if (span === undefined) return inside;
  const start = Math.min(span.start, text.length);
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const end = text.indexOf('\n', from);
  const line = text.slice(from, end < 0 ? text.length : end);
  const place = find(line, inside);
  const isFound = place.end - place.start === line.length;
  if (line.trim() === '' || !isFound) return inside;
  const at = place.start + start - from;
  const last = Math.min(place.start + span.end - from, place.end);
  return { source: inside.source, start: at, end: Math.max(at, last) };
}
