import type { FieldSchema } from '../core/schema.ts';
import type { Kind } from '../kinds/kind.ts';
import { resourceSchema } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';

/**
 * What the configuration may say that is no field of the platform: how resources are put together, and the
 * sections that every file may have. Editors, `callsheet explain` and the reference describe them from here.
 */

/** Members that a resource may have beside its fields. */
export const COMPOSING_MEMBERS = {
  base: {
    type: ['string', 'array'],
    items: { type: 'string', 'x-local': true, description: 'Name of a base.' },
    'x-local': true,
    description:
      'Bases that the resource is laid over; of several the last wins. Maps are merged, and so are lists whose elements have an identity; everything else is replaced.',
    examples: ['common'],
  },
  for_each: {
    type: ['array', 'object'],
    description:
      'The rows that the resource is written out for: a CSV, JSON or YAML file, or a list in place. `${each.column}` reads from a row.',
    examples: [{ $file: 'clinics.csv' }],
  },
  key: {
    type: 'string',
    'x-local': true,
    description: 'What tells the rows apart: it becomes part of the address.',
    examples: ['${each.slug}'],
  },
  allow_empty: {
    type: 'boolean',
    description:
      'Whether there may be no rows at all. The resources that they had are then deleted.',
    examples: [true],
  },
} as const satisfies { readonly [name: string]: FieldSchema };

const address = (description: string, example: string) =>
  ({ type: 'string', 'x-local': true, description, examples: [example] }) as const;

/** The sections that every file may have beside resources. */
export const SHARED_SECTIONS = {
  bases: {
    type: 'object',
    description: 'Partial resources that others are laid over, by name.',
    examples: [{ common: { timezone: 'America/New_York' } }],
    additionalProperties: {
      type: 'object',
      description: 'Fields of a resource; `base` names what it stands on itself.',
      examples: [{ timezone: 'America/New_York' }],
    },
  },
  moved: {
    type: 'array',
    description: 'Addresses that resources had before, so that a rename is no delete.',
    examples: [[{ from: 'agent.front', to: 'agent.reception' }]],
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to'],
      description: 'A move.',
      properties: {
        from: address('The address that it had.', 'agent.front'),
        to: address('The address that it has now.', 'agent.reception'),
      },
    },
  },
  forget: {
    type: 'array',
    description: 'Addresses that are no longer managed; what is live stays as it is.',
    examples: [['agent.old']],
    items: address('An address that the stack no longer has.', 'agent.old'),
  },
} as const satisfies { readonly [name: string]: FieldSchema };

/** Members of a resource that are Callsheet's and no field of the platform. */
export const OWN_MEMBERS: readonly string[] = [
  ...Object.keys(COMPOSING_MEMBERS),
  'lifecycle',
  'unchecked',
];

/** Everything that may be written in a resource of a kind, before it is put together. */
export function writtenSchema(kind: Kind): FieldSchema {
  const schema = resourceSchema(kind);
  return { ...schema, properties: { ...schema.properties, ...COMPOSING_MEMBERS } };
}

/** Everything that may stand at the top of `callsheet.yaml` beside the sections of the kinds. */
export const topSchema: FieldSchema = {
  ...settingsSchema,
  properties: { ...settingsSchema.properties, ...SHARED_SECTIONS },
};
