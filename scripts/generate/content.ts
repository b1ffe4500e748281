import type { Document } from './document.ts';
import { followReference } from './reference.ts';
import { isSchema, propertiesOf, type Schema } from './schema.ts';

/** The schema of the answer that is no error; none for 204. */
export function answerOf(document: Document, operation: Schema): Schema | undefined {
  const responses = operation.responses;
  if (!isSchema(responses)) return undefined;
  const status = Object.keys(responses).find((code) => code.startsWith('2'));
  const response = status === undefined ? undefined : responses[status];
  return isSchema(response) ? contentOf(followReference(document, response)) : undefined;
}

/** The schema of a request's body or of an answer. */
export function contentOf(holder: unknown): Schema | undefined {
  const content = isSchema(holder) ? holder.content : undefined;
  const media = isSchema(content) ? Object.values(content)[0] : undefined;
  const schema = isSchema(media) ? media.schema : undefined;
  return isSchema(schema) ? schema : undefined;
}

/** The media type of a request's body or of an answer. */
export function mediaTypeOf(holder: unknown): string | undefined {
  const content = isSchema(holder) ? holder.content : undefined;
  return isSchema(content) ? Object.keys(content)[0] : undefined;
}

/** The shape that a client checks a good answer for. */
export type AnswerShape = {
  readonly answer: 'data-object' | 'data-list' | 'object' | 'any';
  readonly requires: readonly string[];
};

/**
 * Finds the shape that a good answer must have at the top. The answer of a write that rests on an assumption is
 * assumed as well: when it comes the write is done, and another shape would not undo it.
 */
export function answerShapeOf(document: Document, method: string, operation: Schema): AnswerShape {
  const schema = answerOf(document, operation);
  const isAssumed = method !== 'GET' && operation['x-assumption'] !== undefined;
  if (schema === undefined || isAssumed) return { answer: 'any', requires: [] };
  const { required, ...whole } = followReference(document, schema);
  const names = Array.isArray(required) ? required.map(String) : [];
  const requires = names.filter((name) => name !== 'data');
  const data = propertiesOf(whole).data;
  if (data === undefined || !names.includes('data')) return { answer: 'object', requires };
  const { type } = followReference(document, data);
  return { answer: type === 'array' ? 'data-list' : 'data-object', requires };
}
