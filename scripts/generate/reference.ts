import type { Document } from './document.ts';
import { isSchema, type Schema } from './schema.ts';

/** A reference into the same document, followed; anything else as it is. */
export function followReference(document: Document, value: Schema): Schema {
  const reference = value.$ref;
  if (typeof reference !== 'string') return value;
  let at: unknown = document;
  for (const key of reference.replace('#/', '').split('/')) at = isSchema(at) ? at[key] : undefined;
  if (!isSchema(at)) throw new Error(`nothing at ${reference}`);
  return at;
}
