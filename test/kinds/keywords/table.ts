import { expect } from 'vitest';
import { recoverLeaves } from '../../../src/apply/recover-leaves.ts';
import { checkBody, judgeCarried } from '../../../src/apply/verify.ts';
import type { FieldDocument } from '../../../src/core/documents.ts';
import { formatPath, identitySegment, type Path, startsWith } from '../../../src/core/path.ts';
import type { Change, FieldCause } from '../../../src/core/plan-document.ts';
import type { FieldSchema } from '../../../src/core/schema.ts';
import {
  Blob,
  isList,
  isObject,
  type Json,
  type JsonObject,
  Ref,
  Secret,
  type ValueObject,
} from '../../../src/core/value.ts';
import { pickLeaves, placeValue, schemaAt, valueAt } from '../../../src/core/walk.ts';
import { isUnclearable, leafChange } from '../../../src/diff/compare.ts';
import { listLeaves } from '../../../src/diff/leaves.ts';
import { facetBody, mergeDocuments, requestBody } from '../../../src/diff/merge.ts';
import { exportResource } from '../../../src/features/writing/export/resource.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { openSecrets } from '../../../src/live/secrets.ts';
import { fieldChange } from '../../../src/plan/change.ts';
import { accountsWithoutSecret } from '../../../src/plan/secrets.ts';
import { createSteps, listWrites, updateSteps } from '../../../src/plan/steps.ts';
import { undoRun, undoTo } from '../../../src/rollback/undo.ts';
import { explainField } from '../../../src/stack/editor/explain-field.ts';
import { journalOf } from '../../rollback/runs.ts';
import { desiredResource, HARBOR, type WorldBuilder, world } from '../../world.ts';
import {
  compared,
  different,
  type Field,
  isPlain,
  liveOf,
  liveWith,
  recordOf,
  WORLD,
  withValue,
} from './fields.ts';

/** What has to ask what the schemas say of a field (STYLE 30). */
export const PHASES = [
  'compare',
  'preflight',
  'body',
  'proof',
  'recovery',
  'undo',
  'export',
  'note',
  'docs',
] as const;

export type Phase = (typeof PHASES)[number];

/** What a phase makes of a keyword: a test of each field that has it, or why it does not ask. */
export type Cell = string | Asked;

export type Asked = {
  readonly asks: string;
  readonly check: (field: Field) => void | Promise<void>;
  /** The fields that can show it; all unless given. */
  readonly of?: (field: Field) => boolean;
};

/** The facts about fields: each has a row, and each row a cell for every phase. */
export type Keyword = 'readOnly' | 'writeOnly' | Extract<keyof FieldSchema, `x-${string}`>;

type Row = { readonly [phase in Phase]: Cell };

// Reasons that many cells have.
const NAMES = 'it changes no value';
const AS_COMPARED = 'the proof compares as the plan does';
const AS_WRITTEN = 'what is written again goes through compare and body';
const FORM = 'it is about the form of what is written, not about what is live';
const NO_REFUSAL = 'the platform refuses nothing because of it';
const NOT_SHOWN = 'the plan shows the field like any other';
const AS_OTHERS = 'the field is taken like any other';
const LEAVES = 'it asks of leaves that were written, and whether they are live';
const STACK = 'it is asked where the stack is read: a resource that breaks it is never planned';
const NEVER_SENT = 'nothing of it is sent';
const PROSE = 'it tells people and rules what a text is for';
const SETTING = 'settings have it, and no field of a kind';
const TO_PEOPLE = 'people meet it as the words of another fact';

const causesAt = (
  field: Field,
  ...given: Parameters<typeof compared> extends [Field, ...infer Rest] ? Rest : never
) =>
  compared(field, ...given)
    .filter(({ path }) => startsWith(field.path, path) || startsWith(path, field.path))
    .map(({ cause }): FieldCause => cause);

/** The desired side of a rollback, where the field had a value and the run touched another resource, too. */
function undoneWith(
  field: Field,
  value: Json,
  other: { readonly kind: string; readonly id: string },
) {
  const entries = journalOf([
    {
      ...{ address: `${other.kind}.two`, action: 'update', id: other.id },
      ...{ before: { name: 'Two', organization_id: HARBOR }, fields: ['name'] },
    } as const,
    {
      ...{ address: `${field.kind.name}.one`, action: 'update', id: 'one' },
      ...{ before: liveWith(field, value), fields: [field.text] },
    } as const,
  ]);
  return undoRun(entries).desired[1];
}

/** Of a resource with one document, what a body has of the field where these leaves are to be written. */
function bodyOf(
  { kind, path, whole }: Field,
  {
    wanted = whole,
    live = {},
    secrets = [],
    cleared = [],
    written = [],
  }: {
    wanted?: ValueObject;
    live?: JsonObject;
    secrets?: readonly string[];
    cleared?: readonly string[];
    written?: readonly string[];
  } = {},
): JsonObject {
  const [top = ''] = path;
  const intent = {
    secrets: new Set(secrets),
    cleared: new Set(cleared),
    ignore: [],
    written: new Set(written),
  };
  const document = mergeDocuments(kind.schema, wanted, live, intent, WORLD);
  const isFacet = kind.facets.some(({ field }) => field === top);
  const value = document[top];
  return isFacet
    ? facetBody(kind.schema, top, isObject(value) ? value : {})
    : requestBody(kind.schema, document, [top]);
}

/** The names that stand anywhere in a body. */
function namesIn(value: Json | undefined): readonly string[] {
  if (isList(value)) return value.flatMap(namesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
}

const lastOf = ({ path }: { readonly path: Path }) => path.at(-1) ?? '';
const writtenName = (field: Field) => field.schema['x-write'] ?? lastOf(field);
const textsIn = (value: unknown): string => JSON.stringify(value) ?? '';

/** How the run of one change is undone that found this live, and wrote these paths. */
function undone(field: Field, before: JsonObject, fields: readonly string[]) {
  const { kind, whole } = field;
  const entries = journalOf([
    {
      address: `${kind.name}.one`,
      action: 'update',
      id: 'one',
      before: { ...before, id: 'one', organization_id: HARBOR },
      fields,
      resource: recordOf(field, whole),
      recorded: recordOf(field, whole),
      history: { before: 41, after: 42 },
    },
  ]);
  const undo = undoRun(entries);
  return { document: undo.desired[0]?.document ?? {}, impossible: undo.impossible };
}

function exportOf({ kind }: Field, live: JsonObject) {
  const { one, remarks } = exportResource(
    { id: 'one', scope: {}, extent: 'whole', document: live, record: {} },
    {
      kind,
      address: `${kind.name}.one`,
      isTwin: false,
      findAddress: (name, id) => (id.startsWith('id of ') ? `${name}.one` : undefined),
      own: 'one',
      organization: 'harbor',
      standIn: openSecrets().standIn,
    },
  );
  return { document: one?.writable.document ?? {}, remarks };
}

/** A world in which one resource is live as its sample says, and wanted with a change. */
function planned(
  field: Field,
  wanted: ValueObject,
  change: (given: WorldBuilder) => WorldBuilder = (given) => given,
) {
  const { kind } = field;
  const address = `${kind.name}.one`;
  const live: JsonObject = { ...liveOf(field, field.whole), id: 'one' };
  const facets = kind.facets.flatMap(({ field: name }) =>
    isObject(live[name]) ? [[name, live[name]] as const] : [],
  );
  const given = world()
    .wanting([{ ...desiredResource(address, {}), document: { ...wanted, ...scopeOf(field) } }])
    .live({
      ...{ custom_voice: [], retry_policy: [] },
      [kind.name]: [{ ...live, ...scopeOf(field) }],
    })
    .secrets(SECRETS)
    .facets({ one: { payment_tool_enabled: true, ...Object.fromEntries(facets) } });
  return change(given).plan({ isPreflighted: true });
}

const SECRETS = Object.fromEntries(
  ['SECRET_A', 'SECRET_B', 'ANOTHER'].map((name) => [`env:${name}`, `value of env:${name}`]),
);

function scopeOf({ kind, whole }: Field): JsonObject {
  const scope = kind.scope.map((name): [string, Json] => [name, String(whole[name] ?? HARBOR)]);
  return Object.fromEntries(scope);
}

/** The plan's words about one field, masked. */
function shown(field: Field) {
  const leaf = [...listLeaves(field.kind.schema, field.whole).leaves.values()].find(
    ({ text }) => text === field.text || text.startsWith(`${field.text}.`),
  );
  if (leaf === undefined) throw new Error(`${field.name} is no leaf of its sample`);
  return fieldChange(field.kind, leafChange(leaf, undefined, leaf.value, 'changed'));
}

/** Cells of the documentation: what `explain` and the reference say. */
const says = (asks: string, tells: (document: FieldDocument, field: Field) => boolean): Asked => ({
  asks,
  check: (field) => {
    const { 'x-config': name } = field.schema;
    // The configuration has a name of its own for it.
    const known = typeof name === 'string' ? field.name.replace(/\w+$/, name) : field.name;
    const found = explainField(known, kinds);
    if ('message' in found) throw new Error(found.message);
    expect(tells(found, field), textsIn(found)).toBe(true);
  },
});

const isLeafOf = (field: Field) =>
  [...listLeaves(field.kind.schema, field.whole).leaves.keys()].includes(field.text);

const isOfList = ({ path }: Field) => !isPlain({ path } as Field);

/** A flag and what is told while it is on, live with the flag off and made-up values. */
const off = (field: Field) => {
  const flag = flagOf(field);
  return placeValue<Json>(
    field.kind.schema,
    liveWith(field, typeof sampleValue(field) === 'number' ? 999 : 'https://default.example.test'),
    flag,
    false,
  );
};
const flagOf = ({ schema }: Field): Path => (schema['x-told-while'] ?? '').split('.');
const leaderOf = ({ schema }: Field): Path => (schema['x-follows'] ?? '').split('.');
const sampleValue = ({ kind, whole, path }: Field) => valueAt(kind.schema, whole, path);
const accountOf = ({ path, schema }: Field): Path => [
  ...path.slice(0, -1),
  String(schema['x-secret-of']),
];
const isAccounted = ({ schema }: Field) => typeof schema['x-secret-of'] === 'string';
const isFile = ({ schema }: Field) => schema['x-file'] !== undefined;
const isLocal = ({ schema }: Field) => schema['x-local'] === true;
const isHidden = (field: Field) => !isLocal(field);

/** What is recovered where a run died that meant the sample, and found and left these live. */
function recovered(
  field: Field,
  { found, live, isAnswered }: { found: JsonObject; live: JsonObject; isAnswered: boolean },
) {
  const { leaves } = recordOf(field, field.whole);
  const outcome = { type: 'outcome', seq: 1, at: '', ok: true, id: 'one', error: null } as const;
  const intent = {
    ...({ type: 'intent', step: 'update', operation: 'update' } as const),
    ...{ seq: 1, at: '', address: '', id: 'one', fields: [] },
  };
  const request = { intent, outcome: isAnswered ? outcome : undefined };
  const unreadable = [...listLeaves(field.kind.schema, field.whole).leaves.values()]
    .filter(({ facts }) => facts.unreadable)
    .map(({ text }) => text);
  return recoverLeaves({
    address: `${field.kind.name}.one`,
    kind: field.kind,
    intended: { key: null, scope: {}, name: 'One', leaves, protect: false, unreadable },
    before: {},
    found,
    live: { id: 'one', scope: {}, extent: 'whole', document: live, record: {} },
    requests: [request],
    hasOthers: true,
    world: WORLD,
  });
}

const neverCompared: Asked = {
  asks: 'another live value is no difference',
  check: (field) => {
    const live = liveWith(field, 'made by the platform');
    expect(causesAt(field, { live })).toEqual([]);
  },
};

const neverSent: Asked = {
  asks: 'no body has it',
  check: (field) => {
    const live = liveWith(field, 'made by the platform');
    expect(textsIn(bodyOf(field, { live }))).not.toContain('made by the platform');
  },
};

/** A cell that holds in the list of a sample: its elements in another order, or one fewer. */
function listOf(field: Field): readonly Json[] {
  const list = valueAt(field.kind.schema, liveOf(field, field.whole), field.path);
  if (!isList(list)) throw new Error(`the sample has no list at ${field.name}`);
  return list;
}

const masked: Asked = {
  asks: 'it is masked wherever a plan shows it',
  of: (field) => !isFile(field) && !isLocal(field),
  check: (field) => {
    const { secret, after } = shown(field);
    expect(secret).toBe(true);
    expect(textsIn(after)).not.toContain('canary');
    expect(textsIn(after)).not.toContain('value of');
  },
};

export const TABLE: { readonly [keyword in Keyword]: Row } = {
  readOnly: {
    compare: neverCompared,
    preflight: NEVER_SENT,
    body: { ...neverSent, of: ({ schema }) => schema['x-echo-back'] !== true },
    proof: NEVER_SENT,
    recovery: NEVER_SENT,
    undo: {
      asks: 'a rollback does not write it',
      of: ({ path }) => path.length === 1,
      check: (field) => {
        const { document } = undone(field, liveWith(field, 'made then'), [field.text]);
        expect(bodyOf(field, { wanted: document })).toEqual({});
      },
    },
    export: {
      asks: 'the stack does not say it',
      check: (field) => {
        const { document } = exportOf(field, liveWith(field, 'made by the platform'));
        expect(textsIn(document)).not.toContain('made by the platform');
      },
    },
    note: NEVER_SENT,
    docs: {
      ...says('it cannot be set', ({ settable }) => !settable),
      of: ({ name }) => !name.includes('.mcp_servers[].tools[].'),
    },
  },

  writeOnly: {
    compare: {
      asks: 'it is held against what was last written, as nothing is returned',
      of: isHidden,
      check: (field) => {
        expect(causesAt(field, {})).toEqual([]);
        const causes = causesAt(field, { wanted: withValue(field, different(field)) });
        expect(causes).toEqual([isFile(field) ? 'changed' : 'secret_source_changed']);
      },
    },
    preflight: NO_REFUSAL,
    body: {
      asks: 'it is left out unless it is to be written',
      of: (field) => isHidden(field) && !isFile(field),
      check: (field) => {
        const live = liveOf(field, field.whole);
        expect(textsIn(bodyOf(field, { live }))).not.toContain(`"${writtenName(field)}":`);
        const body = bodyOf(field, { live, secrets: [field.text] });
        expect(textsIn(body)).toContain(`"${writtenName(field)}":`);
      },
    },
    proof: {
      asks: 'that it was sent is the proof',
      of: isHidden,
      check: (field) => expect(causesAt(field, {}, { isProof: true })).toEqual([]),
    },
    recovery: {
      asks: 'it was written where its request was answered, else nobody can tell',
      of: (field) => isHidden(field) && !isFile(field),
      check: (field) => {
        const nothing = { found: {}, live: {} };
        const sure = recovered(field, { ...nothing, isAnswered: true });
        expect(sure.leaves[field.text]).toHaveProperty('fingerprint');
        const live = { name: 'Sample' };
        const doubted = recovered(field, { found: {}, live, isAnswered: false });
        expect(doubted.leaves[field.text]).toEqual({ unsettled: true });
      },
    },
    undo: {
      asks: 'it is named as not put back',
      of: isHidden,
      check: (field) => {
        const { document, impossible } = undone(field, liveOf(field, field.whole), [field.text]);
        expect(impossible.map(({ path }) => path)).toContain(field.text);
        expect(valueAt(field.kind.schema, document, field.path) ?? null).toBeNull();
      },
    },
    export: {
      asks: 'a stack has it as $secret where something tells that it is set',
      of: isAccounted,
      check: (field) => {
        const { document } = exportOf(field, liveOf(field, field.whole));
        expect(valueAt(field.kind.schema, document, field.path)).toBeInstanceOf(Secret);
      },
    },
    note: {
      asks: 'a secret that nobody can compare is counted in a note',
      of: isAccounted,
      check: async (field) => {
        const { plan } = await planned(
          field,
          pickLeaves(field.kind.schema, field.whole, [
            ['name'],
            field.path,
            accountOf(field),
          ]) as ValueObject,
        );
        expect(plan.notes.length).toBeGreaterThan(0);
      },
    },
    docs: says(
      'it is a secret, a file or Callsheet’s own',
      ({ secret, type }, field) => secret || isLocal(field) || type.startsWith('path of'),
    ),
  },

  'x-write': {
    compare: 'both sides are compared under the name that is read',
    preflight: NAMES,
    body: {
      asks: 'it is sent under that name',
      of: ({ schema }) => schema.readOnly !== true,
      check: (field) => {
        const [secrets, top] = [[field.text], lastOf(field)];
        const names = namesIn(bodyOf(field, { secrets }));
        expect(names).toContain(field.schema['x-write']);
        if (field.schema['x-write'] !== top && field.path.length === 1)
          expect(names).not.toContain(top);
      },
    },
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: AS_WRITTEN,
    export: 'a stack has the name that is read',
    note: 'a plan has the name that is read',
    docs: 'people write the name that is read',
  },

  'x-write-with': {
    compare: NAMES,
    preflight: NO_REFUSAL,
    body: {
      asks: 'the named fields go along with it',
      check: (field) => {
        const body = bodyOf(field, { live: liveOf(field, field.whole) });
        for (const name of field.schema['x-write-with'] ?? [])
          expect(Object.keys(body)).toContain(name);
      },
    },
    proof: 'what goes along went back as it was read, and is judged so',
    recovery: LEAVES,
    undo: AS_WRITTEN,
    export: AS_OTHERS,
    note: 'what goes along does not change',
    docs: TO_PEOPLE,
  },

  'x-secret': {
    compare: 'writeOnly says that it is not returned',
    preflight: NO_REFUSAL,
    body: 'writeOnly says that it is left out',
    proof: 'writeOnly says that nothing is read back',
    recovery: 'writeOnly says that nothing is read back',
    undo: 'writeOnly says that no copy has it',
    export: 'x-secret-of says where one is set',
    note: masked,
    docs: says('it takes $secret alone', ({ secret }) => secret),
  },

  'x-secret-of': {
    compare: {
      asks: 'another account takes its secret along',
      of: isAccounted,
      check: (field) => {
        const at = accountOf(field);
        const wanted = placeValue(field.kind.schema, field.whole, at, 'another account');
        expect(causesAt(field, { wanted })).toEqual(['secret_account_changed']);
      },
    },
    preflight: {
      asks: 'another account without its secret is refused',
      of: isAccounted,
      check: (field) => expect(parted(field, false)).toEqual([formatPath(accountOf(field))]),
    },
    body: 'the changes that a body is made of have the secret',
    proof: 'that the secret was sent is asked of every secret that a plan shows',
    recovery: LEAVES,
    undo: {
      asks: 'an account does not go back without its secret',
      of: isAccounted,
      check: (field) => expect(parted(field, true)).toEqual([formatPath(accountOf(field))]),
    },
    export: {
      asks: 'the secret is exported where its account is there, and only there',
      of: isAccounted,
      check: (field) => {
        const without = liveWith(field, undefined, accountOf(field));
        const { document } = exportOf(field, without);
        expect(valueAt(field.kind.schema, document, field.path)).toBeUndefined();
      },
    },
    note: 'the plan shows both fields',
    docs: TO_PEOPLE,
  },

  'x-secrets-inside': {
    compare: {
      asks: 'a $secret below it is held against what was last written',
      check: (field) => {
        const inside = insideOf(field);
        expect(causesAt(inside, {})).toEqual([]);
        const wanted = withValue(inside, new Secret('env:ANOTHER'));
        expect(causesAt(inside, { wanted })).toEqual(['secret_source_changed']);
      },
    },
    preflight: NO_REFUSAL,
    body: {
      asks: 'a $secret below it is left out unless it is to be written',
      check: (field) => {
        const inside = insideOf(field);
        const live = liveWith(inside, undefined);
        expect(namesIn(bodyOf(inside, { live }))).not.toContain('apiThing');
        expect(namesIn(bodyOf(inside, { live, secrets: [inside.text] }))).toContain('apiThing');
      },
    },
    proof: AS_COMPARED,
    recovery: 'writeOnly and it are asked as one: a leaf that is not read',
    undo: {
      asks: 'what is below it is named as not put back',
      check: (field) => {
        const inside = insideOf(field);
        const { impossible } = undone(inside, liveWith(inside, undefined), [inside.text]);
        expect(impossible.map(({ path }) => path)).toContain(inside.text);
      },
    },
    export: {
      asks: 'a text that no schema names is not exported in clear',
      check: (field) => {
        const inside = insideOf(field);
        const { document } = exportOf(inside, liveWith(inside, 'canary-inside'));
        expect(textsIn(document)).not.toContain('canary-inside');
      },
    },
    note: 'a $secret is masked wherever it stands',
    docs: says('what is below it takes $secret', ({ kind }) => kind !== null),
  },

  'x-destination': {
    compare: NAMES,
    preflight: NO_REFUSAL,
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: FORM,
    export: 'it names the variable of a secret by it, which changes no value',
    note: {
      asks: 'the plan says where a secret travels',
      of: ({ name }) => name === 'agent.extensions.tools[]',
      check: async (field) => {
        const tools = [...field.path.slice(0, -1)];
        const wanted = pickLeaves(field.kind.schema, field.whole, [['name'], tools]) as ValueObject;
        const address = `${field.kind.name}.one`;
        const { plan } = await world()
          .wanting([
            { ...desiredResource(address, {}), document: { ...wanted, ...scopeOf(field) } },
          ])
          .secrets(SECRETS)
          .plan();
        expect(plan.changes[0]?.secrets?.map(({ to }) => to)).toContain('crm.example.test');
      },
    },
    docs: TO_PEOPLE,
  },

  'x-sensitive': {
    compare: 'it is returned, and compared like any other',
    preflight: NO_REFUSAL,
    body: 'it is sent like any other',
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: {
      asks: 'a copy does not hold it, and the rollback says so',
      check: (field) => {
        const before = liveOf(field, field.whole);
        const { document, impossible } = undone(field, before, [
          formatPath(field.path.slice(0, 2)),
        ]);
        expect(textsIn(document)).not.toContain('value of');
        expect(impossible.length).toBeGreaterThan(0);
      },
    },
    export: {
      asks: 'a stack has it as $secret',
      check: (field) => {
        const { document } = exportOf(field, liveOf(field, field.whole));
        expect(textsIn(document)).not.toContain('value of');
        expect(textsIn(valueAt(field.kind.schema, document, field.path))).toContain('$secret');
      },
    },
    note: masked,
    docs: says('it is masked', ({ sensitive }) => sensitive),
  },

  'x-clearable': {
    compare: {
      asks: 'it is released where the files no longer have it',
      of: (field) => isPlain(field) && isLeafOf(field) && isEmptied(field),
      check: (field) => {
        const causes = causesAt(field, { wanted: withValue(field, undefined) });
        expect(causes).toEqual(['released']);
      },
    },
    preflight: NO_REFUSAL,
    body: {
      asks: 'null is never sent',
      check: ({ schema }) => expect(isUnclearable({ after: null, schema })).toBe(true),
    },
    proof: 'nothing is sent that could fail',
    recovery: LEAVES,
    undo: {
      asks: 'what the run set where nothing was stays, and is named',
      check: ({ schema }) => expect(isUnclearable({ after: undefined, schema })).toBe(true),
    },
    export: AS_OTHERS,
    note: 'a release is a note like any other',
    docs: says('null does not clear it', ({ clearable }) => !clearable),
  },

  'x-identity': {
    compare: {
      asks: 'elements are told apart by it, and one that goes is one change',
      check: (field) => {
        const list = listOf(field);
        const gone = withValue(field, [], field.whole);
        const texts = compared(field, { wanted: gone }).map(({ path }) => path.length);
        expect(texts).toEqual(list.map(() => field.path.length + 1));
      },
    },
    preflight: NO_REFUSAL,
    body: {
      asks: 'an element that is not owned goes back with the others',
      of: isPlain,
      check: (field) => {
        const body = bodyOf(field, {
          wanted: withValue(field, undefined),
          live: liveOf(field, field.whole),
          cleared: [`${field.text}${formatPath([identitySegment('nobody')])}`],
        });
        expect(valuesOf(body, listOf(field).length)).toBe(true);
      },
    },
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: {
      asks: 'the list comes back whole',
      of: isPlain,
      check: (field) => {
        const { document } = undone(field, liveOf(field, field.whole), [field.text]);
        expect(valueAt(field.kind.schema, document, field.path)).toHaveLength(listOf(field).length);
      },
    },
    export: {
      asks: 'elements that nobody can tell apart are left out',
      of: ({ schema }) => schema['x-repeats'] !== true,
      check: (field) => {
        const [first = {}] = listOf(field);
        const { remarks } = exportOf(field, liveWith(field, [first, first]));
        expect(remarks.map(({ path }) => path)).toContain(field.text);
      },
    },
    note: NOT_SHOWN,
    docs: says(
      'what elements are recognised by',
      ({ identity }, { schema }) => identity === schema['x-identity'],
    ),
  },

  'x-repeats': {
    compare: {
      asks: 'of several with one identity the order counts',
      check: (field) => {
        const two = [
          { key: 'a', value: '1' },
          { key: 'a', value: '2' },
        ];
        const wanted = withValue(field, two);
        const live = liveWith(field, two.toReversed());
        expect(causesAt(field, { wanted, live }).length).toBeGreaterThan(0);
        expect(causesAt(field, { wanted, live: liveWith(field, two) })).toEqual([]);
      },
    },
    preflight: NO_REFUSAL,
    body: 'the list is sent as it is configured',
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: AS_WRITTEN,
    export: {
      asks: 'several with one identity are exported',
      check: (field) => {
        const twins = [
          { key: 'a', value: 'x1' },
          { key: 'a', value: 'x2' },
        ];
        const { remarks } = exportOf(field, liveWith(field, twins));
        expect(remarks.map(({ path }) => path)).not.toContain(field.text);
      },
    },
    note: NOT_SHOWN,
    docs: TO_PEOPLE,
  },

  'x-set': {
    compare: {
      asks: 'another order is no difference',
      check: (field) => {
        const live = liveWith(field, listOf(field).toReversed());
        expect(causesAt(field, { live })).toEqual([]);
      },
    },
    preflight: NO_REFUSAL,
    body: 'the list is sent as it is configured',
    proof: AS_COMPARED,
    recovery: {
      asks: 'another order is what was meant',
      check: (field) => {
        const live = liveWith(field, listOf(field).toReversed());
        const { leaves } = recovered(field, { found: {}, live, isAnswered: true });
        expect(leaves[field.text]).toBeDefined();
        expect(leaves[field.text]).toEqual(recordOf(field, field.whole).leaves[field.text]);
      },
    },
    undo: AS_WRITTEN,
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: says('its order means nothing', ({ unordered }) => unordered),
  },

  'x-whole': {
    compare: {
      asks: 'a difference inside is one of the whole',
      check: (field) => {
        const live = liveWith(field, { made: 'by hand' });
        expect(compared(field, { live }).map(({ text }) => text)).toEqual([field.text]);
      },
    },
    preflight: NO_REFUSAL,
    body: {
      asks: 'it is sent as it is, whatever its members are called',
      check: (field) => {
        const wanted = withValue(field, { mcp_endpoint_url: 'x' });
        expect(textsIn(bodyOf(field, { wanted, secrets: allSecrets(field) }))).toContain(
          '"mcp_endpoint_url":"x"',
        );
      },
    },
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: AS_WRITTEN,
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: says('it is written whole', ({ whole }) => whole),
  },

  'x-ref': {
    compare: {
      asks: 'a reference is the id that it stands for',
      check: (field) => {
        const wanted = withValue(field, new Ref('custom_voice.needed'));
        const live = liveWith(field, 'id of custom_voice.needed');
        expect(causesAt(field, { wanted, live })).toEqual([]);
        expect(causesAt(field, { wanted, live: liveWith(field, 'another') })).toHaveLength(1);
      },
    },
    preflight: 'x-lock says of which ids it asks',
    body: {
      asks: 'the id is sent',
      check: (field) => {
        const wanted = withValue(field, new Ref('custom_voice.needed'));
        expect(textsIn(bodyOf(field, { wanted }))).toContain('id of custom_voice.needed');
      },
    },
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: {
      asks: 'the id of what the same run touched is a reference again',
      check: (field) => {
        const one = undoneWith(field, 'two', { kind: String(field.schema['x-ref']), id: 'two' });
        expect(one && valueAt(field.kind.schema, one.document, field.path)).toBeInstanceOf(Ref);
      },
    },
    export: {
      asks: 'the id of what is exported, too, is a reference',
      check: (field) => {
        const { document } = exportOf(field, liveOf(field, field.whole));
        expect(valueAt(field.kind.schema, document, field.path)).toBeInstanceOf(Ref);
      },
    },
    note: NOT_SHOWN,
    docs: says(
      'the kind that it refers to',
      ({ refers_to: to }, { schema }) => to === schema['x-ref'],
    ),
  },

  'x-created-as': {
    compare: 'what is live is compared like any other',
    preflight: NO_REFUSAL,
    body: {
      asks: 'a value that a new resource cannot have follows by an update',
      check: (field) => {
        const [later] = (field.schema.enum ?? []).filter(
          (value) => !(field.schema['x-created-as'] ?? []).includes(String(value)),
        );
        const [top = ''] = field.path;
        const steps = (value: Json) =>
          createSteps(field.kind, ['name', top], { ...field.whole, [top]: value });
        expect(steps(later as Json)).toEqual([
          { step: 'create', fields: ['name'] },
          { step: 'update', fields: [top] },
        ]);
        const [taken = ''] = field.schema['x-created-as'] ?? [];
        expect(steps(taken)).toEqual([{ step: 'create', fields: ['name', top] }]);
      },
    },
    proof: AS_COMPARED,
    recovery: 'a leaf that did not take is left to do',
    undo: 'what is made again is planned as a create',
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: says(
      'what a new one can have',
      ({ created_as: taken }, { schema }) => textsIn(taken) === textsIn(schema['x-created-as']),
    ),
  },

  'x-immutable': {
    compare: 'a difference is one like any other',
    preflight: NO_REFUSAL,
    body: 'a replacement is made from nothing',
    proof: AS_COMPARED,
    recovery: 'a replacement is a making',
    undo: 'what was replaced is made again',
    export: AS_OTHERS,
    note: {
      asks: 'the plan replaces the resource',
      of: (field) => field.schema['x-config'] === undefined && !isFile(field) && isThere(field),
      check: async (field) => {
        const names = [...field.kind.naturalKey.flat(), ...(field.kind.schema.required ?? [])];
        const keys = [...new Set(names)].filter((name) => field.whole[name] !== undefined);
        const own = pickLeaves(field.kind.schema, field.whole, [
          ...keys.map((name) => [name]),
          field.path,
        ]) as ValueObject;
        const { plan } = await planned(field, withValue(field, different(field), own), (given) =>
          given.options({ allow_delete: true }),
        );
        // Another name is another resource.
        expect(plan.changes.map(({ action }) => action)).toContain(
          field.kind.naturalKey.flat().includes(field.text) ? 'create' : 'replace',
        );
      },
    },
    docs: {
      ...says('a change replaces the resource', ({ immutable }) => immutable),
      of: ({ schema }) => schema['x-config'] !== false,
    },
  },

  'x-revert': {
    compare: NAMES,
    preflight: NO_REFUSAL,
    body: FORM,
    proof: 'a rollback is proven leaf by leaf, whatever wrote it',
    recovery: 'an edit of what no entry records leaves none, so a third value is somebody’s',
    undo: {
      asks: 'a rollback writes it, as a revert leaves it alone',
      of: ({ kind, path, schema }) =>
        kind.history !== undefined && path.length === 1 && schema['x-facet'] !== true,
      check: (field) => {
        const [top = ''] = field.path;
        expect(updateSteps(field.kind, [top], 41).map(({ step }) => step)).toEqual(['update']);
        expect(updateSteps(field.kind, ['name'], 41).map(({ step }) => step)).toEqual(['revert']);
      },
    },
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: says(
      'that a revert does not bring it back',
      ({ restored_by_revert: back, settable }) => back === false || !settable,
    ),
  },

  'x-revert-takes': {
    compare: NAMES,
    preflight: NO_REFUSAL,
    body: FORM,
    proof: AS_COMPARED,
    recovery: LEAVES,
    undo: {
      asks: 'what the revert takes along is a field that it records or an update puts back',
      check: (field) => {
        for (const name of field.schema['x-revert-takes'] ?? [])
          expect(schemaAt(field.kind.schema, [name]).type).toBe('boolean');
        const [top = ''] = field.path;
        const taken = field.schema['x-revert-takes'] ?? [];
        const steps = updateSteps(field.kind, [top, ...taken], 41);
        expect(steps.map(({ step }) => step)).toEqual(['revert', 'update']);
      },
    },
    export: AS_OTHERS,
    note: 'the reason of a rollback says it',
    docs: TO_PEOPLE,
  },

  'x-lock': {
    compare: NAMES,
    preflight: {
      asks: 'a locked feature refuses what it governs',
      of: (field) => field.path.length === 0 || isThere(field),
      check: async (field) => {
        const locks = { has: () => true, get: () => ({ scope: 'here', isLegacy: false }) };
        const all = Object.assign(new Map(), locks);
        const { plan } = await making(field, (given) =>
          given.entitlements({ locks: async () => ({ type: 'answered', value: all }) }),
        );
        const [change] = plan.changes;
        expect(change?.verdict).toBe('refused');
        if (field.path.length > 0) expect(change?.reason).toContain(field.path[0]);
      },
    },
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: 'preflight asks of every plan, a rollback among them',
    export: AS_OTHERS,
    note: 'the reason of a refusal says it',
    docs: says('the feature', ({ lock }, field) => field.path.length === 0 || lock !== null),
  },

  'x-one-of': {
    compare: NAMES,
    preflight: {
      asks: 'a value that the catalogue lacks is refused',
      check: async (field) => {
        const { plan } = await making(field, (given) =>
          given.entitlements({
            offers: async () => ({ type: 'answered', value: new Set(['another']) }),
          }),
        );
        expect(plan.changes[0]).toMatchObject({ verdict: 'refused' });
        expect(plan.changes[0]?.reason).toContain(field.text);
      },
    },
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: 'preflight asks of every plan, a rollback among them',
    export: AS_OTHERS,
    note: 'the reason of a refusal says it',
    docs: says('the command that lists it', ({ listed_by: by }) => by !== null),
  },

  'x-ready': {
    compare: NAMES,
    preflight: {
      asks: 'switching it on is refused where the platform is not ready',
      check: async (field) => {
        const off = liveWith(field, false);
        const { plan } = await planned(
          field,
          { name: 'Sample', payments: { tool_enabled: true } },
          (given) =>
            given
              .live({ agent: [{ ...off, id: 'one', ...scopeOf(field) }] })
              .facets({ one: { payment_tool_enabled: false } })
              .entitlements({
                about: async () => ({ type: 'answered', value: { can_enable: false } }),
              }),
        );
        expect(plan.changes[0]).toMatchObject({ verdict: 'refused' });
      },
    },
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: 'preflight asks of every plan, a rollback among them',
    export: AS_OTHERS,
    note: 'the reason of a refusal says it',
    docs: TO_PEOPLE,
  },

  'x-file': {
    compare: {
      asks: 'other bytes are a change',
      check: (field) => {
        expect(causesAt(field, {})).toEqual([]);
        expect(causesAt(field, { wanted: withValue(field, different(field)) })).toEqual([
          'changed',
        ]);
      },
    },
    preflight: 'x-operations says what an upload takes',
    body: {
      asks: 'no body has it, as it goes as bytes',
      check: (field) => expect(namesIn(bodyOf(field))).not.toContain(lastOf(field)),
    },
    proof: 'writeOnly says that nothing is read back',
    recovery: 'writeOnly says that nothing is read back',
    undo: {
      asks: 'no copy has it, which is named',
      check: (field) => {
        const { impossible } = undone(field, liveOf(field, field.whole), [field.text]);
        expect(impossible.map(({ path }) => path)).toContain(field.text);
      },
    },
    export: 'nothing returns the bytes: the export says what is left out',
    note: NOT_SHOWN,
    docs: says('it is a path', ({ type }) => type.startsWith('path of')),
  },

  'x-distinct': {
    compare: STACK,
    preflight: STACK,
    body: STACK,
    proof: STACK,
    recovery: 'no id is claimed by two addresses, whatever their content',
    undo: 'the platform has no endpoint that takes one away',
    export: 'nothing returns the bytes',
    note: STACK,
    docs: says('no two may have the same content', ({ distinct }) => distinct === true),
  },

  'x-facet': {
    compare: 'it is compared where it was read',
    preflight: 'it asks of the operations of every step',
    body: {
      asks: 'it has a step of its own, and no other body has it',
      check: (field) => {
        const [top = ''] = field.path;
        expect(updateSteps(field.kind, [top], 41)).toEqual([{ step: 'facet', fields: [top] }]);
      },
    },
    proof: AS_COMPARED,
    recovery: 'its requests say nothing of secrets elsewhere',
    undo: {
      asks: 'a rollback writes it by its own endpoint',
      check: (field) => {
        const steps = updateSteps(field.kind, ['name', field.path[0] ?? ''], 41);
        expect(steps.at(-1)).toEqual({ step: 'facet', fields: [field.path[0]] });
      },
    },
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: says('its endpoint', ({ facet }) => facet !== null),
  },

  'x-address': {
    compare: {
      asks: 'it is what WHATWG URL writes: letter case of the host and a default port are no difference',
      check: (field) => {
        const wanted = withValue(field, 'HTTPS://Harbor.Example.Test:443');
        const live = liveWith(field, 'https://harbor.example.test/');
        expect(causesAt(field, { wanted, live })).toEqual([]);
      },
    },
    preflight: NO_REFUSAL,
    body: 'it is sent as it is configured',
    proof: AS_COMPARED,
    recovery: AS_COMPARED,
    undo: AS_WRITTEN,
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: TO_PEOPLE,
  },

  'x-format': {
    compare: STACK,
    preflight: STACK,
    body: STACK,
    proof: STACK,
    recovery: STACK,
    undo: STACK,
    export: 'a value that breaks it is reported by the rules, and written all the same',
    note: STACK,
    docs: TO_PEOPLE,
  },

  'x-ids-inside': {
    compare: 'a reference there is the id that it stands for, as any other',
    preflight: PROSE,
    body: PROSE,
    proof: PROSE,
    recovery: PROSE,
    undo: {
      asks: 'ids of what the same run touched are references again, also within a text',
      // A member that no schema knows among secrets may be one, and is not written back.
      of: ({ schema }) => schema['x-secrets-inside'] !== true,
      check: (field) => {
        const id = '0a000000-0000-4000-8000-00000000000a';
        const isText = [field.schema.type].flat().includes('string');
        const text = isText ? `Ask ${id} first.` : { linked_id: id };
        const value = field.schema.type === 'array' ? [`https://a.example.test/${id}`] : text;
        const desired = undoneWith(field, value, { kind: 'agent', id });
        expect(desired?.references).toContain('agent.two');
      },
    },
    export: 'an id that is the whole value is exported as a reference, a text as it is',
    note: PROSE,
    docs: PROSE,
  },

  'x-prose': {
    compare: PROSE,
    preflight: PROSE,
    body: PROSE,
    proof: PROSE,
    recovery: PROSE,
    undo: PROSE,
    export: PROSE,
    note: PROSE,
    docs: PROSE,
  },

  'x-verbatim': {
    compare: SETTING,
    preflight: SETTING,
    body: SETTING,
    proof: SETTING,
    recovery: SETTING,
    undo: SETTING,
    export: SETTING,
    note: SETTING,
    docs: SETTING,
  },

  'x-config': {
    compare: STACK,
    preflight: STACK,
    body: NAMES,
    proof: STACK,
    recovery: STACK,
    undo: STACK,
    export: 'names are given where a stack is written (stack/edit)',
    note: NAMES,
    docs: says(
      'one that cannot be given is not documented as settable',
      ({ settable }, { schema }) => (schema['x-config'] === false ? !settable : settable),
    ),
  },

  'x-local': {
    compare: {
      asks: 'it is never held against what is live',
      check: (field) => {
        const live = liveWith(field, 'made by the platform');
        expect(causesAt(field, { live })).toEqual([]);
      },
    },
    preflight: NEVER_SENT,
    body: {
      asks: 'no body has it',
      check: (field) =>
        expect(namesIn(bodyOf(field, { secrets: [field.text] }))).not.toContain(lastOf(field)),
    },
    proof: NEVER_SENT,
    recovery: NEVER_SENT,
    undo: NEVER_SENT,
    export: 'nothing returns it',
    note: NEVER_SENT,
    docs: TO_PEOPLE,
  },

  'x-echoes': {
    compare: {
      asks: 'a value that is never returned reads as absent on both sides',
      check: (field) => {
        const wanted = withValue(field, 'never returned');
        expect(causesAt(field, { wanted, live: liveWith(field, undefined) })).toEqual([]);
      },
    },
    preflight: NO_REFUSAL,
    body: 'it is sent as it is configured',
    proof: AS_COMPARED,
    recovery: {
      asks: 'a value that is never returned is what was meant where nothing is returned',
      check: (field) => {
        const meant = { ...field, whole: withValue(field, 'never returned') };
        const live = liveWith(field, undefined);
        const { extent } = recovered(meant, { found: live, live, isAnswered: true });
        expect(extent).toBe('all');
      },
    },
    undo: AS_WRITTEN,
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: TO_PEOPLE,
  },

  'x-told-while': {
    compare: {
      asks: 'it differs only while its flag is on; switching that on writes it',
      check: (field) => {
        const isOff = { wanted: placeValue(field.kind.schema, field.whole, flagOf(field), false) };
        expect(causesAt(field, { ...isOff, live: off(field) })).toEqual([]);
        expect(causesAt(field, { live: off(field) })).toHaveLength(1);
      },
    },
    preflight: 'its flag is what the platform may refuse',
    body: {
      asks: 'it goes along with its flag, by the name that is written',
      check: (field) => {
        const body = bodyOf(field, { live: off(field) });
        expect(Object.keys(body)).toContain(writtenName(field));
      },
    },
    proof: {
      asks: 'what is not told can neither be lost nor move',
      check: (field) => {
        const value = valueAt(field.kind.schema, liveOf(field, field.whole), field.path) ?? null;
        const judge = (live: JsonObject) =>
          judgeCarried({ path: field.path, value }, field.kind.schema, live, {
            isOwned: false,
            hasOthers: false,
          });
        expect(judge(off(field))).toBe('unreturned');
        const on = placeValue<Json>(field.kind.schema, off(field), flagOf(field), true);
        expect(judge(on)).toBe('moved');
      },
    },
    recovery: {
      asks: 'a default that is told in its place says nothing of a request',
      check: (field) => {
        const flag = formatPath(flagOf(field));
        const whole = placeValue(field.kind.schema, field.whole, flagOf(field), false);
        const meant = { ...field, whole };
        const { leaves, extent } = recovered(meant, {
          found: {},
          live: placeValue<Json>(field.kind.schema, liveOf(field, whole), field.path, 'a default'),
          isAnswered: true,
        });
        expect(extent).toBe('all');
        expect(leaves[flag]).toEqual({ value: false });
        expect(leaves[field.text]).toEqual(recordOf(field, whole).leaves[field.text]);
      },
    },
    undo: {
      asks: 'it comes back with its flag, and a default that was told is nobody’s',
      check: (field) => {
        const flag = formatPath(flagOf(field));
        const back = undone(field, liveOf(field, field.whole), [flag]).document;
        expect(valueAt(field.kind.schema, back, field.path)).toEqual(sampleValue(field));
        const without = undone(field, off(field), [flag, field.text]).document;
        expect(valueAt(field.kind.schema, without, field.path)).toBeUndefined();
        expect(valueAt(field.kind.schema, without, flagOf(field))).toBe(false);
        const then = { ...off(field), id: 'one', ...scopeOf(field) };
        const snapshot = { address: 'agent.one', kind: 'agent', id: 'one', document: then };
        const [exact] = undoTo([{ ...snapshot, pin: null, resource: null, withheld: [] }]).desired;
        expect(exact && valueAt(field.kind.schema, exact.document, field.path)).toBeUndefined();
      },
    },
    export: {
      asks: 'a default that is told while its flag is off is not the stack’s',
      check: (field) => {
        const { document } = exportOf(field, off(field));
        expect(valueAt(field.kind.schema, document, field.path)).toBeUndefined();
      },
    },
    note: {
      asks: 'one that is given while its flag is off is said',
      check: async (field) => {
        const own = pickLeaves(field.kind.schema, field.whole, [
          ['name'],
          field.path,
        ]) as ValueObject;
        const wanted = placeValue(field.kind.schema, own, flagOf(field), false);
        const { plan } = await planned(field, wanted);
        expect(plan.notes.map(({ message }) => message).join()).toContain(
          `${field.text}: ${formatPath(flagOf(field))} is not on`,
        );
      },
    },
    docs: says(
      'its flag',
      ({ told_while: flag }, { schema, kind }) => flag === `${kind.name}.${schema['x-told-while']}`,
    ),
  },

  'x-follows': {
    compare: 'unowned it is not compared, and owned it is a leaf like any other',
    preflight: NO_REFUSAL,
    body: {
      asks: 'unowned, it is not sent back where what it follows is written',
      check: (field) => {
        const wanted = withValue(field, undefined);
        const live = liveOf(field, field.whole);
        const leader = formatPath(leaderOf(field));
        expect(namesIn(bodyOf(field, { wanted, live }))).toContain(lastOf(field));
        const body = bodyOf(field, { wanted, live, written: [leader] });
        expect(namesIn(body)).not.toContain(lastOf(field));
        expect(witnessed(field, wanted, live, body, leader).has(field.text)).toBe(false);
        // Owned, it is.
        expect(namesIn(bodyOf(field, { live, written: [leader] }))).toContain(lastOf(field));
      },
    },
    proof: {
      asks: 'what was not sent back is no neighbour; one that is owned and moved is stored as another',
      check: (field) => {
        const value = valueAt(field.kind.schema, liveOf(field, field.whole), field.path) ?? null;
        const seen = { isOwned: true, hasOthers: false };
        const live = liveWith(field, 'moved');
        const judged = judgeCarried({ path: field.path, value }, field.kind.schema, live, seen);
        expect(judged).toBe('stored_as');
      },
    },
    recovery: LEAVES,
    undo: {
      asks: 'it comes back with what it follows',
      check: (field) => {
        const leader = formatPath(leaderOf(field));
        const { document } = undone(field, liveOf(field, field.whole), [leader]);
        expect(valueAt(field.kind.schema, document, field.path)).toEqual(sampleValue(field));
        const without = undone(field, liveWith(field, undefined), [leader]).document;
        expect(valueAt(field.kind.schema, without, field.path)).toBeUndefined();
      },
    },
    export: AS_OTHERS,
    note: {
      asks: 'one that nobody gives is said where what it follows is written',
      check: async (field) => {
        const own = pickLeaves(field.kind.schema, field.whole, [['name']]) as ValueObject;
        const wanted = placeValue(field.kind.schema, own, leaderOf(field), 'another');
        const { plan } = await planned(field, wanted);
        expect(plan.notes.map(({ message }) => message).join()).toContain(
          `${field.text} is not configured, and follows ${formatPath(leaderOf(field))}`,
        );
      },
    },
    docs: says(
      'what it follows',
      ({ follows }, { schema, kind }) => follows === `${kind.name}.${schema['x-follows']}`,
    ),
  },

  'x-section': {
    compare: 'members that it lists are cleared one by one, which golden plans show',
    preflight: STACK,
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: FORM,
    export:
      'what breaks no stated rule is written as it is: the round trip of unusual values shows it',
    note: 'what breaks no stated rule is a warning of the stack',
    docs: 'the page of limits names it',
  },

  'x-assumption': {
    compare: NAMES,
    preflight: 'withSupport refuses it by the same list as the plan names',
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: 'a rollback is a plan, which names it',
    export: AS_OTHERS,
    note: {
      asks: 'the plan names it, and platform.assume: false refuses it',
      check: async (field) => {
        const { plan } = await making(field);
        expect(plan.assumptions).toContain(field.schema['x-assumption']);
        const { plan: strict } = await making(field, (given) => given.having({ assume: false }));
        expect(strict.changes[0]?.verdict).toBe('unsupported');
      },
    },
    docs: says('its assumption', ({ assumption }) => assumption !== null),
  },

  'x-assumes': {
    compare: PROSE,
    preflight: NO_REFUSAL,
    body: PROSE,
    proof: PROSE,
    recovery: PROSE,
    undo: PROSE,
    export: PROSE,
    note: PROSE,
    docs: 'the page of assumptions lists the fields of each',
  },

  'x-operations': {
    compare: NAMES,
    preflight: {
      asks: 'what writing it takes is asked for',
      check: (field) => {
        const [top = ''] = field.path;
        const change = { operations: [{ step: 'create', fields: [top] }] } as unknown as Change;
        expect(listWrites(change, field.kind)).toEqual(
          expect.arrayContaining([...(field.schema['x-operations'] ?? [])]),
        );
      },
    },
    body: FORM,
    proof: FORM,
    recovery: 'requests are recovered by what the journal says of them',
    undo: 'a rollback is a plan, which asks for it',
    export: AS_OTHERS,
    note: 'the assumptions of a plan are those of its operations',
    docs: TO_PEOPLE,
  },

  'x-stamped': {
    compare: 'it decides what a fast plan reads, not what it compares (plan/refresh)',
    preflight: NO_REFUSAL,
    body: FORM,
    proof: FORM,
    recovery: FORM,
    undo: FORM,
    export: AS_OTHERS,
    note: NOT_SHOWN,
    docs: TO_PEOPLE,
  },

  'x-echo-back': {
    compare: 'readOnly says that it is not compared',
    preflight: NO_REFUSAL,
    body: {
      asks: 'it goes back with its element',
      check: (field) => {
        const live = liveWith(field, 'known to the platform');
        const body = bodyOf(field, { live, secrets: allSecrets(field) });
        expect(textsIn(body)).toContain('known to the platform');
      },
    },
    proof: 'readOnly says that it is not compared',
    recovery: 'readOnly says that it is not compared',
    undo: AS_WRITTEN,
    export: 'readOnly says that a stack does not have it',
    note: 'readOnly says that it is not shown',
    docs: TO_PEOPLE,
  },
};

/** Accounts that are refused where another one is to be written and no secret is given. */
function parted(field: Field, isRollback: boolean): readonly string[] {
  const { kind, whole } = field;
  const above = field.path.slice(0, -1);
  const account = accountOf(field);
  const alone = placeValue(kind.schema, {}, account, 'another account');
  const live = pickLeaves(kind.schema, liveOf(field, whole), [account]) as JsonObject;
  const leaves = compared({ ...field, whole: alone }, { wanted: alone, live }, { applied: {} });
  expect(above.length).toBeGreaterThan(0);
  const sides = { kind, document: alone, ignore: [], applied: {}, isRollback };
  return accountsWithoutSecret(leaves, sides).map(({ path }) => String(path));
}

/** A $secret under a key that no schema names, below a field. */
function insideOf(field: Field): Field {
  const path = [...field.path, 'smsProvider', 'apiThing'];
  const whole = placeValue(field.kind.schema, field.whole, path, new Secret('env:SECRET_A'));
  return { ...field, path, text: formatPath(path), whole };
}

const isThere = (field: Field) => (sampleValue(field) ?? null) !== null;
const isEmptied = (field: Field) =>
  isThere(field) && !(sampleValue(field) instanceof Blob) && !isOfList(field);

/** Every secret of a sample, for a body that has all. */
function allSecrets({ kind, whole }: Field): readonly string[] {
  return [...listLeaves(kind.schema, whole).leaves.values()]
    .filter(({ value }) => value instanceof Secret)
    .map(({ text }) => text);
}

/** Whether a body has a list of so many elements. */
function valuesOf(value: Json | undefined, count: number): boolean {
  if (isList(value)) return value.length === count || value.some((one) => valuesOf(one, count));
  return isObject(value) && Object.values(value).some((one) => valuesOf(one, count));
}

/** The plan of a resource that is to be made with this field. */
function making(field: Field, change: (given: WorldBuilder) => WorldBuilder = (given) => given) {
  const { kind, whole } = field;
  const names = new Set([...kind.naturalKey.flat(), ...(kind.schema.required ?? [])]);
  const keys = [...names].filter((name) => whole[name] !== undefined).map((name) => [name]);
  const paths = [...keys, ...(field.path.length === 0 ? [] : [field.path])];
  const document = pickLeaves(kind.schema, whole, paths) as ValueObject;
  const given = world()
    .wanting([
      { ...desiredResource(`${kind.name}.one`, {}), document: { ...document, ...scopeOf(field) } },
    ])
    .secrets(SECRETS);
  return change(given).plan({ isPreflighted: true });
}

/** What the witness finds of a body that goes back as it was read. */
function witnessed(
  field: Field,
  wanted: ValueObject,
  live: JsonObject,
  body: JsonObject,
  shownPath: string,
) {
  const { kind } = field;
  const desired = { ...desiredResource(`${kind.name}.one`, {}), document: wanted };
  const fields = [{ path: shownPath, before: null, after: null, secret: false, cause: 'changed' }];
  const change = { address: desired.address, fields } as unknown as Change;
  return checkBody(
    { operation: 'updateAgent', body },
    { live },
    { change, kind, desired, world: WORLD, before: live },
  ).carried;
}
