import type { Severity } from '../core/diagnostics.ts';
import { unknownTemplate, unknownTool, unknownTransfer } from './lint-names.ts';
import { duplicated, growth, oneGreeting, unsuppliedToken } from './lint-prompts.ts';
import type { LintFinding, LintRule, LintSettings, LintSubject } from './prose.ts';

/** The rules that look at resources. */
export const lintRules: readonly LintRule[] = [
  unknownTool,
  unknownTemplate,
  unknownTransfer,
  unsuppliedToken,
  growth,
  duplicated,
  oneGreeting,
];

/** What is said of comments that silence rules; found where the comments are read. */
export const UNUSED_IGNORE: Omit<LintRule, 'check'> = {
  name: 'lint/unused-ignore',
  severity: 'warning',
  description:
    'A callsheet-ignore comment has no finding to silence, or names a rule that does not exist.',
};

/** Every rule that `lint.rules` of callsheet.yaml may name. */
export const namedRules: readonly Omit<LintRule, 'check'>[] = [...lintRules, UNUSED_IGNORE];

/** A finding with the rule that made it and how much it weighs. */
export type Weighed = LintFinding & { readonly rule: string; readonly severity: Severity };

/** What every rule finds that is not switched off. */
export function lint(subject: LintSubject): readonly Weighed[] {
  return lintRules.flatMap((rule) => {
    const severity = severityOf(rule, subject.settings);
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

/** What a rule weighs in a stack. */
export function severityOf(
  { name, severity }: Pick<LintRule, 'name' | 'severity'>,
  { severities }: Pick<LintSettings, 'severities'>,
): Severity | 'off' {
  return severities.get(name) ?? severity;
}
