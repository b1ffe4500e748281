import { existsSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';

/*
 * Judges answers by the OpenAPI document, read here from the file itself: neither the generated table nor
 * the simulator's own validation has a part in it.
 */

const DOCUMENT = new URL('../../schemas/platform.openapi.yaml', import.meta.url);
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Keywords that say nothing about an answer. */
const UNREAD = ['$id', '$schema', '$defs', 'examples', 'description'];

type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: RegExp;
  readonly answers: JsonObject;
};

const files = new Map<string, Json>();
const validators = new Map<string, ValidateFunction>();
const seen = new Set<string>();

// The schemas carry keywords of their own.
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('uuid', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i);
ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/);

const document = load(DOCUMENT);
const operations: readonly Operation[] = Object.entries(objectAt(document, 'paths')).flatMap(
  ([template, item]) =>
    METHODS.filter((method) => isObject(item) && method in item).map((method) => {
      const operation = objectAt(item, method);
      return {
        id: String(operation.operationId),
        method: method.toUpperCase(),
        path: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        answers: objectAt(operation, 'responses'),
      };
    }),
);

/** Every operation with every status that the document gives it, as `operation status`. */
export const documented: readonly string[] = operations.flatMap(({ id, answers }) =>
  Object.keys(answers).map((status) => `${id} ${status}`),
);

/** Which of them some answer had. */
export const answered: ReadonlySet<string> = seen;

/** Fields of records that the document has and no answer had, as `agent.sip`. */
export function unanswered(): readonly string[] {
  return [...new Set(fields.documented)].filter((field) => !fields.answered.has(field));
}

const fields = { documented: new Set<string>(), answered: new Set<string>() };

/** Notes which fields the records of an answer have, and which they could have. */
function noteFields(schema: Json | undefined, body: unknown): void {
  if (!isObject(schema)) return;
  const { 'x-record': record, properties, items, allOf } = schema;
  for (const [name, member] of Object.entries(isObject(properties) ? properties : {})) {
    const value: unknown = Object(body)[name];
    if (typeof record === 'string') fields.documented.add(`${record}.${name}`);
    if (typeof record === 'string' && value !== undefined) fields.answered.add(`${record}.${name}`);
    if (record === undefined) noteFields(member, value);
  }
  for (const part of Array.isArray(allOf) ? allOf : []) noteFields(part, body);
  for (const element of Array.isArray(body) ? body : []) noteFields(items, element);
}

/**
 * Throws when the document has no such operation or status, or when the body breaks its schema. Addresses
 * outside the document, such as presigned ones, pass.
 */
export function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  const operation = operations.find((one) => one.method === method && one.path.test(path));
  if (operation === undefined) return;
  const name = `${operation.id} ${status}`;
  const answer = operation.answers[String(status)];
  if (answer === undefined) throw new Error(`the document does not give ${name}`);
  seen.add(name);
  const schema = bodySchema(answer);
  if (schema === undefined) {
    // The body of a 429 is not specified.
    if (status !== 429 && body !== undefined) throw new Error(`${name} has no body, and one came`);
    return;
  }
  const validate = validators.get(name) ?? ajv.compile(schema);
  validators.set(name, validate);
  if (!validate(body))
    throw new Error(
      `${name} breaks the document: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
    );
  noteFields(schema, body);
}

function bodySchema(answer: Json): JsonObject | undefined {
  const whole = inline(answer, DOCUMENT);
  const content = isObject(whole) ? whole.content : undefined;
  if (!isObject(content) || !('application/json' in content)) return undefined;
  return objectAt(objectAt(content, 'application/json'), 'schema');
}

/** A node with its references replaced by what they name, as any tool reads it. */
function inline(node: Json, base: URL): Json {
  if (Array.isArray(node)) return node.map((item: Json) => inline(item, base));
  if (!isObject(node)) return node;
  const { $ref, ...rest } = node;
  const own = Object.fromEntries(
    Object.entries(rest)
      .filter(([key]) => !UNREAD.includes(key))
      .map(([key, value]) => [
        key,
        key === 'properties' ? members(value, base) : inline(value, base),
      ]),
  );
  if (typeof $ref !== 'string') return own;
  const [file = '', pointer = ''] = $ref.split('#');
  const target = new URL(file === '' ? base.href : file, base);
  const named = inline(at(load(target), pointer), target);
  const record = recordAt(pointer);
  const all = [
    isObject(named) && record !== undefined ? { ...named, 'x-record': record } : named,
    ...withheld(record),
  ];
  return all.length === 1 && Object.keys(own).length === 0 ? named : { allOf: all, ...own };
}

/** Members are named freely, so that a field may be called `description`. */
function members(properties: Json, base: URL): JsonObject {
  return Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => [
      name,
      inline(schema, base),
    ]),
  );
}

/**
 * What a record of a kind may not hold: what is only written. Records are open, so that their schema alone would
 * not catch a secret that slips out.
 */
function withheld(record: string | undefined): readonly Json[] {
  if (record === undefined) return [];
  const kind = load(new URL(`kinds/${record}.schema.json`, DOCUMENT));
  return [withoutWritten(kind, kind)];
}

/** The kind whose record a pointer into the forms of the wire names. */
function recordAt(pointer: string): string | undefined {
  const name = /^\/\$defs\/([a-z_]+)$/.exec(pointer)?.[1];
  const isKind = existsSync(new URL(`kinds/${name}.schema.json`, DOCUMENT));
  return isKind ? name : undefined;
}

function withoutWritten(node: Json, kind: Json): JsonObject {
  if (!isObject(node)) return {};
  if (typeof node.$ref === 'string') return withoutWritten(at(kind, node.$ref.slice(1)), kind);
  const properties = Object.entries(isObject(node.properties) ? node.properties : {});
  return {
    properties: Object.fromEntries(
      properties.map(([name, member]): [string, Json] => {
        const { writeOnly = false } = isObject(member) ? member : {};
        return [name, writeOnly === true ? false : withoutWritten(member, kind)];
      }),
    ),
    ...(node.items === undefined ? {} : { items: withoutWritten(node.items, kind) }),
  };
}

function load(url: URL): Json {
  const known = files.get(url.pathname);
  if (known !== undefined) return known;
  // `parse` gives what the file holds; YAML of plain values is JSON.
  const content = parse(readFileSync(url, 'utf8')) as Json;
  files.set(url.pathname, content);
  return content;
}

function at(node: Json, pointer: string): Json {
  return pointer
    .split('/')
    .filter((step) => step !== '')
    .reduce<Json>((current, step) => {
      const next = isObject(current) ? current[step.replaceAll('~1', '/')] : undefined;
      if (next === undefined) throw new Error(`the document has no ${pointer}`);
      return next;
    }, node);
}

function objectAt(node: Json | undefined, key: string): JsonObject {
  const value = isObject(node) ? node[key] : undefined;
  if (!isObject(value)) throw new Error(`the document has no object at ${key}`);
  return value;
}
