import type { FieldSchema } from '../core/schema.ts';
import { namedRules } from '../lint/rules.ts';
import { MAX_PROMPT_CHARACTERS, MIN_DUPLICATE_CHARACTERS } from '../lint/settings.ts';
import { guardsSchema } from './guards-schema.ts';
import { rulesSchema } from './rules-schema.ts';
import type { SettingsField } from './settings-field.ts';
import { stateSchema } from './state-schema.ts';

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
const lintSchema: SettingsField = {
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

const scalar: SettingsField = { type: ['string', 'number', 'boolean'], 'x-local': true };

/** What a request may be made with. */
export const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const endpoint: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description: 'Where an operation is found instead.',
  examples: [{ path: '/v2/retry-policies' }],
  properties: {
    method: {
      type: 'string',
      enum: [...METHODS],
      description:
        'HTTP method, of the same nature: POST, PUT and PATCH for each other. A read stays a GET, a delete a DELETE.',
      examples: ['PUT'],
    },
    path: {
      type: 'string',
      pattern: '^/',
      description:
        'Path below the base address, with the parameters of the operation in braces, each once. It does not lead to another operation.',
      examples: ['/v2/sms-templates/{templateId}'],
    },
  },
};

const properties: { readonly [name: string]: SettingsField } = {
  callsheet: {
    type: 'integer',
    const: 1,
    description: 'Version of the format. Always 1.',
    examples: [1],
  },
  platform: {
    type: 'object',
    additionalProperties: false,
    description: 'The platform that the stack is applied to.',
    examples: [{ base_url: 'https://voice.example.test' }],
    properties: {
      base_url: {
        type: 'string',
        format: 'uri',
        pattern: '^https?://',
        description:
          'Base address of the API. `CALLSHEET_BASE_URL` wins over it. Credentials go there only where the environment names the host, too (`CALLSHEET_ALLOW_HOSTS`), or a person confirms it.',
        examples: ['https://voice.example.test'],
      },
      endpoints: {
        type: 'object',
        additionalProperties: endpoint,
        description:
          'Where operations lie that the specification does not show (`callsheet assumptions`). Documented ones stay where they are; every plan names what was moved.',
        examples: [{ createRetryPolicy: { path: '/v1/policies' } }],
      },
      assume: {
        type: 'boolean',
        default: true,
        description:
          'Whether operations, bodies and fields that the specification does not show may be used. A change that needs one is `unsupported` otherwise.',
        examples: [false],
      },
    },
  },
  variables: {
    type: 'object',
    description: 'Named values that texts are filled in with.',
    examples: [{ base_url: { env: 'CALLSHEET_BASE_URL' } }],
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      description: 'One variable.',
      examples: [{ env: 'CALLSHEET_VAR_PHONE', default: '+15550100' }],
      properties: {
        env: {
          type: 'string',
          'x-local': true,
          description:
            'Environment variable that it is read from: `CALLSHEET_BASE_URL`, or one whose name begins with `CALLSHEET_VAR_`. Any other needs `--allow-env NAME` or `CALLSHEET_ALLOW_ENV`.',
          examples: ['CALLSHEET_VAR_PHONE'],
        },
        default: { ...scalar, description: 'Value where none is given.', examples: ['+15550100'] },
        description: {
          type: 'string',
          'x-local': true,
          description: 'What it is for.',
          examples: ['Number of the front desk'],
        },
      },
    },
  },
  organizations: {
    type: 'object',
    additionalProperties: {
      type: 'string',
      format: 'uuid',
      description: 'Id of the organization.',
    },
    description: 'Names for organization ids.',
    examples: [{ harbor: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11' }],
  },
  organization: {
    type: 'string',
    'x-config': 'organization',
    description:
      'Organization of every resource that names none: a name from `organizations`, or an id.',
    examples: ['harbor'],
  },
  include: {
    type: ['string', 'array'],
    minItems: 1,
    'x-local': true,
    items: { type: 'string', 'x-local': true },
    description:
      'Patterns of the YAML files that belong to the stack. All below the folder, where absent.',
    examples: [['agents/**/*.yaml', 'shared.yaml']],
  },
  state: stateSchema,
  guards: guardsSchema,
  lint: lintSchema,
  rules: rulesSchema,
};

/** What an environment can lay over the settings of the stack. */
export const ENVIRONMENT_MEMBERS: readonly string[] = [
  'platform',
  'variables',
  'organizations',
  'organization',
  'state',
  'guards',
];

const overlaid = Object.entries(properties).filter(([name]) => ENVIRONMENT_MEMBERS.includes(name));

const environments: SettingsField = {
  type: 'object',
  description: 'What is different in each environment, chosen with `--env NAME`.',
  examples: [{ staging: { variables: { base_url: { default: 'https://staging.example.test' } } } }],
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    description: 'One environment: settings that are laid over those of the stack, and patches.',
    examples: [{ patches: { 'agent.reception': { greeting_message: 'Staging, please hang up' } } }],
    properties: {
      ...Object.fromEntries(overlaid),
      patches: {
        type: 'object',
        description:
          'Fields that are laid over resources: by address, by the address of all rows, or by kind.',
        examples: [{ agent: { enable_recording: false } }],
        additionalProperties: {
          type: 'object',
          description: 'Fields of the resource.',
          examples: [{ greeting_message: 'Staging, please hang up' }],
        },
      },
    },
  },
};

/** The members of `callsheet.yaml` that set the stack up. It may hold resources beside them. */
export const settingsSchema: FieldSchema = {
  type: 'object',
  required: ['callsheet'],
  additionalProperties: false,
  properties: { ...properties, environments },
};
