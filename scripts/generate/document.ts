import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { wireForms } from './kind-forms.ts';
import { isSchema, propertiesOf, resolvePointer, type Schema } from './schema.ts';

/** The parts of the OpenAPI document that the generators read. */
export type Document = {
  readonly paths: { readonly [path: string]: Schema };
  readonly components: { readonly schemas: { readonly [name: string]: Schema } } & Schema;
  readonly 'x-assumptions': { readonly [id: string]: Schema };
} & Schema;

/** The contents of the schemas folder, read once. */
export type Sources = {
  readonly document: Document;
  /** The forms in which the platform returns and takes each kind: `wire.schema.generated.json`. */
  readonly wire: Schema;
};

/**
 * Bundles the OpenAPI document: whatever it refers to in other files of the folder is put in its place.
 * Its text is that of `platform.openapi.yaml` unless given.
 */
export function readSources(
  folder: URL,
  text: string = readFileSync(new URL('platform.openapi.yaml', folder), 'utf8'),
): Sources {
  const wire = wireForms(readKinds(folder));
  const external = (reference: string): unknown => {
    const [file, pointer = ''] = reference.split('#');
    if (file !== WIRE)
      throw new Error(`the document refers to ${reference}; only ${WIRE} is of the wire`);
    return resolvePointer(wire, pointer);
  };
  const document: unknown = spread(bundle(parse(text), external));
  return { document: checked(document), wire };
}

/** The OpenAPI file may refer to this file only: a kind's own schema is the configuration's. */
const WIRE = 'wire.schema.generated.json';

function readKinds(folder: URL): ReadonlyMap<string, Schema> {
  const kinds = new URL('kinds/', folder);
  return new Map(
    readdirSync(kinds)
      .sort()
      .map((name) => {
        const schema: unknown = JSON.parse(readFileSync(new URL(name, kinds), 'utf8'));
        if (!isSchema(schema)) throw new Error(`${name} is no schema`);
        return [name.replace('.schema.json', ''), schema];
      }),
  );
}

function bundle(value: unknown, external: (reference: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => bundle(member, external));
  if (!isSchema(value)) return value;
  const { $ref: reference, ...beside } = value;
  const own = (members: Schema) =>
    Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, bundle(member, external)]),
    );
  if (typeof reference !== 'string' || reference.startsWith('#')) return own(value);
  const target = external(reference);
  return isSchema(target) ? { ...target, ...own(beside) } : target;
}

/**
 * Parameters of a query that exclude each other stand as members of one, which is the only way to say so in
 * OpenAPI. They are sent one by one, so that here each is a parameter.
 */
function spread(value: unknown): unknown {
  if (Array.isArray(value))
    return value.flatMap((one) => (isSchema(one) ? membersOf(one) : one)).map(spread);
  if (!isSchema(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, spread(member)]));
}

function membersOf(parameter: Schema): readonly Schema[] {
  const { in: place, schema } = parameter;
  if (place !== 'query' || !isSchema(schema) || schema.type !== 'object') return [parameter];
  return Object.entries(propertiesOf(schema)).map(([name, { description, ...member }]) => ({
    name,
    in: place,
    description,
    schema: member,
  }));
}

function checked(document: unknown): Document {
  if (!isSchema(document)) throw new Error('platform.openapi.yaml is empty');
  for (const part of ['paths', 'components', 'x-assumptions'])
    if (!isSchema(document[part])) throw new Error(`platform.openapi.yaml has no ${part}`);
  return document as Document;
}
