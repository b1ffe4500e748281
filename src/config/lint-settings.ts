import { DEFAULT_LINT, type LintSettings } from '../lint/settings.ts';
import { isResolvedList, membersOf, type Resolved } from './resolved.ts';

const SEVERITIES = ['off', 'warning', 'error'] as const;

/** The `lint:` of a stack. What is wrong was reported by its schema, and its default stands in. */
export function readLint(value: Resolved | undefined): LintSettings {
  const { rules, tokens, tools, templates, ...numbers } = membersOf(value);
  const severities = Object.entries(membersOf(rules)).flatMap(([name, given]) => {
    const severity = SEVERITIES.find((one) => one === given);
    return severity === undefined ? [] : [[name, severity] as const];
  });
  return {
    severities: new Map(severities),
    tokens: tokens === undefined ? undefined : textsIn(tokens),
    tools: textsIn(tools),
    templates: textsIn(templates),
    max_prompt_characters: numberOr(
      numbers.max_prompt_characters,
      DEFAULT_LINT.max_prompt_characters,
    ),
    min_duplicate_characters: numberOr(
      numbers.min_duplicate_characters,
      DEFAULT_LINT.min_duplicate_characters,
    ),
  };
}

function textsIn(value: Resolved | undefined): readonly string[] {
  return isResolvedList(value) ? value.filter((one) => typeof one === 'string') : [];
}

function numberOr(value: Resolved | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
