import { dereference, type FieldSchema } from '../core/schema.ts';
import type { Json, JsonObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { blockSchema, fieldNames, isFree, isText, resourceSchema, typesOf } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';

/** What a field may be given as beside a value of its type. */
type Secrecy = {
  /** It, or something above it, is sensitive or may hold secrets. */
  readonly takesSecrets: boolean;
};

type Out = Record<string, Json>;

/** The facts that editors show. */
const SHOWN = ['title', 'description', 'examples', 'default'] as const;
/** Keywords that are the same in draft-07 and say something about a value. */
const KEPT = [
  'type',
  'enum',
  'const',
  'format',
  'pattern',
  'required',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'oneOf',
  'anyOf',
  'if',
  'then',
] as const;
/** Formats that editors know; they would warn of others. */
const FORMATS: readonly unknown[] = ['uri', 'email', 'uuid'];

const NAME = '^[A-Za-z_][A-Za-z0-9_-]*$';

function pick(schema: FieldSchema, names: readonly string[]): Out {
  const picked: Out = {};
  for (const [name, value] of Object.entries(schema)) {
    // Schemas are JSON; `FieldSchema` only does not say so of every member.
    if (names.includes(name)) picked[name] = value as Json;
  }
  return picked;
}

function form(name: string, description: string, pattern: string, example: string): Json {
  return {
    type: 'object',
    description,
    additionalProperties: false,
    required: [name],
    properties: { [name]: { type: 'string', pattern, description, examples: [example] } },
    examples: [{ [name]: example }],
  };
}

const FORM_DEFINITIONS: JsonObject = {
  file: form('$file', 'The text of a file of the stack, as it is.', '\\S', 'prompts/reception.md'),
  secret: form(
    '$secret',
    'Read at the moment of writing; never stored or shown.',
    '^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$|\\$\\{',
    'env:SMS_TOKEN',
  ),
  interpolated: {
    type: 'string',
    pattern: '\\$\\{var\\.',
    description: 'A variable of the stack stands for the value.',
  },
};

function pointTo(definition: string): Json {
  return { $ref: `#/definitions/${definition}` };
}

/** Whether a scalar takes `${…}` only where that is said. One that takes every text needs no word of it. */
function isConstrained(schema: FieldSchema): boolean {
  const types = typesOf(schema);
  if (schema.const !== undefined) return false;
  if (!types.includes('string'))
    return types.some((type) => ['number', 'integer', 'boolean'].includes(type));
  return schema.enum !== undefined || schema.format !== undefined || 'pattern' in schema;
}

/** The forms that a field can be given in, beside a value as it is. */
function formsOf(schema: FieldSchema, { takesSecrets }: Secrecy): readonly Json[] {
  const types = typesOf(schema);
  const forms: Json[] = [];
  if (isText(schema)) forms.push(pointTo('file'));
  const target = schema['x-ref'];
  if (target !== undefined) forms.push(pointTo(`ref.${target}`));
  if (takesSecrets && types.includes('string')) forms.push(pointTo('secret'));
  if (isConstrained(schema) && schema['x-secret'] !== true) forms.push(pointTo('interpolated'));
  return forms;
}

/** What holds of a value itself, its members and its elements. */
function constraintsOf(
  root: FieldSchema,
  schema: FieldSchema,
  prefix: string,
  secrecy: Secrecy,
): Out {
  const value = pick(schema, KEPT);
  // What is stricter than an address is one to an editor.
  if (value.format === 'web-address') value.format = 'uri';
  if (!FORMATS.includes(value.format)) delete value.format;
  const inner = (field: FieldSchema) => toEditor(root, field, prefix, secrecy);
  if (schema.properties !== undefined) {
    const names = fieldNames(schema).map((name): [string, Json] => [
      name,
      inner(schema.properties?.[name] ?? {}),
    ]);
    value.properties = Object.fromEntries(names);
  }
  const rest = schema.additionalProperties;
  if (rest !== undefined)
    value.additionalProperties = typeof rest === 'object' ? inner(rest) : rest;
  if (schema.items !== undefined) value.items = inner(schema.items);
  return value;
}

function toEditor(
  root: FieldSchema,
  schema: FieldSchema,
  prefix: string,
  above: Secrecy,
): JsonObject {
  const { $ref: reference, ...beside } = schema;
  // Where secrets are taken depends on what stands above, so there the definition is written out.
  if (reference !== undefined && !above.takesSecrets) {
    const name = reference.replace('#/$defs/', '');
    return { ...pick(beside, SHOWN), allOf: [pointTo(`${prefix}.${name}`)] };
  }
  const field = dereference(root, schema);
  const takesSecrets =
    above.takesSecrets ||
    field['x-secret'] === true ||
    field['x-sensitive'] === true ||
    field['x-secrets-inside'] === true;
  const shown = pick(field, SHOWN);
  if (isFree(field) && field.properties === undefined) return shown;
  const value = constraintsOf(root, field, prefix, { takesSecrets });
  const forms = formsOf(field, { takesSecrets });
  if (field['x-secret'] === true) {
    const cleared: Json[] = typesOf(field).includes('null') ? [{ type: 'null' }] : [];
    return { ...shown, anyOf: [pointTo('secret'), ...cleared] };
  }
  return forms.length === 0 ? { ...shown, ...value } : { ...shown, anyOf: [value, ...forms] };
}

const OPEN: Secrecy = { takesSecrets: false };

function definitionsOf(kind: Kind): readonly [string, Json][] {
  const schema = resourceSchema(kind);
  const inner = Object.entries(schema.$defs ?? {}).map(([name, def]): [string, Json] => [
    `${kind.name}.${name}`,
    toEditor(schema, def, kind.name, OPEN),
  ]);
  const own = toEditor(schema, schema, kind.name, OPEN);
  const reference = form(
    '$ref',
    `The id of a resource of the stack: ${kind.name}.name.`,
    `^${kind.name}\\.|\\$\\{`,
    `${kind.name}.name`,
  );
  return [[kind.name, own], ...inner, [`ref.${kind.name}`, reference]];
}

function named(values: Json, description: string): JsonObject {
  return {
    type: 'object',
    description,
    propertyNames: { pattern: NAME },
    additionalProperties: values,
  };
}

/** The section of a kind: its resources by name, or the blocks that hold them. */
function sectionOf(kind: Kind): JsonObject {
  const description = kind.schema.description ?? kind.name;
  const resource = pointTo(kind.name);
  if (kind.nested === undefined) return named(resource, description);
  const schema = blockSchema(kind);
  const block = toEditor(schema, schema, kind.name, OPEN);
  const members = block.properties;
  return named(
    {
      ...block,
      properties: {
        ...(typeof members === 'object' && members !== null ? members : {}),
        [kind.nested.key]: named(resource, description),
      },
    },
    description,
  );
}

/**
 * One JSON Schema for `callsheet.yaml` and every file of resources, for editors: the kinds' schemas as
 * they are validated, with the value forms where they are taken. It is draft-07, which editors support
 * best, so the limits on numbers of webhooks are left to `callsheet validate`.
 */
export function editorSchema(kinds: readonly Kind[]): JsonObject {
  const settings = toEditor(settingsSchema, settingsSchema, 'settings', OPEN);
  const members = settings.properties;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Callsheet',
    description: 'A stack of AI phone agents: callsheet.yaml and the files of resources beside it.',
    type: 'object',
    additionalProperties: false,
    properties: {
      ...(typeof members === 'object' && members !== null ? members : {}),
      ...Object.fromEntries(kinds.map((kind) => [kind.section, sectionOf(kind)])),
    },
    definitions: {
      ...FORM_DEFINITIONS,
      ...Object.fromEntries(kinds.flatMap(definitionsOf)),
    },
  };
}
