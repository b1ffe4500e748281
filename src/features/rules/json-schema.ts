import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { formatCount } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { FieldSchema } from '../../core/schema.ts';
import { isObject, type Json, type JsonObject } from '../../core/value.ts';
import { unknownKey } from './known-fields.ts';
import type { RuleProblem } from './rule.ts';

/** A violation: where, as a JSON pointer, and in words that go after the field's name. */
type Violation = { readonly pointer: string; readonly words: string };

export type SchemaCheck = (document: unknown) => readonly Violation[];

const DRAFTS: Readonly<Record<string, (options: Options) => Ajv>> = {
  'https://json-schema.org/draft/2020-12/schema': (options) => new Ajv2020(options),
  'http://json-schema.org/draft-07/schema': (options) => new Ajv(options),
};
const DEFAULT_DRAFT = 'https://json-schema.org/draft/2020-12/schema';

type Compiled = {
  readonly check: SchemaCheck;
  /** Mistakes that make parts of it dead. */
  readonly slips: readonly Omit<RuleProblem, 'member'>[];
};

/** Compiles a JSON Schema: draft 2020-12, or the draft that its `$schema` names. `schemas` are those of the kinds that the rule is about. */
export function compileSchema(
  schema: Json,
  schemas: readonly FieldSchema[],
): Compiled | { readonly wrong: Omit<RuleProblem, 'member'> } {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null)) {
    return { wrong: { message: 'must be a JSON Schema: a map' } };
  }
  const named = typeof schema === 'object' && '$schema' in schema ? schema.$schema : DEFAULT_DRAFT;
  const draft = typeof named === 'string' ? named.replace(/#$/, '') : '';
  const open = Object.hasOwn(DRAFTS, draft) ? DRAFTS[draft] : undefined;
  if (open === undefined) {
    const hint = `Use ${Object.keys(DRAFTS).join(' or ')}`;
    return {
      wrong: { message: `uses an unknown draft: ${JSON.stringify(named)}`, hint },
    };
  }
  // Messages that ajv would write to the terminal are reported as slips.
  const quiet = { logger: false, messages: true, verbose: false } as const;
  const ajv = open({ allErrors: true, strict: false, ...quiet });
  for (const [name, format] of Object.entries(fullFormats)) ajv.addFormat(name, format);
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    if (error instanceof RangeError) return { wrong: { message: ENDLESS } };
    // The first of what is wrong; the rest is most often its echo.
    const why = error instanceof Error ? error.message.split(', ')[0] : 'it cannot be read';
    return { wrong: { message: `cannot be read as JSON Schema: ${why}` } };
  }
  // Its check would give a promise, whose rejection would go unhandled.
  if ('$async' in validate && validate.$async === true) {
    return {
      wrong: {
        message: 'has $async, which Callsheet does not support',
        hint: 'Take $async out',
      },
    };
  }
  const check: SchemaCheck = (document) => {
    try {
      return validate(document) ? [] : tell(validate.errors ?? []);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return [{ pointer: '', words: `cannot be checked: its schema ${ENDLESS}` }];
    }
  };
  if (check({}).some(({ words }) => words.endsWith(ENDLESS)))
    return { wrong: { message: ENDLESS } };
  return { slips: schemaSlips(schema, ajv, schemas), check };
}

/** Said of a schema that leads back to itself for the same value. */
const ENDLESS = 'refers to itself without an end';

/** Errors of these keywords only say that something below them failed. */
const ECHOES = ['if', 'allOf', '$ref'];

function tell(errors: readonly ErrorObject[]): readonly Violation[] {
  return errors
    .filter(({ keyword }) => !ECHOES.includes(keyword))
    .map((error) => ({ pointer: error.instancePath, words: wordsFor(error) }));
}

function wordsFor({ keyword, params, message }: ErrorObject): string {
  const given: Readonly<Record<string, unknown>> = params;
  switch (keyword) {
    case 'required':
      return `needs ${String(given.missingProperty)}`;
    case 'additionalProperties':
      return `must not have ${String(given.additionalProperty)}`;
    case 'unevaluatedProperties':
      return `must not have ${String(given.unevaluatedProperty)}`;
    case 'type':
      return `must be ${[given.type].flat().join(' or ')}`;
    case 'const':
      return `must be ${JSON.stringify(given.allowedValue)}`;
    case 'enum':
      return `must be one of ${JSON.stringify(given.allowedValues).slice(1, -1).replaceAll(',', ', ')}`;
    case 'pattern':
      return `does not match ${String(given.pattern)}`;
    case 'format':
      return `must have the form ${String(given.format)}`;
    case 'maxLength':
      return `must have at most ${formatCount(Number(given.limit), 'character')}`;
    case 'minLength':
      return `must have at least ${formatCount(Number(given.limit), 'character')}`;
    case 'maxItems':
      return `must have at most ${formatCount(Number(given.limit), 'entry', 'entries')}`;
    case 'minItems':
      return `must have at least ${formatCount(Number(given.limit), 'entry', 'entries')}`;
    case 'not':
      return 'is what it must not be';
    case 'false schema':
      return 'must not be there';
    default:
      return message ?? `breaks ${keyword}`;
  }
}

/** The path from the resource to the field that a schema is about; undefined where it is not known. */
type Instance = readonly string[] | undefined;

/** Keywords with a schema for the same value, with a list of such, and with one for each name. */
const SAME = ['not', 'if', 'then', 'else'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf'];
const NAMED = ['$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
/** Keywords with a schema for parts that have no name here. */
const PARTS = ['additionalProperties', 'unevaluatedProperties', 'contains', 'unevaluatedItems'];

type Slip = Omit<RuleProblem, 'member'>;

/**
 * Slips that make a part of a JSON Schema dead: a keyword or format that there is not, and a property that no such
 * resource has. Lists are not entered, and neither is what a `$ref` leads to.
 */
function schemaSlips(schema: Json, ajv: Ajv, schemas: readonly FieldSchema[]): readonly Slip[] {
  const slips: Slip[] = [];
  const known = Object.keys(ajv.RULES.keywords);

  function field(keys: readonly string[], at: readonly string[]): void {
    const unknown = unknownKey(schemas, keys);
    if (unknown !== undefined) {
      slips.push({
        at,
        message: `asks for ${keys.join('.')}, which does not exist`,
        hint: unknown,
      });
    }
  }

  function keywords(node: JsonObject, at: readonly string[]): void {
    for (const key of Object.keys(node)) {
      if (known.includes(key) || /^x-|^\$/.test(key)) continue;
      const hint = didYouMean(
        key,
        known,
        'A keyword of your own begins with x-, and checks nothing',
      );
      slips.push({ at: [...at, key], message: `has the unknown keyword ${key}`, hint });
    }
    const { format } = node;
    if (typeof format !== 'string' || Object.hasOwn(fullFormats, format)) return;
    const hint = didYouMean(format, Object.keys(fullFormats), 'Write a pattern instead');
    const message = `has the unknown format ${JSON.stringify(format)}`;
    slips.push({ at: [...at, 'format'], message, hint });
  }

  function visitMap(node: Json | undefined, instance: Instance, at: readonly string[]): void {
    if (!isObject(node)) return;
    for (const [key, below] of Object.entries(node)) visit(below, instance, [...at, key]);
  }

  function visit(node: Json | undefined, instance: Instance, at: readonly string[]): void {
    if (!isObject(node)) return;
    keywords(node, at);
    const { required, properties } = node;
    if (instance !== undefined && Array.isArray(required)) {
      for (const [index, name] of required.entries()) {
        if (typeof name === 'string') field([...instance, name], [...at, 'required', `${index}`]);
      }
    }
    for (const [name, below] of Object.entries(isObject(properties) ? properties : {})) {
      const place = [...at, 'properties', name];
      if (instance !== undefined) field([...instance, name], place);
      visit(below, instance && [...instance, name], place);
    }
    for (const key of SAME) visit(node[key], instance, [...at, key]);
    for (const key of SEVERAL) {
      const list = node[key];
      if (!Array.isArray(list)) continue;
      for (const [index, below] of list.entries()) visit(below, instance, [...at, key, `${index}`]);
    }
    for (const key of NAMED) visitMap(node[key], undefined, [...at, key]);
    for (const key of PARTS) visit(node[key], undefined, [...at, key]);
    // A schema of all elements; a list of them is one for each place.
    visit(node.items, undefined, [...at, 'items']);
  }

  visit(schema, [], []);
  return slips;
}
