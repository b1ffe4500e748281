import type { FieldSchema } from '../core/schema.ts';
import { kinds } from '../kinds/index.ts';
import { blockSchema, resourceSchema } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';

/** Every schema that something written is checked against, by a name that is fit for a variable. */
export function checkedSchemas(): ReadonlyMap<string, FieldSchema> {
  const nested = kinds.filter((kind) => kind.nested !== undefined);
  return new Map([
    ['stack', settingsSchema],
    ...kinds.map((kind): [string, FieldSchema] => [kind.name, resourceSchema(kind)]),
    ...nested.map((kind): [string, FieldSchema] => [`${kind.name}_block`, blockSchema(kind)]),
  ]);
}
