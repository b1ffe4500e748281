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
 * takes (the write forms) follow from it by way of its `x-` keywords.
 */

/**
 * `schemas/wire.schema.generated.json`, which the OpenAPI file refers to. Of each kind it has the record
 * (`agent`), what an update takes (`agent_write`), what creation takes as well or in another form
 * (`agent_create`), and what the endpoints of its facets take (`agent_payments_write`).
 */
export function wireForms(kinds: ReadonlyMap<string, Schema>): Schema {
  const forms = [...kinds].flatMap(([name, kind]) => {
    const whole = inlineDefinitions(kind, kind);
    if (!isSchema(whole)) throw new Error('a kind is an object');
    const facets = Object.entries(propertiesOf(whole)).filter(([, { 'x-facet': own }]) => own);
    return [
      [name, recordForm(whole)] as const,
      [`${name}_write`, updateForm(whole)] as const,
      [`${name}_create`, creationForm(whole)] as const,
      ...facets.map(([facet, schema]) => [`${name}_${facet}_write`, written(schema)] as const),
    ];
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:callsheet:wire',
    title: 'Records and bodies',
    description: 'Generated from kinds/*.schema.json: what the platform returns and what it takes.',
    $defs: Object.fromEntries(forms),
  };
}

/** Builds the form that the platform returns: without write-only fields and those with endpoints of their own. */
function recordForm({ oneOf: _, if: __, then: ___, required, ...kind }: Schema): Schema {
  return plainSchema(returned({ ...kind, required: ['id', ...namesIn(required)] }));
}

/** Builds the body of an update. All fields are optional; null clears those that can be empty. */
function updateForm(kind: Schema): Schema {
  return bodyForm(kind, ([, member]) => member['x-immutable'] !== true);
}

/** Builds the members that only a creation takes, takes in another form or needs. */
function creationForm(kind: Schema): Schema {
  const required = namesIn(kind.required);
  const isNeeded = ([name, member]: Member) =>
    required.includes(name) || member['x-config'] === 'organization';
  const { properties, ...form } = bodyForm(
    kind,
    (member) =>
      isNeeded(member) ||
      member[1]['x-immutable'] === true ||
      member[1]['x-created-as'] !== undefined,
    ({ 'x-created-as': created, ...member }) =>
      created === undefined ? member : { ...member, enum: created },
  );
  const needed = Object.entries(propertiesOf(kind)).filter(isNeeded);
  const names = needed
    .map(([name, member]) => writeName(name, member))
    .filter((name) => isSchema(properties) && name in properties);
  return { ...form, ...(names.length === 0 ? {} : { required: names }), properties };
}

type Member = readonly [name: string, member: Schema];

/** A body of the members that are wanted. Files and what never leaves the machine are not among them. */
function bodyForm(
  kind: Schema,
  isWanted: (member: Member) => boolean,
  change: (member: Schema) => Schema = (member) => member,
): Schema {
  const members = Object.entries(propertiesOf(kind))
    .filter(([, member]) => !member['x-facet'] && !member['x-local'] && !member['x-file'])
    .filter(isWanted)
    .map(([name, member]) => [name, change(member)] as const);
  return {
    type: 'object',
    additionalProperties: true,
    properties: writtenMembers({ ...kind, properties: Object.fromEntries(members) }),
  };
}

function namesIn(required: unknown): readonly string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

function returned(schema: Schema): Schema {
  const members = Object.entries(propertiesOf(schema)).filter(
    ([, member]) => member.writeOnly !== true && !member['x-facet'],
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

/** Keywords that a write must keep to or rests on. A record may hold what was stored before there was such a limit. */
const LIMITS = new Set([
  'x-assumes',
  'x-assumption',
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

/** Returns true if a record may hold null in a field: it may lack the field, and not every record has it. */
function emptiable(parent: Schema, name: string, member: Schema): boolean {
  const { required } = parent;
  return !(
    member.readOnly === true ||
    typeof member['x-config'] === 'string' ||
    ('enum' in member && !clearable(parent, name, member)) ||
    'const' in member ||
    (Array.isArray(required) && required.includes(name))
  );
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
  const { additionalProperties, items, required, properties, format, ...rest } =
    plainSchema(schema);
  const members = propertiesOf(schema);
  return {
    ...rest,
    ...(format === ZONE.format ? ZONE.instead : format === undefined ? {} : { format }),
    ...(isSchema(schema.items) ? { items: written(schema.items) } : {}),
    ...(Array.isArray(required)
      ? { required: required.map((name) => writeName(String(name), members[String(name)] ?? {})) }
      : {}),
    ...(properties === undefined ? {} : { properties: writtenMembers(schema) }),
    ...(isSchema(additionalProperties)
      ? { additionalProperties }
      : properties === undefined
        ? {}
        : { additionalProperties: additionalProperties !== false }),
  };
}

/** A format that JSON Schema does not know, so that other tools pass over it, and the form that it has. */
const ZONE = {
  format: 'iana-timezone',
  instead: { pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$' },
};

function writeName(name: string, member: Schema): string {
  const written = member['x-write'];
  return typeof written === 'string' ? written : name;
}

/** Returns true if a field may be empty: a cleared field comes back as null or not at all. */
function clearable(parent: Schema, name: string, member: Schema): boolean {
  const required = parent.required;
  return !(
    // An object that is always written whole has no members that stay, and so none to clear.
    parent['x-clearable'] === false ||
    member['x-clearable'] === false ||
    member['x-immutable'] === true ||
    member.readOnly === true ||
    'const' in member ||
    (Array.isArray(required) && required.includes(name))
  );
}
