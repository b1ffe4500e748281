import { dereference, type FieldSchema } from '../core/schema.ts';
import type { Json, JsonObject } from '../core/value.ts';

/** A value as the text of a snippet, in which a dollar sign would begin a place to fill in. */
function escaped(value: Json): Json {
  if (typeof value === 'string') return value.replace(/[\\$}]/g, '\\$&');
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [String(escaped(key)), escaped(member)]),
  );
}

/** What an editor fills in for a map that has an example: the first one. */
export function exampleSnippet(schema: FieldSchema): Json | undefined {
  const example = (schema.examples ?? []).find(
    (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
  );
  if (example === undefined) return undefined;
  // Examples stand in JSON files.
  return { label: JSON.stringify(example), body: escaped(example as Json) };
}

/**
 * What an editor fills in for a new resource: a name, and each field that it must have with an example to
 * be written over.
 */
export function resourceSnippet(label: string, schema: FieldSchema): Json {
  const fields = requiredFields(schema, schema, 2);
  const body: JsonObject = { '${1:name}': fields.length === 0 ? '$2' : Object.fromEntries(fields) };
  return { label: `new ${label}`, description: schema.description ?? label, body };
}

/** What an editor fills in for a new element of a list: each field that it must have. */
export function elementSnippet(label: string, root: FieldSchema, element: FieldSchema): Json {
  return { label, body: Object.fromEntries(requiredFields(root, element, 1)) };
}

function requiredFields(
  root: FieldSchema,
  schema: FieldSchema,
  from: number,
): readonly (readonly [string, Json])[] {
  return requiredOf(schema).map((name, index): [string, Json] => {
    const field = dereference(root, schema.properties?.[name] ?? {});
    return [name, placeholder(from + index, field)];
  });
}

/** What must be given; of a choice, the first. */
function requiredOf(
  schema: FieldSchema & { readonly oneOf?: readonly FieldSchema[] },
): readonly string[] {
  const [choice] = schema.oneOf ?? [];
  return [...(schema.required ?? []), ...(choice?.required ?? [])].filter(
    (name) => schema.properties?.[name] !== undefined,
  );
}

function placeholder(place: number, field: FieldSchema): Json {
  const [example = field.const ?? field.default] = field.examples ?? [];
  if (field.const !== undefined) return field.const as Json;
  if (example === undefined || typeof example === 'object') return `$${place}`;
  // A text in a snippet is written without quotes, so it must not read as something else.
  return `\${${place}:${String(escaped(String(example)))}}`;
}
