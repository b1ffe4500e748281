import type { DesiredResource } from '../../core/desired.ts';
import { nearest } from '../../core/nearest.ts';
import { firstOfEach, mentionsIn, type Patterns, snakeAfter, snakeBefore } from '../mentions.ts';
import { perText, proseOf } from '../prose.ts';
import type { LintFinding, LintRule } from '../rule.ts';

const QUOTED = '[`"“](?<name>[^`"“”\\n]{1,100})[`"”]';
const MEDIUM = '(?:(?:e-?mail|sms|mms|text|message)\\s+)?';

const PATTERNS: Patterns = {
  quoted: [
    new RegExp(`${QUOTED}\\s+${MEDIUM}template\\b`, 'dgi'),
    new RegExp(`\\btemplate\\s+(?:called\\s+|named\\s+)?${QUOTED}`, 'dgi'),
  ],
  named: [
    new RegExp(snakeBefore(`\\s+${MEDIUM}template\\b`), 'dg'),
    new RegExp(`${snakeAfter('\\btemplate\\s+(?:called\\s+|named\\s+)?')}\\b`, 'dg'),
  ],
};

export const unknownTemplate: LintRule = {
  name: 'prompt/unknown-template',
  severity: 'warning',
  description: 'A prompt names an e-mail or SMS template that the organization does not have.',
  check: (subject) => {
    const templates = subject.resources.filter(({ kind }) => kind.endsWith('_template'));
    // A stack without any keeps them elsewhere.
    if (templates.length === 0) return [];
    const read = perText((text) => firstOfEach(mentionsIn(text, PATTERNS)));
    const byOwner = new Map<unknown, readonly string[]>();
    return proseOf(subject, ['instructions']).flatMap((prose) => {
      const { resource, path } = prose;
      const mentions = read(prose);
      if (mentions.length === 0) return [];
      const owner = resource.document.organization_id;
      const own = byOwner.get(owner) ?? namesFor(owner, templates);
      byOwner.set(owner, own);
      const known = [...own, ...subject.settings.templates];
      const plain = new Set(known.map((name) => name.toLowerCase()));
      return mentions.flatMap(({ name, span }): readonly LintFinding[] => {
        if (plain.has(name.toLowerCase())) return [];
        const close = nearest(name, known);
        const hint =
          close === undefined
            ? 'Add it to the stack, or name it in lint.templates if it is kept elsewhere'
            : `Did you mean ${close}?`;
        const message = `names the template ${JSON.stringify(name)}, which its organization does not have`;
        return [{ resource, path, span, message, hint }];
      });
    });
  },
};

/** Names that a template of an organization may be called by: its own, and that in the stack. */
function namesFor(owner: unknown, templates: readonly DesiredResource[]): readonly string[] {
  return templates
    .filter(({ document }) => document.organization_id === owner)
    .flatMap(({ document, address }) => {
      const short = address.slice(address.indexOf('.') + 1);
      return typeof document.name === 'string' ? [document.name, short] : [short];
    });
}
