import type { LintRule } from './rule.ts';
import { duplicated } from './rules/duplicated.ts';
import { growth } from './rules/growth.ts';
import { oneGreeting } from './rules/one-greeting.ts';
import { unknownTemplate } from './rules/unknown-template.ts';
import { unknownTool } from './rules/unknown-tool.ts';
import { unknownTransfer } from './rules/unknown-transfer.ts';
import { unsuppliedToken } from './rules/unsupplied-token.ts';

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
  description: 'A callsheet-ignore comment silences nothing, or names a rule that does not exist.',
};

/** Every rule that `lint.rules` of callsheet.yaml may name. */
export const namedRules: readonly Omit<LintRule, 'check'>[] = [...lintRules, UNUSED_IGNORE];
