import type { Document } from '../generate/document.ts';
import { isSchema, propertiesOf, type Schema } from '../generate/schema.ts';
import type { Finding, Rule } from './problem.ts';
import { follow, type Place, placesBelow } from './walk.ts';

/** Keywords of our own that mean something here; the table at the head of the document explains them. */
const KEYWORDS = [
  'x-assumed-body',
  'x-assumes',
  'x-assumption',
  'x-assumptions',
  'x-documented',
  'x-invalid',
  'x-malformed',
  'x-paginated',
  'x-repeatable',
  'x-scoped',
  'x-secret',
  'x-secrets-inside',
  'x-sensitive',
  'x-unauthorized',
];

export const SCHEMA_RULES: readonly Rule[] = [
  ({ document }) =>
    placesBelow(document).flatMap((place) =>
      isProperties(place) ? undescribed(document, place) : [],
    ),

  ({ document }) =>
    placesBelow(document).flatMap((place) =>
      Array.isArray(place.node.required)
        ? undefinedMembers(document, place, place.node.required)
        : [],
    ),

  ({ document }) =>
    placesBelow(document).flatMap(({ node, path }) =>
      isExample(path)
        ? []
        : Object.keys(node)
            .filter((keyword) => keyword.startsWith('x-') && !KEYWORDS.includes(keyword))
            .map((keyword) => ({
              rule: 'known-keywords',
              path: [...path, keyword],
              message: 'is no keyword of ours',
            })),
    ),
];

function undescribed(document: Document, { node, path }: Place): readonly Finding[] {
  return Object.entries(node).flatMap(([name, property]) =>
    isSchema(property) && describes(document, { node: property, path: [...path, name] })
      ? []
      : [{ rule: 'described', path: [...path, name], message: 'needs a description' }],
  );
}

/** Returns true if a schema, the target of its reference or one of its parts has a description. */
function describes(document: Document, place: Place): boolean {
  const { node } = follow(document, place);
  return (
    [place.node.description, node.description].some(
      (text) => typeof text === 'string' && text !== '',
    ) || partsOf(node).some((one) => describes(document, { node: one, path: place.path }))
  );
}

function undefinedMembers(
  document: Document,
  { node, path }: Place,
  required: readonly unknown[],
): readonly Finding[] {
  const known = new Set(memberNames(document, node));
  // A condition only narrows the schema that it stands in.
  const outer = ['then', 'else', 'if'].includes(path.at(-1) ?? '') ? parentOf(document, path) : {};
  for (const name of memberNames(document, outer)) known.add(name);
  return required
    .filter((name) => !known.has(String(name)))
    .map((name) => ({
      rule: 'required-described',
      path: [...path, 'required'],
      message: `${String(name)} is required and not among the properties`,
    }));
}

function memberNames(document: Document, schema: Schema): readonly string[] {
  const parts = Array.isArray(schema.allOf) ? schema.allOf.filter(isSchema) : [];
  return [
    ...Object.keys(propertiesOf(schema)),
    ...parts.flatMap((part) =>
      memberNames(document, follow(document, { node: part, path: [] }).node),
    ),
  ];
}

function parentOf(document: Document, path: readonly string[]): Schema {
  let at: unknown = document;
  for (const key of path.slice(0, -1)) at = isSchema(at) ? at[key] : undefined;
  return isSchema(at) ? at : {};
}

function partsOf({ anyOf, oneOf, allOf, items }: Schema): readonly Schema[] {
  return [anyOf, oneOf, allOf, [items]].flatMap((list) =>
    Array.isArray(list) ? list.filter(isSchema) : [],
  );
}

/** Keywords whose schemas are conditions on members that are described elsewhere. */
const CONDITIONS = ['if', 'then', 'contains'];

/** Returns true for a schema's `properties`, false for a property of that name. */
function isProperties({ path }: Place): boolean {
  return (
    path.at(-1) === 'properties' &&
    path.at(-2) !== 'properties' &&
    !CONDITIONS.some((keyword) => path.includes(keyword))
  );
}

function isExample(path: readonly string[]): boolean {
  return path.includes('examples');
}
