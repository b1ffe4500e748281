import { namedRules } from '../lint/rules.ts';
import { MAX_PROMPT_CHARACTERS, MIN_DUPLICATE_CHARACTERS } from '../lint/settings.ts';
import type { SettingsField } from './settings-field.ts';

const rules = namedRules.map(({ name, description }): [string, SettingsField] => [
  name,
  {
    type: 'string',
    enum: ['off', 'warning', 'error'],
    description,
    examples: ['off'],
  },
]);

function names(description: string, example: string): SettingsField {
  return {
    type: 'array',
    items: { type: 'string', 'x-local': true, description: 'A name.', examples: [example] },
    description,
    examples: [[example]],
  };
}

/** `lint:` of callsheet.yaml. */
export const lintSchema: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description: 'What is said of prompts and templates beside what is wrong with them.',
  examples: [{ tokens: ['first_name'], rules: { 'prompt/growth': 'off' } }],
  properties: {
    rules: {
      type: 'object',
      additionalProperties: false,
      description: 'Severity of rules, by name: `off`, `warning` or `error`.',
      examples: [{ 'prompt/growth': 'off', 'prompt/unknown-tool': 'error' }],
      properties: Object.fromEntries(rules),
    },
    tokens: names(
      'Tokens that calls and messages are supplied with, beside those of the specification; `contact.*` stands for all that begin so.',
      'first_name',
    ),
    tools: names('Tools of the platform itself that prompts may name.', 'end_call'),
    templates: names('Templates that are kept elsewhere and that prompts may name.', 'Welcome'),
    max_prompt_characters: {
      type: 'integer',
      minimum: 1,
      default: MAX_PROMPT_CHARACTERS,
      description: 'Longest prompt that `prompt/growth` says nothing of.',
      examples: [30_000],
    },
    min_duplicate_characters: {
      type: 'integer',
      minimum: 1,
      default: MIN_DUPLICATE_CHARACTERS,
      description: 'Shortest prompt whose repetition `prompt/duplicated` reports.',
      examples: [500],
    },
  },
};
