import { isSensitive, MASK } from '../core/mask.ts';
import { dereference, type FieldSchema } from '../core/schema.ts';
import { isList, isObject, type Json } from '../core/value.ts';
import bodies from './bodies.generated.json' with { type: 'json' };

/** Members are operations, below them `request` and `answer`; and `errors`. */
const root: FieldSchema = bodies;

/** Which body of an operation is meant. */
export type BodyPart = 'request' | 'answer';

/** What a text is shown as at most; prompts and pages are longer. */
const LONGEST_TEXT = 200;

/**
 * A body as a trace may show it. A value is shown only where the contract names it and calls it neither
 * secret nor sensitive: what is newer than the contract may be a secret.
 */
export function maskBody(operation: string, part: BodyPart, body: Json): Json {
  return show(bodySchema(operation, part), body);
}

/** An error's body as a trace may show it. */
export function maskErrorBody(body: Json): Json {
  return show(member(root, 'errors'), body);
}

/**
 * Every text of a body that is a secret: what the contract calls so, and what it does not know where
 * secrets are to be expected.
 */
export function secretsOf(operation: string, part: BodyPart, body: Json): readonly string[] {
  return gather(bodySchema(operation, part), body, false);
}

function bodySchema(operation: string, part: BodyPart): FieldSchema | undefined {
  const bodiesOf = member(root, operation);
  return bodiesOf && member(bodiesOf, part);
}

/** The schema of a member; undefined where none names it. */
function member({ properties, additionalProperties }: FieldSchema, key: string) {
  const named = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const schema =
    named ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
  return schema && dereference(root, schema);
}

function element({ items }: FieldSchema): FieldSchema | undefined {
  return items && dereference(root, items);
}

function show(schema: FieldSchema | undefined, value: Json): Json {
  if (value === null) return null;
  if (schema === undefined || isSensitive(schema)) return MASK;
  if (isList(value)) return value.map((item) => show(element(schema), item));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, show(member(schema, key), inner)]),
    );
  }
  return typeof value === 'string' ? shorten(withoutQuery(value)) : value;
}

function gather(schema: FieldSchema | undefined, value: Json, isInside: boolean): string[] {
  if (schema === undefined ? isInside : isSensitive(schema)) return textsOf(value);
  const expected = isInside || schema?.['x-secrets-inside'] === true;
  if (isList(value)) {
    return value.flatMap((item) => gather(schema && element(schema), item, expected));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    gather(schema && member(schema, key), inner, expected),
  );
}

function textsOf(value: Json): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  if (isList(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

/** Addresses are signed in their query, and some hold a key there. */
function withoutQuery(text: string): string {
  return /^[a-z]+:\/\/\S+$/i.test(text) && URL.canParse(text)
    ? text.replace(/\/\/[^/?#]*@/, '//').replace(/\?[^#]+/, '?…')
    : text;
}

function shorten(text: string): string {
  return text.length <= LONGEST_TEXT
    ? text
    : `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters)`;
}
