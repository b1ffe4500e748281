import { dereference, type FieldSchema } from '../../core/schema.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { CsvColumn } from '../../render/read/csv.ts';
import type { Form } from '../../render/read/figures.ts';
import type { Field } from '../../render/read/layout.ts';
import { namingFields } from './find.ts';

/**
 * The columns of a list of a kind: what names a resource, its id, and what tells it from others, under the
 * names that the configuration uses too.
 */
export function listFields(kind: Kind): readonly Field[] {
  const [name = 'name', ...aliases] = namingFields(kind);
  const others = kind.columns.map((path, index): Field => {
    const form = formOf(fieldSchema(kind, path));
    const field = { path, title: path, form, drop: index + 1 };
    return form === 'text' ? { ...field, least: 12 } : field;
  });
  return [
    { path: name, title: name, least: 24 },
    { path: 'id', title: 'id' },
    ...others,
    ...aliases.map((path): Field => ({ path, title: path, least: 24, drop: others.length + 1 })),
  ];
}

/** The same in CSV, with the owner. */
export function csvColumns(kind: Kind): readonly CsvColumn[] {
  return [...listFields(kind), ...kind.scope.map((path) => ({ path }))];
}

function fieldSchema({ schema }: Kind, name: string): FieldSchema {
  return dereference(schema, schema.properties?.[name] ?? {});
}

function formOf({ type, format }: FieldSchema): Form {
  const types = [type ?? []].flat();
  if (format === 'date-time') return 'time';
  return types.includes('integer') || types.includes('number') ? 'number' : 'text';
}
