import type { FieldSchema } from '../core/schema.ts';
import { guardsSchema } from './guards-schema.ts';
import { lintSchema } from './lint-schema.ts';
import { rulesSchema } from './rules-schema.ts';
import type { SettingsField } from './settings-field.ts';
import { stateSchema } from './state-schema.ts';

const scalar: SettingsField = { type: ['string', 'number', 'boolean'], 'x-local': true };

const endpoint: SettingsField = {
  type: 'object',
  additionalProperties: false,
  description: 'Where an operation is found instead.',
  examples: [{ method: 'POST', path: '/v1/retry-policies' }],
  properties: {
    method: {
      type: 'string',
      enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      description: 'HTTP method.',
      examples: ['POST'],
    },
    path: {
      type: 'string',
      pattern: '^/',
      description: 'Path below the base address; parameters stand in braces.',
      examples: ['/v1/agents/{agentId}'],
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
        description: 'Base address of the API. `CALLSHEET_BASE_URL` is used where it is absent.',
        examples: ['https://voice.example.test'],
      },
      endpoints: {
        type: 'object',
        additionalProperties: endpoint,
        description: 'Paths and methods of operations that the platform serves elsewhere.',
        examples: [{ createRetryPolicy: { path: '/v1/policies' } }],
      },
      assume: {
        type: 'boolean',
        default: true,
        description: 'Whether operations that the specification does not show may be used.',
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
      examples: [{ env: 'CLINIC_PHONE', default: '+15550100' }],
      properties: {
        env: {
          type: 'string',
          'x-local': true,
          description: 'Environment variable that it is read from.',
          examples: ['CALLSHEET_BASE_URL'],
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
