import { compile } from 'json-schema-to-typescript';
import { answerOf, contentOf, mediaTypeOf } from './content.ts';
import type { Document } from './document.ts';
import { type Found, findOperations } from './operations.ts';
import { isSchema, propertiesOf, type Schema } from './schema.ts';

/** `src/platform/types.generated.ts`: a type for each component, and for each operation what goes in and out. */
export async function renderTypes(document: Document): Promise<string> {
  const schemas = Object.entries(document.components.schemas);
  const root = {
    title: 'Operations',
    description: 'What each operation takes and answers.',
    ...object(findOperations(document).map((found) => [found.id, shapeOf(document, found)])),
    definitions: Object.fromEntries(
      schemas.map(([name, schema]) => [name, { ...schema, title: name }]),
    ),
  };
  const schema = typeable(root);
  if (!isSchema(schema)) throw new Error('the operations are an object');
  const code = await compile(schema, 'Operations', {
    bannerComment: BANNER,
    additionalProperties: true,
    unreachableDefinitions: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return code.replaceAll(NOISE, '');
}

const BANNER = `// Generated from schemas/platform.openapi.yaml by \`npm run generate\`.
import type { LocalFile } from './operation.ts';`;

/** The lines that the type generator writes under every type of a definition. */
const NOISE =
  / \*\n \* This interface was referenced by `Operations`'s JSON-Schema\n \* via the `definition` ".*"\.\n/g;

function shapeOf(document: Document, { operation, parameters }: Found): Schema {
  const body = contentOf(operation.requestBody);
  const answer = answerOf(document, operation);
  const isForm = mediaTypeOf(operation.requestBody) === 'multipart/form-data';
  return object(
    [
      ['path', group(parameters, 'path')] as const,
      ['query', group(parameters, 'query')] as const,
      [isForm ? 'form' : 'body', isForm ? withFiles(body) : body] as const,
      ['answer', answer] as const,
    ].flatMap(([key, schema]) => (schema === undefined ? [] : [[key, schema] as const])),
  );
}

function group(parameters: readonly Schema[], place: string): Schema | undefined {
  const members = parameters.filter((parameter) => parameter.in === place);
  if (members.length === 0) return undefined;
  const entries = members.map(
    ({ name, schema, description }) =>
      [String(name), { ...(isSchema(schema) ? schema : {}), description }] as const,
  );
  const required = members.filter((member) => member.required === true);
  return { ...object(entries), required: required.map((member) => String(member.name)) };
}

/** A form whose members of bytes are files. */
function withFiles(form: Schema = {}): Schema {
  const members = Object.entries(propertiesOf(form)).map(
    ([name, { contentMediaType, ...rest }]) => [
      name,
      contentMediaType === undefined ? rest : { ...rest, tsType: 'LocalFile' },
    ],
  );
  return { ...form, additionalProperties: false, properties: Object.fromEntries(members) };
}

function object(entries: readonly (readonly [string, Schema])[]): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: entries.map(([key]) => key),
    properties: Object.fromEntries(entries),
  };
}

/** Keywords that no type can say. */
const BEYOND_TYPES = new Set([
  'contains',
  'if',
  'then',
  'discriminator',
  'maxContains',
  'minContains',
]);

/** Returns true if alternatives are only formats of the same type. */
function isOfFormats(alternatives: unknown): boolean {
  return (
    Array.isArray(alternatives) &&
    alternatives.every((one) => isSchema(one) && Object.keys(one).every((key) => key === 'format'))
  );
}

/** A copy that the type generator understands: local references to `definitions`, nothing a type cannot say. */
function typeable(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .map(typeable)
      .filter((member) => !(isSchema(member) && Object.keys(member).length === 0));
  if (!isSchema(value)) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !BEYOND_TYPES.has(key) && !key.startsWith('x-'))
    .filter(([key, member]) => key !== 'anyOf' || !isOfFormats(member))
    .map(([key, member]) => [
      key,
      key === '$ref'
        ? String(member).replace('/components/schemas/', '/definitions/')
        : typeable(member),
    ])
    .filter(([key, member]) => !(key === 'allOf' && Array.isArray(member) && member.length === 0));
  return { ...Object.fromEntries(entries), ...(isAnything(value) ? { tsType: 'unknown' } : {}) };
}

/** Returns true if a schema has only a description: the generator would take it for an object. */
function isAnything(schema: Schema): boolean {
  const keywords = Object.keys(schema).filter(
    (keyword) => !keyword.startsWith('x-') && keyword !== 'examples',
  );
  return keywords.join() === 'description' && typeof schema.description === 'string';
}
