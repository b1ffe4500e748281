import { stringify } from 'yaml';
import { dereference, type FieldSchema } from '../core/schema.ts';
import type { Json, JsonObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { composed, fieldsOf, sharedSections } from './editor-composition.ts';
import { formDefinitions, OVER_A_BASE, withForms } from './editor-forms.ts';
import { NAME } from './editor-names.ts';
import { elementSnippet, exampleSnippet, resourceSnippet } from './editor-snippets.ts';
import { factsOf } from './field-facts.ts';
import { blockSchema, fieldNames, isFree, resourceSchema, typesOf } from './schema.ts';
import { settingsSchema } from './settings-schema.ts';

/** Where a field stands. */
type Around = {
  /** It, or something above it, is sensitive or may hold secrets. */
  readonly takesSecrets: boolean;
  /** The object that holds it must have it. */
  readonly isRequired: boolean;
};

type Out = Record<string, Json>;

/** What editors show as it stands. */
const SHOWN = ['title', 'description', 'default', 'defaultSnippets'] as const;
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
  'anyOf',
  'if',
  'then',
] as const;
/** Formats that editors know; they would warn of others. */
const FORMATS: readonly unknown[] = ['uri', 'email', 'uuid'];

/** Stands for a kind where the fields are those of `callsheet.yaml`. */
const SETTINGS = 'settings';

function pick(schema: FieldSchema, names: readonly string[]): Out {
  const picked: Out = {};
  for (const [name, value] of Object.entries(schema)) {
    // Schemas are JSON; `FieldSchema` only does not say so of every member.
    if (names.includes(name)) picked[name] = value as Json;
  }
  return picked;
}

function pointTo(definition: string): Json {
  return { $ref: `#/definitions/${definition}` };
}

/** Where fields of their own definition stand. */
const OPEN: Around = { takesSecrets: false, isRequired: false };

/** What holds of a value itself, its members and its elements. */
function constraintsOf(
  root: FieldSchema,
  schema: FieldSchema,
  prefix: string,
  { takesSecrets }: Around,
): Out {
  const value = pick(schema, KEPT);
  // What is stricter than an address is one to an editor.
  if (value.format === 'web-address') value.format = 'uri';
  if (!FORMATS.includes(value.format)) delete value.format;
  // The values say it all; of a wrong one two messages would be one too many.
  if (value.enum !== undefined) delete value.type;
  const inner = (field: FieldSchema, isRequired = false) =>
    toEditor(root, field, prefix, { takesSecrets, isRequired });
  if (schema.properties !== undefined) {
    const names = fieldNames(schema).map((name): [string, Json] => [
      name,
      inner(schema.properties?.[name] ?? {}, schema.required?.includes(name)),
    ]);
    const over = prefix === SETTINGS ? {} : OVER_A_BASE;
    value.properties = { ...Object.fromEntries(names), ...over };
  }
  const rest = schema.additionalProperties;
  if (rest !== undefined)
    value.additionalProperties = typeof rest === 'object' ? inner(rest) : rest;
  if (schema.items !== undefined) value.items = inner(elementOf(root, schema));
  return { ...value, ...choiceOf(schema) };
}

/**
 * The schema of a list's elements. One that is recognised by an identity may say only what is different
 * from a base, which no editor knows; `callsheet validate` finds what it lacks in the end.
 */
function elementOf(root: FieldSchema, list: FieldSchema): FieldSchema {
  const { 'x-identity': identity, items = {} } = list;
  if (identity === undefined) return items;
  const whole = dereference(root, items);
  const { required: _, ...element } = whole;
  if (items.$ref === undefined) return element;
  const title = inWords(items.$ref.replace('#/$defs/', ''));
  return {
    ...element,
    title,
    defaultSnippets: [elementSnippet(title, root, whole)],
  } as FieldSchema;
}

/**
 * A choice of exactly one field. Editors only say of `oneOf` that several schemas match; told so, they
 * name the field that is too many.
 */
function choiceOf({ oneOf }: FieldSchema & { readonly oneOf?: readonly FieldSchema[] }): Out {
  const names = (oneOf ?? []).flatMap(({ required = [] }) => required);
  if (names.length === 0) return {};
  const pairs = names.flatMap((one, index) =>
    names.slice(index + 1).map((other) => ({
      if: { required: [one, other] },
      // biome-ignore lint/suspicious/noThenProperty: It is a keyword of JSON Schema.
      then: { properties: { [other]: false } },
    })),
  );
  return { anyOf: names.map((name) => ({ required: [name] })), allOf: pairs };
}

/** The description of a field with its facts, for editors that show Markdown. */
function describeField(field: FieldSchema, prefix: string, { isRequired }: Around): Out {
  const { description } = field;
  if (description === undefined) return {};
  const isOfPlatform = prefix !== SETTINGS;
  const examples = (field.examples ?? []).filter((example) => typeof example === 'object');
  const facts = [
    ...factsOf(field, { isRequired, isOfPlatform }),
    ...examples.map((example) => `For example \`${inFlow(example)}\`.`),
  ];
  if (facts.length === 0) return {};
  return { markdownDescription: [description, '', ...facts.map((fact) => `- ${fact}`)].join('\n') };
}

function inFlow(example: unknown): string {
  return stringify(example, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

/** What an editor shows and offers of a field. Of examples it can offer those of one value. */
function shownOf(field: FieldSchema, prefix: string, around: Around): Out {
  const shown = { ...pick(field, SHOWN), ...describeField(field, prefix, around) };
  // Where there is one value, it is offered without an example.
  if (field.const !== undefined) return shown;
  const scalars = (field.examples ?? []).filter((example) => typeof example !== 'object');
  // Schemas are JSON.
  return scalars.length === 0 ? shown : { ...shown, examples: scalars as Json[] };
}

function toEditor(
  root: FieldSchema,
  schema: FieldSchema,
  prefix: string,
  above: Around,
): JsonObject {
  const { $ref: reference, ...beside } = schema;
  // Where secrets are taken depends on what stands above, so there the definition is written out.
  if (reference !== undefined && !above.takesSecrets) {
    const name = reference.replace('#/$defs/', '');
    return { ...shownOf(beside, prefix, above), allOf: [pointTo(`${prefix}.${name}`)] };
  }
  const field = dereference(root, schema);
  const takesSecrets =
    above.takesSecrets ||
    field['x-secret'] === true ||
    field['x-sensitive'] === true ||
    field['x-secrets-inside'] === true;
  const shown = shownOf(field, prefix, above);
  if (isFree(field) && field.properties === undefined) return shown;
  const value = constraintsOf(root, field, prefix, { ...above, takesSecrets });
  return { ...shown, ...mapSnippet(field), ...withForms(field, value, takesSecrets) };
}

/** What is filled in for a map whose keys are free. */
function mapSnippet(field: FieldSchema): Out {
  const isMap = typesOf(field).includes('object') && field.properties === undefined;
  const snippet = isMap ? exampleSnippet(field) : undefined;
  return snippet === undefined ? {} : { defaultSnippets: [snippet] };
}

/** A name as words: `webhookTool`, `email_template` */
function inWords(name: string): string {
  return name
    .replace(/([A-Z])/g, ' $1')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function definitionsOf(kind: Kind): readonly [string, Json][] {
  const schema = resourceSchema(kind);
  const inner = Object.entries(schema.$defs ?? {}).map(([name, def]): [string, Json] => [
    `${kind.name}.${name}`,
    // Editors offer an element of a list under its title.
    { title: inWords(name), ...toEditor(schema, def, kind.name, OPEN) },
  ]);
  const own = toEditor(schema, schema, kind.name, OPEN);
  return [[kind.name, composed(kind.name, own)], [`fields.${kind.name}`, fieldsOf(own)], ...inner];
}

function named(values: Json, description: string, snippet: Json): JsonObject {
  return {
    type: 'object',
    description,
    propertyNames: { pattern: NAME },
    additionalProperties: values,
    defaultSnippets: [snippet],
  };
}

/** The section of a kind: its resources by name, or the blocks that hold them. */
function sectionOf(kind: Kind): JsonObject {
  const description = kind.schema.description ?? kind.name;
  const resource = pointTo(kind.name);
  const one = resourceSnippet(inWords(kind.name), resourceSchema(kind));
  if (kind.nested === undefined) return named(resource, description, one);
  const schema = blockSchema(kind);
  const block = toEditor(schema, schema, kind.name, OPEN);
  const members = block.properties;
  const title = inWords(kind.section).replace(/s$/, '');
  return named(
    {
      title,
      ...block,
      properties: {
        ...(typeof members === 'object' && members !== null ? members : {}),
        [kind.nested.key]: named(resource, description, one),
      },
    },
    description,
    resourceSnippet(title, schema),
  );
}

/**
 * One JSON Schema for `callsheet.yaml` and every file of resources, for editors: the kinds' schemas as
 * they are validated, with the value forms where they are taken. It is draft-07, which editors support
 * best, so the limits on numbers of webhooks are left to `callsheet validate`.
 */
export function editorSchema(kinds: readonly Kind[]): JsonObject {
  const settings = toEditor(settingsSchema, settingsSchema, SETTINGS, OPEN);
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
      ...sharedSections(kinds),
    },
    definitions: {
      ...formDefinitions(kinds),
      ...Object.fromEntries(kinds.flatMap(definitionsOf)),
    },
  };
}
