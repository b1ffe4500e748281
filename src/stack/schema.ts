import facts from '../../schemas/settings.json' with { type: 'json' };
import { formatNumber } from '../core/errors.ts';
import type { Path } from '../core/path.ts';
import { dereference, type FieldSchema, itemSchema } from '../core/schema.ts';
import { oncePer } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';

const { lifecycle, unchecked } = facts.own;

/** `lifecycle` of a kind. The fields that its example ignores are those of the kind. */
function getLifecycle({ schema }: Kind): FieldSchema {
  const others = fieldNames(schema).filter(
    (name) =>
      schema.properties?.[name]?.['x-config'] === undefined && !schema.required?.includes(name),
  );
  const ignore = { ...lifecycle.properties.ignore, examples: [others.slice(0, 1)] };
  return { ...lifecycle, properties: { ...lifecycle.properties, ignore } };
}

/** Types that a schema allows; none stands for any. */
export function listTypes(schema: FieldSchema): readonly string[] {
  if (schema.type === undefined) return [];
  return typeof schema.type === 'string' ? [schema.type] : schema.type;
}

/** Returns true if a schema allows any value. */
export function isFree(schema: FieldSchema): boolean {
  return schema.type === undefined && schema.enum === undefined && schema.const === undefined;
}

/** Returns true for prose: a text that nothing constrains but its length. */
export function isText(schema: FieldSchema): boolean {
  return (
    listTypes(schema).includes('string') &&
    schema.enum === undefined &&
    schema.const === undefined &&
    schema.format === undefined &&
    schema['x-format'] === undefined &&
    !('pattern' in schema) &&
    schema['x-ref'] === undefined &&
    schema['x-file'] === undefined &&
    schema['x-secret'] !== true &&
    schema['x-local'] !== true &&
    typeof schema['x-config'] !== 'string'
  );
}

/** Keywords of JSON Schema that `FieldSchema` does not name. */
type Limits = FieldSchema & {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
};

/** The limits of a field in words: `not empty`, `at most 160 characters`. */
export function listLimits(given: FieldSchema): readonly string[] {
  const schema: Limits = given;
  const words: string[] = [];
  const say = (limit: number | undefined, text: (number: string) => string) => {
    if (limit !== undefined) words.push(text(formatNumber(limit)));
  };
  say(schema.minimum, (n) => `at least ${n}`);
  say(schema.exclusiveMinimum, (n) => `greater than ${n}`);
  say(schema.maximum, (n) => `at most ${n}`);
  say(schema.exclusiveMaximum, (n) => `less than ${n}`);
  if ([schema.minLength, schema.minItems, schema.minProperties].includes(1))
    words.push('not empty');
  else say(schema.minLength, (n) => `at least ${n} characters`);
  say(schema.maxLength, (n) => `at most ${n} characters`);
  if (schema.minItems !== 1) say(schema.minItems, (n) => `at least ${n} in it`);
  say(schema.maxItems, (n) => `at most ${n} in it`);
  return words;
}

/** The name a field has in the configuration; undefined where it cannot be given. */
export function configName(name: string, schema: FieldSchema): string | undefined {
  if (isRefused(schema)) return undefined;
  const own = schema['x-config'];
  return typeof own === 'string' ? own : name;
}

/** Returns true if a written schema has the field only to refuse it. */
export function isRefused(schema: FieldSchema): boolean {
  return schema.readOnly === true || schema['x-config'] === false;
}

/** The schema that an object names for a key; undefined for a key that it does not name. */
export function namedField(schema: FieldSchema, key: string): FieldSchema | undefined {
  const { properties } = schema;
  // A key may be called `constructor`, which every object seems to have.
  return properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Names that an object's fields may be given under. */
export function fieldNames(schema: FieldSchema): readonly string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([, field]) => !isRefused(field))
    .map(([name]) => name)
    .sort();
}

/** Returns true if null may be given for a field, which clears it. */
function isClearable(schema: FieldSchema, required: boolean): boolean {
  return (
    !required &&
    schema['x-clearable'] !== false &&
    schema['x-immutable'] !== true &&
    schema['x-file'] === undefined &&
    schema['x-local'] !== true &&
    schema['x-facet'] !== true
  );
}

function orNull(schema: FieldSchema): FieldSchema {
  const types = listTypes(schema);
  if (types.length === 0 || types.includes('null')) return schema;
  return {
    ...schema,
    type: [...types, 'null'],
    ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }),
  };
}

function writtenProperties(root: FieldSchema, object: FieldSchema): Record<string, FieldSchema> {
  const properties: Record<string, FieldSchema> = {};
  for (const [name, given] of Object.entries(object.properties ?? {})) {
    const config = configName(name, given);
    if (config === undefined) {
      // Kept, so that giving it can be answered with more than "unknown".
      const { readOnly, description } = given;
      properties[name] = {
        ...(readOnly === true ? { readOnly } : { 'x-config': false }),
        ...(description === undefined ? {} : { description }),
      };
      continue;
    }
    const required = object.required?.includes(name) ?? false;
    const nullable = isClearable(dereference(root, given), required);
    const field = written(root, nullable ? dereference(root, given) : given);
    if (typeof given['x-config'] === 'string') {
      const { format: _, ...named } = field;
      properties[config] = named;
    } else properties[config] = nullable ? orNull(field) : field;
  }
  return properties;
}

/** A schema of the platform's fields as the schema of what the configuration may say of them. */
function written(root: FieldSchema, schema: FieldSchema): FieldSchema {
  const { additionalProperties: rest, items, $defs, properties, required } = schema;
  const format = schema['x-format'];
  return {
    ...schema,
    ...(format === undefined ? {} : { format }),
    ...(properties === undefined ? {} : { properties: writtenProperties(root, schema) }),
    ...(required === undefined
      ? {}
      : {
          required: required.flatMap((name) => {
            const field = properties?.[name];
            return field === undefined ? [name] : (configName(name, field) ?? []);
          }),
        }),
    ...(typeof rest === 'object' ? { additionalProperties: written(root, rest) } : {}),
    ...(items === undefined ? {} : { items: written(root, items) }),
    ...($defs === undefined
      ? {}
      : {
          $defs: Object.fromEntries(
            Object.entries($defs).map(([name, def]) => [name, written(root, def)]),
          ),
        }),
  };
}

/**
 * The schema of a resource as it is written: the platform's fields under the configuration's names,
 * without those that only the platform sets, and with Callsheet's own members. Value forms are not part
 * of it; `resolve.ts` follows them first, and `scripts/generate/editor-schema.ts` adds them for editors.
 */
export const resourceSchema = oncePer((kind: Kind): FieldSchema => {
  const fields = written(kind.schema, kind.schema);
  return {
    ...fields,
    properties: { ...fields.properties, lifecycle: getLifecycle(kind), unchecked },
  };
});

/** The schema of the block that holds a nested kind's resources, without the resources. */
export const blockSchema = oncePer((kind: Kind): FieldSchema => {
  const inherit = Object.entries(kind.nested?.inherit ?? {});
  const properties = inherit.map(([member, field]): [string, FieldSchema] => {
    const { 'x-config': _, ...schema } = kind.schema.properties?.[field] ?? {};
    return [member, schema];
  });
  return {
    type: 'object',
    required: inherit.map(([member]) => member),
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
});

/** Names of the fields that hold secrets, in any kind. */
export const secretNames = oncePer((kinds: readonly Kind[]): readonly string[] => {
  const names = new Set<string>();
  for (const { schema } of kinds) {
    collectSecretNames(schema, schema, names);
    for (const def of Object.values(schema.$defs ?? {})) collectSecretNames(schema, def, names);
  }
  return [...names];
});

function collectSecretNames(root: FieldSchema, schema: FieldSchema, into: Set<string>): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field['x-secret'] === true || field['x-sensitive'] === true) into.add(name);
    collectSecretNames(root, field, into);
  }
  if (schema.items !== undefined) collectSecretNames(root, itemSchema(root, schema), into);
}

/** From the configuration's names to the platform's. */
export function platformPath({ schema }: Kind, [first, ...rest]: Path): Path {
  if (first === undefined) return [];
  const { properties = {} } = schema;
  const [name = first] =
    Object.entries(properties).find(
      ([field, own]) => configName(field, own) === first && field !== first,
    ) ?? [];
  return [name, ...rest];
}
