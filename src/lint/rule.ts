import type { DesiredResource } from '../core/desired.ts';
import type { Severity } from '../core/diagnostics.ts';
import type { KindSchema } from '../core/schema.ts';
import type { LintSettings } from './settings.ts';

/**
 * `lint/` owns the named rules that read what a stack says rather than whether it is allowed: prompts
 * that name a tool which is not there, tokens that nothing supplies, the same prompt written twice. Each
 * rule is one file in `lint/rules/`: a name, a default severity, one sentence about it, and a function
 * from the resources of a sound stack to findings. It reads no file and no comment: where a finding
 * stands in the YAML, and whether it is switched off there, is worked out by `config/`.
 */
export type LintRule = {
  /** `prompt/unknown-tool` */
  readonly name: string;
  /** What it is where `callsheet.yaml` does not say otherwise. */
  readonly severity: Severity;
  /** One sentence: what it finds. */
  readonly description: string;
  readonly check: (subject: LintSubject) => readonly LintFinding[];
};

/** What rules look at. */
export type LintSubject = {
  readonly resources: readonly DesiredResource[];
  readonly settings: LintSettings;
  /** Undefined for a kind that does not exist. */
  readonly schemaOf: (kind: string) => KindSchema | undefined;
  /** Where a field's text is written; the same for all that take it from one place. */
  readonly originOf: (resource: DesiredResource, path: string) => Origin;
};

/** Where a text comes from. */
export type Origin = {
  /** Equal for texts that are written once. */
  readonly key: string;
  /** `prompts/front-desk.md` or `agents.yaml:12`. */
  readonly label: string;
};

/** Something that a rule has found in a field. */
export type LintFinding = {
  readonly resource: DesiredResource;
  readonly path: string;
  /** The part of the field's text that it is about; the whole field where absent. */
  readonly span?: Span;
  /** Begins with a verb; address and field are put before it. */
  readonly message: string;
  readonly hint?: string;
};

/** Offsets in a text; `end` is exclusive. */
export type Span = { readonly start: number; readonly end: number };
