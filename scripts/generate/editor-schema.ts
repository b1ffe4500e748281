import { dereference, type FieldSchema } from '../../src/core/schema.ts';
import { isObject, type Json, type JsonObject, mapTexts } from '../../src/core/value.ts';
import { ANY_KIND, findReferred } from '../../src/core/walk.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { writtenValue } from '../../src/stack/editor/explain-field.ts';
import {
  blockSchema,
  fieldNames,
  isFree,
  isText,
  listLimits,
  listTypes,
  resourceSchema,
} from '../../src/stack/schema.ts';
import {
  COMPOSING_MEMBERS,
  FORM_DEFINITIONS as forms,
  SHARED_SECTIONS,
  settingsSchema,
} from '../../src/stack/settings-schema.ts';

/** The surroundings of a field that its schema depends on. */
type Around = {
  /** It, or something above it, is sensitive or may hold secrets. */
  readonly takesSecrets: boolean;
  /** The object that holds it must have it. */
  readonly isRequired: boolean;
};

type Out = Record<string, Json>;

/** Keywords that editors show unchanged. */
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
  'minProperties',
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

/** Limits of a field of the platform, which are warnings where the specification does not state them. */
const LIMITS = [
  ...['format', 'x-format', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];

/** A schema without the limits that are warnings: an editor can only show errors. */
function withoutWarnings(schema: FieldSchema): FieldSchema {
  const { 'x-section': stated, 'x-assumes': assumed } = schema;
  if (stated === undefined && assumed === undefined) return schema;
  const isGrown = isGrowing(schema);
  const kept = Object.entries(schema).filter(([name]) =>
    ['enum', 'const'].includes(name)
      ? !isGrown
      : !LIMITS.includes(name) || stated?.[name] !== undefined,
  );
  return Object.fromEntries(kept);
}

/** True for a field of the platform with a list of values, which may have others by now. */
function isGrowing({
  enum: values,
  const: only,
  'x-section': stated,
  'x-assumes': assumed,
}: FieldSchema): boolean {
  const isList = values !== undefined || typeof only === 'string';
  return isList && (stated !== undefined || assumed !== undefined);
}

function listValues({ enum: values, const: only }: FieldSchema): readonly unknown[] {
  return (values ?? [only]).filter((value) => value !== null);
}

function code(value: unknown): string {
  return `\`${String(value)}\``;
}

function pointTo(definition: string): Json {
  return { $ref: `#/definitions/${definition}` };
}

/** The surroundings of a field in a definition of its own. */
const OPEN: Around = { takesSecrets: false, isRequired: false };

/** Builds the constraints of a value itself, its members and its elements. */
function buildConstraints(
  root: FieldSchema,
  schema: FieldSchema,
  prefix: string,
  { takesSecrets }: Around,
): Out {
  const value = pick(schema, KEPT);
  // Editors know only `uri`; a web address is a stricter one.
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
  if (schema.items !== undefined) value.items = inner(getElement(root, schema));
  return { ...value, ...buildChoice(schema) };
}

/**
 * The schema of a list's elements. One that is recognised by an identity may say only what is different
 * from a base, which no editor knows; `callsheet validate` finds what it lacks in the end.
 */
function getElement(root: FieldSchema, list: FieldSchema): FieldSchema {
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
 * Builds a choice of exactly one field. Editors only say of `oneOf` that several schemas match; with a condition for
 * each pair, they name the field that is too many.
 */
function buildChoice({ oneOf }: FieldSchema & { readonly oneOf?: readonly FieldSchema[] }): Out {
  const names = (oneOf ?? []).flatMap(({ required = [] }) => required);
  if (names.length === 0) return {};
  const pairs = names.flatMap((one, index) =>
    names
      .slice(index + 1)
      .map((other) => conditional({ required: [one, other] }, { properties: { [other]: false } })),
  );
  return { anyOf: names.map((name) => ({ required: [name] })), allOf: pairs };
}

const CONDITIONAL = ['if', 'then', 'else'] as const;

/** A schema with `if`, `then` and, where it is given, `else`. */
function conditional(...schemas: readonly [when: Json, then: Json, otherwise?: Json]): JsonObject {
  return Object.fromEntries(schemas.map((schema, index) => [CONDITIONAL[index], schema]));
}

/** The description of a field with its facts, for editors that show Markdown. */
function describeField(field: FieldSchema, prefix: string, { isRequired }: Around): Out {
  const { description } = field;
  if (description === undefined) return {};
  const isOfPlatform = prefix !== SETTINGS;
  const examples = (field.examples ?? []).filter((example) => typeof example === 'object');
  const facts = [
    ...(isGrowing(field) ? [`Known values: ${listValues(field).map(code).join(', ')}.`] : []),
    ...listFacts(field, { isRequired, isOfPlatform }),
    ...examples.map((example) => `For example \`${writtenValue(example as Json)}\`.`),
  ];
  if (facts.length === 0) return {};
  return { markdownDescription: [description, '', ...facts.map((fact) => `- ${fact}`)].join('\n') };
}

/** Builds what an editor shows and offers of a field. Of examples it can offer those of one value. */
function buildShown(field: FieldSchema, prefix: string, around: Around): Out {
  const shown = { ...pick(field, SHOWN), ...describeField(field, prefix, around) };
  // A single value is offered without an example.
  if (field.const !== undefined && !isGrowing(field)) return shown;
  const offered = isGrowing(field) ? listValues(field) : (field.examples ?? []);
  const scalars = offered.filter((example) => typeof example !== 'object');
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
  // A field takes secrets if one above it does, so below such a field the definition is written out.
  if (reference !== undefined && !above.takesSecrets) {
    const name = reference.replace('#/$defs/', '');
    return { ...buildShown(beside, prefix, above), allOf: [pointTo(`${prefix}.${name}`)] };
  }
  const field = dereference(root, schema);
  const takesSecrets =
    above.takesSecrets ||
    field['x-secret'] === true ||
    field['x-sensitive'] === true ||
    field['x-secrets-inside'] === true;
  const shown = buildShown(field, prefix, above);
  if (isFree(field) && field.properties === undefined) return shown;
  const value = buildConstraints(root, withoutWarnings(field), prefix, { ...above, takesSecrets });
  return { ...shown, ...mapSnippet(field), ...withForms(field, value, takesSecrets) };
}

/** Builds the snippet of a map whose keys are free. */
function mapSnippet(field: FieldSchema): Out {
  const isMap = listTypes(field).includes('object') && field.properties === undefined;
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

function listDefinitions(kind: Kind): readonly [string, Json][] {
  const schema = resourceSchema(kind);
  const inner = Object.entries(schema.$defs ?? {}).map(([name, def]): [string, Json] => [
    `${kind.name}.${name}`,
    // Editors offer an element of a list under its title.
    { title: inWords(name), ...toEditor(schema, def, kind.name, OPEN) },
  ]);
  const own = toEditor(schema, schema, kind.name, OPEN);
  return [
    [kind.name, composed(kind.name, own)],
    [`fields.${kind.name}`, dropRequired(own)],
    ...inner,
  ];
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
function buildSection(kind: Kind): JsonObject {
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
        ...asObject(members),
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
    description: 'A stack of AI phone agents: callsheet.yaml and the resource files next to it.',
    type: 'object',
    additionalProperties: false,
    properties: {
      ...asObject(members),
      ...Object.fromEntries(kinds.map((kind) => [kind.section, buildSection(kind)])),
      ...sharedSections(kinds),
    },
    definitions: {
      ...formDefinitions(kinds),
      ...Object.fromEntries(kinds.flatMap(listDefinitions)),
    },
  };
}

// The rest describes how resources are put together: bases, rows, moves.

const text = (description: string, example: string): JsonObject => ({
  type: 'string',
  description,
  examples: [example],
});

/** Picks the keywords of a schema that editors show unchanged. */
function shown({ type, description, examples }: FieldSchema): JsonObject {
  // Schemas are JSON; of examples editors can offer those of one value.
  const scalars = (examples ?? []).filter((example) => typeof example !== 'object') as Json[];
  return {
    ...(type === undefined ? {} : { type: type as Json }),
    ...(description === undefined ? {} : { description }),
    ...(scalars.length === 0 ? {} : { examples: scalars }),
  };
}

const { base, for_each: rows, key, allow_empty: empty } = COMPOSING_MEMBERS;

/** Members that a resource may have beside its fields. */
const MEMBERS: JsonObject = {
  base: { ...shown(base), items: shown(base.items) },
  for_each: {
    description: rows.description,
    anyOf: [
      {
        title: 'rows from a file',
        type: 'object',
        required: ['$file'],
        additionalProperties: false,
        properties: { $file: text('A CSV, JSON or YAML file of the stack.', 'clinics.csv') },
      },
      { title: 'rows', type: [...rows.type] },
    ],
    defaultSnippets: [{ label: '{ $file: … }', bodyText: '{ \\$file: ${1:clinics.csv} }' }],
  },
  key: shown(key),
  allow_empty: shown(empty),
};

/** Adds the members that every resource and base may have, and drops what only a resource must have. */
function dropRequired({ required: _, if: __, then: ___, ...own }: JsonObject): JsonObject {
  return { ...own, properties: { ...asObject(own.properties), ...MEMBERS } };
}

/** A resource of a kind: its fields, and what it must have unless a base gives it. */
function composed(kind: string, { required, if: when, then }: JsonObject): JsonObject {
  const fields: Json = { $ref: `#/definitions/fields.${kind}` };
  const conditions = [
    ...(required === undefined ? [] : [conditional({ required: ['base'] }, true, { required })]),
    // A rule about a field's type is left to validate: editors would show the rule in place of the field.
    ...(when === undefined || !isObject(then) || then.required === undefined
      ? []
      : [conditional(when, then)]),
  ];
  return { allOf: [fields, ...conditions] };
}

const { bases, moved, forget } = SHARED_SECTIONS;
const { from, to } = moved.items.properties;

/** The sections that every file may have beside resources. */
function sharedSections(kinds: readonly Kind[]): JsonObject {
  return {
    bases: {
      ...shown(bases),
      propertyNames: { pattern: NAME },
      additionalProperties: {
        description: bases.additionalProperties.description,
        anyOf: kinds.map(({ name }) => ({ $ref: `#/definitions/fields.${name}` })),
      },
    },
    moved: {
      ...shown(moved),
      items: {
        type: 'object',
        additionalProperties: false,
        required: [...moved.items.required],
        properties: {
          from: { ...shown(from), pattern: ADDRESS },
          to: { ...shown(to), pattern: ADDRESS },
        },
        defaultSnippets: [
          { label: 'a move', body: { from: '${1:agent.old}', to: '${2:agent.new}' } },
        ],
      },
    },
    forget: { ...shown(forget), items: { ...shown(forget.items), pattern: ADDRESS } },
  };
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The name of a resource, as a pattern. */
const NAME = '^[A-Za-z_][A-Za-z0-9_-]*$';

/** An address, or what it begins with. */
const ADDRESS = '^[a-z_]+\\.[A-Za-z_*]';

/** A value as the text of a snippet, in which a dollar sign would begin a place to fill in. */
function escaped(value: Json): Json {
  const shown = (text: string) => text.replace(/[\\$}]/g, '\\$&');
  return mapTexts(value, shown, shown);
}

/** Builds a snippet from the first example that is a map. */
function exampleSnippet(schema: FieldSchema): Json | undefined {
  const example = (schema.examples ?? []).find(
    (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
  );
  if (example === undefined) return undefined;
  // Examples stand in JSON files.
  return { label: JSON.stringify(example), body: escaped(example as Json) };
}

/** Builds the snippet of a new resource: a name, and each required field with an example to be written over. */
function resourceSnippet(label: string, schema: FieldSchema): Json {
  const fields = requiredFields(schema, schema, 2);
  const body: JsonObject = { '${1:name}': fields.length === 0 ? '$2' : Object.fromEntries(fields) };
  return { label: `new ${label}`, description: schema.description ?? label, body };
}

/** Builds the snippet of a new element of a list: each required field. */
function elementSnippet(label: string, root: FieldSchema, element: FieldSchema): Json {
  return { label, body: Object.fromEntries(requiredFields(root, element, 1)) };
}

function requiredFields(
  root: FieldSchema,
  schema: FieldSchema,
  from: number,
): readonly (readonly [string, Json])[] {
  return listRequired(schema).map((name, index): [string, Json] => {
    const field = dereference(root, schema.properties?.[name] ?? {});
    return [name, placeholder(from + index, field)];
  });
}

/** Lists the fields that must be given; of a choice, the first. */
function listRequired(
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

type FactsOptions = {
  readonly isRequired: boolean;
  /** False for a setting of Callsheet's own. */
  readonly isOfPlatform: boolean;
};

/**
 * Lists the facts of a field's schema in sentences: limits, forms, what clearing and changing it means,
 * and what locks it. Its description and its examples are not among them.
 */
function listFacts(field: FieldSchema, options: FactsOptions): readonly string[] {
  const limits = listLimits(field).join(', ');
  const facts = [
    options.isRequired ? 'Required.' : undefined,
    limits === '' ? undefined : `${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`,
    field.default === undefined ? undefined : `\`${JSON.stringify(field.default)}\` where absent.`,
    ...listForms(field),
    ...(options.isOfPlatform ? describeKeeping(field, options.isRequired) : []),
    describeLock(field),
  ];
  return facts.filter((fact) => fact !== undefined);
}

/** The value forms that the field takes. */
function listForms(field: FieldSchema): readonly (string | undefined)[] {
  const target = findReferred(field, false);
  const named = target === ANY_KIND ? 'KIND' : target;
  return [
    isText(field) ? 'May be kept in a file: `{ $file: PATH }`.' : undefined,
    named === undefined ? undefined : `May refer to a resource: \`{ $ref: ${named}.NAME }\`.`,
    named === undefined && field['x-ids-inside'] === true
      ? 'May hold references to resources: `{ $ref: KIND.NAME }`.'
      : undefined,
    field['x-secret'] === true
      ? 'A secret: given as `{ $secret: env:NAME }`, never shown or stored.'
      : undefined,
    field['x-sensitive'] === true || field['x-secrets-inside'] === true
      ? 'May hold secrets: `{ $secret: env:NAME }`. Values are masked everywhere.'
      : undefined,
  ];
}

/** States how the platform keeps a value: if it can be cleared or changed, and what removing its line does. */
function describeKeeping(field: FieldSchema, isRequired: boolean): readonly (string | undefined)[] {
  const isOwn = listTypes(field).length > 0 && !isFree(field) && field['x-local'] !== true;
  const isNullable = listTypes(field).includes('null');
  const saysRevert = field.description?.includes('revert') === true;
  return [
    isNullable ? '`null` clears it.' : undefined,
    isOwn && !isNullable && !isRequired && field['x-clearable'] === false
      ? 'Cannot be cleared: if the line is removed, the value stays on the platform.'
      : undefined,
    field['x-immutable'] === true
      ? 'Cannot be changed: another value replaces the resource.'
      : undefined,
    field['x-revert'] === false && !saysRevert
      ? 'A history revert does not change it; a rollback restores it.'
      : undefined,
    field['x-set'] === true ? 'The order does not matter.' : undefined,
    field['x-identity'] === undefined
      ? undefined
      : `Elements are identified by \`${field['x-identity']}\`${field['x-repeats'] === true ? '; among elements with the same value, the order counts' : ''}.`,
  ];
}

function describeLock(field: FieldSchema): string | undefined {
  const lock = field['x-lock'];
  if (lock === undefined) return undefined;
  const feature = lock.replace('{value}', 'VALUE').replace('{key}', 'NAME');
  return `Can be locked by the feature \`${feature}\` (\`callsheet get features\`).`;
}

/**
 * Editors learn of the value forms from one schema: it has the members that a value may have instead of being
 * a text, and the constraints of the text. With a schema for each, editors would say of a slip in one only
 * that nothing matches.
 */

/** A form's member, with the definition that says what it is. */
type Form = {
  readonly key: string;
  /** The name of the definition. */
  readonly name: string;
  readonly definition: {
    readonly type: string;
    readonly pattern: string;
    readonly patternErrorMessage: string;
    readonly description: string;
    /** The first is offered where a value is to be typed. */
    readonly examples: readonly string[];
  };
};

const FILE: Form = { key: '$file', name: 'file', definition: forms.file };
const TEMPLATE: Form = { key: '$template', name: 'template', definition: forms.template };
const SECRET: Form = { key: '$secret', name: 'secret', definition: forms.secret };

function refTo(target: string): Form {
  const isAny = target === ANY_KIND;
  const [kind, pattern] = isAny ? ['KIND', '[a-z_]+'] : [target, target];
  const definition = {
    type: 'string',
    pattern: `^${pattern}\\.|\\$\\{`,
    patternErrorMessage: `Refer to a resource${isAny ? '' : ` of the kind ${kind}`}: ${kind}.NAME.`,
    description: `The id of a resource of the stack: ${kind}.NAME.`,
    examples: [`${isAny ? 'agent' : kind}.name`],
  };
  return { key: '$ref', name: `ref.${isAny ? 'any' : kind}`, definition };
}

/** Members that remove or replace a value of a base. They are offered nowhere, since few fields need them. */
const OVER_A_BASE: JsonObject = {
  $remove: { $ref: '#/definitions/remove' },
  $replace: { $ref: '#/definitions/replace' },
};

/**
 * Builds the definitions of the forms. `interpolated` is a variable in place of a value that is no free text: its
 * title tells it from the value's own schema. Where two are alike, editors show neither's description.
 */
function formDefinitions(kinds: readonly Kind[]): JsonObject {
  const refs = [...kinds.map(({ name }) => name), ANY_KIND].map(refTo);
  return {
    ...forms,
    ...Object.fromEntries(refs.map(({ name, definition }) => [name, definition])),
  };
}

/** The forms of an object that a field may be given in. */
function takenBy(field: FieldSchema, takesSecrets: boolean): readonly Form[] {
  const target = findReferred(field, false);
  // A schema without types takes every object as it is.
  const isTyped = listTypes(field).length > 0;
  return [
    ...(isText(field) ? [FILE, TEMPLATE] : []),
    ...(target === undefined || !isTyped ? [] : [refTo(target)]),
    ...(takesSecrets && listTypes(field).includes('string') ? [SECRET] : []),
  ];
}

/** Returns true if a scalar takes `${…}` only where its schema says so. One that takes every text need not say it. */
function isConstrained(field: FieldSchema): boolean {
  const types = listTypes(field);
  if (field.const !== undefined || field['x-secret'] === true) return false;
  if (!types.includes('string'))
    return types.some((type) => ['number', 'integer', 'boolean'].includes(type));
  return field.enum !== undefined || field.format !== undefined || 'pattern' in field;
}

function describeMembers(taken: readonly Form[]): JsonObject {
  const isTemplate = taken.includes(TEMPLATE);
  return {
    additionalProperties: false,
    minProperties: 1,
    ...(isTemplate
      ? { maxProperties: 2, dependencies: { with: [TEMPLATE.key] } }
      : { maxProperties: 1 }),
    properties: {
      ...Object.fromEntries(taken.map(({ key, name }) => [key, pointTo(name)])),
      ...(isTemplate ? { with: pointTo('with') } : {}),
      ...OVER_A_BASE,
    },
  };
}

/** Lists the snippets of a value: each form, with its text to be filled in. */
function offered(taken: readonly Form[]): readonly Json[] {
  return taken.map(({ key, definition: { description, examples } }) => ({
    label: `{ ${key}: … }`,
    description,
    bodyText: `{ \\${key}: \${1:${examples[0]}} }`,
  }));
}

/** A field's own schema with the forms that it may be given in instead. */
function withForms(field: FieldSchema, value: JsonObject, takesSecrets: boolean): JsonObject {
  const taken = takenBy(field, takesSecrets);
  const snippets = taken.length === 0 ? {} : { defaultSnippets: offered(taken) };
  if (field['x-secret'] === true) {
    const isNullable = listTypes(field).includes('null');
    const only = {
      type: isNullable ? ['object', 'null'] : 'object',
      errorMessage: 'A secret cannot be written in the file. Write { $secret: env:NAME }.',
      ...describeMembers(taken),
    };
    return { ...snippets, allOf: [only] };
  }
  const own =
    taken.length === 0
      ? value
      : { ...value, ...describeMembers(taken), type: [...listTypes(field), 'object'] };
  if (isConstrained(withoutWarnings(field)))
    return { ...snippets, anyOf: [own, pointTo('interpolated')] };
  return taken.length === 0 ? value : { ...snippets, allOf: [own] };
}
