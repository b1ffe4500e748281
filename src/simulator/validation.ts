import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OperationId } from '../api/operations.generated.ts';
import { contract, type Parameter, rulesOf } from './contract.ts';
import type { Dialect } from './dialect.ts';
import type { Input, Platform } from './platform.ts';
import { invalid, type Violation, violationsOf } from './violations.ts';

const CONTRACT = 'urn:callsheet:platform';

/** Validates with the schemas of the bundled OpenAPI document. */
export const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  verbose: true,
  discriminator: true,
});
formats.default(ajv);
ajv.addSchema(contract, CONTRACT);

const compiled = new Map<string, ValidateFunction>();

/** The validator of a schema of the contract, by its JSON pointer. */
export function validatorAt(pointer: string): ValidateFunction {
  const known = compiled.get(pointer);
  if (known !== undefined) return known;
  const validate = ajv.compile({ $ref: `${CONTRACT}${pointer}` });
  compiled.set(pointer, validate);
  return validate;
}

/** What a body breaks of its operation's schema. */
export function bodyViolations(id: OperationId, body: unknown): readonly Violation[] {
  const pointer = rulesOf(id).body?.pointer;
  if (pointer === undefined) return [];
  const validate = validatorAt(pointer);
  return validate(body) ? [] : violationsOf(validate.errors ?? [], body);
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
  const { parameters, invalid: shape } = rulesOf(id);
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
