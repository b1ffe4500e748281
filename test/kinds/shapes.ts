import fc from 'fast-check';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { parsePaths, startsWith } from '../../src/core/path.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../src/core/schema.ts';
import { isList, isObject, isSameJson, type Json, type JsonObject } from '../../src/core/value.ts';
import { kindNamed, kinds } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import { getTable } from '../../src/simulator/store.ts';
import { RESTS } from '../../src/simulator/tables.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { SEED } from '../e2e/clinic.ts';
import { VALUES } from '../e2e/dialect-table.ts';
import { pulled } from '../features/writing/pull/stage.ts';
import { temporaryFolder } from '../temporary.ts';
import { samples } from './samples.ts';

/** A member of which the schema does not say whether it is a text, a list or a map. `[]` is an element of a list. */
type Place = { readonly kind: string; readonly path: readonly string[] };

/** The name of a member that no schema knows. */
export const MEMBER = 'shape';

/** Every such place of a kind: found in its schema, so that none is left out. */
function listPlaces({ name: kind, schema: root, update }: Kind): readonly Place[] {
  const found: Place[] = [];
  const visit = (schema: FieldSchema, path: readonly string[]): void => {
    if (schema.readOnly === true || schema['x-local'] === true) return;
    const { additionalProperties: more, properties = {} } = schema;
    if (schema.type === undefined && path.length > 0) found.push({ kind, path });
    if (more === true) found.push({ kind, path: [...path, MEMBER] });
    if (isObject(more as Json)) visit(dereference(root, more as FieldSchema), [...path, MEMBER]);
    for (const key of Object.keys(properties))
      visit(memberSchema(root, schema, key), [...path, key]);
    if (schema.items !== undefined) visit(itemSchema(root, schema), [...path, '[]']);
  };
  visit(root, []);
  // A field that is newer than the schema stands below `unchecked` in the files.
  return update === undefined ? found : [...found, { kind, path: ['unchecked', MEMBER] }];
}

const PLACES: readonly Place[] = kinds.flatMap(listPlaces);

export type Member = Json | undefined;

/** The values that a member can be. */
const scalars = fc.constantFrom<Json>('one', 'two', 7, 0, true, '');
const leaves = fc.oneof(scalars, fc.constant<Json>(null));
const { list, map } = fc.letrec<{ tree: Json; list: Json; map: Json }>((tie) => ({
  list: fc.array(fc.oneof({ maxDepth: 2 }, scalars, tie('map')), { maxLength: 2 }),
  map: fc.dictionary(fc.constantFrom('mon', 'tue', 'from'), tie('tree'), { maxKeys: 3 }),
  tree: fc.oneof({ maxDepth: 2 }, leaves, tie('list'), tie('map')),
}));
export const values: fc.Arbitrary<Member> = fc.oneof(
  fc.constantFrom<Member>(undefined, null, [], {}),
  scalars,
  list,
  { arbitrary: map, weight: 2 },
);

/** Dialects differ in what they make of an empty text that is a field of its own: nothing, or null. */
const valuesAt = ({ path }: Place) =>
  path.length === 1 ? values.filter((value) => value !== '') : values;

/** The word for what a member is. */
export function shapeOf(value: Member): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  const isEmpty = Object.keys(Object(value)).length === 0;
  if (isList(value)) return isEmpty ? 'empty list' : 'list';
  if (isObject(value)) return isEmpty ? 'empty map' : 'map';
  return 'scalar';
}

/** A place that is one thing, then another. */
type Cell = { readonly place: Place; readonly from: Member; readonly to: Member };

/** So many changes of every place, each of another resource, on one platform. */
export const journeys = (each: number) =>
  fc.record({
    dialect: fc.record({
      merge: fc.constantFrom(...VALUES.merge),
      nulls: fc.constantFrom(...VALUES.nulls),
      unset: fc.constantFrom(...VALUES.unset),
      emptyText: fc.constantFrom(...VALUES.emptyText),
      newFields: fc.constantFrom(...VALUES.newFields),
      updateAnswer: fc.constantFrom(...VALUES.updateAnswer),
      keyOrder: fc.constantFrom(...VALUES.keyOrder),
    }),
    cells: fc
      .tuple(
        ...PLACES.map((place) =>
          fc.array(
            fc
              .record({ from: valuesAt(place), to: valuesAt(place) })
              .map(({ from, to }) => ({ place, from, to })),
            { minLength: each, maxLength: each },
          ),
        ),
      )
      .map((all): readonly Cell[] => all.flat()),
  });

type Journey = { readonly dialect: Partial<Dialect>; readonly cells: readonly Cell[] };

/** A change that did not come out as it should. */
type Finding = { readonly cell: Cell; readonly step: string; readonly why: string };

/** A cell with the resource that it is tried on. */
type Tried = Cell & {
  readonly kind: Kind;
  readonly key: string;
  readonly address: string;
  readonly name: string;
};

/** Anything beside the place that is configured, and changes. */
type Beside = 'stays' | 'changes';

/** Values without what reads as nothing. */
export function filled(value: Member): Member {
  if (value === null || value === undefined || value === '') return undefined;
  if (isList(value)) return value.length === 0 ? undefined : value;
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([key, one]) => {
    const own = filled(one);
    return own === undefined ? [] : [[key, own] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** A resource's block with a value at the place. */
function blockOf({ kind, name, place }: Tried, value: Member, beside: Beside): JsonObject {
  const root = kind.schema;
  const build = (
    schema: FieldSchema,
    [segment, ...rest]: readonly string[],
    isTop: boolean,
  ): Member => {
    if (segment === undefined) return value;
    if (segment === '[]') return [build(itemSchema(root, schema), rest, false) ?? null];
    const required = isTop ? [] : (schema.required ?? []);
    const given = required.map((key) => [key, exampleOf(root, schema, key)] as const);
    const isOpen = schema.additionalProperties === true && !isTop && !isPartOfOne(root, place.path);
    const own = build(memberSchema(root, schema, segment), rest, false);
    return {
      ...Object.fromEntries(given),
      ...(isOpen ? { beside } : {}),
      ...(own === undefined ? {} : { [segment]: own }),
    };
  };
  const { least = {} } = samples.find((one) => one.kind === kind.name) ?? {};
  const built = build(root, place.path, true);
  // A target is written with what it is the target of.
  const field = memberSchema(root, root, place.path[0] ?? '');
  const along = (field['x-write-with'] ?? []).map((key) => [key, exampleOf(root, root, key)]);
  return { ...least, ...Object.fromEntries(along), ...(isObject(built) ? built : {}), name };
}

/** True if the place lies in a value that is compared whole: an edit of a part is an edit of all of it. */
function isPartOfOne(root: FieldSchema, path: readonly string[]): boolean {
  let schema = root;
  return path.some((segment) => {
    const isList = segment === '[]' && schema['x-identity'] === undefined;
    schema = segment === '[]' ? itemSchema(root, schema) : memberSchema(root, schema, segment);
    return isList || schema['x-whole'] === true;
  });
}

export function exampleOf(root: FieldSchema, schema: FieldSchema, key: string): Json {
  const [example] = memberSchema(root, schema, key).examples ?? [];
  return (example ?? null) as Json;
}

/** The record that the platform has of a resource, under the names that it is read by. */
function recordOf({ sim: { store } }: Stage, { kind, name }: Tried) {
  if (kind.name === 'agent')
    return [...store.agents.entries()].find(([, { record }]) => record.name === name);
  const rest = RESTS.find((one) => one.kind.name === kind.name);
  if (rest === undefined) throw new Error(`${kind.name} has no table`);
  const found = [...getTable(store, rest.section)].find(([, record]) => record.name === name);
  return found && ([found[0], { record: found[1] as JsonObject }] as const);
}

/** The path of the place in a record. */
function readPath({ path }: Place): readonly string[] {
  return path[0] === 'unchecked' ? path.slice(1) : path;
}

function valueIn(record: Member, path: readonly string[]): Member {
  return path.reduce<Member>((at, segment) => {
    if (segment === '[]') return isList(at) ? at[0] : undefined;
    return isObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined;
  }, record);
}

function placed(at: Member, [segment, ...rest]: readonly string[], value: Member): Member {
  if (segment === undefined) return value;
  if (segment === '[]') return isList(at) ? [placed(at[0], rest, value) ?? null] : at;
  const { [segment]: before, ...others } = isObject(at) ? at : {};
  const own = placed(before, rest, value);
  return own === undefined ? others : { ...others, [segment]: own };
}

type Receipt = {
  readonly ledger: readonly LedgerLine[];
  readonly verification?: Readonly<
    Record<'left' | 'differs', readonly { readonly address: string }[]>
  >;
};

/** Undoes the last run. */
async function rolledBack(stage: Stage): Promise<Receipt> {
  const flags = {
    dir: stage.folder,
    format: 'json' as const,
    autoApprove: true,
    skipRefused: true,
  };
  const { out, err } = await stage.run((to) => rollback(flags, to), { exit: 'any' });
  if (out === '') throw new Error(err);
  return JSON.parse(out);
}

/** Somebody puts a value there in the dashboard. */
function editByHand(stage: Stage, cell: Tried, value: Member): void {
  const found = recordOf(stage, cell);
  if (found === undefined) throw new Error(`${cell.address} is not there`);
  const [id, { record }] = found;
  const [field = ''] = readPath(cell.place);
  const kept = stage.sim.dialect.nulls === 'rejected' ? filled(value) : value;
  const after = placed(record, readPath(cell.place), kept);
  const own = isObject(after) ? (after[field] ?? null) : null;
  if (cell.kind.name === 'agent') {
    // The dashboard merges: what is to be gone goes first.
    stage.sim.edit(id, { [field]: null });
    if (own !== null) stage.sim.edit(id, { [field]: own });
    return;
  }
  const stamp = 'updated_at' in record ? { updated_at: new Date().toISOString() } : {};
  Object.assign(record, { [field]: own, ...stamp });
}

/** The values that tell two states of a resource apart. */
function stateOf(stage: Stage, cell: Tried): JsonObject {
  const [, { record }] = recordOf(stage, cell) ?? ['', { record: {} }];
  const { updated_at: _, version: __, ...rest } = record as JsonObject;
  const known = filled(rest);
  return isObject(known) ? known : {};
}

/** Paths of what differs between two records. */
function differing(before: Member, after: Member, path: readonly string[] = []): string[][] {
  if (isSameJson(before ?? null, after ?? null)) return [];
  if (!isObject(before) || !isObject(after)) return [[...path]];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differing(before[key], after[key], [...path, key]),
  );
}

/**
 * Takes each cell there and back on one platform: written by files, undone by rollback, edited by hand, undone by an
 * apply, kept, and pulled. Says what did not come out as it should; a cell that failed goes no further.
 */
export async function travel({ dialect, cells }: Journey): Promise<readonly Finding[]> {
  const all = cells.map((cell, at): Tried => {
    const kind = kindNamed(cell.place.kind);
    const key = `c${at}`;
    return { ...cell, kind, key, address: `${kind.name}.${key}`, name: `Cell ${at}` };
  });
  const findings: Finding[] = [];
  const left = new Set(all);
  const fail = (cell: Tried, step: string, why: unknown) => {
    left.delete(cell);
    const { place, from, to } = cell;
    findings.push({ cell: { place, from, to }, step, why: JSON.stringify(why) });
  };
  const stage = await openStage({ stack: temporaryFolder(), seed: SEED, dialect });
  const isReturned = ({ kind, place: { path } }: Tried) =>
    path[0] !== 'unchecked' || (kind.name === 'agent' && dialect.newFields !== 'dropped');
  // A leaf that cannot be emptied where null is refused stays, and that is said.
  const isRefused = (line: LedgerLine | undefined) =>
    dialect.nulls === 'rejected' &&
    /cannot clear|refuses null|null is not allowed/.test(line?.message ?? '');
  const exclude = () => all.filter((cell) => !left.has(cell)).map(({ address }) => address);
  const write = (pick: (cell: Tried) => Member, beside: Beside) => {
    const sections = Object.groupBy(all, ({ kind }) => kind.section);
    const blocks = Object.entries(sections).map(([section, own = []]) => [
      section,
      Object.fromEntries(own.map((cell) => [cell.key, blockOf(cell, pick(cell), beside)])),
    ]);
    const stack = { callsheet: 1, organization: SEED.organizations?.[0]?.id ?? '' };
    return stage.write(
      'callsheet.yaml',
      JSON.stringify({ ...stack, ...Object.fromEntries(blocks) }, null, 2),
    );
  };
  const planned = async (more: { keepDrift?: boolean } = {}) => {
    const plan = await stage.plan({ exclude: exclude(), ...more }, { exit: 'any' });
    return new Map(plan.changes.map((change) => [change.address, change]));
  };
  const applied = async (more: { keepDrift?: boolean } = {}) => {
    const ledger = await stage.apply(
      { exclude: exclude(), acceptConflicts: true, ...more },
      { exit: 'any' },
    );
    return new Map(ledger.map((line) => [line.address, line]));
  };
  const expectSettled = async (step: string) => {
    const plan = await planned();
    for (const cell of left) {
      const change = plan.get(cell.address);
      if (change !== undefined) fail(cell, step, ['the next plan', change.fields, change.reason]);
    }
  };
  const expectLive = (step: string, pick: (cell: Tried) => Member) => {
    for (const cell of left) {
      if (!isReturned(cell)) continue;
      const live = filled(valueIn(stateOf(stage, cell), readPath(cell.place)));
      const wanted = filled(pick(cell));
      if (!isSameJson(live ?? null, wanted ?? null)) fail(cell, step, ['live is', live ?? null]);
    }
  };
  /** Applies what a plan shows, and nothing else is other than before. */
  const carryOut = async (step: string, more: { keepDrift?: boolean } = {}) => {
    const plan = await planned(more);
    const before = new Map(all.map((cell) => [cell, stateOf(stage, cell)]));
    const ledger = await applied(more);
    for (const cell of left) {
      const line = ledger.get(cell.address);
      if (isRefused(line)) {
        left.delete(cell);
        continue;
      }
      if (line !== undefined && line.status !== 'done') {
        fail(cell, step, [line.status, line.message]);
        continue;
      }
      const shown = parsePaths((plan.get(cell.address)?.fields ?? []).map(({ path }) => path));
      const unseen = differing(before.get(cell), stateOf(stage, cell)).filter(
        (path) => !shown.some((one) => startsWith(path, one) || startsWith(one, path)),
      );
      if (unseen.length > 0) fail(cell, step, ['the plan does not show', unseen]);
    }
  };
  const from = ({ from: value }: Tried) => value;
  const to = ({ to: value }: Tried) => value;
  try {
    await write(from, 'stays');
    await applied();
    await expectSettled('made');
    expectLive('made', from);
    const before = new Map(all.map((cell) => [cell, stateOf(stage, cell)]));

    await write(to, 'stays');
    await carryOut('written');
    expectLive('written', to);
    await expectSettled('written');

    const { ledger: undone, verification } = await rolledBack(stage);
    const said = [...(verification?.left ?? []), ...(verification?.differs ?? [])];
    // Of what may be a secret, or is not returned, nobody can say what was there before.
    const isSaid = ({ address, place }: Tried) =>
      ['integrations', 'unchecked'].includes(place.path[0] ?? '') &&
      said.some((one) => one.address === address);
    for (const cell of left) {
      const line = undone.find(({ address }) => address === cell.address);
      const isDone = line === undefined || line.status === 'done';
      if (isRefused(line)) {
        left.delete(cell);
        continue;
      }
      const off = differing(before.get(cell), stateOf(stage, cell));
      if (!isDone || (off.length > 0 && !isSaid(cell)))
        fail(cell, 'rolled back', [line?.status, line?.message, off, stateOf(stage, cell)]);
      else if (off.length > 0 || isSaid(cell)) left.delete(cell);
    }
    await write(from, 'stays');
    await expectSettled('rolled back');

    for (const cell of [...left]) if (!isReturned(cell)) left.delete(cell);
    for (const cell of left) editByHand(stage, cell, to(cell));
    const drift = await planned();
    for (const cell of left) {
      const isOther = !isSameJson(filled(from(cell)) ?? null, filled(to(cell)) ?? null);
      const fields = drift.get(cell.address)?.fields ?? [];
      const causes = [...new Set(fields.map(({ cause }) => cause))];
      // An empty map owns nothing of what somebody puts into it.
      const isSeen = cell.place.path[0] !== 'unchecked' || filled(to(cell)) !== undefined;
      const isOwned = isSeen && (filled(from(cell)) !== undefined || isList(from(cell) ?? {}));
      if (isOwned && isOther && !isSameJson(causes, ['drifted']))
        fail(cell, 'edited', ['causes', causes]);
    }
    await carryOut('edit undone');
    await expectSettled('edit undone');

    for (const cell of left) editByHand(stage, cell, to(cell));
    await write(from, 'changes');
    await carryOut('edit kept', { keepDrift: true });
    expectLive('edit kept', to);

    const { refused } = await pulled(stage, { skipRefused: true, exclude: exclude() } as never, {
      exit: 'any',
    });
    for (const cell of [...left])
      if (refused.some(({ address, reason }) => address === cell.address && /secret/.test(reason)))
        left.delete(cell);
    for (const cell of left) {
      const why = refused.filter(({ address }) => address === cell.address);
      if (why.length > 0) fail(cell, 'pulled', why);
    }
    await expectSettled('pulled');
    expectLive('pulled', to);
    return findings;
  } finally {
    await stage.close();
  }
}

/** For people: the place, what it was and what it became, the step and what was wrong. */
export const sayFinding = ({ cell: { place, from, to }, step, why }: Finding) =>
  `${place.kind} ${place.path.join('.')}: ${shapeOf(from)} → ${shapeOf(to)}, ${step}: ${JSON.stringify(from)} → ${JSON.stringify(to)} ${why}`;
