import { RULES } from '../../src/features/review/sarif.ts';
import { namedRules } from '../../src/features/rules/lint.ts';
import { code, page, paragraph, table, toHeading } from './markdown.ts';

/** Words for the basis of a rule that is neither a section nor an assumption. */
const BASES: Readonly<Record<string, string>> = {
  language: 'the configuration language',
  fields: 'the [limits](limits.md) of the field',
  warning: 'nothing: it is a warning',
};

/** The page of the rules that `validate` checks. */
export function rulesPage(): string {
  const groups = Map.groupBy(RULES, ([name]) => name.split('/')[0] ?? name);
  const links = [...groups.keys()].map((group) => toHeading(code(group), group));
  const named = namedRules.map(({ name }) => code(name));
  return page(
    '# Rules',
    paragraph(
      'What [`callsheet validate`](../pipelines.md#validate-in-a-pipeline) reports. The name of a rule is stable. `schema/…` rules hold values against the schemas, whose [limits](limits.md) say what they rest on.',
    ),
    paragraph(
      `These are warnings that [\`lint.rules\`](settings.md#lintrules) of \`callsheet.yaml\` can raise to errors or switch off, and that a comment can silence where one is meant ([prompts and a team's own rules](../rules.md)): ${named.join(', ')}.`,
    ),
    paragraph(`Groups: ${links.join(', ')}.`),
    ...[...groups].flatMap(([group, rules]) => [
      `## ${group}`,
      table(
        ['rule', 'reports', 'what to do', 'rests on'],
        rules.map(([name, { summary, remedy, basis }]) => [
          code(name),
          summary,
          remedy,
          BASES[String(basis)] ?? [basis].flat().join(', '),
        ]),
      ).join('\n'),
    ]),
  );
}
