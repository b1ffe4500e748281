import type { ErrorObject } from 'ajv';
import type { FieldSchema } from '../core/schema.ts';
import { countWords } from './counted.ts';
import { FORMATS } from './formats.ts';
import { nearest } from './nearest.ts';
import type { Problem } from './problems.ts';
import { typesOf } from './schema.ts';
import type { Spot } from './trace.ts';
import { describe } from './written.ts';

/** What is said of a field that breaks its schema. The message begins with a verb. */
export type Words = Pick<Problem, 'rule' | 'message' | 'hint'>;

type Violation = {
  readonly error: ErrorObject;
  readonly spot: Spot;
  /** The value may be quoted. */
  readonly open: boolean;
};

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  null: 'null',
};

function param(error: ErrorObject, name: string): unknown {
  const params: Readonly<Record<string, unknown>> = error.params;
  return params[name];
}

function actual({ written, value }: Spot): string {
  if (written !== undefined) return describe(written);
  return typeof value === 'string' ? 'text' : 'something else';
}

function typeWords({ spot }: Violation): Words {
  const types = typesOf(spot.schema).filter((type) => type !== 'null');
  const wanted = types.map((type) => NOUNS[type] ?? type).join(' or ');
  if (spot.value === null) {
    return {
      rule: 'schema/type',
      message: `must be ${wanted}; it cannot be cleared with null`,
      hint: 'Remove the line to leave the field as it is',
    };
  }
  const scalar = typeof spot.value !== 'object';
  return {
    rule: 'schema/type',
    message: `must be ${wanted}, not ${actual(spot)}`,
    hint: scalar && types.includes('string') ? 'Put it in quotes' : undefined,
  };
}

function enumWords({ error, spot, open }: Violation): Words {
  const given = param(error, 'allowedValues');
  const allowed: readonly unknown[] = Array.isArray(given) ? given : [];
  const texts = allowed.filter((value) => typeof value === 'string');
  const close = typeof spot.value === 'string' ? nearest(spot.value, texts) : undefined;
  const list = texts.join(', ');
  return {
    rule: 'schema/enum',
    message: `cannot be ${open ? JSON.stringify(spot.value) : 'that'}`,
    hint: close === undefined ? `Use one of ${list}` : `Did you mean ${close}? It takes ${list}`,
  };
}

function limitWords({ error }: Violation): Words {
  const limit = String(param(error, 'limit'));
  const many = (noun: string) => `${limit} ${noun}${limit === '1' ? '' : 's'}`;
  const said: Readonly<Record<string, string>> = {
    minLength: limit === '1' ? 'must not be empty' : `must have at least ${many('character')}`,
    maxLength: `must have at most ${many('character')}`,
    minimum: `must be at least ${limit}`,
    maximum: `must be at most ${limit}`,
    exclusiveMinimum: `must be more than ${limit}`,
    exclusiveMaximum: `must be less than ${limit}`,
    minItems: limit === '1' ? 'must not be empty' : `must have at least ${limit} entries`,
    maxItems: `must have at most ${limit} entries`,
  };
  const length = typeof error.data === 'string' ? `, and has ${[...error.data].length}` : '';
  const counted = error.keyword === 'maxLength' ? length : '';
  return {
    rule: 'schema/limit',
    message: `${said[error.keyword] ?? `breaks the limit ${limit}`}${counted}`,
  };
}

function formatWords({ error, spot, open }: Violation): Words {
  const format = FORMATS[String(param(error, 'format'))];
  const close = typeof spot.value === 'string' ? format?.nearest?.(spot.value) : undefined;
  const example = format === undefined ? undefined : `For example ${format.example}`;
  const wrong = open && typeof spot.value === 'string' ? format?.wrong?.(spot.value) : undefined;
  const noun = format?.noun ?? `of the format ${String(param(error, 'format'))}`;
  return {
    rule: 'schema/format',
    message: `must be ${noun}${wrong === undefined ? '' : `: ${wrong}`}`,
    hint: close === undefined ? example : `Did you mean ${close}?`,
  };
}

function patternWords({ error, spot }: Violation): Words {
  const pattern = String(param(error, 'pattern'));
  const [example] = spot.schema.examples ?? [];
  return {
    rule: 'schema/pattern',
    message:
      pattern === '^https?://'
        ? 'must begin with http:// or https://'
        : `does not have the form that the platform or Callsheet reads`,
    hint: typeof example === 'string' ? `For example ${example}` : undefined,
  };
}

/** The fields that the branches of a choice ask for. */
function branchNames(error: ErrorObject): readonly string[] {
  const branches: readonly unknown[] = Array.isArray(error.schema) ? error.schema : [];
  return branches.flatMap((branch) =>
    typeof branch === 'object' && branch !== null && 'required' in branch
      ? [String(branch.required)]
      : [],
  );
}

function exclusiveWords({ error }: Violation): Words {
  const names = branchNames(error);
  const none = param(error, 'passingSchemas') === null;
  return {
    rule: 'schema/required',
    message: none
      ? `needs one of ${names.join(' and ')}`
      : `gives ${names.join(' and ')}, and takes only one`,
  };
}

/**
 * The words for a violation; undefined for one that only repeats another.
 *
 * @param item schema of the elements, where the value is a list
 */
export function violationWords(violation: Violation, item: FieldSchema): Words | undefined {
  const { error } = violation;
  switch (error.keyword) {
    case 'type':
      return typeWords(violation);
    case 'enum':
      return enumWords(violation);
    case 'const':
      return {
        rule: 'schema/enum',
        message: `must be ${JSON.stringify(param(error, 'allowedValue'))}`,
      };
    case 'format':
      return formatWords(violation);
    case 'pattern':
      return patternWords(violation);
    case 'contains':
      return countWords(error, item);
    case 'oneOf':
      return exclusiveWords(violation);
    case 'anyOf':
      return { rule: 'schema/required', message: `needs one of ${branchNames(error).join(', ')}` };
    case 'additionalProperties':
    case 'if':
      // Unknown keys are found while the document is resolved; `if` only announces what `then` says.
      return undefined;
    default:
      return param(error, 'limit') === undefined
        ? { rule: 'schema/invalid', message: `breaks the rule ${error.keyword} of its schema` }
        : limitWords(violation);
  }
}
