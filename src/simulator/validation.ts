import type { ErrorObject } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parseDocument } from 'yaml';
import { CallsheetError } from '../core/errors.ts';
import type { FieldSchema } from '../core/schema.ts';
import { findText, isObject, type Json, type JsonObject } from '../core/value.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import { namesNull } from './agent-fields.ts';
import { Refusal } from './answer.ts';
import document from './contract.generated.json' with { type: 'json' };
import type { Dialect } from './dialect.ts';
import type { Input, Platform } from './platform.ts';

/** A parameter of the path or the query. */
type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  /** True if each member of a list is a parameter of its own; otherwise commas separate them. */
  readonly exploded: boolean;
  readonly schema: {
    readonly type: string;
    readonly format?: string;
    readonly enum?: readonly unknown[];
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minLength?: number;
    readonly default?: string | number | boolean;
  };
  /** True if a malformed value gives 400; otherwise a malformed id gives 404. */
  readonly checked: boolean;
};

/** The shape that an operation's 400 has. */
type InvalidShape = 'schema' | 'issues' | 'details' | 'coded' | 'flat';

/** Facts of the contract about an operation that the operation table does not have. */
type Rules = {
  readonly parameters: readonly Parameter[];
  /** JSON pointer to the schema of its body, and the media type it comes in. */
  readonly body: { readonly media: string; readonly pointer: string } | undefined;
  readonly invalid: InvalidShape;
  readonly unauthorized: string | undefined;
  /** Status → JSON pointer to the schema of the body; undefined where it has none. */
  readonly answers: ReadonlyMap<string, string | undefined>;
};

/** The bundled OpenAPI document. */
export const contract: Node = document;

type Node = { readonly [key: string]: unknown };

const CONTRACT = 'urn:callsheet:platform';

/** Validates with the schemas of the bundled OpenAPI document. */
export const ajv = openAjv({});

/** Characters are code points unless `unicode` is false, which ajv would have a word on. */
function openAjv(options: { readonly unicode?: false; readonly logger?: false }): Ajv2020 {
  const opened = new Ajv2020({
    strict: false,
    allErrors: true,
    verbose: true,
    discriminator: true,
    ...options,
  });
  formats.default(opened);
  opened.addSchema(contract, CONTRACT);
  return opened;
}

let utf16: Ajv2020 | undefined;
const compiled = new Map<string, ValidateFunction>();

/** The validator of a schema of the contract, by its JSON pointer. */
export function validatorAt(
  pointer: string,
  characters: Dialect['characters'] = 'code_points',
): ValidateFunction {
  const key = `${characters} ${pointer}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const isUtf16 = characters === 'utf16';
  if (isUtf16) utf16 ??= openAjv({ unicode: false, logger: false });
  const validate = ((isUtf16 && utf16) || ajv).compile({ $ref: `${CONTRACT}${pointer}` });
  compiled.set(key, validate);
  return validate;
}

/** Rules of the contract that the specification does not state (`field.values`, `field.minimums`, `field.addresses`). */
const ASSUMED_RULES: readonly string[] = [
  ...['enum', 'const', 'format', 'minLength', 'minimum', 'exclusiveMinimum'],
];

/** Checks a body against its operation's schema. */
export function bodyViolations(
  { values, characters }: Pick<Dialect, 'values' | 'characters'>,
  id: OperationId,
  body: unknown,
): readonly Violation[] {
  const pointer = getRules(id).body?.pointer;
  if (pointer === undefined) return [];
  const validate = validatorAt(pointer, characters);
  if (validate(body)) return [];
  const broken = (validate.errors ?? []).filter(
    ({ keyword }) => values === 'documented' || !ASSUMED_RULES.includes(keyword),
  );
  return broken.length === 0 ? [] : listViolations(broken);
}

/** The values of each parameter of a query, as they came. */
export type GivenQuery = { readonly [name: string]: readonly string[] };

/**
 * Path and query of a request, checked and with defaults; of a repeated parameter the last counts. A
 * malformed id in the path is left to the operation, which knows no such record.
 */
export function readParameters(
  { dialect }: Platform,
  id: OperationId,
  path: { readonly [name: string]: string },
  query: GivenQuery,
): Pick<Input, 'path' | 'query'> {
  const { parameters, invalid: shape } = getRules(id);
  const values: { [name: string]: QueryValue } = {};
  const violations: Violation[] = [];
  for (const parameter of parameters.filter(({ checked }) => checked)) {
    const { name } = parameter;
    const given = parameter.in === 'path' ? [path[name] ?? ''] : (query[name] ?? []);
    const read = readValue(dialect, parameter, given);
    if ('problem' in read)
      violations.push({ path: [name], code: 'invalid', message: read.problem });
    else values[name] = read.value;
  }
  if (violations.length > 0) throw invalid(shape, violations);
  return { path, query: values };
}

type QueryValue = Input['query'][string];
type Read = { readonly value: QueryValue } | { readonly problem: string };

function readValue(dialect: Dialect, parameter: Parameter, values: readonly string[]): Read {
  const { required, schema } = parameter;
  const given = values.at(-1);
  if (given === undefined) return required ? { problem: 'required' } : { value: schema.default };
  switch (schema.type) {
    case 'array':
      return { value: parameter.exploded ? values : values.flatMap((value) => value.split(',')) };
    case 'integer':
      return readInteger(dialect, parameter, given);
    case 'boolean':
      return given === 'true' || given === 'false'
        ? { value: given === 'true' }
        : { problem: 'must be true or false' };
    default:
      return ajv.validate(schema, given)
        ? { value: given }
        : { problem: ajv.errors?.[0]?.message ?? 'is not valid' };
  }
}

function readInteger({ pageLimit }: Dialect, { name, schema }: Parameter, given: string): Read {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  const number = /^[+-]?\d+$/.test(given) ? Number(given) : Number.NaN;
  if (name === 'limit' && pageLimit === 'clamped' && number > maximum) return { value: maximum };
  if (number >= minimum && number <= maximum) return { value: number };
  return {
    problem: `must be an integer of at least ${minimum}${schema.maximum === undefined ? '' : ` and at most ${maximum}`}`,
  };
}

/** One rule that a request breaks. */
export type Violation = {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
  /** The format that was missed. */
  readonly validation?: string;
  readonly expected?: string;
  readonly received?: string;
};

/** A 400 in the shape that the operation has (Errors). */
export function invalid(shape: InvalidShape, violations: readonly Violation[]): Refusal {
  const description = violations.map(sentence).join('; ');
  const fields = violations.map(({ path, message }) => ({ path: dotted(path), message }));
  switch (shape) {
    case 'schema':
      return new Refusal(400, { error: 'Invalid request data', details: violations.map(asJson) });
    case 'issues':
      return new Refusal(400, { error: 'validation_error', issues: fields });
    case 'details':
      return new Refusal(400, {
        error: 'invalid_request',
        error_description: description,
        details: fields,
      });
    case 'flat':
      return new Refusal(400, { error: `invalid ${dotted(violations[0]?.path ?? [])}` });
    case 'coded':
      return new Refusal(400, { error: 'invalid_request', error_description: description });
  }
}

/** A violation that no schema finds. */
export function violation(path: string, message: string): Violation {
  return { path: path.split('.'), code: 'custom', message };
}

function asJson({ path, ...rest }: Violation): JsonObject {
  return { ...rest, path: [...path] };
}

function dotted(path: readonly (string | number)[]): string {
  return path.join('.');
}

/** Returns the violations of a schema as sentences that begin with the place. */
export function problemsIn(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value)) return [];
  return listViolations(validate.errors ?? []).map(sentence);
}

function sentence({ path, message }: Violation): string {
  return [dotted(path), message].filter(Boolean).join(': ');
}

/** The error for a file that describes a simulation or its seed. */
export function wrongDocument(what: string, problems: readonly string[]): CallsheetError {
  return new CallsheetError('config', `the ${what} is wrong: ${problems.join('; ')}`, {
    hint: `callsheet help simulator describes what a ${what} holds.`,
  });
}

/** A document that somebody wrote as YAML or JSON. Throws where it is neither. */
export function readDocument(text: string, what: string): unknown {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw wrongDocument(what, [error.message.split('\n')[0] ?? 'not YAML']);
  return document.toJS({ maxAliasCount: 100 }) ?? {};
}

/** Keywords whose errors only say that one of several branches failed. */
const BRANCHES = ['if', 'anyOf', 'oneOf', 'not', 'discriminator'];

/** Returns one violation for each error of a JSON Schema validator. Errors of mere branches are left out. */
function listViolations(errors: readonly ErrorObject[]): readonly Violation[] {
  const telling = errors.filter(
    ({ keyword, params }) =>
      !BRANCHES.includes(keyword) && !(keyword === 'type' && params.type === 'null'),
  );
  const found = (telling.length > 0 ? telling : errors).map(toViolation);
  // A schema made of several may say the same of a field in each.
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
}

function toViolation(error: ErrorObject): Violation {
  const path = segments(error.instancePath);
  const params: { readonly [name: string]: unknown } = error.params;
  switch (error.keyword) {
    case 'required': {
      const at = [...path, String(params.missingProperty)];
      return {
        path: at,
        code: 'invalid_type',
        expected: 'a value',
        received: 'undefined',
        message: 'required',
      };
    }
    case 'dependentRequired': {
      const message = `required together with ${String(params.property)}`;
      return { path: [...path, String(params.missingProperty)], code: 'custom', message };
    }
    case 'additionalProperties': {
      const message = `unknown property: ${String(params.additionalProperty)}`;
      return {
        path,
        code: 'unrecognized_keys',
        expected: 'no such property',
        received: String(params.additionalProperty),
        message,
      };
    }
    case 'type': {
      const [expected, received] = [String(params.type), typeName(error.data)];
      const message = `expected ${expected}, received ${received}`;
      return { path, code: 'invalid_type', expected, received, message };
    }
    case 'enum':
    case 'const': {
      const allowed = Array.isArray(params.allowedValues)
        ? params.allowedValues
        : [params.allowedValue];
      const message = `must be ${allowed.map((one) => JSON.stringify(one)).join(', ')}`;
      return { path, code: 'invalid_enum_value', message };
    }
    case 'contains':
      return {
        path,
        code: 'too_big',
        message: `at most ${String(params.maxContains)} with ${alike(error)}`,
      };
    case 'format': {
      const message = `must be a ${String(params.format)}`;
      return { path, code: 'invalid_string', validation: String(params.format), message };
    }
    default:
      return { path, code: error.keyword, message: error.message ?? 'is not valid' };
  }
}

/** Describes the elements of which a list has too many by the values that they share: `condition before_call`. */
function alike({ schema }: ErrorObject): string {
  const properties: unknown = Object(schema).properties;
  const entries = Object.entries(Object(properties)).map(
    ([name, property]) => `${name} ${String(Object(property).const)}`,
  );
  return entries.join(', ');
}

function segments(pointer: string): readonly (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((token) => (/^\d+$/.test(token) ? Number(token) : token));
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** Nulls that the `rejected` dialect refuses: those that the specification does not name as values. */
export function refusedNulls(
  { dialect }: Platform,
  body: JsonObject,
  findSchema: (name: string) => FieldSchema,
): readonly Violation[] {
  if (dialect.nulls === 'clears') return [];
  return Object.entries(body).flatMap(([name, value]) =>
    value === null
      ? namesNull(findSchema(name))
        ? []
        : [violation(name, 'null is not allowed')]
      : nestedNulls(value, name),
  );
}

function nestedNulls(value: Json, path: string): readonly Violation[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    member === null
      ? [violation(`${path}.${key}`, 'null is not allowed')]
      : nestedNulls(member, `${path}.${key}`),
  );
}

/** The rules of an operation. */
export function getRules(id: OperationId): Rules {
  const known = RULES.get(id);
  if (known !== undefined) return known;
  const rules = readRules(id);
  RULES.set(id, rules);
  return rules;
}

const RULES = new Map<OperationId, Rules>();

function readRules(id: OperationId): Rules {
  const { path, method } = operations[id];
  const item = at(['paths', path]);
  const place = ['paths', path, method.toLowerCase()];
  const operation = at(place);
  const body = follow(operation.requestBody, [...place, 'requestBody']);
  return {
    parameters: [...list(item.parameters), ...list(operation.parameters)].map(readParameter),
    body: body === undefined ? undefined : schemaPlace(body),
    invalid: readInvalid(operation['x-invalid']),
    unauthorized: findText(operation['x-unauthorized']),
    answers: new Map(
      Object.entries(at([...place, 'responses'])).map(([status, response]) => {
        const followed = follow(response, [...place, 'responses', status]);
        return [status, followed === undefined ? undefined : schemaPlace(followed)?.pointer];
      }),
    ),
  };
}

type Placed = { readonly node: Node; readonly place: readonly string[] };

function follow(value: unknown, place: readonly string[]): Placed | undefined {
  if (!isNode(value)) return undefined;
  if (typeof value.$ref !== 'string') return { node: value, place };
  const target = value.$ref.replace('#/', '').split('/');
  return { node: at(target), place: target };
}

function schemaPlace({ node, place }: Placed): Rules['body'] {
  const media = isNode(node.content) ? Object.keys(node.content)[0] : undefined;
  return media === undefined
    ? undefined
    : { media, pointer: pointer([...place, 'content', media, 'schema']) };
}

function pointer(place: readonly string[]): string {
  const tokens = place.map((key) =>
    encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  return `#/${tokens.join('/')}`;
}

function at(place: readonly string[]): Node {
  let node: unknown = contract;
  for (const key of place) node = isNode(node) ? node[key] : undefined;
  if (!isNode(node)) throw new Error(`the contract has nothing at ${place.join(' ')}`);
  return node;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readParameter(value: unknown): Parameter {
  const node = follow(value, [])?.node;
  if (node === undefined || !isNode(node.schema)) throw new Error('a parameter has no schema');
  return {
    name: String(node.name),
    in: node.in === 'path' ? 'path' : 'query',
    required: node.required === true,
    exploded: node.explode !== false,
    // The document is ours and generated: its parameters have the keywords named above.
    schema: node.schema as Parameter['schema'],
    checked: node.in === 'query' || node['x-malformed'] === 'invalid',
  };
}

const SHAPES: readonly InvalidShape[] = ['schema', 'issues', 'details', 'coded', 'flat'];

function readInvalid(value: unknown): InvalidShape {
  return SHAPES.find((shape) => shape === value) ?? 'coded';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
