import written from '../../schemas/settings.json' with { type: 'json' };
import type { FieldSchema } from '../core/schema.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { namedRules } from '../rules/lint.ts';
import { blockSchema, resourceSchema } from './schema.ts';
import ofFeatures from './sections.generated.json' with { type: 'json' };

/**
 * The parts of the configuration that are no fields of the platform: the settings of `callsheet.yaml`, the sections
 * that every file may have, and how resources are put together. `schemas/settings.json` states it; what follows from
 * the kinds, the rules and the settings themselves is filled in here. Editors, `callsheet explain` and the reference
 * describe it from here.
 */
const { sections, members, forms } = written;

/** Sections of `callsheet.yaml` that features read. Every one can be laid over by an environment. */
export const FEATURE_SECTIONS: readonly string[] = Object.keys(ofFeatures);

const settings = {
  ...written.settings,
  properties: { ...written.settings.properties, ...ofFeatures },
};

/** Members that a resource may have beside its fields. */
export const COMPOSING_MEMBERS = members;

/** The sections that every file may have beside resources. */
export const SHARED_SECTIONS = sections;

/** The value forms' schemas for editors. */
export const FORM_DEFINITIONS = forms;

export const METHODS: readonly string[] =
  settings.properties.platform.properties.endpoints.additionalProperties.properties.method.enum;

/** Kinds that a rule may be about. */
export const KIND_NAMES: readonly string[] = kinds.map(({ name }) => name);

/** Settings of the stack that an environment can override. */
export const ENVIRONMENT_MEMBERS: readonly string[] = [
  'platform',
  'variables',
  'organizations',
  'organization',
  'state',
  'guards',
  ...FEATURE_SECTIONS,
];

const { lint, rules, environments } = settings.properties;

/** One of `rules:` of callsheet.yaml. */
const ruleSchema: FieldSchema = withProperty(rules.additionalProperties, 'on', (on) => ({
  ...on,
  items: { ...on.items, enum: KIND_NAMES },
}));

/** `rules:` of callsheet.yaml. */
export const rulesSchema: FieldSchema = { ...rules, additionalProperties: ruleSchema };

const overlaid = Object.entries(settings.properties)
  .filter(([name]) => ENVIRONMENT_MEMBERS.includes(name))
  .map(([name, schema]) => [name, partial(schema)] as const);
const environment = environments.additionalProperties;

/** The members of `callsheet.yaml` that set the stack up. It may hold resources beside them. */
export const settingsSchema: FieldSchema = {
  ...settings,
  properties: {
    ...settings.properties,
    lint: withProperty(lint, 'rules', (severities) => ({
      ...severities,
      properties: Object.fromEntries(namedRules.map(severitySchema)),
    })),
    rules: rulesSchema,
    environments: {
      ...environments,
      additionalProperties: {
        ...environment,
        properties: { ...Object.fromEntries(overlaid), ...environment.properties },
      },
    },
  },
};

/** Everything that may stand at the top of `callsheet.yaml` beside the sections of the kinds. */
export const topSchema: FieldSchema = {
  ...settingsSchema,
  properties: { ...settingsSchema.properties, ...sections },
};

/** Members of a resource that are Callsheet's and no field of the platform. */
export const OWN_MEMBERS: readonly string[] = [...Object.keys(members), 'lifecycle', 'unchecked'];

/** Everything that may be written in a resource of a kind, before it is put together. */
export function writtenSchema(kind: Kind): FieldSchema {
  const schema = resourceSchema(kind);
  return { ...schema, properties: { ...schema.properties, ...members } };
}

/** Every schema that something written is checked against, by a name that is fit for a variable. */
export function checkedSchemas(): ReadonlyMap<string, FieldSchema> {
  const nested = kinds.filter((kind) => kind.nested !== undefined);
  return new Map([
    ['stack', settingsSchema],
    ...kinds.map((kind): [string, FieldSchema] => [kind.name, resourceSchema(kind)]),
    ...nested.map((kind): [string, FieldSchema] => [`${kind.name}_block`, blockSchema(kind)]),
  ]);
}

function severitySchema({ name, description }: (typeof namedRules)[number]): [string, FieldSchema] {
  return [
    name,
    { type: 'string', enum: ['off', 'warning', 'error'], description, examples: ['off'] },
  ];
}

/**
 * A setting as an environment lays it over another, of which it may say any part. A list it says as a whole. What both
 * together lack is found where the environment is chosen.
 */
function partial({ required: _, ...schema }: FieldSchema): FieldSchema {
  const { properties, additionalProperties: rest } = schema;
  const named = Object.entries(properties ?? {}).map(
    ([name, one]) => [name, partial(one)] as const,
  );
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(named) }),
    ...(typeof rest === 'object' ? { additionalProperties: partial(rest) } : {}),
  };
}

/** An object's schema with that of one member made another. */
function withProperty(
  schema: FieldSchema,
  name: string,
  change: (property: FieldSchema) => FieldSchema,
): FieldSchema {
  const properties = schema.properties ?? {};
  return { ...schema, properties: { ...properties, [name]: change(properties[name] ?? {}) } };
}
