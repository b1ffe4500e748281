import type { FieldSchema } from '../core/schema.ts';
import { isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { ADDRESS, NAME } from './editor-names.ts';
import { COMPOSING_MEMBERS, SHARED_SECTIONS } from './own-members.ts';

/**
 * What editors know of how resources are put together: bases, rows, moves. The fields themselves are in
 * `editor-schema.ts`.
 */

const text = (description: string, example: string): JsonObject => ({
  type: 'string',
  description,
  examples: [example],
});

/** What editors show of a schema as it stands. */
function shown({ type, description, examples }: FieldSchema): JsonObject {
  // Schemas are JSON; of examples editors can offer those of one value.
  const scalars = (examples ?? []).filter((example) => typeof example !== 'object') as Json[];
  return {
    ...(type === undefined ? {} : { type: type as Json }),
    ...(description === undefined ? {} : { description }),
    ...(scalars.length === 0 ? {} : { examples: scalars }),
  };
}

const { base, for_each: rows, key, allow_empty: empty } = COMPOSING_MEMBERS;

/** Members that a resource may have beside its fields. */
const MEMBERS: JsonObject = {
  base: { ...shown(base), items: shown(base.items) },
  for_each: {
    description: rows.description,
    anyOf: [
      {
        title: 'rows from a file',
        type: 'object',
        required: ['$file'],
        additionalProperties: false,
        properties: { $file: text('A CSV, JSON or YAML file of the stack.', 'clinics.csv') },
      },
      { title: 'rows', type: [...rows.type] },
    ],
    defaultSnippets: [{ label: '{ $file: … }', bodyText: '{ \\$file: ${1:clinics.csv} }' }],
  },
  key: shown(key),
  allow_empty: shown(empty),
};

/** What every resource of a kind, and a base for them, may have. */
export function fieldsOf({ required: _, if: __, then: ___, ...own }: JsonObject): JsonObject {
  return { ...own, properties: { ...asObject(own.properties), ...MEMBERS } };
}

/** A resource of a kind: its fields, and what it must have unless a base gives it. */
export function composed(kind: string, { required, if: when, then }: JsonObject): JsonObject {
  const fields: Json = { $ref: `#/definitions/fields.${kind}` };
  // biome-ignore-start lint/suspicious/noThenProperty: It is a keyword of JSON Schema.
  const conditions: Json[] = [
    ...(required === undefined
      ? []
      : [{ if: { required: ['base'] }, then: true, else: { required } }]),
    // What a rule says of a field's type it says at validate: editors would show the rule in place of the field.
    ...(when === undefined || !isObject(then) || then.required === undefined
      ? []
      : [{ if: when, then }]),
  ];
  // biome-ignore-end lint/suspicious/noThenProperty: It is a keyword of JSON Schema.
  return { allOf: [fields, ...conditions] };
}

const { bases, moved, forget } = SHARED_SECTIONS;
const { from, to } = moved.items.properties;

/** The sections that every file may have beside resources. */
export function sharedSections(kinds: readonly Kind[]): JsonObject {
  return {
    bases: {
      ...shown(bases),
      propertyNames: { pattern: NAME },
      additionalProperties: {
        description: bases.additionalProperties.description,
        anyOf: kinds.map(({ name }) => ({ $ref: `#/definitions/fields.${name}` })),
      },
    },
    moved: {
      ...shown(moved),
      items: {
        type: 'object',
        additionalProperties: false,
        required: [...moved.items.required],
        properties: {
          from: { ...shown(from), pattern: ADDRESS },
          to: { ...shown(to), pattern: ADDRESS },
        },
        defaultSnippets: [
          { label: 'a move', body: { from: '${1:agent.old}', to: '${2:agent.new}' } },
        ],
      },
    },
    forget: { ...shown(forget), items: { ...shown(forget.items), pattern: ADDRESS } },
  };
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}
