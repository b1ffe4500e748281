import { MASK } from '../../core/credentials.ts';
import { formatPath, toSegments } from '../../core/path.ts';
import type { RehearsalDifference } from '../../core/plan-document.ts';
import { contextAt, maskAt, sensitivity } from '../../core/redact.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  mapTexts,
  valuesIn,
} from '../../core/value.ts';
import { schemasAlong } from '../../core/walk.ts';
import type { Kind } from '../../kinds/kind.ts';
import { getRecordKey } from '../../plan/natural-key.ts';
import { recordIn, TABLES } from '../../simulator/index.ts';

/** How resources of the simulator are identified and shown. */
export type Words = {
  readonly findAddress: (kind: string, id: string) => string | null;
  /** Texts that are never shown, whatever they stand in. */
  readonly secrets: readonly string[];
};

/** One resource of a dump. */
type Held = {
  readonly kind: Kind;
  readonly id: string;
  readonly key: string | undefined;
  readonly record: JsonObject;
  /** Data of the simulator beside the record, such as payment settings. */
  readonly beside: JsonObject;
};

/**
 * Lists, leaf by leaf, how the second dump differs from the first. A resource that was created again counts as
 * the one of its name, and references to it may use its new id. Times and versions of a record count as
 * its history, which only ever grows.
 */
export function compareDumps(
  before: JsonObject,
  after: JsonObject,
  words: Words,
): readonly RehearsalDifference[] {
  const [then, now] = [heldIn(before), heldIn(after)];
  const pairs = pair(then, now);
  const ids = new Map(
    [...pairs].flatMap(([one, other]) => (one.id === other.id ? [] : [[other.id, one.id]])),
  );
  const found = new Set(pairs.values());
  return [
    ...then.flatMap((one) => {
      const other = pairs.get(one);
      if (other === undefined) return [difference(one, null, 'there', null, words)];
      const apart = [
        ...leavesApart(one.record, renamed(other.record, ids), []),
        ...leavesApart(one.beside, renamed(other.beside, ids), []),
      ];
      return apart
        .filter(isCompared(one))
        .map(({ path, was, is }) => difference(one, path, was, is, words));
    }),
    ...now
      .filter((other) => !found.has(other))
      .map((other) => difference(other, null, null, 'there', words)),
  ];
}

function heldIn(dump: JsonObject): readonly Held[] {
  return TABLES.flatMap(({ kind, stored }) => {
    const entries = dump[stored];
    return Object.entries(isObject(entries) ? entries : {}).flatMap(([id, entry]) =>
      isObject(entry) ? [held(kind, id, entry)] : [],
    );
  });
}

function held(kind: Kind, id: string, entry: JsonObject): Held {
  const { organizationId, knowledgeBaseId, payments, clip } = entry;
  const record = recordIn(entry);
  const scope = {
    organization_id: String(record.organization_id ?? organizationId ?? ''),
    knowledge_base_id: String(knowledgeBaseId ?? ''),
  };
  const mine = Object.fromEntries(
    Object.entries(scope).filter(([field]) => kind.scope.includes(field)),
  );
  const beside = { ...(payments ? { payments } : {}), ...(clip === undefined ? {} : { clip }) };
  return { kind, id, record, beside, key: getRecordKey(kind, record, mine) };
}

/** Each resource with what it is afterwards: the one of its id, or else the one of its name. */
function pair(then: readonly Held[], now: readonly Held[]): ReadonlyMap<Held, Held> {
  const at = ({ kind, id }: Held) => `${kind.name} ${id}`;
  const byId = new Map(now.map((one) => [at(one), one]));
  const known = new Set(then.map(at));
  const fresh = now.filter((one) => !known.has(at(one)) && one.key !== undefined);
  const byKey = new Map(fresh.map((one) => [`${one.kind.name} ${one.key}`, one]));
  return new Map(
    then.flatMap((one) => {
      const other = byId.get(at(one)) ?? byKey.get(`${one.kind.name} ${one.key}`);
      return other === undefined ? [] : [[one, other] as const];
    }),
  );
}

/** The same with ids as they were before. */
function renamed(value: Json, ids: ReadonlyMap<string, string>): Json {
  return ids.size === 0 ? value : mapTexts(value, (text) => ids.get(text) ?? text);
}

type Apart = { readonly path: readonly string[]; readonly was: Json; readonly is: Json };

/** Names of what moves on with every write. */
const MOVING = /(_at|At)$|^(id|version)$/;

function leavesApart(was: Json, is: Json, path: readonly string[]): readonly Apart[] {
  if (isObject(was) && isObject(is)) {
    const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
    return [...keys].sort().flatMap((key) => {
      if (MOVING.test(key)) return [];
      return leavesApart(was[key] ?? null, is[key] ?? null, [...path, key]);
    });
  }
  if (isList(was) && isList(is) && was.length === is.length) {
    // Elements go by what they are called, where they have a name, as the configuration shows them.
    const names = toSegments(was.map((item, at) => findName(item) ?? String(at)));
    return was.flatMap((item, at) => leavesApart(item, is[at] ?? null, [...path, names[at] ?? '']));
  }
  if (isEmpty(was) && isEmpty(is)) return [];
  return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ path, was, is }];
}

/** Fields that the platform works out itself are left out: they follow from the rest. */
function isCompared({ kind: { schema } }: Held) {
  return ({ path }: Apart) => !schemasAlong(schema, path).some(({ readOnly }) => readOnly === true);
}

/** Absent, null and empty texts, lists and objects say the same: nothing is set. */
function isEmpty(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return Object.values(value).every(isEmpty);
  return value === null || value === '';
}

function difference(
  { kind, id, record }: Held,
  path: readonly string[] | null,
  was: Json,
  is: Json,
  { findAddress, secrets }: Words,
): RehearsalDifference {
  const name = typeof record.name === 'string' && record.name !== '' ? record.name : id;
  const common = { address: findAddress(kind.name, id), kind: kind.name, name, id };
  if (path === null) return { ...common, path: null, before: was, after: is, secret: false };
  const shown = (value: Json) => {
    const masked = maskAt(kind.schema, path, value);
    return holdsAny(masked, secrets) ? MASK : masked;
  };
  const [before, after] = [shown(was), shown(is)];
  const secret =
    [before, after].includes(MASK) ||
    [was, is].some((value) => sensitivity(contextAt(kind.schema, path), value) !== 'open');
  return { ...common, path: formatPath(path), before, after, secret };
}

/** Returns true if one of the texts stands anywhere in a value. */
function holdsAny(value: Json, texts: readonly string[]): boolean {
  const sought = texts.filter((text) => text !== '');
  return valuesIn(value).some(
    (one) => typeof one === 'string' && sought.some((text) => one.includes(text)),
  );
}

function findName(element: Json): string | undefined {
  if (!isObject(element)) return undefined;
  const name = element.name ?? element.connection_name ?? element.key;
  return name === undefined || name === null ? undefined : String(name);
}
