import type { Severity } from '../core/diagnostics.ts';

/** `lint:` of callsheet.yaml. */
export type LintSettings = {
  /** Severities that differ from the rules' own, by name of rule. */
  readonly severities: ReadonlyMap<string, Severity | 'off'>;
  /** Tokens that calls and messages are supplied with; undefined where the team keeps no list. `contact.*` stands for all that begin so. */
  readonly tokens: readonly string[] | undefined;
  /** Tools that agents have beside those of the stack: the platform's own. */
  readonly tools: readonly string[];
  /** Templates that are kept elsewhere, by name. */
  readonly templates: readonly string[];
  readonly max_prompt_characters: number;
  readonly min_duplicate_characters: number;
};

/**
 * The specification has no limit for a prompt, but the model reads it again at every turn of a call. At
 * about four characters a token this is 5,000 tokens, of which one turn of a voice call can bear few more.
 */
export const MAX_PROMPT_CHARACTERS = 20_000;

/** Shorter texts are alike by chance, and a base for them is more to read than what it saves. */
export const MIN_DUPLICATE_CHARACTERS = 300;

/** Where `callsheet.yaml` has no `lint:`. */
export const DEFAULT_LINT: LintSettings = {
  severities: new Map(),
  tokens: undefined,
  tools: [],
  templates: [],
  max_prompt_characters: MAX_PROMPT_CHARACTERS,
  min_duplicate_characters: MIN_DUPLICATE_CHARACTERS,
};
