import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { isSchema, type Schema } from './schema.ts';

/**
 * `test/schemas/documents.generated.ts`: the documents as their schemas have them. A test holds the types that the
 * program uses against these, so that neither can change alone.
 */
export async function renderDocumentTypes(schemas: ReadonlyMap<string, Schema>): Promise<string> {
  const parts = await Promise.all([...schemas].map(([name, schema]) => renderOne(name, schema)));
  return [BANNER, ...parts].join('\n');
}

const BANNER = `// Generated from schemas/*.schema.json by \`npm run generate\`.
import type { Json, JsonObject } from '../../src/core/value.ts';
`;

/** A namespace: several schemas have definitions of the same name. */
async function renderOne(name: string, schema: Schema): Promise<string> {
  const code = await compile(typeable(schema) as JSONSchema, 'Document', {
    bannerComment: '',
    additionalProperties: false,
    unreachableDefinitions: true,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return `export declare namespace ${pascal(name)} {\n${code.replaceAll(COMMENT, '')}}\n`;
}

/** What members mean stands in the schema. */
const COMMENT = /^ *\/\*\*\n(?: *\*.*\n)*? *\*\/\n/gm;

function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A copy that the type generator understands: titles would name the types, and a bare value would be an object. */
function typeable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typeable);
  if (!isSchema(value)) return value;
  const entries = Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    if (key === '$id' || key === '$schema' || key === 'discriminator') return [];
    // A member may be called so, too.
    if (key === 'title' && typeof member === 'string') return [];
    if (key === '$ref') return [['$ref', String(member).replace('/$defs/', '/definitions/')]];
    return [[key === '$defs' ? 'definitions' : key, typeable(member)]];
  });
  const tsType = openType(value);
  return { ...Object.fromEntries(entries), ...(tsType === undefined ? {} : { tsType }) };
}

/** The type of what a schema leaves open. */
function openType({ description, type, ...others }: Schema): string | undefined {
  if (Object.keys(others).length > 0) return undefined;
  if (type === undefined) return typeof description === 'string' ? 'Json' : undefined;
  const types = [type].flat();
  if (!types.includes('object')) return undefined;
  return types.includes('null') ? 'JsonObject | null' : 'JsonObject';
}
