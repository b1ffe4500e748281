import type { ErrorObject } from 'ajv';
import type { Severity } from '../core/diagnostics.ts';
import { formatCount, formatNumber } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { formatPath, type Path, pointerParts } from '../core/path.ts';
import { type FieldSchema, itemSchema } from '../core/schema.ts';
import { oncePer } from '../core/value.ts';
import { compile } from './compile-schema.ts';
import type { Problem, ProblemMessage, Report } from './diagnostics.ts';
import { FORMATS } from './formats.ts';
import { followPointer, formatSubject, isBelowSpecial, type LocatedValue } from './resolved.ts';
import { fieldNames, listTypes } from './schema.ts';
import { OWN_MEMBERS } from './settings-schema.ts';
import { describe } from './source.ts';

/** A resolved document with what is needed to speak of it. */
type Checked = {
  /** Messages begin with it: an address or the name of a file. */
  readonly subject: string;
  readonly address: string | undefined;
  readonly root: LocatedValue;
};

/** The keys of an object as they were written, also those that no schema knows. */
function writtenKeys(located: LocatedValue): readonly string[] {
  return located.written?.type === 'map' ? [...located.written.members.keys()] : [];
}

/** "when status is active", "when subject is given", for what only a `then` asks for. */
function condition(error: ErrorObject, root: LocatedValue): string {
  if (!error.schemaPath.startsWith('#/then/')) return '';
  const { if: when } = root.schema;
  const valued = Object.entries(when?.properties ?? {}).flatMap(([name, wanted]) =>
    wanted.const === undefined ? [] : [`${name} is ${String(wanted.const)}`],
  );
  const parts =
    valued.length > 0 ? valued : (when?.required ?? []).map((name) => `${name} is given`);
  return parts.length === 0 ? '' : ` when ${parts.join(' and ')}`;
}

function missingWords(
  error: ErrorObject,
  located: LocatedValue,
  root: LocatedValue,
): ProblemMessage | undefined {
  // Members that a branch requires are reported for the choice as a whole.
  if (/\/(oneOf|anyOf)\//.test(error.schemaPath)) return undefined;
  const name = String(error.params.missingProperty);
  const known = fieldNames(located.schema);
  const slip = writtenKeys(located).some(
    (key) => key === name || (!known.includes(key) && nearest(key, known) === name),
  );
  if (slip) return undefined;
  const message = `needs ${name}${condition(error, root)}`;
  const only = located.schema.properties?.[name]?.const;
  const hint = only === undefined ? {} : { hint: `Add the line ${name}: ${String(only)}` };
  return { rule: 'schema/required', message, ...hint };
}

function findProblem(error: ErrorObject, checked: Checked): Problem | undefined {
  const { root } = checked;
  const located = followPointer(root, error.instancePath);
  const item = itemSchema(root.schema, located.schema);
  const severity: Severity = checked.address === undefined || isStated(error) ? 'error' : 'warning';
  const open = located.schema['x-sensitive'] !== true;
  const words =
    error.keyword === 'required'
      ? missingWords(error, located, root)
      : violationMessage({ error, located, open, severity }, item);
  if (words === undefined) return undefined;
  let range = located.written?.range ?? located.keyPlace ?? root.keyPlace;
  let path: Path = located.path;
  if (error.keyword === 'contains') {
    // The counted elements belong to the whole resource, and the first beyond the limit is the one to look at.
    const first = containedElements(error)[Number(error.params.maxContains)];
    const list = located.written;
    if (list?.type === 'list' && first !== undefined) range = list.items[first]?.range ?? range;
    path = [];
  } else if (['required', 'oneOf', 'anyOf'].includes(error.keyword)) {
    range = located.keyPlace ?? range;
  }
  return {
    ...words,
    severity,
    message: `${formatSubject(checked, path)} ${severity === 'error' ? words.message : words.message.replace(/^must /, 'should ')}${error.keyword === 'required' ? '' : condition(error, root)}`,
    address: checked.address,
    path: formatPath(located.path),
    range,
  };
}

/** Rules of the form that Callsheet reads, or that stand on the list and not on what breaks them (`contains`). */
const ALWAYS_STATED: readonly string[] = ['contains', 'type', 'required', 'oneOf', 'minProperties'];

/**
 * True if the platform refuses what breaks the rule: the specification states it (`x-section`), or it is one of
 * Callsheet's own members. A list of values is never closed: the platform may have a value that is newer.
 */
export function isStated({
  keyword,
  instancePath,
  parentSchema,
  data,
}: Pick<ErrorObject, 'keyword' | 'instancePath' | 'parentSchema' | 'data'>): boolean {
  const schema: FieldSchema = Object(parentSchema);
  const [member = ''] = pointerParts(instancePath);
  if (OWN_MEMBERS.includes(member)) return true;
  if (keyword === 'enum') return false;
  if (keyword === 'const') return typeof schema.const !== 'string';
  if (keyword === 'required') return !isNewerForm(schema, data);
  if (keyword === 'type' && (typeof data !== 'object' || data === null))
    return schema['x-assumes']?.includes('field.types') !== true;
  return (
    ALWAYS_STATED.includes(keyword) ||
    schema['x-local'] === true ||
    schema['x-section']?.[keyword] !== undefined
  );
}

/** True of an object whose text tells that it is of another form than the schema knows: what that needs is not known. */
function isNewerForm({ properties = {} }: FieldSchema, data: unknown): boolean {
  return Object.entries(properties).some(([name, { const: only }]) => {
    const given: unknown = Object(data)[name];
    return typeof only === 'string' && typeof given === 'string' && given !== only;
  });
}

/** Reports every way in which a resolved document breaks its schema, each in words and at its place. */
export function validate(checked: Checked, report: Report): void {
  const { schema, value } = checked.root;
  // A reference or secret is no text, and a hole nothing at all: of those a schema knows nothing.
  const errors = schemaErrors(schema, value).filter(
    ({ instancePath, schemaPath }) =>
      !isBelowSpecial(value ?? null, instancePath) &&
      // An element that `contains` does not count is not wrong.
      !/(?<!\/properties)\/contains\//.test(schemaPath),
  );
  if (errors.length === 0) return;
  // A value of the wrong type breaks every other rule as well; saying so would only be noise.
  const mistyped = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath),
  );
  // So does a text that breaks a pattern: what is no http address is no address, and `SSE` is none of the values.
  const unlike = new Set(
    errors.filter(({ keyword }) => keyword === 'pattern').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword !== 'type' && mistyped.has(error.instancePath)) continue;
    if (['format', 'enum'].includes(error.keyword) && unlike.has(error.instancePath)) continue;
    const problem = findProblem(error, checked);
    if (problem !== undefined) report.add(problem);
  }
}

type Violation = {
  readonly error: ErrorObject;
  readonly located: LocatedValue;
  /** The value may be quoted. */
  readonly open: boolean;
  readonly severity: Severity;
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

function actual({ written, value }: LocatedValue): string {
  if (written !== undefined) return describe(written);
  return typeof value === 'string' ? 'text' : 'something else';
}

function typeWords({ located }: Violation): ProblemMessage {
  const types = listTypes(located.schema).filter((type) => type !== 'null');
  const wanted = types.map((type) => NOUNS[type] ?? type).join(' or ');
  if (located.value === null) {
    return {
      rule: 'schema/type',
      message: `must be ${wanted}; it cannot be cleared with null`,
      hint: 'To keep the live value, remove the line',
    };
  }
  const scalar = typeof located.value !== 'object';
  const truth = types.includes('boolean') ? findTruth(located.value) : undefined;
  return {
    rule: 'schema/type',
    message: `must be ${wanted}, not ${actual(located)}`,
    hint:
      truth !== undefined
        ? `Did you mean ${truth}? In YAML 1.2 ${String(located.value)} is a text`
        : isDecimalComma(located.value) && types.includes('number')
          ? `Numbers have a point: ${located.value.replace(',', '.')}`
          : scalar && types.includes('string')
            ? textHint(located.schema)
            : undefined,
  };
}

function isDecimalComma(value: unknown): value is string {
  return typeof value === 'string' && /^-?\d+,\d+$/.test(value);
}

/** Quotes make a text of a number, and no step, time or address. */
function textHint({ format }: FieldSchema): string {
  const example = format === undefined ? undefined : FORMATS[format]?.example;
  return example === undefined ? 'Put it in quotes' : `For example ${example}`;
}

function exampleHint({ examples: [example] = [] }: FieldSchema): string | undefined {
  return typeof example === 'string' || typeof example === 'number'
    ? `For example ${example}`
    : undefined;
}

/** Reads `yes`, `off` and their like as YAML 1.1 does. */
function findTruth(value: LocatedValue['value']): boolean | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^(?:y|yes|on|true)$/i.test(value)) return true;
  return /^(?:n|no|off|false)$/i.test(value) ? false : undefined;
}

function enumWords({ error, located, open, severity }: Violation): ProblemMessage {
  const allowed: readonly unknown[] = error.params.allowedValues ?? [error.params.allowedValue];
  const texts = allowed.filter((value) => typeof value === 'string');
  const close = typeof located.value === 'string' ? nearest(located.value, texts) : undefined;
  const list = texts.join(', ');
  const value = open ? JSON.stringify(located.value) : 'that';
  if (severity === 'warning') {
    const hint = `The specification has ${list}`;
    return {
      rule: 'schema/enum',
      message: `is ${value}, which the specification does not have`,
      hint: close === undefined ? hint : `Did you mean ${close}? ${hint}`,
    };
  }
  return {
    rule: 'schema/enum',
    message: `cannot be ${value}`,
    hint: close === undefined ? `Use one of ${list}` : `Did you mean ${close}? It takes ${list}`,
  };
}

function limitWords({ error, located }: Violation): ProblemMessage {
  const limit = String(error.params.limit);
  const many = (noun: string, plural?: string) => formatCount(Number(limit), noun, plural);
  const least = (noun: string, plural?: string) =>
    limit === '1' ? 'must not be empty' : `must have at least ${many(noun, plural)}`;
  const said: Readonly<Record<string, string>> = {
    minLength: least('character'),
    maxLength: `must have at most ${many('character')}`,
    minimum: `must be at least ${limit}`,
    maximum: `must be at most ${limit}`,
    exclusiveMinimum: `must be more than ${limit}`,
    exclusiveMaximum: `must be less than ${limit}`,
    minItems: least('entry', 'entries'),
    maxItems: `must have at most ${many('entry', 'entries')}`,
    minProperties: least('member'),
  };
  const isLong = error.keyword === 'maxLength';
  const counted = isLong ? `, and has ${formatNumber([...String(error.data)].length)}` : '';
  return {
    rule: 'schema/limit',
    message: `${said[error.keyword] ?? `breaks the limit ${limit}`}${counted}`,
    // A number shows in which unit it is, which no zero needs.
    hint: typeof error.data === 'number' && limit !== '0' ? exampleHint(located.schema) : undefined,
  };
}

function formatWords({ error, located, open }: Violation): ProblemMessage {
  const format = FORMATS[String(error.params.format)];
  const close = typeof located.value === 'string' ? format?.nearest?.(located.value) : undefined;
  const example = format === undefined ? undefined : `For example ${format.example}`;
  const wrong =
    open && typeof located.value === 'string' ? format?.wrong?.(located.value) : undefined;
  const noun = format?.noun ?? `of the format ${error.params.format}`;
  return {
    rule: 'schema/format',
    message: `must be ${noun}${wrong === undefined ? '' : `: ${wrong}`}`,
    hint: close === undefined ? example : `Did you mean ${close}?`,
  };
}

/** Patterns of the schemas, in words. */
const PATTERNS: Readonly<Record<string, string>> = {
  '^https?://': 'must begin with http:// or https://',
  '^[hH][tT][tT][pP][sS]?://': 'must begin with http:// or https://',
  '^[^A-Z]*$': 'must be in lower case',
};

function patternWords({ error, located }: Violation): ProblemMessage {
  const pattern = String(error.params.pattern);
  return {
    rule: 'schema/pattern',
    message: PATTERNS[pattern] ?? 'does not have the form that the platform or Callsheet reads',
    hint: exampleHint(located.schema),
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

function exclusiveWords({ error }: Violation): ProblemMessage {
  const names = branchNames(error);
  const none = error.params.passingSchemas === null;
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
function violationMessage(violation: Violation, item: FieldSchema): ProblemMessage | undefined {
  const { error } = violation;
  switch (error.keyword) {
    case 'type':
      return typeWords(violation);
    case 'enum':
      return enumWords(violation);
    case 'const':
      if (violation.severity === 'warning') return enumWords(violation);
      return {
        rule: 'schema/enum',
        message: `must be ${JSON.stringify(error.params.allowedValue)}`,
      };
    case 'format':
      return formatWords(violation);
    case 'pattern':
      return patternWords(violation);
    case 'contains':
      return maxContainsMessage(error, item);
    case 'oneOf':
      return exclusiveWords(violation);
    case 'anyOf':
      return { rule: 'schema/required', message: `needs one of ${branchNames(error).join(', ')}` };
    case 'minProperties':
      // The keys that it was given are unknown, which is found where the document is resolved.
      return writtenKeys(violation.located).length > 0 ? undefined : limitWords(violation);
    case 'additionalProperties':
    case 'if':
      // Unknown keys are found while the document is resolved; `if` only announces what `then` says.
      return undefined;
    default:
      return error.params.limit === undefined
        ? { rule: 'schema/invalid', message: `breaks the rule ${error.keyword} of its schema` }
        : limitWords(violation);
  }
}

/** The members that an element must have to be counted, as in "at most four `during_call` webhooks". */
function containedBy({ schema }: ErrorObject): readonly (readonly [key: string, value: unknown])[] {
  const { properties = {} }: FieldSchema = Object(schema);
  return Object.entries(properties).map(([key, { const: value }]) => [key, value]);
}

/** The elements of a list that a broken `contains` limit counts, by index. */
function containedElements(error: ErrorObject): readonly number[] {
  const by = containedBy(error);
  if (!Array.isArray(error.data)) return [];
  const elements: readonly unknown[] = error.data;
  const counts = (element: unknown) => by.every(([key, value]) => Object(element)[key] === value);
  return elements.flatMap((element, index) => (counts(element) ? [index] : []));
}

/** Returns the noun of elements: `webhooks` where their `type` is always `webhook`. */
function formatNoun(item: FieldSchema): string {
  const type = item.properties?.type?.const;
  return typeof type === 'string' ? `${type}s` : 'entries';
}

/** The words for a broken `contains` limit; they begin with a verb. */
function maxContainsMessage(error: ErrorObject, item: FieldSchema): ProblemMessage {
  const count = containedElements(error).length;
  const [[, value] = []] = containedBy(error);
  return {
    rule: 'schema/limit',
    message: `has ${count} ${String(value)} ${formatNoun(item)}; the platform allows ${error.params.maxContains}`,
    hint: 'Remove the surplus entries, or give them another condition',
  };
}

const compiled = oncePer(compile);

/** Every way in which a document breaks its schema, in the terms of ajv. Schemas are compiled once. */
export function schemaErrors(schema: FieldSchema, document: unknown): readonly ErrorObject[] {
  const validate = compiled(schema);
  return validate(document) ? [] : [...(validate.errors ?? [])];
}
