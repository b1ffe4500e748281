import { proseOf } from '../prose.ts';
import type { LintRule } from '../rule.ts';

export const growth: LintRule = {
  name: 'prompt/growth',
  severity: 'warning',
  description:
    'A prompt has grown beyond what the model should read again at every turn of a call.',
  check: (subject) => {
    const { max_prompt_characters: most } = subject.settings;
    return proseOf(subject, ['instructions'])
      .filter(({ text }) => text.length > most)
      .map(({ resource, path, text }) => ({
        resource,
        path,
        message: `has ${text.length.toLocaleString('en')} characters; more than ${most.toLocaleString('en')} make every turn of a call slow`,
        hint: 'Move what is looked up into a knowledge base or a tool, or raise lint.max_prompt_characters',
      }));
  },
};
