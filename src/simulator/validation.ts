import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type OperationId, operations } from '../api/operations.generated.ts';
import { coded } from './answer.ts';
import { contract, type Parameter, rulesOf } from './contract.ts';
import type { Input } from './platform.ts';
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
ajv.addFormat('iana-timezone', isTimeZone);
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

/** Path and query of a request, checked and with defaults. A malformed id reads as an unknown one. */
export function readParameters(
  id: OperationId,
  path: { readonly [name: string]: string },
  query: { readonly [name: string]: string | undefined },
): Pick<Input, 'path' | 'query'> {
  const { parameters, invalid: shape } = rulesOf(id);
  const values: { [name: string]: string | number | boolean | undefined } = {};
  const violations: Violation[] = [];
  for (const parameter of parameters) {
    const given = parameter.in === 'path' ? path[parameter.name] : query[parameter.name];
    const read = readValue(parameter, given);
    if (!('problem' in read)) values[parameter.name] = read.value;
    else if (parameter.checked)
      violations.push({ path: [parameter.name], code: 'invalid', message: read.problem });
    else throw coded(404, 'not_found', `No record of ${operations[id].path} has this id`);
  }
  if (violations.length > 0) throw invalid(shape, violations);
  return { path, query: values };
}

type Read =
  | { readonly value: string | number | boolean | undefined }
  | { readonly problem: string };

function readValue({ required, schema }: Parameter, given: string | undefined): Read {
  if (given === undefined) return required ? { problem: 'required' } : { value: schema.default };
  switch (schema.type) {
    case 'integer': {
      const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
      const number = /^[+-]?\d+$/.test(given) ? Number(given) : Number.NaN;
      if (number >= minimum && number <= maximum) return { value: number };
      return {
        problem: `must be an integer of at least ${minimum}${schema.maximum === undefined ? '' : ` and at most ${maximum}`}`,
      };
    }
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

/** Whether a text names an IANA time zone. */
function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
