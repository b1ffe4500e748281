import type { FieldSchema } from './schema.ts';

/** Stands wherever a sensitive value would. */
export const MASK = '(secret)';

/** Whether a field's value, and everything below it, is never shown. */
export function isSensitive(schema: FieldSchema): boolean {
  return schema['x-sensitive'] === true || schema['x-secret'] === true;
}
