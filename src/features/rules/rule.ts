import type { Severity } from '../../core/diagnostics.ts';
import type { Json } from '../../core/value.ts';

/**
 * `rules/` owns the rules that a team writes itself, under `rules:` of callsheet.yaml: conditions in CEL
 * or JSON Schema over the resolved resources and over a plan. It compiles them, says what is wrong with
 * them, and judges. What it shows a rule holds no secret, and no rule runs longer than it may. The lint of
 * prompts and templates is here, too, under `lint:`.
 */
export type WrittenRule = {
  readonly name: string;
  readonly over: 'resource' | 'change' | 'plan';
  /** Kinds that it is about; undefined: all of them. */
  readonly on: readonly string[] | undefined;
  /** CEL: which of them. */
  readonly when: string | undefined;
  /** CEL: what must hold of them. */
  readonly require: string | undefined;
  /** JSON Schema of their document. */
  readonly schema: Json | undefined;
  /** The field that findings are shown at. */
  readonly field: string | undefined;
  readonly message: string;
  readonly severity: Severity;
  /** The rule's place: `callsheet.yaml:14`. */
  readonly source: string;
};

export type RuleProblem = {
  readonly member: 'when' | 'require' | 'schema' | 'field';
  /** The place in the text of the member; the whole member where absent. */
  readonly span?: { readonly start: number; readonly end: number };
  /** The keys that lead to it in a member that is no text. */
  readonly at?: readonly string[];
  /** Ends a sentence that begins with the rule and its member. */
  readonly message: string;
  readonly hint?: string;
};
