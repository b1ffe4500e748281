import { ANSWER_RULES } from './answer-rules.ts';
import { LEDGER_RULES } from './ledger-rules.ts';
import { OPERATION_RULES } from './operation-rules.ts';
import type { Rule } from './problem.ts';
import { SCHEMA_RULES } from './schema-rules.ts';

/** The client, the simulator and the ledger rely on these rules. */
export const RULES: readonly Rule[] = [
  ...OPERATION_RULES,
  ...ANSWER_RULES,
  ...LEDGER_RULES,
  ...SCHEMA_RULES,
];
