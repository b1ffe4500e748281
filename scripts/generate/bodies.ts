import { answerOf, contentOf } from './content.ts';
import type { Document } from './document.ts';
import { findOperations } from './operations.ts';
import { followReference } from './reference.ts';
import { isSchema, propertiesOf, type Schema } from './schema.ts';

const SECRECY = ['x-secret', 'x-sensitive', 'x-secrets-inside'];
const ALTERNATIVES = ['allOf', 'anyOf', 'oneOf'];

/**
 * `src/platform/bodies.generated.json`: which fields the bodies of each operation have and which of them are
 * secret, and nothing else. Schemas that are used by name stand under `$defs`.
 */
export function renderBodies(document: Document): unknown {
  const defs: { [name: string]: Schema } = {};
  const outline = (schema: Schema | undefined): Schema => {
    if (schema === undefined) return {};
    const name = componentOf(schema);
    if (name === undefined) return outlineOf(document, schema, outline);
    if (defs[name] === undefined) {
      defs[name] = {};
      defs[name] = outlineOf(document, followReference(document, schema), outline);
    }
    return { $ref: `#/$defs/${name}` };
  };
  const operations = findOperations(document).map(({ id, operation }) => {
    const properties = {
      request: outline(contentOf(operation.requestBody)),
      answer: outline(answerOf(document, operation)),
    };
    return [id, { properties }] as const;
  });
  const { ApiError, DuplicateSource } = document.components.schemas;
  const errors = outline({ anyOf: [ApiError, DuplicateSource] });
  return { properties: { ...Object.fromEntries(operations), errors }, $defs: defs };
}

function componentOf({ $ref }: Schema): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}

type Outline = (schema: Schema | undefined) => Schema;

/** Names and secrecy of a schema's members; alternatives are laid over each other. */
function outlineOf(document: Document, schema: Schema, outline: Outline): Schema {
  const own = {
    ...Object.fromEntries(Object.entries(schema).filter(([keyword]) => SECRECY.includes(keyword))),
    ...(isSchema(schema.items) ? { items: outline(schema.items) } : {}),
    ...(isSchema(schema.additionalProperties)
      ? { additionalProperties: outline(schema.additionalProperties) }
      : {}),
    ...(schema.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(propertiesOf(schema)).map(([name, member]) => [name, outline(member)]),
          ),
        }),
  };
  // An outline that is laid over another cannot have a name of its own.
  const inline: Outline = (one = {}) => outlineOf(document, followReference(document, one), inline);
  return ALTERNATIVES.flatMap((keyword) => schemasOf(schema[keyword]))
    .map(inline)
    .reduce<Schema>(overlay, own);
}

function overlay(one: Schema, other: Schema): Schema {
  const merged: { [keyword: string]: unknown } = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    const before = merged[keyword];
    merged[keyword] = isSchema(before) && isSchema(value) ? overlay(before, value) : value;
  }
  return merged;
}

function schemasOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}
