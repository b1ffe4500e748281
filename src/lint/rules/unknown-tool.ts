import { nearest } from '../../core/nearest.ts';
import { firstOfEach, mentionsIn, type Patterns, snakeAfter, snakeBefore } from '../mentions.ts';
import { perText, proseOf } from '../prose.ts';
import type { LintFinding, LintRule } from '../rule.ts';
import { type Toolbox, toolboxOf } from '../tools.ts';

const QUOTED = '[`"“](?<name>[A-Za-z][\\w-]*)[`"”]';
const NOUN = '(?:tool|function|webhook)\\b';
const VERB = '\\b(?:call|use|invoke|run|trigger)(?:s|ing)?\\s+(?:the\\s+)?';

/** What counts as speaking of a tool; `docs/rules.md` says it in words. */
const PATTERNS: Patterns = {
  quoted: [
    new RegExp(`${QUOTED}\\s+${NOUN}`, 'dgi'),
    new RegExp(`\\b(?:tool|function|webhook)\\s+(?:called\\s+|named\\s+)?${QUOTED}`, 'dgi'),
  ],
  named: [
    new RegExp(snakeBefore(`\\s+${NOUN}`), 'dg'),
    new RegExp(`${snakeAfter(`${VERB}\`?`)}\\b(?![\\w{}|.])`, 'dgi'),
    new RegExp(snakeBefore('\\('), 'dg'),
  ],
};

/** Words that stand before "tool" and name none. */
const WORDS = new Set(['the', 'a', 'this', 'that', 'right', 'correct', 'any', 'each']);

export const unknownTool: LintRule = {
  name: 'prompt/unknown-tool',
  severity: 'warning',
  description: 'A prompt tells the model to use a tool that the agent does not have.',
  check: (subject) => {
    const { settings } = subject;
    const read = perText((text) => firstOfEach(mentionsIn(text, PATTERNS)));
    const boxes = new Map<unknown, Toolbox>();
    return proseOf(subject, ['instructions']).flatMap((prose) => {
      const { resource, path } = prose;
      const mentions = read(prose);
      if (mentions.length === 0) return [];
      const box = boxes.get(resource) ?? toolboxOf(resource);
      boxes.set(resource, box);
      const known = [...box.names, ...settings.tools];
      return mentions.flatMap(({ name, span }): readonly LintFinding[] => {
        if (known.includes(name) || box.parameters.has(name) || WORDS.has(name.toLowerCase())) {
          return [];
        }
        const close = nearest(name, known);
        // A server that offers all its tools may have this one, too; a slip of the keyboard stays one.
        if (box.isOpen && close === undefined) return [];
        const message = `speaks of the tool ${name}, which the agent does not have`;
        return [{ resource, path, span, message, hint: hintFor(close, known) }];
      });
    });
  },
};

const MOST_NAMED = 8;

function hintFor(close: string | undefined, known: readonly string[]): string {
  if (close !== undefined) return `Did you mean ${close}?`;
  const add = 'Add it under extensions, or name it in lint.tools if the platform has it';
  if (known.length === 0) return `The agent has no tools. ${add}`;
  const more = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : '';
  return `It has ${known.slice(0, MOST_NAMED).join(', ')}${more}. ${add}`;
}
