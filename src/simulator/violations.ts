import type { ErrorObject } from 'ajv';
import type { JsonObject } from '../core/value.ts';
import { Refusal } from './answer.ts';
import type { InvalidShape } from './contract.ts';

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
  const sentence = violations
    .map(({ path, message }) => [dotted(path), message].filter(Boolean).join(': '))
    .join('; ');
  const fields = violations.map(({ path, message }) => ({ path: dotted(path), message }));
  switch (shape) {
    case 'schema':
      return new Refusal(400, { error: 'Invalid request data', details: violations.map(asJson) });
    case 'issues':
      return new Refusal(400, { error: 'validation_error', issues: fields });
    case 'details':
      return new Refusal(400, {
        error: 'invalid_request',
        error_description: sentence,
        details: fields,
      });
    case 'flat':
      return new Refusal(400, { error: `invalid ${dotted(violations[0]?.path ?? [])}` });
    case 'coded':
      return new Refusal(400, { error: 'invalid_request', error_description: sentence });
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

/** Keywords whose errors only say that one of several branches failed. */
const BRANCHES = ['if', 'anyOf', 'oneOf', 'not', 'discriminator'];

/** What a JSON Schema validator found, one violation per error. Errors of mere branches are left out. */
export function violationsOf(errors: readonly ErrorObject[], value: unknown): readonly Violation[] {
  const telling = errors.filter(
    ({ keyword, params }) =>
      !BRANCHES.includes(keyword) && !(keyword === 'type' && params.type === 'null'),
  );
  const found = (telling.length > 0 ? telling : errors).map((error) => violationOf(error, value));
  // A schema made of several may say the same of a field in each.
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
}

function violationOf(error: ErrorObject, value: unknown): Violation {
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
      const [expected, received] = [String(params.type), typeName(valueAt(value, path))];
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

/** What the elements that a list has too many of have in common: `condition before_call`. */
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

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path)
    at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
  return at;
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
