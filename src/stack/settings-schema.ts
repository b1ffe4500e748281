import written from '../../schemas/settings.json' with { type: 'json' };
import type { FieldSchema } from '../core/schema.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { blockSchema, resourceSchema } from './schema.ts';
import ofFeatures from './sections.generated.json' with { type: 'json' };

/**
 * The parts of the configuration that are no fields of the platform: the settings of `callsheet.yaml`, the sections
 * that every file may have, and how resources are put together. `schemas/settings.json` states it; what follows from
 * the kinds, the rules and the settings themselves is filled in here. Editors, `callsheet explain` and the reference
 * describe it from here.
 */
const { sections, members, forms } = written;

/** A section of `callsheet.yaml` that a feature reads. */
type Section = {
  /** False if no environment lays anything over it. */
  readonly environments?: boolean;
  /** True if nothing is rolled back while it is wrong. */
  readonly rollback?: boolean;
  readonly schema: FieldSchema;
};

const featureSections = Object.entries<Section>(ofFeatures).map(([key, one]) => ({ key, ...one }));
const overridable = featureSections.filter((one) => one.environments !== false);

/** Sections of `callsheet.yaml` that features read. */
export const FEATURE_SECTIONS: readonly string[] = listKeys(featureSections);

/** Those of them that do not matter to a rollback. */
export const UNNEEDED_SECTIONS: readonly string[] = listKeys(
  featureSections.filter((one) => one.rollback !== true),
);

const { environments, ...ownSettings } = written.settings.properties;
const properties: { readonly [name: string]: FieldSchema } = {
  ...ownSettings,
  ...listSchemas(featureSections.filter((one) => !overridable.includes(one))),
  environments,
  ...listSchemas(overridable),
};

/** Members that a resource may have beside its fields. */
export const COMPOSING_MEMBERS = members;

/** The sections that every file may have beside resources. */
export const SHARED_SECTIONS = sections;

/** The value forms' schemas for editors. */
export const FORM_DEFINITIONS = forms;

export const METHODS: readonly string[] =
  ownSettings.platform.properties.endpoints.additionalProperties.properties.method.enum;

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
  ...listKeys(overridable),
];

const overlaid = Object.entries(properties)
  .filter(([name]) => ENVIRONMENT_MEMBERS.includes(name))
  .map(([name, schema]) => [name, partial(schema)] as const);
const environment = environments.additionalProperties;

/** The members of `callsheet.yaml` that set the stack up. It may hold resources beside them. */
export const settingsSchema: FieldSchema = {
  ...written.settings,
  properties: {
    ...properties,
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

function listKeys(sections: readonly (Section & { readonly key: string })[]): readonly string[] {
  return sections.map(({ key }) => key);
}

function listSchemas(sections: readonly (Section & { readonly key: string })[]): {
  readonly [key: string]: FieldSchema;
} {
  return Object.fromEntries(sections.map(({ key, schema }) => [key, schema]));
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
