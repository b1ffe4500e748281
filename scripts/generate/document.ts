import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { agentWriteForm, recordForm } from './kind-forms.ts';
import { inlineDefinitions, isSchema, plainSchema, resolvePointer, type Schema } from './schema.ts';

/** The parts of the OpenAPI document that the generators read. */
export type Document = {
  readonly paths: { readonly [path: string]: Schema };
  readonly components: { readonly schemas: { readonly [name: string]: Schema } } & Schema;
  readonly 'x-assumptions': { readonly [id: string]: Schema };
} & Schema;

/** What the schemas folder holds, read once. */
export type Sources = {
  readonly document: Document;
  readonly agentWrite: Schema;
};

/**
 * Bundles the OpenAPI document: whatever it refers to in other files of the folder is put in its place.
 * Its text is that of `platform.openapi.yaml` unless given.
 */
export function readSources(
  folder: URL,
  text: string = readFileSync(new URL('platform.openapi.yaml', folder), 'utf8'),
): Sources {
  const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
  const kind = (name: string): Schema => {
    const schema: unknown = JSON.parse(read(name));
    if (!isSchema(schema)) throw new Error(`${name} is no schema`);
    return schema;
  };
  const agentWrite = agentWriteForm(kind('kinds/agent.schema.json'));
  const external = (reference: string): unknown => {
    const [file = '', pointer] = reference.split('#');
    if (file === 'agent-write.schema.generated.json') return plainSchema(agentWrite);
    const root = kind(file);
    if (pointer === undefined) return recordForm(root);
    const part = inlineDefinitions(root, resolvePointer(root, pointer));
    return isSchema(part) ? plainSchema(part) : part;
  };
  const document: unknown = bundle(parse(text), external);
  return { document: checked(document), agentWrite };
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

function checked(document: unknown): Document {
  if (!isSchema(document)) throw new Error('platform.openapi.yaml is empty');
  for (const part of ['paths', 'components', 'x-assumptions'])
    if (!isSchema(document[part])) throw new Error(`platform.openapi.yaml has no ${part}`);
  return document as Document;
}
