import { isDeepStrictEqual } from 'node:util';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { RESTS, recordsIn, type Simulator } from '../../src/simulator/index.ts';
import type { Wanted } from './world.ts';

/**
 * What a store must hold, worked out from what was wanted and what was live before, and from nothing of
 * `diff/` or `plan/`: the few rules of the platform that matter are said again here, in plain words.
 */

/** Records by section and id, as the platform stores them. */
export type Records = { readonly [section: string]: { readonly [id: string]: JsonObject } };

/** What a record is known by, in each section. */
const KEYS: Readonly<Record<string, string>> = {
  agents: 'name',
  retry_policies: 'name',
  email_templates: 'name',
  sms_templates: 'name',
  custom_voices: 'name',
  sources: 'url',
};

/** Sections whose records the platform can neither change nor delete. */
const LASTING = ['custom_voices', 'sources'];

/** Lists whose elements are known by a member. */
const ELEMENTS: Readonly<Record<string, string>> = {
  tools: 'name',
  mcp_servers: 'connection_name',
  headers: 'key',
};

/** What the platform itself keeps up to date. */
const OWN = ['updated_at', 'created_at', 'version', 'last_synced_at', 'is_active', 'status_reason'];

/** What a configuration says and the platform does not keep under that name. */
const LOCAL = ['clip', 'consent'];

export function recordsOf({ store }: Simulator): Records {
  const plain = (entries: Iterable<readonly [string, object]>): { [id: string]: JsonObject } =>
    JSON.parse(JSON.stringify(Object.fromEntries(entries)));
  const byId = (kind: string) =>
    plain(recordsIn(store, kind).map((one) => [String(one.id), one] as const));
  const within = (map: ReadonlyMap<string, { readonly record: object }>) =>
    plain([...map].map(([id, { record }]) => [id, record]));
  return {
    agents: within(store.agents),
    ...Object.fromEntries(RESTS.map(({ kind, section }) => [section, byId(kind.name)])),
    sources: within(store.sources),
    custom_voices: within(store.voices),
  };
}

export type Question = {
  readonly before: Records;
  readonly after: Records;
  readonly wanted: Wanted;
  /** What the state remembers: what was wanted last, and what could not be deleted since. */
  readonly known: Wanted;
  readonly allowDelete: boolean;
  /** The value behind every `$secret`. */
  readonly secret: string;
  /** The generation in which the state was begun; what was written before was taken over. */
  readonly since: number;
};

/** Everything in which the platform is not as it must be, in words. */
export function judge(question: Question): readonly string[] {
  return Object.keys(KEYS).flatMap((section) => judgeSection(section, question));
}

function judgeSection(section: string, question: Question): readonly string[] {
  const { before, after, wanted, known, allowDelete } = question;
  const key = KEYS[section] ?? '';
  const named = (records: Records, name: Json | undefined) =>
    Object.entries(records[section] ?? {}).filter(([, record]) => record[key] === name);
  const found: string[] = [];

  const all = Object.values(after[section] ?? {}).map((record) => record[key]);
  for (const name of new Set(all))
    if (all.filter((one) => one === name).length > 1) found.push(`${section} ${name}: made twice`);

  const wantedNames = new Set(Object.values(wanted[section] ?? {}).map((one) => one[key]));
  const managed = new Set(Object.values(known[section] ?? {}).map((one) => one[key]));
  for (const [id, record] of Object.entries(before[section] ?? {})) {
    const name = record[key];
    if (wantedNames.has(name)) continue;
    const isOurs = managed.has(name) && !LASTING.includes(section);
    const now = after[section]?.[id];
    if (isOurs && allowDelete) {
      if (now !== undefined) found.push(`${section} ${name}: still there`);
    } else if (now === undefined) found.push(`${section} ${name}: deleted, which nobody allowed`);
    else found.push(...unchanged(record, now, `${section} ${name}`, section, question));
  }

  for (const document of Object.values(wanted[section] ?? {})) {
    const name = document[key];
    const [now] = named(after, name);
    const [then] = named(before, name);
    if (now === undefined) found.push(`${section} ${name}: missing`);
    else if (then !== undefined && then[0] !== now[0]) found.push(`${section} ${name}: made anew`);
    else {
      const last = Object.values(known[section] ?? {}).find((one) => one[key] === name);
      const where = {
        path: `${section} ${name}`,
        isKnown: last !== undefined,
        wasThere: then !== undefined,
        question,
      };
      found.push(...matches(document, now[1], then?.[1], last, where));
    }
  }
  return found;
}

/** A record that nobody asked to change. An agent whose policy is gone may have lost its reference. */
function unchanged(
  before: JsonObject,
  now: JsonObject,
  path: string,
  section: string,
  { wanted }: Question,
): readonly string[] {
  const isDangling = section === 'agents' && wanted.retry_policies !== undefined;
  const ignored = [...OWN, ...(isDangling ? ['default_retry_policy_id'] : [])];
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names]
    .filter((name) => !ignored.includes(name) && !isDeepStrictEqual(before[name], now[name]))
    .map((name) => `${path}.${name}: changed, which nobody asked for`);
}

type Where = {
  readonly path: string;
  /** Whether the state remembers what was written. */
  readonly isKnown: boolean;
  /** Whether the record was there before. */
  readonly wasThere: boolean;
  readonly question: Question;
};

/** Whether a value is what is wanted, and what nobody wants is as it was. */
function matches(
  wanted: Json,
  now: Json | undefined,
  then: Json | undefined,
  last: Json | undefined,
  where: Where,
): readonly string[] {
  const { path, question } = where;
  if (!isObject(wanted))
    return same(wanted, now) ? [] : [`${path}: ${show(now)}, not ${show(wanted)}`];
  if ('$ref' in wanted) {
    const id = idOf(String(wanted.$ref), question.after);
    return id === now ? [] : [`${path}: refers to ${show(now)}, not to ${wanted.$ref} (${id})`];
  }
  if ('$secret' in wanted) {
    // A secret that Callsheet did not write is left alone while nobody knows what it is (DESIGN §4.6).
    const [, generation] = /^secret-(\d+)$/.exec(String(then)) ?? [];
    const isOurs = where.isKnown && Number(generation) >= question.since;
    // One that the configuration has only now is written, also where the record is known for long.
    const isNew = where.isKnown && !(isObject(last) && '$secret' in last);
    const isLeft = where.wasThere && now === then && !isOurs && !isNew;
    return now === question.secret || isLeft ? [] : [`${path}: is not the secret`];
  }
  return matchMembers(wanted, now, then, last, where);
}

function matchMembers(
  wanted: JsonObject,
  now: Json | undefined,
  then: Json | undefined,
  last: Json | undefined,
  where: Where,
): readonly string[] {
  const [current, before, written] = [now, then, last].map((one) => (isObject(one) ? one : {}));
  const found: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    if (LOCAL.includes(name)) continue;
    const at = { ...where, path: `${where.path}.${name}` };
    const identity = ELEMENTS[name];
    const inner = [value, current?.[name], before?.[name], written?.[name]] as const;
    found.push(
      ...(identity !== undefined && isList(value)
        ? matchElements(identity, value, inner[1], inner[2], inner[3], at)
        : matches(value, inner[1], inner[2], inner[3], at)),
    );
  }
  for (const [name, value] of Object.entries(before ?? {})) {
    // What was wanted last and is not any more may be emptied, or stay.
    const isReleased = written?.[name] !== undefined;
    if (wanted[name] !== undefined || isReleased || OWN.includes(name)) continue;
    if (name === 'default_retry_policy_id' || isDeepStrictEqual(value, current?.[name])) continue;
    found.push(
      `${where.path}.${name}: was ${show(value)}, is ${show(current?.[name])}, and nobody asked`,
    );
  }
  return found;
}

/** A list that is declared is owned whole: its elements are the wanted ones, and no others. */
function matchElements(
  identity: string,
  wanted: readonly Json[],
  now: Json | undefined,
  then: Json | undefined,
  last: Json | undefined,
  where: Where,
): readonly string[] {
  const named = (list: Json | undefined) =>
    new Map(
      (isList(list) ? list : [])
        .filter((one) => isObject(one))
        .map((one) => [String(one[identity]), one] as const),
    );
  const [current, before, written] = [named(now), named(then), named(last)];
  const elements = [...named(wanted)];
  const surplus = [...current.keys()].filter((name) => !elements.some(([one]) => one === name));
  return [
    ...surplus.map((name) => `${where.path}[${name}]: nobody wants it`),
    ...elements.flatMap(([name, element]) => {
      const at = { ...where, path: `${where.path}[${name}]` };
      const one = current.get(name);
      if (one === undefined) return [`${at.path}: missing`];
      return matches(element, one, before.get(name), written.get(name), at);
    }),
  ];
}

/** Equal but for a final newline, and for the order of sets. */
function same(wanted: Json, now: Json | undefined): boolean {
  const plain = (value: Json | undefined) => {
    if (typeof value === 'string') return value.replace(/\n$/, '');
    if (isList(value)) return value.length === 0 ? null : [...value].map(String).sort();
    return value ?? null;
  };
  return isDeepStrictEqual(plain(wanted), plain(now));
}

const SECTIONS: Readonly<Record<string, string>> = {
  retry_policy: 'retry_policies',
  custom_voice: 'custom_voices',
};

function idOf(address: string, records: Records): string | undefined {
  const [kind = '', name] = address.split('.');
  const found = Object.entries(records[SECTIONS[kind] ?? ''] ?? {});
  return found.find(([, record]) => record.name === name)?.[0];
}

function show(value: Json | undefined): string {
  return JSON.stringify(value)?.slice(0, 120) ?? 'absent';
}
