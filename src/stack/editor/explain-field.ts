import type { FieldDocument, FieldMember } from '../../core/documents.ts';
import { didYouMean, suggestInstead } from '../../core/nearest.ts';
import { isIdentity, parsePath } from '../../core/path.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import type { Json } from '../../core/value.ts';
import { ANY_KIND, findReferred } from '../../core/walk.ts';
import { catalogueNamed } from '../../kinds/catalogues.ts';
import type { Kind } from '../../kinds/kind.ts';
import { isFree, isRefused, isText, listLimits, listTypes, namedField } from '../schema.ts';
import { OWN_MEMBERS, topSchema, writtenSchema } from '../settings-schema.ts';
import { braces, brackets, scalarText } from '../tree.ts';

/** Why there is nothing to document under a name. */
type NoField = { readonly message: string; readonly hint: string };

/** One step of the way from a kind to a field. */
type Step = { readonly name: string; readonly schema: FieldSchema; readonly required: boolean };

type Way = {
  readonly kind: Kind | undefined;
  readonly root: FieldSchema;
  /** `agent.extensions.tools[]`. */
  readonly name: string;
  readonly steps: readonly Step[];
};

/**
 * Documents a field from its schema: `agent`, `agent.voice_settings`, `agent.extensions.tools[].url`, or a
 * setting of `callsheet.yaml` such as `guards.max_delete`.
 */
export function explainField(text: string, kinds: readonly Kind[]): FieldDocument | NoField {
  const way = findField(text, kinds);
  return 'message' in way ? way : buildDocument(way);
}

/** `agent.extensions.tools[].url` of its parts. */
function formatName(segments: readonly string[]): string {
  const parts = segments.filter((part) => part !== '');
  return parts.map((part, at) => (isIdentity(part) ? '[]' : at === 0 ? part : `.${part}`)).join('');
}

function findField(text: string, kinds: readonly Kind[]): Way | NoField {
  const [first = '', ...rest] = parsePath(text.replaceAll('[]', '[*]')) ?? [text];
  const kind = kinds.find(({ name, section }) => name === first || section === first);
  if (kind !== undefined) {
    const root = writtenSchema(kind);
    const start = { name: kind.name, schema: root, required: false };
    return follow({ kind, root, name: kind.name, steps: [start] }, rest);
  }
  const settings = { name: '', schema: topSchema, required: false };
  if (namedField(topSchema, first) !== undefined) {
    return follow({ kind: undefined, root: topSchema, name: '', steps: [settings] }, [
      first,
      ...rest,
    ]);
  }
  const known = [...kinds.map(({ name }) => name), ...Object.keys(topSchema.properties ?? {})];
  const names = `The kinds are ${kinds.map(({ name }) => name).join(', ')}`;
  return {
    message: `no kind or setting is called ${first}`,
    hint: didYouMean(first, known, names, (close) => formatName([close, ...rest])),
  };
}

function follow(way: Way, segments: readonly string[]): Way | NoField {
  const [segment, ...rest] = segments;
  const last = way.steps.at(-1)?.schema ?? {};
  if (segment === undefined) return way;
  const isList = listTypes(last).includes('array');
  // `tools.url` is understood as `tools[].url`.
  if (isIdentity(segment) || (isList && last.items !== undefined)) {
    if (!isList) return { message: `${way.name} is not a list`, hint: 'Leave the brackets out' };
    const item = itemSchema(way.root, last);
    const steps = [...way.steps, { name: '[]', schema: item, required: false }];
    return follow({ ...way, name: `${way.name}[]`, steps }, isIdentity(segment) ? rest : segments);
  }
  const name = way.name === '' ? segment : `${way.name}.${segment}`;
  const found = findMember(way.root, last, segment);
  if (found === undefined) return unknownMember(way, last, segment, rest);
  const required = last.required?.includes(segment) ?? false;
  return follow(
    { ...way, name, steps: [...way.steps, { name: segment, schema: found, required }] },
    rest,
  );
}

function findMember(root: FieldSchema, object: FieldSchema, key: string): FieldSchema | undefined {
  const isNamed = namedField(object, key) !== undefined;
  const isOpen = typeof object.additionalProperties === 'object';
  return isNamed || isOpen ? memberSchema(root, object, key) : undefined;
}

function unknownMember(
  way: Way,
  object: FieldSchema,
  segment: string,
  rest: readonly string[],
): NoField {
  const known = Object.keys(object.properties ?? {});
  if (known.length > 0) {
    const more = `\`callsheet explain ${way.name}\` lists them`;
    const hint = suggestInstead(segment, known, 'Its fields', more, (close) =>
      formatName([way.name, close, ...rest]),
    );
    return { message: `${way.name} has no field ${segment}`, hint };
  }
  const message = `${way.name} has no documented field ${segment}`;
  return { message, hint: `See: \`callsheet explain ${way.name}\`` };
}

function buildDocument({ kind, root, name, steps }: Way): FieldDocument {
  const step = steps.at(-1);
  const schema = step?.schema ?? {};
  const isRoot = steps.length === 1;
  const holder = steps.findLast(({ schema: own }) => own['x-facet'] === true);
  const settable = !isRefused(schema);
  const item = schema.items === undefined ? undefined : itemSchema(root, schema);
  const catalogue = schema['x-one-of'];
  const [example] = schema.examples ?? [];
  return {
    format: 'callsheet-field',
    version: 1,
    field: name,
    kind: kind?.name ?? null,
    description: schema.description ?? '',
    type: [typeName(schema, item), ...listLimits(schema), ...listPatterns(schema)].join(', '),
    values: listValues(schema),
    default: (schema.default ?? null) as Json,
    example: example === undefined ? null : writtenValue(example as Json),
    required: step?.required ?? false,
    clearable:
      kind !== undefined && !isRoot && settable && isClearable(schema, step?.required === true),
    settable,
    forms: settable && !isRoot ? listForms(schema, steps) : [],
    secret: schema['x-secret'] === true,
    sensitive: steps.some(({ schema: own }) => own['x-sensitive'] === true),
    refers_to: schema['x-ref'] ?? null,
    immutable: schema['x-immutable'] === true,
    restored_by_revert: isOwn(kind, steps) || isRoot || !settable ? null : restored(kind, steps),
    lock: isOwn(kind, steps) ? null : describeLock(steps),
    facet: holder?.name ?? null,
    listed_by: catalogue === undefined ? null : catalogueNamed(catalogue).command,
    assumption:
      steps.findLast(({ schema: own }) => own['x-assumption'] !== undefined)?.schema[
        'x-assumption'
      ] ?? null,
    identity: schema['x-identity'] ?? null,
    unordered: schema['x-set'] === true,
    whole: schema['x-whole'] === true,
    ...dependenceIn(kind, schema),
    members: listMembers(root, item ?? schema),
  };
}

/** Lists the fields that a field goes along with, and the values that it may not share. */
function dependenceIn(
  kind: Kind | undefined,
  {
    'x-told-while': flag,
    'x-follows': leader,
    'x-created-as': created,
    'x-distinct': distinct,
  }: FieldSchema,
): Pick<FieldDocument, 'told_while' | 'follows' | 'created_as' | 'distinct'> {
  const named = (path: string) => (kind === undefined ? path : `${kind.name}.${path}`);
  return {
    ...(flag === undefined ? {} : { told_while: named(flag) }),
    ...(leader === undefined ? {} : { follows: named(leader) }),
    ...(created === undefined ? {} : { created_as: created }),
    ...(distinct === true ? { distinct } : {}),
  };
}

/** Members of a resource that are Callsheet's and no field of the platform. */
function isOwn(kind: Kind | undefined, steps: readonly Step[]): boolean {
  return kind !== undefined && OWN_MEMBERS.includes(steps[1]?.name ?? '');
}

function isClearable(schema: FieldSchema, required: boolean): boolean {
  return listTypes(schema).includes('null') || (isFree(schema) && !required);
}

function restored(kind: Kind | undefined, steps: readonly Step[]): boolean | null {
  if (kind?.history === undefined) return null;
  return steps.every(({ schema }) => schema['x-revert'] !== false);
}

/** The lock of the field, or of the nearest thing that holds it. */
function describeLock(steps: readonly Step[]): string | null {
  const at = steps.findLastIndex(({ schema }) => schema['x-lock'] !== undefined);
  const lock = steps[at]?.schema['x-lock'];
  if (lock === undefined) return null;
  return lock.replace('{key}', steps[at + 1]?.name ?? '…').replace('{value}', '…');
}

function listForms(schema: FieldSchema, steps: readonly Step[]): readonly string[] {
  const holds = steps.some(
    ({ schema: own }) =>
      own['x-secret'] === true || own['x-sensitive'] === true || own['x-secrets-inside'] === true,
  );
  const takesText = isFree(schema) || listTypes(schema).includes('string');
  const target = findReferred(
    schema,
    steps.slice(0, -1).some(({ schema: own }) => own['x-ids-inside'] === true),
  );
  const isOpen = target === undefined && schema['x-ids-inside'] === true;
  return [
    ...(isText(schema) ? ['{ $file: PATH }', '{ $template: PATH, with: … }'] : []),
    ...(target === undefined ? [] : [`{ $ref: ${target === ANY_KIND ? 'KIND' : target}.NAME }`]),
    ...(isOpen ? ['{ $ref: KIND.NAME } in it'] : []),
    ...(holds && takesText ? ['{ $secret: env:NAME }'] : []),
  ];
}

/** Schemas are JSON; `FieldSchema` only does not say so of its values. */
function listValues({ enum: values = [], const: only }: FieldSchema): readonly Json[] {
  const all = (only === undefined ? values : [only]) as readonly Json[];
  return all.filter((value) => value !== null);
}

function listMembers(root: FieldSchema, schema: FieldSchema): readonly FieldMember[] {
  return Object.entries(schema.properties ?? {}).map(([name, given]): FieldMember => {
    const field = dereference(root, given);
    const item = field.items === undefined ? undefined : itemSchema(root, field);
    return {
      name,
      type: typeName(field, item),
      required: schema.required?.includes(name) ?? false,
      settable: !isRefused(field),
      description: field.description ?? '',
    };
  });
}

function listPatterns(schema: FieldSchema & { readonly pattern?: string }): readonly string[] {
  return schema.pattern === undefined ? [] : [`must match ${schema.pattern}`];
}

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
  duration: 'length of time',
  'step-size': 'number or share of agents',
};

const FILES: { readonly [use: string]: string } = {
  clip: 'path of a recording',
  document: 'path of a document',
};

/** The type of a field in words, without its limits. */
function typeName(schema: FieldSchema, item: FieldSchema | undefined): string {
  if (schema['x-ref'] !== undefined) return `id of a ${schema['x-ref']}`;
  const file = FILES[schema['x-file'] ?? ''];
  if (file !== undefined) return file;
  const names = listTypes(schema)
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
  'number or share of agents': 'numbers or shares of agents',
  anything: 'anything',
};

function plural(item: FieldSchema): string {
  const name = typeName(item, undefined);
  return PLURALS[name] ?? name;
}

/** A value as it is written in YAML, on one line. */
export function writtenValue(value: Json): string {
  if (typeof value === 'string') return scalarText(value, 'flow');
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return brackets(value.map((item: Json) => writtenValue(item)));
  const members = Object.entries(value);
  return braces(
    members.map(([key, member]) => `${scalarText(key, 'key')}: ${writtenValue(member)}`),
  );
}
