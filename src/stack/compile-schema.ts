import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FieldSchema } from '../core/schema.ts';
import { FORMATS } from './formats.ts';

/** Not strict: the schemas carry facts of Callsheet's own (`x-…`). */
export const AJV_OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  messages: false,
};

/** Callsheet's own formats, as ajv takes them. */
export const AJV_FORMATS = Object.fromEntries(
  Object.entries(FORMATS).map(([name, { check }]) => [
    name,
    { type: 'string' as const, validate: check },
  ]),
);

/** Kinds share no `$id` here: each schema stands for itself, however often it is derived. */
export function withoutId(schema: FieldSchema): FieldSchema {
  const { $id: _, ...anonymous }: FieldSchema & { readonly $id?: string } = schema;
  return anonymous;
}

let shared: Ajv2020 | undefined;

/** In the bundle this is `compiled.ts`: what is compiled here at each start, the build has compiled already. */
export function compile(schema: FieldSchema): ValidateFunction {
  shared ??= new Ajv2020({ ...AJV_OPTIONS, formats: AJV_FORMATS });
  return shared.compile(withoutId(schema));
}
