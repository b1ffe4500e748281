import { kinds } from '../kinds/index.ts';
import type { SettingsField } from './settings-field.ts';

/** Kinds that a rule may be about. */
export const KIND_NAMES: readonly string[] = kinds.map(({ name }) => name);

/** One of `rules:` of callsheet.yaml. */
export const ruleSchema: SettingsField = {
  type: 'object',
  additionalProperties: false,
  required: ['message'],
  anyOf: [{ required: ['require'] }, { required: ['schema'] }],
  description: 'A rule of the team: what must hold of every resource, change or plan.',
  examples: [
    {
      on: 'agent',
      when: 'resource.agent_type == "outbound"',
      require: 'has(resource.contact_policy)',
      message: 'Every outbound agent needs a contact_policy',
    },
  ],
  properties: {
    over: {
      type: 'string',
      enum: ['resource', 'change', 'plan'],
      default: 'resource',
      description:
        'What it judges: each resource of the stack, each change of a plan, or a plan as a whole.',
      examples: ['change'],
    },
    on: {
      type: ['string', 'array'],
      minItems: 1,
      'x-local': true,
      items: {
        type: 'string',
        enum: KIND_NAMES,
        'x-local': true,
        description: 'A kind.',
        examples: ['agent'],
      },
      description: 'Kinds that it is about; all of them where absent.',
      examples: ['agent', ['email_template', 'sms_template']],
    },
    when: {
      type: 'string',
      minLength: 1,
      'x-local': true,
      description: 'CEL expression: which of them it is about; all of them where absent.',
      examples: ['resource.agent_type == "outbound"'],
    },
    require: {
      type: 'string',
      minLength: 1,
      'x-local': true,
      description: 'CEL expression that must be true.',
      examples: ['has(resource.contact_policy)'],
    },
    schema: {
      type: 'object',
      additionalProperties: true,
      description:
        'JSON Schema (draft 2020-12, or draft-07 by its `$schema`) that the resource must fit, written out or as `{ $file: PATH }`.',
      examples: [{ $file: 'rules/outbound.schema.json' }, { required: ['contact_policy'] }],
    },
    field: {
      type: 'string',
      minLength: 1,
      'x-local': true,
      description: 'Field that a finding is shown at; the resource where absent.',
      examples: ['contact_policy'],
    },
    message: {
      type: 'string',
      minLength: 1,
      'x-local': true,
      description: 'What is said where it does not hold: one sentence.',
      examples: ['Every outbound agent needs a contact_policy'],
    },
    severity: {
      type: 'string',
      enum: ['error', 'warning'],
      default: 'error',
      description: 'An error stops validate, plan and apply; a warning is only shown.',
      examples: ['warning'],
    },
  },
};

/** `rules:` of callsheet.yaml. */
export const rulesSchema: SettingsField = {
  type: 'object',
  additionalProperties: ruleSchema,
  description: 'Rules of the team, by name.',
  examples: [
    {
      'no-deletes': {
        over: 'change',
        require: 'change.action != "delete"',
        message: 'Nothing is deleted from this stack',
      },
    },
  ],
};
