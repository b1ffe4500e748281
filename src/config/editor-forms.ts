import type { FieldSchema } from '../core/schema.ts';
import type { Json, JsonObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import { isText, typesOf } from './schema.ts';

/**
 * How editors learn of the value forms. A form is told as members that a value may have instead of being
 * a text, in one schema with what holds of the text: with a schema for each, editors would say of a slip
 * in one only that nothing matches.
 */

/** What a form's member is, and what is offered where a value is to be typed. */
type Form = {
  readonly key: string;
  readonly description: string;
  readonly pattern: string;
  /** What is said where the pattern is not met. */
  readonly wrong: string;
  readonly example: string;
};

const FILE: Form = {
  key: '$file',
  description: 'The text of a file of the stack, as it is.',
  pattern: '\\S',
  wrong: 'Name a file, by its path from the stack folder.',
  example: 'prompts/reception.md',
};

const TEMPLATE: Form = {
  key: '$template',
  description: 'The text of a file of the stack, with `${name}` filled in from `with`.',
  pattern: '\\S',
  wrong: 'Name a file, by its path from the stack folder.',
  example: 'prompts/desk.md',
};

const SECRET: Form = {
  key: '$secret',
  description: 'Read at the moment of writing; never stored or shown.',
  pattern: '^(env:[A-Za-z_][A-Za-z0-9_]*|(file|exec):.+)$|\\$\\{',
  wrong: 'Say where the secret is: env:NAME, file:PATH or exec:COMMAND.',
  example: 'env:SMS_TOKEN',
};

function refTo(kind: string): Form {
  return {
    key: '$ref',
    description: `The id of a resource of the stack: ${kind}.NAME.`,
    pattern: `^${kind}\\.|\\$\\{`,
    wrong: `Refer to a resource of the kind ${kind}: ${kind}.NAME.`,
    example: `${kind}.name`,
  };
}

/**
 * A variable in place of a value that is no free text. The title tells it from the value's own schema:
 * where two are alike, editors show neither's description.
 */
const INTERPOLATED: JsonObject = {
  title: 'variable',
  type: 'string',
  pattern: '\\$\\{(var|each)\\.',
};

/** What a template is given. */
const WITH: JsonObject = {
  type: 'object',
  description: 'What `${name}` stands for in the template, by name.',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
};

/** For a field that a base has and this resource does not want. */
const REMOVE: JsonObject = {
  type: ['boolean', 'string'],
  description: 'As if no base had ever written it: true, or the identity of an element of a list.',
  doNotSuggest: true,
};

const REPLACE: JsonObject = {
  description: 'The value as it stands, not merged with that of a base.',
  doNotSuggest: true,
};

/** What takes the place of a value of a base. It is offered nowhere, since few fields need it. */
export const OVER_A_BASE: JsonObject = {
  $remove: { $ref: '#/definitions/remove' },
  $replace: { $ref: '#/definitions/replace' },
};

/** The definitions that forms are told by. */
export function formDefinitions(kinds: readonly Kind[]): JsonObject {
  const member = ({ pattern, wrong, description, example }: Form): JsonObject => ({
    type: 'string',
    pattern,
    patternErrorMessage: wrong,
    description,
    examples: [example],
  });
  return {
    file: member(FILE),
    template: member(TEMPLATE),
    with: WITH,
    remove: REMOVE,
    replace: REPLACE,
    secret: member(SECRET),
    interpolated: INTERPOLATED,
    ...Object.fromEntries(kinds.map(({ name }) => [`ref.${name}`, member(refTo(name))])),
  };
}

type Taken = { readonly form: Form; readonly definition: string };

/** The forms of an object that a field may be given in. */
function takenBy(field: FieldSchema, takesSecrets: boolean): readonly Taken[] {
  const target = field['x-ref'];
  return [
    ...(isText(field)
      ? [
          { form: FILE, definition: 'file' },
          { form: TEMPLATE, definition: 'template' },
        ]
      : []),
    ...(target === undefined ? [] : [{ form: refTo(target), definition: `ref.${target}` }]),
    ...(takesSecrets && typesOf(field).includes('string')
      ? [{ form: SECRET, definition: 'secret' }]
      : []),
  ];
}

/** Whether a scalar takes `${…}` only where that is said. One that takes every text needs no word of it. */
function isConstrained(field: FieldSchema): boolean {
  const types = typesOf(field);
  if (field.const !== undefined || field['x-secret'] === true) return false;
  if (!types.includes('string'))
    return types.some((type) => ['number', 'integer', 'boolean'].includes(type));
  return field.enum !== undefined || field.format !== undefined || 'pattern' in field;
}

function pointTo(definition: string): Json {
  return { $ref: `#/definitions/${definition}` };
}

function membersOf(taken: readonly Taken[]): JsonObject {
  const isTemplate = taken.some(({ form }) => form === TEMPLATE);
  return {
    additionalProperties: false,
    minProperties: 1,
    ...(isTemplate
      ? { maxProperties: 2, dependencies: { with: [TEMPLATE.key] } }
      : { maxProperties: 1 }),
    properties: {
      ...Object.fromEntries(taken.map(({ form, definition }) => [form.key, pointTo(definition)])),
      ...(isTemplate ? { with: pointTo('with') } : {}),
      ...OVER_A_BASE,
    },
  };
}

/** What is offered for a value: each form, with its text to be filled in. */
function offered(taken: readonly Taken[]): readonly Json[] {
  return taken.map(({ form: { key, description, example } }) => ({
    label: `{ ${key}: … }`,
    description,
    bodyText: `{ \\${key}: \${1:${example}} }`,
  }));
}

/** A field's own schema with the forms that it may be given in instead. */
export function withForms(
  field: FieldSchema,
  value: JsonObject,
  takesSecrets: boolean,
): JsonObject {
  const taken = takenBy(field, takesSecrets);
  const snippets = taken.length === 0 ? {} : { defaultSnippets: offered(taken) };
  if (field['x-secret'] === true) {
    const isNullable = typesOf(field).includes('null');
    const only = {
      type: isNullable ? ['object', 'null'] : 'object',
      errorMessage: 'A secret does not stand in the file. Give it as { $secret: env:NAME }.',
      ...membersOf(taken),
    };
    return { ...snippets, allOf: [only] };
  }
  const own =
    taken.length === 0
      ? value
      : { ...value, ...membersOf(taken), type: [...typesOf(field), 'object'] };
  if (isConstrained(field)) return { ...snippets, anyOf: [own, pointTo('interpolated')] };
  return taken.length === 0 ? value : { ...snippets, allOf: [own] };
}
