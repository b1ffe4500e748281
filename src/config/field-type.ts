import type { FieldSchema } from '../core/schema.ts';
import type { Json } from '../core/value.ts';
import { typesOf } from './schema.ts';
import { scalarText } from './yaml-scalar.ts';

/** Keywords of JSON Schema that `FieldSchema` does not name. */
type Limits = FieldSchema & {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
};

const TYPES: { readonly [type: string]: string } = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'true or false',
  object: 'map',
};

const FORMATS: { readonly [format: string]: string } = {
  uri: 'address (URI)',
  email: 'e-mail address',
  uuid: 'id (UUID)',
  'iana-timezone': 'IANA time zone',
  'date-time': 'time (ISO 8601)',
  'web-address': 'web address',
  'sms-sender': 'sender of texts',
};

const FILES: { readonly [use: string]: string } = {
  clip: 'path of a recording',
  document: 'path of a document',
};

/** The type of a field in words, without its limits. */
export function typeName(schema: FieldSchema, item: FieldSchema | undefined): string {
  if (schema['x-ref'] !== undefined) return `id of a ${schema['x-ref']}`;
  const file = FILES[schema['x-file'] ?? ''];
  if (file !== undefined) return file;
  const names = typesOf(schema)
    .filter((type) => type !== 'null')
    .map((type) => {
      if (type === 'array') return item === undefined ? 'list' : `list of ${plural(item)}`;
      return (type === 'string' ? FORMATS[schema.format ?? ''] : undefined) ?? TYPES[type] ?? type;
    });
  return names.length === 0 ? 'anything' : names.join(' or ');
}

const PLURALS: { readonly [name: string]: string } = {
  text: 'texts',
  map: 'maps',
  number: 'numbers',
  'whole number': 'whole numbers',
  'address (URI)': 'addresses (URI)',
  'web address': 'web addresses',
  'e-mail address': 'e-mail addresses',
  anything: 'anything',
};

function plural(item: FieldSchema): string {
  const name = typeName(item, undefined);
  return PLURALS[name] ?? name;
}

/** The limits of a field in words. */
export function limitsOf(given: FieldSchema): readonly string[] {
  const schema: Limits = given;
  const words: string[] = [];
  const say = (limit: number | undefined, text: (number: string) => string) => {
    if (limit !== undefined) words.push(text(limit.toLocaleString('en-US')));
  };
  say(schema.minimum, (n) => `at least ${n}`);
  say(schema.exclusiveMinimum, (n) => `greater than ${n}`);
  say(schema.maximum, (n) => `at most ${n}`);
  say(schema.exclusiveMaximum, (n) => `less than ${n}`);
  if (schema.minLength === 1) words.push('not empty');
  else say(schema.minLength, (n) => `at least ${n} characters`);
  say(schema.maxLength, (n) => `at most ${n} characters`);
  say(schema.minItems, (n) => `at least ${n} in it`);
  say(schema.maxItems, (n) => `at most ${n} in it`);
  if (schema.pattern !== undefined) words.push(`must match ${schema.pattern}`);
  return words;
}

/** A value as it is written in YAML, on one line. */
export function writtenValue(value: Json): string {
  if (typeof value === 'string') return scalarText(value, 'flow');
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => writtenValue(item)).join(', ')}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${scalarText(key, 'key')}: ${writtenValue(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
