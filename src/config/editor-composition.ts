import type { Json, JsonObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { ADDRESS, NAME } from './editor-names.ts';

/**
 * What editors know of how resources are put together: bases, rows, moves. The fields themselves are in
 * `editor-schema.ts`.
 */

const text = (description: string, example: string): JsonObject => ({
  type: 'string',
  description,
  examples: [example],
});

const ROWS: JsonObject = {
  description:
    'The rows that the resource is written out for: a CSV, JSON or YAML file, or a list in place. `${each.column}` reads from a row.',
  anyOf: [
    {
      title: 'rows from a file',
      type: 'object',
      required: ['$file'],
      additionalProperties: false,
      properties: { $file: text('A CSV, JSON or YAML file of the stack.', 'clinics.csv') },
    },
    { title: 'rows', type: ['array', 'object'] },
  ],
  defaultSnippets: [{ label: '{ $file: … }', bodyText: '{ \\$file: ${1:clinics.csv} }' }],
};

const BASE: JsonObject = {
  type: ['string', 'array'],
  items: { type: 'string' },
  description:
    'Bases that the resource is laid over; of several the last wins. Maps are merged, and so are lists whose elements have an identity; everything else is replaced.',
  examples: ['common'],
};

/** Members that a resource may have beside its fields. */
const COMPOSING_MEMBERS: JsonObject = {
  base: BASE,
  for_each: ROWS,
  key: text('What tells the rows apart: it becomes part of the address.', '${each.slug}'),
  allow_empty: {
    type: 'boolean',
    description:
      'Whether there may be no rows at all. The resources that they had are then deleted.',
  },
};

/** What every resource of a kind, and a base for them, may have. */
export function fieldsOf({ required: _, if: __, then: ___, ...own }: JsonObject): JsonObject {
  return { ...own, properties: { ...asObject(own.properties), ...COMPOSING_MEMBERS } };
}

/** A resource of a kind: its fields, and what it must have unless a base gives it. */
export function composed(kind: string, { required, if: when, then }: JsonObject): JsonObject {
  const fields: Json = { $ref: `#/definitions/fields.${kind}` };
  // biome-ignore-start lint/suspicious/noThenProperty: It is a keyword of JSON Schema.
  const conditions: Json[] = [
    ...(required === undefined
      ? []
      : [{ if: { required: ['base'] }, then: true, else: { required } }]),
    ...(when === undefined || then === undefined ? [] : [{ if: when, then }]),
  ];
  // biome-ignore-end lint/suspicious/noThenProperty: It is a keyword of JSON Schema.
  return { allOf: [fields, ...conditions] };
}

/** The sections that every file may have beside resources. */
export function sharedSections(kinds: readonly Kind[]): JsonObject {
  return {
    bases: {
      type: 'object',
      description: 'Partial resources that others are laid over, by name.',
      propertyNames: { pattern: NAME },
      additionalProperties: {
        description: 'Fields of a resource; `base` names what it stands on itself.',
        anyOf: kinds.map(({ name }) => ({ $ref: `#/definitions/fields.${name}` })),
      },
    },
    moved: {
      type: 'array',
      description: 'Addresses that resources had before, so that a rename is no delete.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['from', 'to'],
        properties: {
          from: { ...text('The address that it had.', 'agent.front'), pattern: ADDRESS },
          to: { ...text('The address that it has now.', 'agent.reception'), pattern: ADDRESS },
        },
        defaultSnippets: [
          { label: 'a move', body: { from: '${1:agent.old}', to: '${2:agent.new}' } },
        ],
      },
    },
    forget: {
      type: 'array',
      description: 'Addresses that are no longer managed; what is live stays as it is.',
      items: { ...text('An address that the stack no longer has.', 'agent.old'), pattern: ADDRESS },
    },
  };
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}
