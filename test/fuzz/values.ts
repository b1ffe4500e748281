import fc, { type Arbitrary } from 'fast-check';
import type { Document } from '../../scripts/generate/document.ts';
import { isSchema, type Schema } from '../../scripts/generate/schema.ts';
import type { Json } from '../../src/core/value.ts';
import { oneOf } from './choice.ts';
import { dereference } from './document.ts';
import { HINTS } from './hints.ts';

/** Values that a schema of the document allows, most of the time. Conditions (`if`) are not looked at. */
export function valuesOf(document: Document, given: Schema, name = ''): Arbitrary<Json> {
  const schema = whole(document, given);
  const hint = HINTS[name];
  if (hint !== undefined && schema.properties === undefined) return hint;
  if ('const' in schema) return fc.constant(schema.const as Json);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as Json[]));
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  if (alternatives.length > 0) {
    const { anyOf: _, oneOf: __, ...rest } = schema;
    return oneOf(
      ...alternatives.map((one) => valuesOf(document, merge(rest, whole(document, one)), name)),
    );
  }
  const types = [schema.type ?? 'anything'].flat().map(String);
  const weighted = types.map((type) => ({
    weight: type === 'null' ? 1 : 4,
    arbitrary: valuesOfType(document, schema, type),
  }));
  return oneOf(...weighted);
}

function valuesOfType(document: Document, schema: Schema, type: string): Arbitrary<Json> {
  const { minimum, maximum } = schema;
  const range = {
    ...(typeof minimum === 'number' ? { min: minimum } : {}),
    ...(typeof maximum === 'number' ? { max: maximum } : {}),
  };
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return oneOf(fc.integer({ min: 0, max: 200, ...range }), fc.constantFrom(...edges(range)));
    case 'number':
      return oneOf(
        fc.integer({ min: 1, max: 2000, ...range }),
        fc.double({ min: 0.1, max: 1e6, ...range, noNaN: true }),
      );
    case 'string':
      return texts(schema);
    case 'array':
      return fc.array(valuesOf(document, isSchema(schema.items) ? schema.items : {}), {
        maxLength: 4,
      });
    case 'object':
      return records(document, schema);
    default:
      return ANYTHING;
  }
}

function edges({ min = 0, max = 1_000_000 }: { min?: number; max?: number }): readonly number[] {
  return [min, max];
}

/** Any JSON, small. */
export const ANYTHING: Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

const TEXT = oneOf(
  {
    weight: 6,
    arbitrary: fc.constantFrom('Front desk', 'Hello {{name|there}}', 'x', 'a'.repeat(60)),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
);

function texts(schema: Schema): Arbitrary<string> {
  if (schema['x-secret'] === true) return fc.constant(SECRET);
  const { minLength = 0, maxLength = 10_000 } = schema;
  const [shortest, longest] = [Number(minLength), Number(maxLength)];
  const fits = (text: string) => [...text].length >= shortest && [...text].length <= longest;
  switch (schema.format) {
    case 'uuid':
      return fc.uuid();
    case 'date':
      return fc.integer({ min: 0, max: 3000 }).map((day) => instant(day).slice(0, 10));
    case 'date-time':
      return fc.integer({ min: 0, max: 3000 }).map(instant);
    case 'uri':
      return fc.constantFrom(
        'https://a.example.test/faq',
        'https://b.example.test/?q=1#x',
        'http://c.test',
      );
    case 'email':
      return fc.constantFrom('desk@harbor.example.test', 'a+b@c.test');
    case 'iana-timezone':
      return fc.constantFrom('Europe/Berlin', 'America/New_York', 'UTC');
    default:
      return oneOf(
        { weight: 6, arbitrary: TEXT.filter(fits) },
        { weight: 1, arbitrary: fc.constant('n'.repeat(Math.min(longest, 3000))) },
      );
  }
}

/** Goes into every secret. It must not come back. */
export const SECRET = 'canary-secret';

function instant(day: number): string {
  return new Date(Date.UTC(2024, 0, 1) + day * 86_400_000).toISOString();
}

function records(document: Document, schema: Schema): Arbitrary<Json> {
  const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {});
  const required = listed(schema.required);
  const optional = properties.filter(([name]) => !required.includes(name));
  // All members of a wide object at once would drown what matters: it has two or three of them.
  const left = Math.max(1, optional.length / 2.5 - 1);
  const members = properties.map(([name, property]) => {
    const value = valuesOf(document, isSchema(property) ? property : {}, name);
    const given = value.map((one): Members => [[name, one]]);
    if (required.includes(name)) return given;
    // Each is drawn by itself, so that a finding can lose it while the others stay as they are.
    return oneOf(
      { weight: Math.round(10 * left), arbitrary: fc.constant<Members>([]) },
      { weight: 10, arbitrary: given },
    );
  });
  const extra = isSchema(schema.additionalProperties)
    ? fc.dictionary(
        fc.constantFrom('busy', 'X-Key', 'other'),
        valuesOf(document, schema.additionalProperties),
        { maxKeys: 2 },
      )
    : fc.constant({});
  return fc
    .tuple(fc.tuple(...members), extra)
    .map(([given, more]) => ({ ...more, ...withCompanions(schema, given.flat()) }));
}

/** A member of an object by its name, or nothing. */
type Members = readonly (readonly [name: string, value: Json])[];

/** `dependentRequired`: what must come along is taken out again where it does not. */
function withCompanions(
  { dependentRequired }: Schema,
  members: Members,
): { readonly [name: string]: Json } {
  const names = members.map(([name]) => name);
  const lonely = Object.entries(isSchema(dependentRequired) ? dependentRequired : {})
    .filter(([, needs]) => listed(needs).some((name) => !names.includes(name)))
    .map(([name]) => name);
  return Object.fromEntries(members.filter(([name]) => !lonely.includes(name)));
}

/** A schema with its reference and `allOf` merged in. */
function whole(document: Document, given: Schema): Schema {
  const { allOf, ...schema } = dereference(document, given);
  return listOf(allOf)
    .map((part) => whole(document, part))
    .reduce(merge, schema);
}

function merge(a: Schema, b: Schema): Schema {
  return {
    ...a,
    ...b,
    ...(a.properties || b.properties
      ? { properties: { ...Object(a.properties), ...Object(b.properties) } }
      : {}),
    required: [...new Set([...listed(a.required), ...listed(b.required)])],
  };
}

function listOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function listed(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
