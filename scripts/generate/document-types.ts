import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { isSchema, resolvePointer, type Schema } from './schema.ts';

/**
 * The types of documents, as their schemas have them: of those that are written for programs
 * (`src/core/documents.generated.ts`), and of those that the simulator reads. `core`: where `core/` lies.
 */
export async function renderDocumentTypes(
  schemas: ReadonlyMap<string, Schema>,
  { from, core }: { readonly from: string; readonly core: string },
): Promise<string> {
  const parts = await Promise.all([...schemas].map(([name, schema]) => renderOne(name, schema)));
  const banner = `// Generated from ${from} by \`npm run generate\`.
import type { Json, JsonObject } from '${core}/value.ts';
`;
  return [banner, ...parts].join('\n');
}

/** A namespace: several schemas have definitions of the same name. */
async function renderOne(name: string, schema: Schema): Promise<string> {
  const code = await compile(typeable(schema, schema) as JSONSchema, 'Document', {
    bannerComment: '',
    additionalProperties: false,
    unreachableDefinitions: true,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return `export declare namespace ${pascal(name)} {\n${readOnly(code.replaceAll(NOISE, '').replaceAll(EMPTY, '').replaceAll(COMMENT, '$1/** $2 */'))}}\n`;
}

/** Lines of the type generator that say where a definition is used, or state limits that no type has. */
const NOISE = /^ *\* (?:This interface was referenced by|via the `definition`|@minItems).*\n/gm;

/** A comment that said nothing else. */
const EMPTY = /^ *\/\*\*\n *\*\/\n/gm;

/** A comment of one line. */
const COMMENT = /^( *)\/\*\*\n *\* (.*)\n(?: *\*\n)* *\*\/$/gm;

/** The beginning of a member. */
const MEMBER = /^( +)((?:'[^']+'|\w+|\[k: string\])\??:(?= |$))/gm;

/** Documents are never changed once they are made. A type alias, unlike an interface, is a JSON object as well. */
function readOnly(code: string): string {
  const lines = code.split('\n');
  for (const [end, line] of lines.entries()) {
    if (!/^ *\}\[\];$/.test(line)) continue;
    const begins = new RegExp(`^${line.slice(0, line.indexOf('}'))}\\S.*\\{$`);
    const begin = lines.findLastIndex((one, at) => at < end && begins.test(one));
    lines[begin] = lines[begin]?.replace(/\{$/, 'readonly {') ?? '';
  }
  return lines
    .join('\n')
    .replaceAll(/^export interface (\w+) \{$((?:\n(?!\}).*)*)\n\}$/gm, 'export type $1 = {$2\n};')
    .replaceAll(/\b(\w+)\[\]/g, 'readonly $1[]')
    .replaceAll(MEMBER, '$1readonly $2');
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A copy that the type generator understands: titles would name the types, and a bare value would be an object. */
function typeable(value: unknown, root: Schema): unknown {
  if (Array.isArray(value)) return value.map((member) => typeable(member, root));
  if (!isSchema(value)) return value;
  const { $ref: reference } = value;
  const target = reference === undefined ? value : resolvePointer(root, String(reference));
  const tsType = isSchema(target) ? openType(target) : undefined;
  if (tsType !== undefined) return { description: value.description, tsType };
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
      if (key === '$id' || key === '$schema' || key === 'discriminator') return [];
      if (isOfRequired(member)) return [];
      // A member may be called so, too.
      if (key === 'title' && typeof member === 'string') return [];
      // With a description of its own a reference would be a type of its own.
      if (key === 'description' && reference !== undefined) return [];
      if (key === '$ref') return [['$ref', String(member).replace('/$defs/', '/definitions/')]];
      return [[key === '$defs' ? 'definitions' : key, typeable(member, root)]];
    }),
  );
}

/** Returns true if alternatives only say which members are required: no type of one object can say that. */
function isOfRequired(alternatives: unknown): boolean {
  return (
    Array.isArray(alternatives) &&
    alternatives.length > 0 &&
    alternatives.every((one) => isSchema(one) && Object.keys(one).join() === 'required')
  );
}

/** The type of what a schema leaves open. */
function openType({ description, type, ...others }: Schema): string | undefined {
  if (Object.keys(others).length > 0) return undefined;
  if (type === undefined) return typeof description === 'string' ? 'Json' : undefined;
  const types = [type].flat();
  if (!types.includes('object')) return undefined;
  return types.includes('null') ? 'JsonObject | null' : 'JsonObject';
}
