import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FieldSchema } from '../core/schema.ts';
import { FORMATS } from './formats.ts';

let shared: Ajv2020 | undefined;

function ajv(): Ajv2020 {
  if (shared !== undefined) return shared;
  // Not strict: the schemas carry facts of Callsheet's own (`x-…`) that say nothing about validity.
  const made = new Ajv2020({ allErrors: true, verbose: true, strict: false, messages: false });
  for (const [name, { check }] of Object.entries(FORMATS)) {
    made.addFormat(name, { type: 'string', validate: check });
  }
  shared = made;
  return made;
}

const compiled = new WeakMap<FieldSchema, ValidateFunction>();

/** Every way in which a document breaks its schema, in the terms of ajv. Schemas are compiled once. */
export function schemaErrors(schema: FieldSchema, document: unknown): readonly ErrorObject[] {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    // Kinds share no `$id` here: each schema stands for itself, however often it is derived.
    const { $id: _, ...anonymous }: FieldSchema & { readonly $id?: string } = schema;
    validate = ajv().compile(anonymous);
    compiled.set(schema, validate);
  }
  return validate(document) ? [] : [...(validate.errors ?? [])];
}
