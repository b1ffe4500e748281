import type { Severity } from '../core/diagnostics.ts';
import type { LintFinding, LintRule, LintSubject } from './rule.ts';
import { lintRules } from './rules.ts';
import type { LintSettings } from './settings.ts';

/** A finding with the rule that made it and how much it weighs. */
export type Weighed = LintFinding & { readonly rule: string; readonly severity: Severity };

/** What every rule finds that is not switched off. */
export function lint(subject: LintSubject): readonly Weighed[] {
  return lintRules.flatMap((rule) => {
    const severity = severityOf(rule, subject.settings);
    if (severity === 'off') return [];
    return rule.check(subject).map((finding) => ({ ...finding, rule: rule.name, severity }));
  });
}

/** What a rule weighs in a stack. */
export function severityOf(
  { name, severity }: Pick<LintRule, 'name' | 'severity'>,
  { severities }: Pick<LintSettings, 'severities'>,
): Severity | 'off' {
  return severities.get(name) ?? severity;
}
