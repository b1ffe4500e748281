import { compile } from 'json-schema-to-typescript';
import type { Document } from './document.ts';
import { type Found, findOperations, followReference } from './operations.ts';
import { isSchema, type Schema } from './schema.ts';

/** `src/api/types.generated.ts`: a type for each component, and for each operation what goes in and out. */
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
    bannerComment: '// Generated from schemas/platform.openapi.yaml by `npm run generate`.',
    additionalProperties: true,
    unreachableDefinitions: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return code.replaceAll(NOISE, '');
}

/** What the type generator says under every type of a definition. */
const NOISE =
  / \*\n \* This interface was referenced by `Operations`'s JSON-Schema\n \* via the `definition` ".*"\.\n/g;

function shapeOf(document: Document, { operation, parameters }: Found): Schema {
  const body = contentOf(operation.requestBody);
  const answer = answerOf(document, operation);
  return object(
    [
      ['path', group(parameters, 'path')] as const,
      ['query', group(parameters, 'query')] as const,
      ['body', body] as const,
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

function object(entries: readonly (readonly [string, Schema])[]): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: entries.map(([key]) => key),
    properties: Object.fromEntries(entries),
  };
}

/** The schema of the answer that is no error; none for 204. */
function answerOf(document: Document, operation: Schema): Schema | undefined {
  const responses = operation.responses;
  if (!isSchema(responses)) return undefined;
  const status = Object.keys(responses).find((code) => code.startsWith('2'));
  const response = status === undefined ? undefined : responses[status];
  return isSchema(response) ? contentOf(followReference(document, response)) : undefined;
}

function contentOf(holder: unknown): Schema | undefined {
  const content = isSchema(holder) ? holder.content : undefined;
  const media = isSchema(content) ? Object.values(content)[0] : undefined;
  const schema = isSchema(media) ? media.schema : undefined;
  return isSchema(schema) ? schema : undefined;
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

/** A copy that the type generator understands: local references to `definitions`, nothing a type cannot say. */
function typeable(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .map(typeable)
      .filter((member) => !(isSchema(member) && Object.keys(member).length === 0));
  if (!isSchema(value)) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !BEYOND_TYPES.has(key) && !key.startsWith('x-'))
    .map(([key, member]) => [
      key,
      key === '$ref'
        ? String(member).replace('/components/schemas/', '/definitions/')
        : typeable(member),
    ])
    .filter(([key, member]) => !(key === 'allOf' && Array.isArray(member) && member.length === 0));
  return Object.fromEntries(entries);
}
