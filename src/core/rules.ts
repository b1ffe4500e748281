import words from '../../schemas/rules.json' with { type: 'json' };

/** What a rule of `validate` is about, in words that hold for each of its findings. */
type RuleWords = {
  /** One sentence: what is wrong where the rule reports something. */
  readonly summary: string;
  /** What to do about it. */
  readonly remedy: string;
};

/**
 * Every rule of `validate` by its name, in the order of names. Reports for machines and `docs/reference/rules.md` say
 * of a rule what stands in `schemas/rules.json`; a test holds it against the rules in the code.
 */
export const RULES: ReadonlyMap<string, RuleWords> = new Map(Object.entries(words));

/** What is said of a rule that is not listed, such as one that a team made itself. */
export function wordsOfRule(name: string): RuleWords {
  return (
    RULES.get(name) ?? {
      summary: `The rule ${name} of the stack is not kept.`,
      remedy: 'See the message of each finding.',
    }
  );
}
