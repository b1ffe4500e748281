import schema from '../../schemas/kinds/agent.schema.json' with { type: 'json' };
import {
  dereference,
  type FieldSchema,
  itemSchema,
  type KindSchema,
  memberSchema,
} from '../core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';

const agent: KindSchema = schema;

const FIELDS = Object.entries(agent.properties ?? {}).map(
  ([name, field]) => [name, dereference(agent, field)] as const,
);
const BY_WRITE_NAME = new Map(
  FIELDS.flatMap(([name, field]) => {
    const write = field['x-write'];
    return write === undefined || field['x-facet'] || field.readOnly
      ? []
      : [[write, name] as const];
  }),
);
/** Names of the fields that the schema knows, as reads have them. */
export const RECORD_NAMES: ReadonlySet<string> = new Set(FIELDS.map(([name]) => name));

/** Fields that a read has. */
export const READABLE: readonly string[] = FIELDS.filter(([, field]) => !field['x-facet']).map(
  ([name]) => name,
);

/**
 * Fields that name the templates an agent sends. The specification speaks of assigning templates to agents
 * and of reverts that switch one on, and shows no field for it.
 */
export const TEMPLATES = { email: 'email_template_id', sms: 'sms_template_id' } as const;

/** Settings that history records and a revert restores (Revert, rules 1 and 2). */
export const RECORDED: readonly string[] = [
  ...FIELDS.filter(
    ([, field]) => !field.readOnly && !field['x-facet'] && field['x-revert'] !== false,
  ).map(([name]) => name),
  TEMPLATES.email,
];

/**
 * The record's name for a write name. An unknown name is a field newer than the schema and is
 * kept; the record's own names, and names of what the platform owns, are not write names.
 */
export function recordName(writeName: string): string | undefined {
  const known = BY_WRITE_NAME.get(writeName);
  if (known !== undefined) return known;
  const guess = writeName.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return RECORD_NAMES.has(guess) || writeName.includes('_') ? undefined : guess;
}

/** The write name of a field of the record. */
export function writeName(name: string): string {
  if (name === TEMPLATES.email) return 'emailTemplateId';
  return agent.properties?.[name]?.['x-write'] ?? name;
}

/** Fields that hold the id of a resource of a kind. */
export function agentFieldsNaming(kind: string): readonly string[] {
  return FIELDS.flatMap(([name, field]) => (field['x-ref'] === kind ? [name] : []));
}

/** The schema of one of the record's fields. */
export function fieldSchema(name: string): FieldSchema {
  return memberSchema(agent, agent, name);
}

/** Names that hold secrets where the schema does not name every key. */
const SECRET_NAME = /(password|secret|token|api_key|private_key)$/i;

/** Top-level fields whose unnamed members may be secrets. */
function holdsSecrets(name: string, field: FieldSchema): boolean {
  return field['x-secrets-inside'] === true || name === 'sip_registration_data';
}

/** Returns a record, by default an agent's, without its secrets, which are not masked (Secrets rules). */
export function withoutSecrets(record: JsonObject, kind: KindSchema = agent): JsonObject {
  const strip = (value: Json, field: FieldSchema, inside: boolean): Json => {
    if (isList(value)) return value.map((one) => strip(one, itemSchema(kind, field), inside));
    return isObject(value) ? stripMembers(value, field, inside) : value;
  };
  const stripMembers = (value: JsonObject, field: FieldSchema, inside: boolean): JsonObject =>
    Object.fromEntries(
      Object.entries(value).flatMap(([key, member]) => {
        const schema = memberSchema(kind, field, key);
        if (isSecret(key, schema, inside)) return [];
        return [[key, strip(member, schema, inside || holdsSecrets(key, schema))] as const];
      }),
    );
  return stripMembers(record, kind, false);
}

function isSecret(key: string, field: FieldSchema, inside: boolean): boolean {
  return (
    field['x-secret'] === true || field.writeOnly === true || (inside && SECRET_NAME.test(key))
  );
}

/**
 * `next` with the secrets of `before` that it does not mention. They are only carried into objects that
 * `next` still has: disconnecting a provider takes its secrets along.
 */
export function keepSecrets(name: string, before: Json | undefined, next: Json): Json {
  const field = fieldSchema(name);
  return carry(before, next, field, holdsSecrets(name, field));
}

function carry(before: Json | undefined, next: Json, field: FieldSchema, inside: boolean): Json {
  if (!isObject(before) || !isObject(next)) return next;
  const kept = Object.entries(before).filter(
    ([key]) => next[key] === undefined && isSecret(key, memberSchema(agent, field, key), inside),
  );
  const rest = Object.entries(next).map(
    ([key, member]) =>
      [key, carry(before[key], member, memberSchema(agent, field, key), inside)] as const,
  );
  return Object.fromEntries([...rest, ...kept]);
}

/** Returns true if the specification names null as a value of the field. */
export function namesNull(field: FieldSchema): boolean {
  return Array.isArray(field.type) && field.type.includes('null');
}
