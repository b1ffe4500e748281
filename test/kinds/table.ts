import { rmSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'yaml';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import { type ApplyFlags, apply } from '../../src/console/apply.ts';
import type { PlanFlags } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import { validate } from '../../src/console/validate.ts';
import type { Change } from '../../src/core/plan-document.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../src/core/schema.ts';
import {
  isList,
  isObject,
  isSameJson,
  type Json,
  type JsonObject,
  objectsIn,
} from '../../src/core/value.ts';
import { exportCommand } from '../../src/features/writing/export/command.ts';
import { pull } from '../../src/features/writing/pull/command.ts';
import { kinds } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import type { Transport } from '../../src/platform/transport.ts';
import { fill } from '../../src/simulator/answer.ts';
import { drawInventions } from '../../src/simulator/dialect.ts';
import type { Dialect, SeedDocument } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { openStage, type Said, type Stage } from '../apply/stage.ts';
import { SEED } from '../e2e/clinic.ts';
import { VALUES } from '../e2e/dialect-table.ts';
import { mediaOf, restoreOn, wipe } from '../features/recovery/restoring.ts';
import { FOR_KEY, take, withKey } from '../snapshot/taking.ts';
import { temporaryFolder } from '../temporary.ts';
import { SECRETS } from './agent-sample.ts';
import { exampleOf, filled, MEMBER, type Member, shapeOf, values } from './shapes.ts';

/**
 * One table of every field and every way that a value can take. The fields are found in the schemas; what is live is read
 * from the platform's own store, and what must be there follows from the files and from what was there before. Nothing
 * here asks the program what it makes of a field.
 */

/** A field wherever it stands in the schema of its kind. `[]` is an element of a list, `shape` a member of an open object. */
export type Field = {
  readonly kind: Kind;
  readonly path: readonly string[];
  readonly schema: FieldSchema;
  readonly name: string;
};

function listFields(kind: Kind): readonly Field[] {
  const root = kind.schema;
  const found: Field[] = [];
  const visit = (schema: FieldSchema, path: readonly string[]): void => {
    if (schema.readOnly === true || schema['x-config'] === false) return;
    if (path.length > 0 && path.at(-1) !== '[]')
      found.push({
        kind,
        path,
        schema,
        name: [kind.name, ...path].join('.').replaceAll('.[]', '[]'),
      });
    const { additionalProperties: more, properties = {} } = schema;
    if (more === true && schema['x-whole'] !== true) visit({}, [...path, MEMBER]);
    if (isObject(more as Json)) visit(dereference(root, more as FieldSchema), [...path, MEMBER]);
    for (const key of Object.keys(properties))
      visit(memberSchema(root, schema, key), [...path, key]);
    // The elements of a list of texts are its value.
    const items = itemSchema(root, schema);
    if (items.properties !== undefined) visit(items, [...path, '[]']);
  };
  visit(root, []);
  return found;
}

export const FIELDS: readonly Field[] = kinds.flatMap(listFields);

/** What becomes of a value. */
export const WAYS = [
  'create',
  'rollback of create',
  'change',
  'rollback of change',
  'type changed',
  'rollback of type changed',
  'clear',
  'rollback of clear',
  'line taken out',
  'rollback of line taken out',
  'hand edit',
  'rollback of hand edit',
  'pull',
  'delete',
  'rollback of delete',
  'hidden by a list',
  'state lost',
  'export',
  'restore',
] as const;
export type Way = (typeof WAYS)[number];

/** A field with its resource, and the two values that it takes. */
export type Cell = Field & {
  readonly key: string;
  readonly address: string;
  readonly from: Json;
  readonly to: Json;
  /** Of another type, where the schema allows one. */
  readonly other: Json;
};

/** `live`: as the files say. Otherwise the sentence that forbids it, or what is wrong. */
export type Outcome = { readonly cell: Cell; readonly way: Way } & (
  | { readonly is: 'live' }
  | { readonly is: 'said' | 'wrong'; readonly why: string }
);

const [HARBOR] = (SEED.organizations ?? []).map(({ id }) => id);
const BASE = SEED.knowledge_bases?.[0]?.id ?? '';
const BAY = '7d1f2c3b-4a5e-4f60-8b9c-0d1e2f3a4b5c';
const TWO: SeedDocument = {
  ...SEED,
  organizations: [...(SEED.organizations ?? []), { id: BAY, name: 'Bay' }],
};
const CLIP = Buffer.from('RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');

/** The element beside the one that the field is in. */
const OTHER = 'other';
/** The member beside the field in an object that is open. */
const BESIDE = 'beside';

// Values.

const TEXTS: readonly string[] = [
  'One line',
  'Two\nlines',
  'A line with its end\n',
  'Ünï – “quoted” # no comment: yes',
  "it's {{caller_id}}",
  'yes',
  'null',
  '0042',
  '1e3',
  '~',
  '- dash',
  'tab\tinside',
  '🦷 tooth',
];

/** What the specification lists of a catalogue, or calls by name. */
const CATALOGUES: Readonly<Record<string, readonly string[]>> = {
  llm_models: ['alpha-4.1', 'alpha-4o', 'alpha-4o-mini', 'beta-3-fast', 'gamma/model-K2.6'],
  stt_providers: ['voxc'],
};

const REFERENCES: Readonly<Record<string, readonly string[]>> = {
  custom_voice: ['custom_voice.needed_a', 'custom_voice.needed_b'],
  retry_policy: ['retry_policy.needed_a', 'retry_policy.needed_b'],
};

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  'web-address': [
    'https://one.example.test/a?b=c#d',
    'http://two.example.test',
    'https://x.test/%C3%BC',
  ],
  uri: ['https://one.example.test/a?b=c#d', 'http://two.example.test/', 'https://x.test/%C3%BC'],
  email: ['a@one.example.test', 'b.c+d@two.example.test', 'e@three.example.test'],
  'iana-timezone': ['America/New_York', 'Europe/Vienna', 'UTC', 'Asia/Kolkata'],
  'sms-sender': ['+15550100', '55501', 'HARBOR', '0042'],
  uuid: ['3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11'],
};

/** By which the elements of a list, and resources, are known. */
const NAMES: ReadonlySet<string> = new Set(['name', 'connection_name', 'key', 'tool_name']);

const given = values.map(filled).filter((value): value is Json => value !== undefined);

/** Values that a field may have, as the files say them. */
function valuesOf(root: FieldSchema, schema: FieldSchema, isName = false): fc.Arbitrary<Json> {
  const {
    'x-ref': ref,
    'x-one-of': catalogue,
    'x-format': own,
    format = own,
    'x-echoes': echoes,
    pattern,
  } = schema as FieldSchema & { pattern?: string };
  const among = (all: readonly Json[]) => fc.constantFrom(...all);
  if (schema.const !== undefined) return fc.constant(schema.const as Json);
  if (schema.enum !== undefined) {
    return among((schema.enum as readonly Json[]).filter((one) => one !== null));
  }
  if (ref !== undefined) return among((REFERENCES[ref] ?? []).map((one) => ({ $ref: one })));
  if (catalogue !== undefined) return among(CATALOGUES[catalogue] ?? []);
  if (schema['x-secret'] === true || (schema['x-sensitive'] === true && schema.type === 'string'))
    return among(Object.keys(SECRETS).map((name) => ({ $secret: `env:${name}` })));
  if (schema['x-sensitive'] === true)
    return among(Object.keys(SECRETS).map((name) => ({ [MEMBER]: { $secret: `env:${name}` } })));
  if (schema['x-file'] !== undefined) return fc.nat(1000).map((nth) => `one,${nth}\n`);
  if (pattern?.startsWith('^[1-9]')) return among(['7d', '30d', '12h']);
  if (echoes !== undefined) return among([...echoes, 'none']);
  if (schema['x-config'] === 'organization') return among(['harbor', 'bay']);
  const types = [schema.type].flat().filter((type) => type !== 'null');
  const { minimum = -5, exclusiveMinimum = minimum } = schema as FieldSchema &
    Record<'minimum' | 'exclusiveMinimum', number | undefined>;
  switch (types[0]) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Math.max(minimum, 1), max: 1_000_000 });
    case 'number':
      return among(
        [0, 1, 1.05, 20, 900, 0.5].filter((one) => one > exclusiveMinimum || one === minimum),
      );
    case 'array': {
      const items = itemSchema(root, schema);
      const { 'x-identity': identity } = schema;
      if (items.properties !== undefined)
        return fc.uniqueArray(valuesOf(root, items), {
          minLength: 1,
          maxLength: 2,
          // At most one webhook fires before a call, and one after it.
          comparator: (one, two) => isAlike(one, two, identity),
        });
      return fc.uniqueArray(valuesOf(root, items), { minLength: 1, maxLength: 3 });
    }
    case 'object': {
      const named = Object.entries(schema.properties ?? {}).filter(
        ([, one]) => one.readOnly !== true && one['x-secret'] !== true,
      );
      if (named.length === 0 || schema['x-whole'] === true) {
        const { additionalProperties: more } = schema;
        const member = isObject(more as Json)
          ? valuesOf(root, dereference(root, more as FieldSchema))
          : given;
        return fc.dictionary(fc.constantFrom('mon', 'tue', 'from'), member, {
          minKeys: 1,
          maxKeys: 3,
        });
      }
      const members = named.map(
        ([key]) => [key, valuesOf(root, memberSchema(root, schema, key), NAMES.has(key))] as const,
      );
      return fc
        .record(Object.fromEntries(members), { requiredKeys: [...(schema.required ?? [])] })
        .filter((one) => filled(one as Json) !== undefined) as fc.Arbitrary<Json>;
    }
    case 'string': {
      if (format !== undefined) return among(FORMATS[own ?? format] ?? []);
      return among(isName ? TEXTS.filter((text) => !/[\n\t]/.test(text)) : TEXTS);
    }
    default:
      return given;
  }
}

/** Tells whether two elements cannot stand in one list. */
function isAlike(one: Json, two: Json, identity = ''): boolean {
  if (!isObject(one) || !isObject(two)) return isSameJson(one, two);
  return ['condition', identity].some(
    (key) => one[key] !== undefined && isSameJson(one[key], two[key]),
  );
}

/** A value of a type that the schema does not know, or of another shape where it knows none. */
function ofAnotherType({ schema }: Field, from: Json): fc.Arbitrary<Json> {
  if (schema.type === undefined && schema.const === undefined && schema.enum === undefined)
    return given.filter((value) => shapeOf(value) !== shapeOf(from));
  return fc.constant([schema.type].flat().includes('object') ? 'a text' : { wrong: { type: 7 } });
}

/** Two different values, where there are two. */
function pairsOf({ kind: { schema: root }, path, schema }: Field): fc.Arbitrary<readonly Json[]> {
  const own = valuesOf(root, schema, NAMES.has(path.at(-1) ?? ''));
  return fc
    .array(own, { minLength: 12, maxLength: 12 })
    .map((all) => {
      const isMade = (one: Json) => schema['x-created-as']?.includes(String(one)) !== false;
      return all.toSorted((a, b) => Number(isMade(b)) - Number(isMade(a)));
    })
    .map(([from = null, ...more]) => [from, more.find((one) => !isAs(one, from)) ?? from]);
}

/** Cells of fields, numbered; the same seed draws the same values. */
export const cellsOf = (fields: readonly Field[]): fc.Arbitrary<readonly Cell[]> =>
  fc.tuple(
    ...fields.map((field, at) =>
      pairsOf(field).chain(([from = null, to = null]) =>
        ofAnotherType(field, from).map((other): Cell => {
          const key = `c${at}`;
          const { kind, path } = field;
          const inside = kind.nested === undefined ? key : `block.${key}`;
          const own = (value: Json) => ownValue(path, key, value);
          return {
            ...field,
            key,
            address: `${kind.name}.${inside}`,
            from: own(from),
            to: own(to),
            other,
          };
        }),
      ),
    ),
  );

/** Values that no two resources may share have the key of their own in them. */
function ownValue([field, ...rest]: readonly string[], key: string, value: Json): Json {
  if (rest.length > 0) return value;
  if (field === 'name') return `${key} ${value}`;
  if (field === 'url')
    return `https://harbor.example.test/${key}/${encodeURIComponent(String(value))}`;
  return field === 'file' || field === 'clip' ? `${key} ${value}` : value;
}

/** A reading of the specification, drawn from those that are tried. */
export const dialects: fc.Arbitrary<Partial<Dialect>> = fc
  .record(
    Object.fromEntries(
      Object.entries({
        ...VALUES,
        // What is imposed differs from the files until it is pulled.
        voiceLanguage: VALUES.voiceLanguage.filter((one) => one !== 'imposed'),
      })
        .filter(([option]) => option !== 'absent' && option !== 'inventions')
        .map(([option, all]) => [option, fc.constantFrom<unknown>(...all)]),
    ),
  )
  .map((drawn) => drawn as Partial<Dialect>);

// What the files say.

/** The value that a field gets; undefined takes its line out. */
type Pick = (cell: Cell) => Member;

/** What a field is written with, so that the platform takes it. */
const ALONG: Readonly<Record<string, JsonObject>> = {
  // Links to pay are sent as texts (Payment readiness).
  payments: {
    payments: { tool_enabled: true },
    integrations: {
      smsProvider: {
        account_sid: 'AC01',
        auth_token: { $secret: 'env:SECRET_A' },
        fromNumber: '+15550100',
      },
    },
  },
  // An active template has a subject, and a translator has settings.
  status: { subject: 'Beside' },
  agent_type: { interpreter_config: { speaker_identification: 'both' } },
  on_exhausted_target: { on_exhausted: 'notify' },
};

const LEAST: Readonly<Record<string, (key: string) => JsonObject>> = {
  agent: (key) => ({ name: `${key} sample`, description: 'Beside', status: 'active' }),
  retry_policy: (key) => ({ name: `${key} sample`, reschedule_out_of_window: true }),
  email_template: (key) => ({ name: `${key} sample`, from_name: 'Beside' }),
  sms_template: (key) => ({ name: `${key} sample`, message_type: 'sms', description: 'Beside' }),
  custom_voice: (key) => ({ name: `${key} sample`, clip: 'clip.wav', consent: true }),
  knowledge_source: (key) => ({ url: `https://harbor.example.test/${key}/sample` }),
};

/** A resource's block with a value at the place of its field. */
function blockOf(cell: Cell, value: Member): JsonObject {
  const { kind, key, path } = cell;
  const root = kind.schema;
  const build = (
    schema: FieldSchema,
    [segment, ...rest]: readonly string[],
    depth: number,
  ): Member => {
    if (segment === undefined) return value;
    if (segment === '[]') {
      const own = build(itemSchema(root, schema), rest, depth) ?? null;
      const { 'x-identity': identity } = schema;
      if (identity === undefined) return [own];
      const items = itemSchema(root, schema);
      return [own, { ...examplesOf(root, items), [identity]: OTHER, ...otherOf(items) }];
    }
    const { additionalProperties: more } = schema;
    const member = memberSchema(root, schema, segment);
    const beside = isObject(more as Json)
      ? { [BESIDE]: exampleBeside(root, schema) }
      : more === true
        ? { [BESIDE]: 'unmoved' }
        : {};
    const own = build(member, rest, depth + 1);
    const secretOf = member['x-secret-of'];
    return {
      ...(depth === 0 ? {} : examplesOf(root, schema)),
      ...(typeof secretOf === 'string' ? { [secretOf]: 'account' } : {}),
      ...(depth === 0 ? {} : beside),
      ...(own === undefined ? {} : { [segment]: own }),
    };
  };
  const [field = ''] = path;
  const least = LEAST[kind.name]?.(key) ?? { name: `${key} sample` };
  const built = build(root, field === 'organization_id' ? ['organization'] : path, 0);
  const own = isObject(built) ? built : {};
  const along =
    kind.schema.properties?.subject === undefined && field === 'status' ? {} : ALONG[field];
  const { url: _, ...withoutUrl } = least;
  const start = field === 'file' ? withoutUrl : least;
  const all = { ...start, ...along, ...own };
  const { payments } = ALONG.payments ?? {};
  // Without its line a field of a larger object leaves the object as it is.
  const merged =
    field === 'payments' && isObject(own.payments) && isObject(payments)
      ? { ...all, payments: { ...payments, ...own.payments } }
      : all;
  if (value !== undefined) return path.length > 1 ? merged : { ...merged, ...fileOf(cell, value) };
  return path.length > 1
    ? merged
    : omit(merged, field === 'organization_id' ? 'organization' : field);
}

/** Files are named in the place of their content. */
function fileOf({ schema, path: [field = ''], key }: Cell, value: Member): JsonObject {
  if (schema['x-file'] === undefined || typeof value !== 'string') return {};
  return { [field]: field === 'clip' ? `clips/${key}.wav` : `documents/${key}.csv` };
}

function omit(fields: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field));
}

function examplesOf(root: FieldSchema, schema: FieldSchema): JsonObject {
  return Object.fromEntries(
    (schema.required ?? []).map((key) => [key, exampleOf(root, schema, key)]),
  );
}

function otherOf({ properties = {} }: FieldSchema): JsonObject {
  return 'condition' in properties ? { condition: 'during_call' } : {};
}

function exampleBeside(root: FieldSchema, { additionalProperties: more }: FieldSchema): Json {
  const member = dereference(root, more as FieldSchema);
  const [example] = (member.examples ?? []) as readonly Json[];
  return example ?? { $secret: 'env:SECRET_A' };
}

/** The whole of the files. */
async function writeFiles(
  stage: Stage,
  cells: readonly Cell[],
  pick: (cell: Cell) => Member | 'gone',
  isGone: (cell: Cell) => boolean = () => false,
): Promise<void> {
  const sections: Record<string, Record<string, Json>> = {
    custom_voices: {
      needed_a: { name: 'Needed a', clip: 'clip.wav', consent: true },
      needed_b: { name: 'Needed b', clip: 'clip.wav', consent: true },
    },
    retry_policies: { needed_a: { name: 'Needed a' }, needed_b: { name: 'Needed b' } },
  };
  const sources: Record<string, Json> = {};
  await mkdir(join(stage.folder, 'documents'), { recursive: true });
  await mkdir(join(stage.folder, 'clips'), { recursive: true });
  await writeFile(join(stage.folder, 'clip.wav'), CLIP);
  for (const cell of cells) {
    if (isGone(cell)) continue;
    const value = pick(cell);
    const { kind, key, schema } = cell;
    const block = blockOf(cell, value);
    if (kind.nested !== undefined) sources[key] = block;
    else sections[kind.section] = { ...sections[kind.section], [key]: block };
    if (schema['x-file'] !== undefined && typeof value === 'string') {
      const isClip = schema['x-file'] === 'clip';
      const file = isClip ? `clips/${key}.wav` : `documents/${key}.csv`;
      const bytes = isClip ? Buffer.concat([CLIP, Buffer.from(value)]) : Buffer.from(value);
      await mkdir(dirname(join(stage.folder, file)), { recursive: true });
      await writeFile(join(stage.folder, file), bytes);
    }
  }
  const knowledge = Object.keys(sources).length === 0 ? {} : { sources };
  const stack: JsonObject = {
    callsheet: 1,
    organizations: { harbor: HARBOR ?? '', bay: BAY },
    organization: 'harbor',
    guards: { max_delete: 10_000, max_change_percent: 100 },
    ...sections,
    knowledge_bases: { block: { id: BASE, ...knowledge } },
  };
  await stage.write('callsheet.yaml', JSON.stringify(stack, null, 2));
}

// What is live.

type Leaves = ReadonlyMap<string, Json>;

/** What the platform makes up, counts, or keeps of a listing by itself. */
const ITS_OWN = new Set([
  ...['id', 'is_active', 'created_at', 'updated_at', 'version', 'place_data', 'place_context'],
  ...['place_fetched_at', 'fingerprint', 'sip_registration_data', 'provider', 'custom'],
  ...['knowledge_base_id', 'source_type', 'chunk_count', 'last_synced_at'],
]);

/** Every leaf by its path. An element of a list is under its name. */
function leavesOf(value: Json | undefined, at = '', all = new Map<string, Json>()): Leaves {
  if (isObject(value) && value.$secret === undefined && value.$ref === undefined) {
    for (const [key, member] of Object.entries(value))
      if (!ITS_OWN.has(key)) leavesOf(member, `${at}${at === '' ? '' : '.'}${key}`, all);
    return all;
  }
  if (isList(value) && value.every((one) => isObject(one) && filled(one)) && value.length > 0) {
    value.forEach((one, index) => {
      const { name, connection_name: connection = name, key = connection } = one as JsonObject;
      leavesOf(one as Json, `${at}[${String(key ?? index)}]`, all);
    });
    return all;
  }
  const own = filled(value);
  if (own !== undefined) all.set(at, own);
  return all;
}

/** Equal but for a final newline, and for the order of a list of texts. */
function isAs(one: Json | undefined, other: Json | undefined): boolean {
  const plain = (value: Json | undefined): Json => {
    const known = filled(value) ?? null;
    if (typeof known === 'string') return known.replace(/\n$/, '');
    return isList(known) && known.every((item) => typeof item === 'string')
      ? [...known].sort()
      : known;
  };
  return isSameJson(plain(one), plain(other));
}

/** Everything that the platform has of a cell's resource, secrets and bytes among it; undefined where there is none. */
function liveOf(
  { sim: { store, dialect, requests } }: Stage,
  cell: Cell,
  said: Member = cell.from,
): JsonObject | undefined {
  const { kind, key, path } = cell;
  // What cannot be deleted stays beside what took its place.
  const [field = ''] = path;
  const only = kind.delete === undefined && isName(cell) && field !== 'file' ? said : undefined;
  const isOwn = ({ name, url, ...more }: JsonObject) =>
    (only === undefined || { name, url, ...more }[field] === named(only)) &&
    (String(name).startsWith(`${key} `) ||
      name === `${key}.csv` ||
      String(url).startsWith(`https://harbor.example.test/${key}/`));
  if (kind.name === 'agent') {
    const agent = [...store.agents.values()].findLast(({ record }) => isOwn(record));
    if (agent === undefined) return undefined;
    const { payments } = agent;
    const record = fill(dialect, agent.record);
    const { sip_registration_data: sip, interpreter_config: interpreter } = record;
    return {
      ...record,
      ...(isObject(interpreter) ? { interpreter_config: echoed(interpreter) } : {}),
      payments: {
        tool_enabled: payments.enabled,
        ...(payments.enabled ? { ...LIMITS, ...payments.limits } : {}),
      },
      ...(isObject(sip) ? { sip: { registration_enabled: sip.registrationEnabled ?? null } } : {}),
    };
  }
  if (kind.name === 'custom_voice') {
    const voice = [...store.voices.values()].findLast(({ record, organizationId }) =>
      isOwn({ ...record, organization_id: organizationId }),
    );
    return (
      voice && { ...voice.record, organization_id: voice.organizationId, clip: text(voice.clip) }
    );
  }
  if (kind.name === 'knowledge_source') {
    const own = [...store.sources.values()].filter(({ record }) => isOwn(record));
    const uploaded = own.filter(({ upload }) => upload?.bytes !== undefined);
    // One that was there already may have been ingested last.
    const asked = requests.findLast(
      ({ operation, path }) =>
        operation === 'enqueueKnowledgeSource' && uploaded.some(({ id }) => path.includes(id)),
    );
    const source =
      uploaded.find(({ id }) => asked?.path.includes(id)) ?? uploaded.at(-1) ?? own.at(-1);
    const bytes = source?.upload?.bytes;
    return source && { ...source.record, ...(bytes ? { file: text(bytes) } : {}) };
  }
  const table = TABLE[kind.name];
  const found = table && [...store[table].values()].findLast((one) => isOwn(one as JsonObject));
  return found as JsonObject | undefined;
}

/** Tells a source that the platform shows as ingested: the word that it invents for a running one may be `active`, too. */
function isShownReady({ sim }: Stage, source: JsonObject | undefined): boolean {
  const status = String(source?.status);
  const { states } = drawInventions(sim.dialect.inventions);
  const shown = Object.entries(states).find(([state]) => status === `#${state}`)?.[1] ?? status;
  return shown === 'active' && typeof source?.last_synced_at === 'string';
}

/** What the tool has where it was told nothing else (Payment readiness). */
const LIMITS: JsonObject = {
  success_url: 'https://pay.example.test/thank-you',
  max_single_charge_cents: 50_000,
  max_per_call_cents: 100_000,
  max_attempts_per_call: 3,
};

/** How speakers are told apart is absent unless it is one of two values (Agent, interpreter_config). */
function echoed({ speaker_identification: speakers = null, ...rest }: JsonObject): JsonObject {
  return ['voice', 'both'].includes(String(speakers))
    ? { ...rest, speaker_identification: speakers }
    : rest;
}

/** An organization by its id. */
const named = (value: Member) => (value === 'bay' ? BAY : value === 'harbor' ? HARBOR : value);

const TABLE: Readonly<Record<string, 'retryPolicies' | 'emailTemplates' | 'smsTemplates'>> = {
  retry_policy: 'retryPolicies',
  email_template: 'emailTemplates',
  sms_template: 'smsTemplates',
};

const text = (bytes: Buffer) => bytes.toString().replace(CLIP.toString(), '');

/** The same leaf by leaf, with what it refers to by name. */
function liveLeaves(stage: Stage, cell: Cell, said: Member = cell.from): Leaves {
  const { store } = stage.sim;
  const all: [unknown, JsonObject][] = [
    ...[...store.voices].map(([id, { record }]): [string, JsonObject] => [id, record]),
    ...[...store.retryPolicies].map(([id, one]): [string, JsonObject] => [id, one as JsonObject]),
  ];
  const names = new Map(all.map(([id, { name }]) => [id, `the id of ${String(name)}`]));
  const leaves = leavesOf(liveOf(stage, cell, said));
  return new Map([...leaves].map(([path, value]) => [path, names.get(value) ?? value]));
}

const CALLED: Readonly<Record<string, string>> = { needed_a: 'Needed a', needed_b: 'Needed b' };

/** A block without what no answer tells: limits of a tool that is off, and how speakers are told apart by default. */
function asReturned(block: JsonObject): JsonObject {
  const { interpreter_config: interpreter = null, payments = null } = block;
  return {
    ...block,
    interpreter_config: isObject(interpreter) ? echoed(interpreter) : interpreter,
    payments:
      isObject(payments) && payments.tool_enabled === false ? { tool_enabled: false } : payments,
  };
}

/** What must be live, leaf by leaf, where the files say this. */
function wantedLeaves(cell: Cell, value: Member): Leaves {
  const { kind } = cell;
  const block = asReturned(blockOf(cell, value));
  // The stack's own organization unless a resource says another.
  const wanted = new Map<string, Json>(
    kind.scope.includes('organization_id') ? [['organization_id', HARBOR ?? '']] : [],
  );
  for (const [path, leaf] of leavesOf(block)) {
    const [field = ''] = path.split(/[.[]/);
    // Callsheet's own, or bytes that the files name.
    if (kind.schema.properties?.[field]?.['x-local'] === true) continue;
    if (kind.schema.properties?.[field]?.['x-file'] !== undefined) {
      if (cell.path[0] === field && typeof value === 'string') wanted.set(field, value);
      continue;
    }
    if (field === 'organization') {
      wanted.set('organization_id', (leaf === 'bay' ? BAY : HARBOR) ?? '');
      continue;
    }
    const { $secret: secret, $ref: ref } = isObject(leaf) ? leaf : {};
    if (typeof secret === 'string')
      wanted.set(path, SECRETS[secret.replace('env:', '') as keyof typeof SECRETS]);
    else if (typeof ref === 'string')
      wanted.set(path, `the id of ${CALLED[ref.split('.')[1] ?? ''] ?? ref}`);
    else wanted.set(path, leaf);
  }
  return wanted;
}

/** Paths of what the files say and no answer tells. */
function untoldBy(cell: Cell, value: Member): ReadonlySet<string> {
  const block = blockOf(cell, value);
  const told = leavesOf(asReturned(block));
  return new Set([...leavesOf(block).keys()].filter((path) => !told.has(path)));
}

/** The path of a cell's field in its resource, with the names of elements. */
function placeOf(cell: Cell): string | undefined {
  const mark = 'marked';
  return [...leavesOf(blockOf(cell, mark))].find(([, value]) => value === mark)?.[0];
}

const isIn = (path: string, place: string) =>
  path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);

/** Where live is not what the files say, or moved where the files did not. */
function wrongIn(
  cell: Cell,
  sides: { readonly before: Leaves; readonly after: Leaves },
  files: {
    readonly before: Member;
    readonly after: Member;
    readonly isMade?: boolean;
    /** Nothing remembers what the files said before. */
    readonly isForgotten?: boolean;
    /** What the platform fills in where nothing is set. */
    readonly defaults?: Leaves;
  },
): readonly string[] {
  const { before, after } = sides;
  const wanted = wantedLeaves(cell, files.after);
  const earlier = files.isMade || files.isForgotten ? new Map() : wantedLeaves(cell, files.before);
  const isFree = freeOf(cell);
  const untold = untoldBy(cell, files.after);
  const place = files.after === null ? placeOf(cell) : undefined;
  const paths = new Set([...wanted.keys(), ...earlier.keys(), ...before.keys(), ...after.keys()]);
  return [...paths].flatMap((path) => {
    if (isFree(path)) return [];
    const now = after.get(path);
    const then = before.get(path);
    if (untold.has(path)) return now === undefined ? [] : [`${path} is still ${show(now)}`];
    if (wanted.has(path))
      return isAs(now, wanted.get(path))
        ? []
        : [`${path} is ${show(now)}, not ${show(wanted.get(path))}`];
    if (files.isMade === true) return [];
    // A list, and a value that is none of its members, is the files' own as a whole.
    const listOf = (one: string) => one.split('[')[0] ?? one;
    const isWhole = [...wanted.keys()].some(
      (one) => isIn(path, listOf(one)) || isIn(one, listOf(path)),
    );
    if (files.isForgotten && now === undefined && (isWhole || /initialization_options/.test(path)))
      return [];
    // Null empties all that is there, but for what the platform fills in.
    if (place !== undefined && isIn(path, place))
      return now === undefined || isAs(now, files.defaults?.get(path))
        ? []
        : [`${path} is still ${show(now)}`];
    // What the files said before and say no more is gone; what they never said is as it was.
    if (earlier.has(path) && path !== 'organization_id')
      return now === undefined ? [] : [`${path} is still ${show(now)}`];
    return isAs(now, then) ? [] : [`${path} was ${show(then)} and is ${show(now)}`];
  });
}

/** What the platform moves along with a field, by the specification. */
function freeOf(cell: Cell): (path: string) => boolean {
  const { kind, path } = cell;
  const place = path.join('.');
  // How an ingested source comes to be active is not shown (Knowledge base source); `settled` asks that it is said.
  if (kind.name === 'knowledge_source') return (one) => one === 'status';
  // A cloned voice brings its language along where the files name none (Custom voices).
  const isLanguage = (one: string) => one === 'voice_settings.language';
  if (place === 'voice_settings.voice_id') return isLanguage;
  if (place === 'voice_settings') {
    const sides = [cell.from, cell.to].map((value) => leavesOf(blockOf(cell, value)));
    return (one) => isLanguage(one) && sides.some((side) => !side.has(one));
  }
  // A tool that is off tells no limits (Payment readiness).
  const isLimit = (one: string) => /^payments\.(max|success)/.test(one);
  if (place === 'payments.tool_enabled') return isLimit;
  // With the tool the limits that nobody said come and go.
  if (place === 'payments') {
    const sides = [cell.from, cell.to].map((value) => leavesOf(blockOf(cell, value)));
    const [was, is] = sides.map((side) => side.get('payments.tool_enabled'));
    if (was !== is) return (one) => isLimit(one) && sides.every((side) => !side.has(one));
  }
  // Restoring call transfer off turns web transfer off (Revert, rule 1).
  if (place === 'transfer_enabled') return (one) => one === 'web_transfer_enabled';
  return () => false;
}

const show = (value: Json | undefined) => JSON.stringify(value)?.slice(0, 60) ?? 'absent';

/** Where two states of a resource differ. */
function differing(cell: Cell, before: Leaves, after: Leaves): readonly string[] {
  const isFree = freeOf(cell);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => !isFree(path) && !isAs(before.get(path), after.get(path)))
    .map((path) => `${path} was ${show(before.get(path))} and is ${show(after.get(path))}`);
}

/** Somebody sets a value in the dashboard. */
function editByHand(stage: Stage, cell: Cell, value: Json): void {
  const { kind, path } = cell;
  const [field = ''] = path;
  const live = liveOf(stage, cell);
  const { [field]: block } = blockOf(cell, value);
  const own = liveValue(stage, block ?? null);
  if (kind.name === 'agent') {
    const agent = [...stage.sim.store.agents.values()].findLast(
      ({ record }) => record.id === live?.id,
    );
    if (agent === undefined) throw new Error(`${cell.address} is not there`);
    if (field === 'payments') {
      const { tool_enabled: enabled = true, ...limits } = isObject(own) ? own : {};
      agent.payments = { enabled: enabled === true, limits };
    } else if (field === 'sip') {
      const { sip_registration_data: sip } = agent.record;
      const flag = isObject(own) ? (own.registration_enabled ?? null) : null;
      stage.sim.edit(agent.id, {
        sip_registration_data: { ...(isObject(sip) ? sip : {}), registrationEnabled: flag },
      });
    } else {
      // An edit merges, so that what is to be gone goes first: one save, which has one entry.
      Object.assign(agent.record, { [field]: null });
      stage.sim.edit(agent.id, { [field]: own });
    }
    return;
  }
  const table = TABLE[kind.name];
  const record = table && stage.sim.store[table].get(String(live?.id));
  if (record === undefined) throw new Error(`${cell.address} cannot be edited`);
  const stamp = 'updated_at' in record ? { updated_at: new Date().toISOString() } : {};
  Object.assign(record, { [field]: own, ...stamp });
}

/** A value of the files as the platform holds it. */
function liveValue(stage: Stage, value: Json): Json {
  if (isList(value)) return value.map((one) => liveValue(stage, one));
  if (!isObject(value)) return value;
  const { $secret: secret, $ref: ref } = value;
  if (typeof secret === 'string')
    return SECRETS[secret.replace('env:', '') as keyof typeof SECRETS];
  if (typeof ref === 'string') {
    const name = CALLED[ref.split('.')[1] ?? ''];
    const { voices, retryPolicies } = stage.sim.store;
    const [id] =
      (ref.startsWith('custom_voice')
        ? [...voices].find(([, { record }]) => record.name === name)
        : [...retryPolicies].find(([, one]) => one.name === name)) ?? [];
    return id ?? null;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, liveValue(stage, one)]),
  );
}

// The table.

/** The keyword of a field, or of anything that it lies in, that forbids a way. */
function forbiddenBy({ kind, path }: Cell, has: (schema: FieldSchema) => boolean): boolean {
  let schema: FieldSchema = kind.schema;
  return path.some((segment) => {
    schema =
      segment === '[]'
        ? itemSchema(kind.schema, schema)
        : memberSchema(kind.schema, schema, segment);
    return has(schema);
  });
}

/** By which a resource is recognised where there is no state. */
const isName = ({ path }: Cell) =>
  path.length === 1 && ['name', 'organization_id', 'url', 'file'].includes(path[0] ?? '');

const isLocal = (cell: Cell) => forbiddenBy(cell, (schema) => schema['x-local'] === true);
const isImmutable = (cell: Cell) => forbiddenBy(cell, (schema) => schema['x-immutable'] === true);
const isUnseen = (cell: Cell) =>
  forbiddenBy(cell, (schema) => schema.writeOnly === true || schema['x-secret'] === true);

/** Somebody can edit it in the dashboard, and everybody see that. */
const canBeEdited = (cell: Cell) => !(isImmutable(cell) || isLocal(cell) || isUnseen(cell));
/** Paths where somebody's edit differs from the files, as answers tell it. */
function movedPaths(cell: Cell): readonly string[] {
  if (!canBeEdited(cell)) return [];
  const [was, now] = [cell.from, cell.to].map((value) =>
    leavesOf(asReturned(blockOf(cell, value))),
  ) as [Leaves, Leaves];
  return [...new Set([...was.keys(), ...now.keys()])].filter(
    (path) => !isAs(was.get(path), now.get(path)),
  );
}

/** The files say it: a leaf, an element of a list that they have, or anything in a whole. Another member is nobody's. */
const isMoved = (cell: Cell) => {
  const said = leavesOf(blockOf(cell, cell.from));
  const isWhole = forbiddenBy(cell, (schema) => schema['x-whole'] === true);
  const isBelow = (place: string) => [...said.keys()].some((one) => isIn(one, place));
  const isOther = (path: string) =>
    [...path.matchAll(/\[(.*?)\]/g)].some(({ 1: key = '', index }) => {
      const list = path.slice(0, index);
      // Without names to know its elements by, a list is one value.
      const isNamed = !/^(0|[1-9]\d*)$/.test(key);
      return isBelow(list) && !(isNamed && isBelow(`${list}[${key}]`));
    });
  return movedPaths(cell).some((path) => isWhole || said.has(path) || isOther(path));
};
const isAddedTo = (cell: Cell) => !isMoved(cell) && movedPaths(cell).length > 0;

/** A tool that is off is exported as nothing: its answer says what would be. */
const isIdle = ({ path, from }: Cell) => path.join('.') === 'payments.tool_enabled' && !from;

const isReturned = (cell: Cell) => {
  const block = blockOf(cell, cell.from);
  return leavesOf(block).size === leavesOf(asReturned(block)).size;
};

/** Objects of a document that are about a cell's resource, as text. */
function saidOf(document: Json | undefined, address: string): string {
  const found: string[] = [];
  const visit = (value: Json | undefined): void => {
    if (isList(value)) value.forEach(visit);
    if (!isObject(value)) return;
    if (value.address === address) found.push(JSON.stringify(value));
    else Object.values(value).forEach(visit);
  };
  visit(document);
  return found.join('\n');
}

/** Names the field, or what it lies in. */
const namesField = (said: string, { path: [field = ''] }: Cell) =>
  said.includes(field === 'organization_id' ? 'organization' : field);

type Journey = { readonly dialect: Partial<Dialect>; readonly cells: readonly Cell[] };

type Flags = Partial<PlanFlags & ApplyFlags>;

/** More than a platform that tells whole seconds needs to tell two commands apart. */
const BETWEEN_MS = 1500;

/** A stage on which time passes before and after each command, as it does where people give them. */
function withTime<T extends Stage>(stage: T): T {
  let passed = 0;
  const wait = () => {
    passed += BETWEEN_MS;
    stage.sim.advance(BETWEEN_MS);
  };
  const now = () => new Date(Date.now() + passed);
  return {
    ...stage,
    async run(command, options) {
      wait();
      try {
        return await stage.run(command, { now, ...options });
      } finally {
        wait();
      }
    },
  };
}

/** Takes every cell through every way on one platform, and tells what came of each. */
export async function fillTable({ dialect, cells }: Journey): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = new Set(cells);
  const live = (cell: Cell, way: Way) => outcomes.push({ cell, way, is: 'live' });
  const say = (cell: Cell, way: Way, why: string) => outcomes.push({ cell, way, is: 'said', why });
  const fail = (cell: Cell, way: Way, why: string) => {
    left.delete(cell);
    outcomes.push({ cell, way, is: 'wrong', why });
  };
  const stage = withTime(
    await openStage({ stack: temporaryFolder(), seed: TWO, dialect, secrets: SECRETS }),
  );
  const defaults = leavesOf(fill(stage.sim.dialect, { voice_settings: {}, config: {} }));
  const from: Pick = (cell) => cell.from;
  const exclude = () => cells.filter((cell) => !left.has(cell)).map(({ address }) => address);
  const leaves = (pick = from) =>
    new Map(cells.map((cell) => [cell, liveLeaves(stage, cell, pick(cell))] as const));
  const parsed = ({ out, err }: Said): JsonObject =>
    out === '' ? { message: err } : JSON.parse(out);
  const dir = { dir: stage.folder, format: 'json' as const };

  const planned = async (flags: Flags = {}, outside: Outside = {}) => {
    const said = await stage.run(
      (to) =>
        plan({ ...dir, exclude: exclude(), allowDelete: true, skipRefused: true, ...flags }, to),
      { exit: 'any', ...outside },
    );
    const document = parsed(said);
    const changes = (document.changes ?? []) as unknown as readonly Change[];
    return { document, err: said.err, changes: new Map(changes.map((one) => [one.address, one])) };
  };
  const applied = async (flags: Flags = {}, outside: Outside = {}) => {
    const allowed = {
      allowDelete: true,
      skipRefused: true,
      acceptConflicts: true,
      releaseHold: true,
    };
    const said = await stage.run(
      (to) =>
        apply(
          undefined,
          { ...dir, autoApprove: true, exclude: exclude(), ...allowed, ...flags } as never,
          to,
        ),
      { exit: 'any', ...outside },
    );
    const document = parsed(said);
    const ledger = (document.ledger ?? []) as unknown as readonly LedgerLine[];
    return { document, err: said.err, lines: new Map(ledger.map((one) => [one.address, one])) };
  };
  /** Plans what the files say. A cell whose line is refused where the files are read is told so, and keeps its value. */
  const tried = async (
    way: Way,
    pick: Pick,
    isGone?: (cell: Cell) => boolean,
    outside: Outside = {},
  ) => {
    const refused = new Set<Cell>();
    for (let round = 0; ; round += 1) {
      const write = (cell: Cell) => (refused.has(cell) || !left.has(cell) ? cell.from : pick(cell));
      await writeFiles(stage, cells, write, (cell) => isGone?.(cell) === true && left.has(cell));
      const made = await planned({}, outside);
      const { diagnostics } = isList(made.document.changes)
        ? { diagnostics: [] }
        : parsed(await stage.run((to) => validate(dir as never, to), { exit: 'any' }));
      const errors = (isList(diagnostics) ? diagnostics : []).filter(
        (one): one is JsonObject => isObject(one) && one.severity === 'error',
      );
      if (isList(made.document.changes)) return { ...made, refused };
      if (errors.length === 0 || round > 4)
        throw new Error(`${way}: ${made.err}${JSON.stringify(made.document)}`);
      for (const cell of left) {
        const own = errors.filter(({ address }) => address === cell.address);
        const [first] = own;
        if (first === undefined) continue;
        if (refused.has(cell)) throw new Error(JSON.stringify(own));
        refused.add(cell);
        if (namesField(`${first.path} ${first.message}`, cell))
          say(cell, way, `${first.rule}: ${first.message}`);
        else fail(cell, way, JSON.stringify(first));
      }
    }
  };
  const settled = async (way: Way, among: Iterable<Cell>) => {
    const { changes, document } = await planned();
    for (const cell of among) {
      const { kind, address } = cell;
      const isReady = kind.name !== 'knowledge_source' || isShownReady(stage, liveOf(stage, cell));
      if (!isReady && left.has(cell) && !/ingest/.test(saidOf(document, address)))
        fail(cell, way, 'nothing says that its ingestion is not confirmed');
      const change = changes.get(address);
      if (change !== undefined && left.has(cell))
        fail(
          cell,
          way,
          `the next plan shows ${JSON.stringify([change.action, change.verdict, change.reason, change.fields])}`,
        );
    }
  };
  /** The files say `from`, and so does the platform. */
  const home = async (way: Way) => {
    // An account is not given back its name without its secret.
    for (const cell of left)
      if (cell.path[0] === 'integrations' && canBeEdited(cell) && liveOf(stage, cell) !== undefined)
        editByHand(stage, cell, cell.from);
    await writeFiles(stage, cells, from);
    const { err } = await applied({ resendSecrets: true } as never);
    const { changes } = await planned();
    for (const cell of left) {
      const wrong = wrongIn(
        cell,
        { before: new Map(), after: liveLeaves(stage, cell) },
        { before: undefined, after: cell.from, isMade: true },
      );
      if (isRegistration(cell) || (wrong.length === 0 && !changes.has(cell.address))) continue;
      fail(
        cell,
        way,
        `does not come back: ${[...wrong, changes.get(cell.address)?.reason ?? '', err.slice(0, 300)].join('; ')}`,
      );
    }
  };
  const isRegistration = ({ path: [field] }: Cell) => field === 'sip' && !hasRegistrations;
  let hasRegistrations = false;

  /** One way from `from` to what the files say then. Gives the cells that were written. */
  const written = async (
    way: Way,
    pick: Pick,
    {
      isMade = false,
      isForgotten = false,
      but = (_: Cell): boolean => false,
      outside = {} as Outside,
    } = {},
  ): Promise<ReadonlySet<Cell>> => {
    const done = new Set<Cell>();
    const { changes, refused, document } = await tried(way, pick, undefined, outside);
    const before = leaves();
    const { lines } = await applied({}, outside);
    const after = leaves((cell) => (refused.has(cell) ? cell.from : pick(cell)));
    for (const cell of [...left]) {
      if (but(cell)) continue;
      if (refused.has(cell)) {
        const off = differing(cell, before.get(cell) ?? new Map(), after.get(cell) ?? new Map());
        if (off.length > 0) fail(cell, way, `was refused, and ${off.join('; ')}`);
        continue;
      }
      const change = changes.get(cell.address);
      const line = lines.get(cell.address);
      const wrong = wrongIn(
        cell,
        { before: before.get(cell) ?? new Map(), after: after.get(cell) ?? new Map() },
        { before: cell.from, after: pick(cell), isMade, isForgotten, defaults },
      );
      const said = [
        JSON.stringify(change ?? ''),
        JSON.stringify(line ?? ''),
        saidOf(document, cell.address),
      ].join('\n');
      const isDone = line === undefined || line.status === 'done';
      if (wrong.length === 0 && isDone) {
        live(cell, way);
        done.add(cell);
      } else if (isSaid(cell, change, line, said))
        say(cell, way, line?.message ?? change?.reason ?? said);
      else
        fail(
          cell,
          way,
          [line?.status, line?.message, change?.verdict, change?.reason, ...wrong]
            .filter(Boolean)
            .join('; '),
        );
    }
    await settled(way, done);
    return done;
  };
  /** A sentence names the field where a keyword, or a platform that refuses null, forbids what the files ask. */
  const isSaid = (
    cell: Cell,
    change: Change | undefined,
    line: LedgerLine | undefined,
    said: string,
  ) => {
    if (!namesField(said, cell)) return false;
    const isRefused = change !== undefined && change.verdict !== 'ok';
    const isNullRefused =
      dialect.nulls === 'rejected' &&
      /cannot clear|refuses null|null is not allowed/.test(line?.message ?? '');
    const isLeftOut = /is left out/.test(line?.message ?? '');
    const isReleased = /released|stays|unknown_/.test(said);
    // The platform's own value in the place of null differs from the files until they have it (decision 10).
    // One that is the value of before cannot be told from a write that did not take.
    const place = cell.path.join('.');
    const filler = defaults.get(place);
    const isAsBefore = filler !== undefined && isAs(filler, liveLeaves(stage, cell).get(place));
    const isFilledIn =
      dialect.nestedDefaults === true &&
      (/stored as .* instead of nothing/.test(line?.message ?? '') ||
        (isAsBefore && /still has the old value/.test(line?.message ?? '')));
    return isRefused || isNullRefused || isLeftOut || isReleased || isFilledIn;
  };
  /** Undoes the last run: of what it wrote, everything is as it was before. */
  const undone = async (
    way: Way,
    cause: Way,
    done: ReadonlySet<Cell>,
    before: ReadonlyMap<Cell, Leaves>,
  ) => {
    if (done.size === 0) {
      for (const cell of left) say(cell, way, `nothing of ${cause} was written`);
      return;
    }
    const flags: RollbackFlags = { ...dir, autoApprove: true, skipRefused: true };
    const said = await stage.run((to) => rollback(flags, to), { exit: 'any' });
    const document = parsed(said);
    const ledger = (document.ledger ?? []) as unknown as readonly LedgerLine[];
    for (const cell of left) {
      if (!done.has(cell)) {
        say(cell, way, `nothing of ${cause} was written`);
        continue;
      }
      const line = ledger.find(({ address }) => address === cell.address);
      const then = before.get(cell) ?? new Map<string, Json>();
      const now = liveLeaves(stage, cell);
      const off = differing(cell, then, now);
      const about = saidOf(document, cell.address);
      const isDone = line === undefined || line.status === 'done';
      if (off.length === 0 && isDone) live(cell, way);
      else if (isUndoSaid(cell, line, about, way, off)) say(cell, way, line?.message ?? about);
      else fail(cell, way, [line?.status, line?.message, ...off, about].filter(Boolean).join('; '));
    }
  };
  const isUndoSaid = (
    cell: Cell,
    line: LedgerLine | undefined,
    about: string,
    way: Way,
    off: readonly string[],
  ) =>
    (namesField(about, cell) ||
      (off.length > 0 && off.every((one) => about.includes(one.split(' was ')[0] ?? ''))) ||
      ((isName(cell) || way === 'rollback of create') && cell.kind.delete === undefined)) &&
    (/not undone|not put back|not restored|restored without it|cannot|stays|left|no endpoint|refuses null|differs/.test(
      about,
    ) ||
      line?.status === 'failed');

  try {
    await writeFiles(stage, [], from);
    await applied();
    const nothing = leaves();

    const made = await written('create', from, { isMade: true });
    await undone('rollback of create', 'create', made, nothing);
    // Registrations are set up in the dashboard.
    await writeFiles(stage, cells, (cell) => (cell.path[0] === 'sip' ? undefined : cell.from));
    await applied();
    for (const cell of cells) if (cell.path[0] === 'sip') register(stage, cell);
    hasRegistrations = true;
    await home('create');

    for (const [way, back, pick] of [
      ['change', 'rollback of change', ({ to }: Cell) => to],
      ['type changed', 'rollback of type changed', ({ other }: Cell) => other],
      ['clear', 'rollback of clear', () => null],
      ['line taken out', 'rollback of line taken out', () => undefined],
    ] as const) {
      const before = leaves();
      const done = await written(way, pick);
      await undone(back, way, done, before);
      await home(back);
    }

    const sayUnedited = (way: Way) => {
      for (const cell of left) {
        if (isAddedTo(cell)) say(cell, way, 'what somebody added is nobody’s');
        else if (!isMoved(cell)) say(cell, way, 'nobody can edit it, or see that somebody did');
      }
    };
    {
      for (const cell of left)
        if (isMoved(cell) || isAddedTo(cell)) editByHand(stage, cell, cell.to);
      const before = leaves();
      const { changes } = await planned();
      const { lines } = await applied();
      for (const cell of [...left]) {
        if (isAddedTo(cell)) {
          const off = differing(cell, before.get(cell) ?? new Map(), liveLeaves(stage, cell));
          const change = changes.get(cell.address);
          if (change !== undefined || off.length > 0)
            fail(cell, 'hand edit', JSON.stringify([change?.fields, off]));
          else editByHand(stage, cell, cell.from);
        }
        if (!isMoved(cell)) continue;
        const fields = changes.get(cell.address)?.fields ?? [];
        const off = wrongIn(
          cell,
          { before: new Map(), after: liveLeaves(stage, cell) },
          { before: undefined, after: cell.from, isMade: true },
        );
        const causes = new Set(fields.map(({ cause }) => cause));
        const line = lines.get(cell.address);
        const change = changes.get(cell.address);
        if (isSaid(cell, change, line, JSON.stringify([change, line]))) {
          say(cell, 'hand edit', line?.message ?? '');
          editByHand(stage, cell, cell.from);
        } else if (
          off.length > 0 ||
          line?.status !== 'done' ||
          !isSameJson([...causes], ['drifted'])
        )
          fail(
            cell,
            'hand edit',
            [line?.status, line?.message, [...causes].join(), ...off].join('; '),
          );
        else live(cell, 'hand edit');
      }
      sayUnedited('hand edit');
      const done = outcomes.flatMap(({ cell, way, is }) =>
        way === 'hand edit' && is === 'live' ? [cell] : [],
      );
      await undone('rollback of hand edit', 'hand edit', new Set(done), before);
      await home('rollback of hand edit');
    }
    {
      for (const cell of left) if (isMoved(cell)) editByHand(stage, cell, cell.to);
      const before = leaves();
      const said = await stage.run(
        (to) => pull([], { ...dir, skipRefused: true, exclude: exclude() } as never, to),
        { exit: 'any' },
      );
      const document = parsed(said);
      const { changes } = await planned();
      const files = parse(await readFile(join(stage.folder, 'callsheet.yaml'), 'utf8'));
      for (const cell of [...left]) {
        if (!isMoved(cell)) continue;
        const change = changes.get(cell.address);
        const about = saidOf(document.refused, cell.address);
        const off = differing(cell, before.get(cell) ?? new Map(), liveLeaves(stage, cell));
        const block = files[cell.kind.section]?.[cell.key] ?? {};
        // A member that somebody added is nobody's: what the files said is said as it is live.
        const now = leavesOf(asReturned(blockOf(cell, cell.to)));
        const [held, was] = [leavesOf(block), leavesOf(blockOf(cell, cell.from))];
        const limits = now.get('payments.tool_enabled') === true ? LIMITS : {};
        const filledIn = new Map([...defaults, ...leavesOf({ payments: limits })]);
        // What no answer tells is left as it is.
        const isTold = (path: string) =>
          now.get('payments.tool_enabled') !== false || !/^payments\.(max|success)/.test(path);
        const isThere = [...was.keys()].every(
          (path) => !isTold(path) || isAs(held.get(path), now.get(path) ?? filledIn.get(path)),
        );
        if (namesField(about, cell)) say(cell, 'pull', about);
        else if (change !== undefined || off.length > 0 || !isThere)
          fail(
            cell,
            'pull',
            JSON.stringify([isThere, change?.fields, off, block[cell.path[0] ?? ''] ?? null]),
          );
        else live(cell, 'pull');
      }
      sayUnedited('pull');
      await home('pull');
    }
    {
      const before = leaves();
      const { changes } = await tried('delete', from, () => true);
      const { lines } = await applied();
      const done = new Set<Cell>();
      for (const cell of [...left]) {
        const line = lines.get(cell.address);
        const isThere = liveOf(stage, cell) !== undefined;
        if (cell.kind.delete === undefined && isThere) {
          say(cell, 'delete', changes.get(cell.address)?.reason ?? '');
          done.add(cell);
        } else if (isThere || line?.status !== 'done')
          fail(cell, 'delete', `${line?.status} ${line?.message}`);
        else {
          live(cell, 'delete');
          done.add(cell);
        }
      }
      await undone('rollback of delete', 'delete', done, before);
      for (const cell of cells) if (cell.path[0] === 'sip') register(stage, cell);
      await home('rollback of delete');
    }
    {
      const { store } = stage.sim;
      const ids = new Set([
        ...store.agents.keys(),
        ...store.retryPolicies.keys(),
        ...store.emailTemplates.keys(),
        ...store.smsTemplates.keys(),
      ]);
      await written('hidden by a list', ({ to }) => to, { outside: hiding(ids) });
      await home('hidden by a list');
    }
    {
      await stage.forget();
      // What it is recognised by is its identity, and of bytes no answer tells: they are taken for those of the files.
      const isOpen = (cell: Cell) => isName(cell) || cell.schema['x-file'] !== undefined;
      for (const cell of left) if (isOpen(cell)) say(cell, 'state lost', 'nothing else tells');
      await written('state lost', (cell) => (isOpen(cell) ? cell.from : cell.to), {
        isForgotten: true,
        but: isOpen,
      });
      await home('state lost');
    }
    await exported();
    await restored();
    return outcomes;
  } finally {
    await stage.close();
  }

  async function exported(): Promise<void> {
    const out = join(temporaryFolder(), 'first');
    const secretsFile = join(stage.folder, 'secrets.env');
    const said = await stage.run(
      (to) => exportCommand({ ...dir, dir: '.', out, state: true, secretsFile } as never, to),
      { exit: 'any' },
    );
    const document = parsed(said);
    const secrets = objectsIn(document.secrets);
    const env = Object.fromEntries(secrets.map(({ name }) => [String(name), 'made-up']));
    const known = await readFile(secretsFile, 'utf8').catch(() => '');
    for (const [, name = '', value = ''] of known.matchAll(/^(\w+)='((?:[^']|'\\'')*)'$/gm))
      env[name] = value.replaceAll("'\\''", "'");
    const plannedThere = async () => {
      const made = parsed(
        await stage.run((to) => plan({ ...dir, dir: out }, to), { exit: 'any', env }),
      );
      if (!isList(made.changes)) throw new Error(JSON.stringify(made));
      return made.changes as unknown as readonly Change[];
    };
    const first = await plannedThere();
    for (const cell of left) if (isMoved(cell)) editByHand(stage, cell, cell.to);
    const then = await plannedThere();
    rmSync(secretsFile, { force: true });
    for (const cell of [...left]) {
      const name = String(liveOf(stage, cell)?.name);
      const id = String(liveOf(stage, cell)?.id);
      const early = first.filter((one) => one.id === id || one.name === name);
      const late = then.filter((one) => one.id === id);
      const about = JSON.stringify(document);
      if (early.length > 0)
        fail(
          cell,
          'export',
          JSON.stringify(
            early.map(({ address, action, reason, fields }) => [address, action, reason, fields]),
          ),
        );
      else if (!isMoved(cell)) say(cell, 'export', 'nobody can see that it moved');
      else if (!isReturned(cell) || isIdle(cell)) say(cell, 'export', 'no answer tells it');
      else if (late.length === 0) {
        if (about.includes(String(cell.path[0]))) say(cell, 'export', 'the report names it');
        else fail(cell, 'export', 'the stack does not have it');
      } else live(cell, 'export');
    }
    await home('export');
  }

  async function restored(): Promise<void> {
    const before = leaves();
    const { file } = await take(stage, 'then.snapshot', { ...FOR_KEY, knowledgeBase: [BASE] });
    const media = await mediaOf(stage.sim, join(stage.folder, 'media'));
    // Documents of one name have one file: that of the one that was ingested last.
    for (const cell of left) {
      const { file: bytes, name } = cell.kind.nested ? (liveOf(stage, cell) ?? {}) : {};
      if (typeof bytes === 'string') await writeFile(join(media, BASE, String(name)), bytes);
    }
    wipe(stage.sim);
    const key = await withKey(stage);
    const { out, err } = await restoreOn(
      stage,
      file,
      { ...key, media, withoutSecrets: true } as never,
      { exit: 'any' },
    );
    const document = out === '' ? { message: err } : JSON.parse(out);
    await applied({ resendSecrets: true } as never);
    const { changes } = await planned();
    for (const cell of [...left]) {
      const off = differing(cell, before.get(cell) ?? new Map(), liveLeaves(stage, cell));
      const about = saidOf(document, cell.address);
      const change = changes.get(cell.address);
      if (off.length === 0 && change === undefined) live(cell, 'restore');
      else if (namesField(about, cell)) say(cell, 'restore', about);
      else fail(cell, 'restore', JSON.stringify([off, change?.reason, about, err.slice(0, 300)]));
    }
  }
}

type Outside = { readonly outside?: { readonly wire: (transport: Transport) => Transport } };

/** The wire to a platform whose lists leave out what has one of these ids. */
function hiding(ids: ReadonlySet<string>): Outside {
  const wire = (transport: Transport): Transport => ({
    ...transport,
    async send(request) {
      const answer = await transport.send(request);
      const { body } = answer;
      if (request.method !== 'GET' || !isObject(body) || !isList(body.data)) return answer;
      const data = body.data.filter((one) => !isObject(one) || !ids.has(String(one.id)));
      const { pagination } = body;
      const counted = isObject(pagination) && {
        pagination: { ...pagination, total: data.length, totalPages: 1, hasNext: false },
      };
      return { ...answer, body: { ...body, data, ...counted } };
    },
  });
  return { outside: { wire } };
}

/** Somebody sets up the registration of an agent in the dashboard. */
function register(stage: Stage, cell: Cell): void {
  const id = String(liveOf(stage, cell)?.id);
  if (!stage.sim.store.agents.has(id)) return;
  stage.sim.edit(id, {
    sip_registration_data: {
      ...{ sipDomain: 'sip.example.test', username: 'sample', password: 'canary-stored' },
      ...{ proxy: 'proxy.example.test', port: 5060, transport: 'udp', subscribe: false },
      ...{ authUsername: null, did: null, sipRoutingHeaderXDestUser: null, extension: '100' },
      registrationEnabled: false,
    },
  });
}

/** For people: a cell that is neither. */
export const sayWrong = (one: Outcome): readonly string[] =>
  one.is === 'wrong'
    ? [`${one.cell.name}, ${one.way}: ${show(one.cell.from)} → ${show(one.cell.to)}: ${one.why}`]
    : [];
