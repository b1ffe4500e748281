import type { ErrorObject, ValidateFunction } from 'ajv';
import type { FieldSchema } from '../core/schema.ts';
import { compile } from './compile-schema.ts';

const compiled = new WeakMap<FieldSchema, ValidateFunction>();

/** Every way in which a document breaks its schema, in the terms of ajv. Schemas are compiled once. */
export function schemaErrors(schema: FieldSchema, document: unknown): readonly ErrorObject[] {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = compile(schema);
    compiled.set(schema, validate);
  }
  return validate(document) ? [] : [...(validate.errors ?? [])];
}
