import {
  inlineDefinitions,
  isSchema,
  nullable,
  plainSchema,
  propertiesOf,
  type Schema,
} from './schema.ts';

/**
 * A kind's schema says what the configuration holds. What the platform returns (the record) and what it
 * takes (the write form) follow from it by way of its `x-` keywords.
 */

/** What the platform returns: without what is written only, what has endpoints of its own, and what is local. */
export function recordForm(kind: Schema): Schema {
  const whole = inlineDefinitions(kind, kind);
  if (!isSchema(whole)) throw new Error('a kind is an object');
  const { oneOf: _, if: __, then: ___, required, ...schema } = whole;
  return plainSchema(
    returned({ ...schema, required: ['id', ...(Array.isArray(required) ? required : [])] }),
  );
}

function returned(schema: Schema): Schema {
  const members = Object.entries(propertiesOf(schema)).filter(
    ([, member]) => member.writeOnly !== true && !member['x-facet'] && !member['x-local'],
  );
  const names = members.map(([name]) => name);
  const { additionalProperties, items, required, format, ...rest } = schema;
  const facts = Object.entries(rest).filter(([keyword]) => !LIMITS.has(keyword));
  // A record may hold fields that are newer than the schema, so objects stay open.
  return {
    ...Object.fromEntries(facts),
    ...(GIVEN_FORMATS.includes(format) ? { format } : {}),
    ...(isSchema(items) ? { items: returned(items) } : {}),
    ...(Array.isArray(required)
      ? { required: required.filter((name) => names.includes(name)) }
      : {}),
    ...(isSchema(additionalProperties)
      ? { additionalProperties: returned(additionalProperties) }
      : {}),
    ...(isSchema(schema.properties)
      ? {
          properties: Object.fromEntries(
            members.map(([name, member]) => [
              name,
              emptiable(schema, name, member) ? nullable(returned(member)) : returned(member),
            ]),
          ),
        }
      : {}),
  };
}

/** What a write must keep to. A record may hold what was stored before there was such a limit. */
const LIMITS = new Set([
  'allOf',
  'default',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'minimum',
  'pattern',
]);

/** Formats that the platform itself gives: identifiers and time stamps (Resources). */
const GIVEN_FORMATS: readonly unknown[] = ['uuid', 'date-time'];

/** Whether a record may hold null there: wherever it may lack the field, but for what it always has. */
function emptiable(parent: Schema, name: string, member: Schema): boolean {
  const { required } = parent;
  return !(
    member.readOnly === true ||
    typeof member['x-config'] === 'string' ||
    'enum' in member ||
    'const' in member ||
    (Array.isArray(required) && required.includes(name))
  );
}

/** What the platform takes for an agent: `schemas/agent-write.schema.generated.json`. */
export function agentWriteForm(kind: Schema): Schema {
  const whole = inlineDefinitions(kind, kind);
  if (!isSchema(whole)) throw new Error('a kind is an object');
  const written = Object.entries(propertiesOf(whole)).filter(
    ([, member]) => member['x-facet'] !== true,
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:callsheet:write:agent',
    title: 'Agent, as written',
    description:
      'Generated from kinds/agent.schema.json. All fields are optional; null clears a field.',
    type: 'object',
    additionalProperties: true,
    properties: writtenMembers({ ...whole, required: [], properties: Object.fromEntries(written) }),
  };
}

function writtenMembers(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(propertiesOf(schema))
      .filter(([, member]) => member.readOnly !== true || member['x-echo-back'] === true)
      .map(([name, member]) => [
        writeName(name, member),
        clearable(schema, name, member) ? nullable(written(member)) : written(member),
      ]),
  );
}

function written(schema: Schema): Schema {
  const { additionalProperties, items, required, properties, ...rest } = plainSchema(schema);
  const members = propertiesOf(schema);
  // Elements with write names of their own are validated apart from the rest, and strictly.
  const strict = Object.values(members).some((member) => member['x-write'] !== undefined);
  return {
    ...rest,
    ...(isSchema(schema.items) ? { items: written(schema.items) } : {}),
    ...(Array.isArray(required)
      ? { required: required.map((name) => writeName(String(name), members[String(name)] ?? {})) }
      : {}),
    ...(properties === undefined ? {} : { properties: writtenMembers(schema) }),
    ...(isSchema(additionalProperties)
      ? { additionalProperties }
      : properties === undefined
        ? {}
        : { additionalProperties: !strict }),
  };
}

function writeName(name: string, member: Schema): string {
  const written = member['x-write'];
  return typeof written === 'string' ? written : name;
}

/** Whether a field may be empty: what is cleared comes back as null or not at all. */
function clearable(parent: Schema, name: string, member: Schema): boolean {
  const required = parent.required;
  return !(
    member['x-clearable'] === false ||
    member['x-immutable'] === true ||
    member.readOnly === true ||
    'const' in member ||
    (Array.isArray(required) && required.includes(name))
  );
}
