import type { Document } from '../generate/document.ts';
import { ANSWER_RULES } from './answer-rules.ts';
import { LEDGER_RULES } from './ledger-rules.ts';
import { OPERATION_RULES } from './operation-rules.ts';
import type { Finding } from './problem.ts';
import { SCHEMA_RULES } from './schema-rules.ts';

/** The bundled document, and the assumptions that fields of the kinds name. */
export type Subject = { readonly document: Document; readonly usedByKinds: readonly string[] };

export type Rule = (subject: Subject) => readonly Finding[];

/** What the client, the simulator and the ledger rely on. */
export const RULES: readonly Rule[] = [
  ...OPERATION_RULES,
  ...ANSWER_RULES,
  ...LEDGER_RULES,
  ...SCHEMA_RULES,
];
