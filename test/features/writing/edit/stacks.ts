// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is text here.
import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { dereference, type FieldSchema } from '../../../../src/core/schema.ts';
import {
  Blob,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../../../../src/core/value.ts';
import type { Writable } from '../../../../src/features/writing/edit/write.ts';
import { kinds } from '../../../../src/kinds/index.ts';
import { isText, listTypes } from '../../../../src/stack/schema.ts';
import { BAY, type Files, HARBOR, PDF, WAV } from '../../../stack/stack-folder.ts';

/** Texts that YAML, or Callsheet's own language, could take for something else. */
const HOSTILE = [
  ...['', ' ', ' leading', 'trailing ', '\ttab', 'a\ttab', 'null', '~', 'true', 'No', 'yes', 'on'],
  ...[
    '1e3',
    '0o7',
    '0x1F',
    '-1',
    '+15550100',
    '.5',
    '1_000',
    '12:30',
    '2026-11-21',
    '.inf',
    '.NaN',
  ],
  ...[
    '# no comment',
    'a # b',
    'a: b',
    'a:',
    ':a',
    '- a',
    '-',
    '---',
    '...',
    '? a',
    '!tag',
    '&a',
    '*a',
  ],
  ...[
    '"',
    "'",
    `"it's"`,
    'back\\slash',
    '%',
    '@',
    '`',
    '|',
    '>',
    '[a]',
    '{a}',
    '{',
    '}',
    ', ',
    '<<',
    '=',
  ],
  ...[
    '${',
    '${var.x}',
    '$${',
    '$$${a}',
    '$',
    '{{name}}',
    '{{name|there}} and {{time}}',
    '{ "a": {} }',
  ],
  ...[
    'a\nb',
    'a\nb\n',
    'a\n\n',
    '\n',
    '\na',
    '  a\nb',
    'a \nb',
    'a\n b\n',
    'a\r\nb',
    'a\rb',
    '# a\n- b\n',
  ],
  ...[
    '\u0000',
    '\u0085',
    '\u2028',
    '\ufeff',
    'a\ufeff',
    '\ud800',
    '\u00a0',
    '👩‍👧',
    'é',
    '日本語',
    '\u007f',
  ],
  ...[`${'many words that go on '.repeat(20)}.`, 'x'.repeat(300), `${'two  spaces '.repeat(20)}.`],
];

const texts: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.lorem()), { maxLength: 5 })
      .chain((parts) => fc.constantFrom('\n', ' ', '').map((joint) => parts.join(joint))),
  },
);
/** Without doubled braces that open or close no token, which a warning is about. */
const prose = texts.filter((text) => HOSTILE.includes(text) || !/\{\{|\}\}/.test(text));

const keys = fc
  .oneof(fc.constantFrom(...HOSTILE), fc.string({ maxLength: 8 }))
  // What reads like a value form has no words in the language, as the writer says.
  .filter((key) => !key.startsWith('$') && key !== '<<');

const { anything } = fc.letrec<{ anything: Json }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    prose,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true, min: -1e9, max: 1e9 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(keys, tie('anything'), { maxKeys: 4, noNullPrototype: true }),
  ) as Arbitrary<Json>,
}));

const secrets = fc
  .constantFrom('env:SMS_TOKEN', 'file:secrets/a token.txt')
  .map((source) => new Secret(source));

type Held = { readonly root: FieldSchema; readonly sensitive: boolean };

/** Values that a field takes. */
function valuesOf(given: FieldSchema, held: Held): Arbitrary<Value> {
  const schema = dereference(held.root, given);
  const sensitive = held.sensitive || schema['x-sensitive'] === true;
  if (schema['x-secret'] === true) return secrets;
  if (schema.const !== undefined) return fc.constant(schema.const as Json);
  if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as Json[]));
  const target = schema['x-ref'];
  if (target !== undefined) {
    const plain = schema.format === 'uuid' ? fc.uuid() : fc.constantFrom('aria', '007', 'a b');
    return fc.oneof(fc.constant(new Ref(`${target}.needed`)), plain);
  }
  const [type, ...others] = listTypes(schema);
  const values = valuesOfType(type, schema, { ...held, sensitive });
  return others.includes('null') ? fc.oneof(values, fc.constant(null)) : values;
}

function valuesOfType(
  type: string | undefined,
  schema: FieldSchema & { readonly minimum?: number; readonly minLength?: number },
  held: Held,
): Arbitrary<Value> {
  switch (type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: 1 });
    case 'number':
      return fc.oneof(fc.integer({ min: 1 }), fc.double({ min: 0.01, max: 1e6, noNaN: true }));
    case 'string':
      return textsOf(schema, held);
    case 'array':
      return listsOf(schema, held);
    case 'object':
      return objectsOf(schema, held);
    default:
      return anything;
  }
}

const FORMATTED: { readonly [format: string]: Arbitrary<string> } = {
  'web-address': fc.constantFrom('https://a.example.test/x', 'http://a.example.test'),
  'sms-sender': fc.constantFrom('+15550100', '12345', 'Harbor'),
  uri: fc.constantFrom('https://a.example.test/x', 'https://a.example.test/?a=1&b=#c'),
  email: fc.constantFrom('a@b.example', 'o.neil@b.example'),
  uuid: fc.uuid(),
  'iana-timezone': fc.constantFrom('America/New_York', 'UTC'),
};

function textsOf(
  schema: FieldSchema & { readonly minLength?: number; readonly maxLength?: number },
  held: Held,
): Arbitrary<Value> {
  const formatted = FORMATTED[schema['x-format'] ?? schema.format ?? ''];
  if (formatted !== undefined) return formatted;
  if ('pattern' in schema) return fc.constantFrom('7d', '12h');
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const plain = (isText(schema) ? prose : texts).filter(
    (text) => text.length >= minLength && text.length <= maxLength,
  );
  return held.sensitive ? fc.oneof(secrets, plain) : plain;
}

function listsOf(schema: FieldSchema, held: Held): Arbitrary<Value> {
  const items = valuesOf(schema.items ?? {}, held);
  const identity = schema['x-identity'];
  if (identity === undefined || schema['x-repeats'] === true)
    return fc.array(items, { maxLength: 3 });
  return fc.uniqueArray(items as Arbitrary<ValueObject>, {
    maxLength: 3,
    selector: (item) => item[identity],
  });
}

function objectsOf(schema: FieldSchema, held: Held): Arbitrary<ValueObject> {
  const fields = Object.entries(schema.properties ?? {})
    .map(([name, given]) => [name, dereference(held.root, given)] as const)
    .filter(([, field]) => field.readOnly !== true && field['x-config'] !== false);
  const named = fc.record(
    Object.fromEntries(fields.map(([name, field]) => [name, valuesOf(field, held)])),
    { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true },
  );
  const rest = schema.additionalProperties;
  if (rest === false || (rest === undefined && fields.length > 0)) return named;
  const others = typeof rest === 'object' ? valuesOf(rest, held) : anything;
  const known = new Set(fields.map(([name]) => name));
  const free = fc.dictionary(
    keys.filter((key) => !known.has(key)),
    others,
    { maxKeys: 3, noNullPrototype: true },
  );
  return fc.tuple(named, free).map(([a, b]) => ({ ...a, ...b }));
}

/** The platform takes one webhook before a call, one after it and four during it, and no settings from a translator. */
function withinLimits(given: ValueObject): ValueObject {
  const { interpreter_config: settings, ...rest } = given;
  const isTaken = settings === null && given.agent_type === 'translator';
  const document = isTaken ? rest : given;
  const extensions = document.extensions as { readonly tools?: readonly ValueObject[] } | undefined;
  if (extensions?.tools === undefined) return document;
  const tools = extensions.tools.map((tool) => ({ ...tool, condition: 'during_call' }));
  return { ...document, extensions: { ...extensions, tools } };
}

const lifecycles = fc.record(
  {
    protect: fc.boolean(),
    ignore: fc.subarray(['name']),
    adopt: fc.uuid(),
    heal: fc.constant(true),
  },
  { requiredKeys: ['protect', 'ignore'], noNullPrototype: true },
);

function unchecked(): Arbitrary<JsonObject> {
  return fc.oneof(
    fc.constant({}),
    fc.dictionary(keys, anything, { maxKeys: 3, noNullPrototype: true }),
  );
}

export const STACK_FILES: Files = { 'voices/a.wav': WAV, 'docs/a b.pdf': PDF };

function blob(path: string, mime: string): Blob {
  const bytes = Buffer.from(STACK_FILES[path] ?? '');
  return new Blob(path, createHash('sha256').update(bytes).digest('hex'), bytes.length, mime);
}

/** Fields that follow from where a resource stands, and those that must be its own. */
function settled(kind: string, index: number, given: ValueObject, organization: string) {
  const { name, url: _, file: __, ...document } = given;
  // A longer one is more than the platform takes, and cut it might tear a token apart.
  const unique = `${typeof name === 'string' && name.length < 80 ? name : 'Long'} ${index}`;
  switch (kind) {
    case 'custom_voice':
      return {
        ...document,
        name: unique,
        organization_id: organization,
        clip: blob('voices/a.wav', 'audio/wav'),
      };
    case 'knowledge_source': {
      const held = { ...document, knowledge_base_id: BAY };
      return index === 0
        ? { ...held, file: blob('docs/a b.pdf', 'application/pdf'), name: 'a b.pdf' }
        : { ...held, url: `https://a.example.test/${index}` };
    }
    case 'retry_policy':
      // A target stands beside what it is a target of.
      return { on_exhausted: 'end', ...document, name: unique };
    case 'email_template': {
      // Only a draft goes without them.
      const least = { subject: 'Hello', body_html: '<p>Hello</p>' };
      const made = { ...least, ...document, name: unique, organization_id: organization };
      return made.subject === '' ? { ...made, status: 'draft' } : made;
    }
    default:
      return withinLimits({ ...document, name: unique, organization_id: organization });
  }
}

function resourcesOf(kindIndex: number): Arbitrary<readonly Writable[]> {
  const kind = kinds[kindIndex];
  if (kind === undefined) throw new Error('there is no such kind');
  const { schema, name } = kind;
  const { oneOf: _, ...plain } = schema as FieldSchema & { readonly oneOf?: unknown };
  const { properties = {} } = plain;
  const filed = Object.entries(properties).filter(
    ([, field]) => field['x-file'] === undefined && field['x-config'] === undefined,
  );
  const required = (plain.required ?? []).filter((field) => filed.some(([own]) => own === field));
  const bare = { ...plain, properties: Object.fromEntries(filed), required };
  const one = fc.record(
    {
      document: objectsOf(bare, { root: schema, sensitive: false }),
      lifecycle: lifecycles,
      unchecked: unchecked(),
      organization: fc.constantFrom(HARBOR, BAY, '11111111-2222-4333-8444-555555555555'),
    },
    { noNullPrototype: true },
  );
  return fc.array(one, { minLength: 1, maxLength: 2 }).map((made) =>
    made.map(({ document, organization, ...rest }, index): Writable => {
      const own = index === 0 ? 'needed' : `other-${index}`;
      return {
        ...rest,
        kind: name,
        address: kind.nested === undefined ? `${name}.${own}` : `${name}.clinic.${own}`,
        document: settled(name, index, document, organization),
      };
    }),
  );
}

/** Whole stacks of every kind, with hostile texts wherever a text may stand. */
export const stacks: Arbitrary<readonly Writable[]> = fc
  .tuple(...kinds.map((_, index) => resourcesOf(index)))
  .map((made) => made.flat());

const ODD_BLANKS = ['\u00a0', '\u3000a', 'a\ufeff', '\u2028', 'a\u2029', '\u2003a', 'a\v'];

/** Texts that begin or end with white space of JavaScript that is none of YAML, wherever one may stand. */
export const BLANKS: readonly Writable[] = [
  {
    kind: 'agent',
    address: 'agent.desk',
    document: {
      name: 'Desk',
      organization_id: HARBOR,
      greeting_message: '\u00a0Hello\u00a0',
      system_prompt: '\u3000\nBe brief.\u00a0\n\u2003\n',
      lists: [...ODD_BLANKS, ODD_BLANKS],
      maps: ODD_BLANKS.map((text) => ({ [text]: text, b: text })),
      last: '\u00a0',
    },
    lifecycle: { protect: false, ignore: [] },
  },
];
