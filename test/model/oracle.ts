import { isDeepStrictEqual } from 'node:util';
import { type Fields, isArray, isFields, type Value, type Wanted } from './files.ts';

/**
 * What must hold, worked out from the files, from what is live and from what was ever written, and from nothing of the
 * program: the few rules of the platform and of the configuration that matter are said again here.
 */

/** Everything on the platform, raw: secrets as it keeps them. By section and id. */
export type Live = { readonly [section in Wanted['section']]: { readonly [id: string]: Fields } };

/** What a state must remember, as far as this model can tell. */
export type Memory = {
  readonly managed: ReadonlyMap<
    string,
    { readonly section: Wanted['section']; readonly id: string }
  >;
  /** Paths that are owned, by address. */
  readonly written: ReadonlyMap<string, ReadonlySet<string>>;
  /** Secrets and texts of documents that were written, by id and path: no answer tells them. */
  readonly secrets: ReadonlyMap<string, { readonly source: string; readonly value: string }>;
  /** Secrets that a command took away, by id and path. */
  readonly lost: ReadonlySet<string>;
  /** Values that the platform stored in the place of others, by id and path: both count as equal. */
  readonly stored: ReadonlyMap<string, { readonly sent: Value; readonly returned: Value }>;
  /** Whether the last run ended well: if not, what it did is for the next one to find out. */
  readonly isCertain: boolean;
};

export const NO_MEMORY: Memory = {
  managed: new Map(),
  written: new Map(),
  secrets: new Map(),
  lost: new Set(),
  stored: new Map(),
  isCertain: true,
};

/** By which member the elements of a list are known. */
const ELEMENTS: Readonly<Record<string, string>> = { tools: 'name', headers: 'key' };

/** What the platform keeps up to date by itself. */
const ITS_OWN = new Set([
  'updated_at',
  'created_at',
  'last_synced_at',
  'version',
  'x_counter',
  'call_count',
]);

/** What the files say and the platform does not keep under that name. */
const LOCAL = new Set(['clip', 'consent', 'language', 'name']);

/** Every leaf of a document, by path. Magic is a leaf; so is a list whose elements have no identity. */
export function leavesOf(document: Fields, path = ''): ReadonlyMap<string, Value> {
  const found = new Map<string, Value>();
  const add = (at: string, value: Value, name: string) => {
    const identity = ELEMENTS[name];
    if (isFields(value) && !Object.keys(value).some((one) => one.startsWith('$'))) {
      if (Object.keys(value).length === 0) found.set(at, value);
      for (const [path, leaf] of leavesOf(value, `${at}.`)) found.set(path, leaf);
    } else if (identity !== undefined && isArray(value) && value.length > 0) {
      for (const element of value)
        if (isFields(element)) add(`${at}[${element[identity]}]`, element, '');
    } else found.set(at, value);
  };
  for (const [name, value] of Object.entries(document)) add(`${path}${name}`, value, name);
  return found;
}

/** What lies at a path; undefined where nothing does. */
export function valueAt(document: Fields | undefined, path: string): Value | undefined {
  let at: Value | undefined = document;
  let list = '';
  for (const part of path.split(/\.|(?=\[)/)) {
    const element = /^\[(.*)\]$/.exec(part)?.[1];
    if (element !== undefined) {
      const identity = ELEMENTS[list] ?? '';
      const all: readonly Value[] = isArray(at) ? at : [];
      at = all.find((one) => isFields(one) && one[identity] === element);
    } else at = isFields(at) ? at[part] : undefined;
    list = part;
  }
  return at;
}

export function isNothing(value: Value | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (isArray(value)) return value.length === 0;
  return isFields(value) && Object.values(value).every(isNothing);
}

/** JSON with members in order: no platform says in which it returns them. */
function inOrder(value: Value): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

/** Equal but for a final newline, and for the order of a list and of members. */
export function isSame(a: Value | undefined, b: Value | undefined): boolean {
  const plain = (value: Value | undefined): unknown => {
    if (isNothing(value)) return null;
    if (typeof value === 'string') return value.replace(/\n$/, '');
    return isArray(value) ? value.map(inOrder).sort() : value;
  };
  return isDeepStrictEqual(plain(a), plain(b));
}

const isBelow = (path: string, root: string) =>
  path === root || path.startsWith(`${root}.`) || path.startsWith(`${root}[`);

/** Paths of which one lies in the other. */
export const touches = (a: string, b: string) => isBelow(a, b) || isBelow(b, a);

/** The source of a secret that the files name. */
function sourceOf(value: Value): string | undefined {
  return isFields(value) && typeof value.$secret === 'string' ? value.$secret : undefined;
}

/** A live record with its id. */
type Bound = readonly [id: string, record: Fields];

/**
 * The live records that resources of the files stand for, by address: what is remembered under the address, else what
 * has the name and is no other resource's.
 */
export function bindLive(
  all: readonly Wanted[],
  live: Live,
  { managed }: Pick<Memory, 'managed'>,
): ReadonlyMap<string, Bound> {
  const bound = new Map<string, Bound>();
  for (const { address, section } of all) {
    const id = managed.get(address)?.id ?? '';
    const record = live[section][id];
    if (record !== undefined) bound.set(address, [id, record]);
  }
  const taken = new Set([...bound.values()].map(([id]) => id));
  for (const { address, section, name, organization } of all) {
    if (bound.has(address)) continue;
    const found = Object.entries(live[section]).filter(
      ([id, one]) =>
        !taken.has(id) &&
        one.name === name &&
        (section !== 'agents' || one.organization_id === organization),
    );
    // Of documents of one name, which cannot be deleted, the newest counts that has its bytes.
    const match = found.findLast(([, one]) => one.text !== null) ?? found.at(-1);
    if (match !== undefined) bound.set(address, match);
  }
  return bound;
}

/** The leaves that a resource owns, without secrets. An object with nothing in it says nothing. */
function ownLeaves({ section, fields, ignored }: Wanted): readonly (readonly [string, Value])[] {
  const isOff = valueAt(fields, 'payments.tool_enabled') !== true;
  return [...leavesOf(fields)].filter(
    ([path, value]) =>
      sourceOf(value) === undefined &&
      !(isFields(value) && Object.keys(value).length === 0) &&
      !ignored.some((one) => isBelow(path, one)) &&
      // Limits of a tool that is off are not told.
      !(isOff && path.startsWith('payments.') && path !== 'payments.tool_enabled') &&
      !(section !== 'agents' && LOCAL.has(path)),
  );
}

/** The secrets that a resource has, with their sources. */
export function secretsOf({ fields, ignored }: Wanted): readonly (readonly [string, string])[] {
  return [...leavesOf(fields)].flatMap(([path, value]) => {
    const source = sourceOf(value);
    return source === undefined || ignored.some((one) => isBelow(path, one))
      ? []
      : [[path, source] as const];
  });
}

export function secretValue(source: string, given: Readonly<Record<string, string>>): string {
  return given[source.replace('env:', '')] ?? '';
}

/** Something that is not what the files say. */
export type Reason = { readonly address: string; readonly why: string };

/** Where live is not what the files say, secrets apart. */
export function differences(
  all: readonly Wanted[],
  live: Live,
  memory: Pick<Memory, 'managed' | 'secrets' | 'stored'>,
): readonly Reason[] {
  const bound = bindLive(all, live, memory);
  const idOf = (address: string) => bound.get(address)?.[0];
  return all.flatMap((wanted) => {
    const { address, section } = wanted;
    const [id, record] = bound.get(address) ?? [];
    if (record === undefined) return [{ address, why: 'is not there' }];
    if (section === 'voices') return [];
    if (section === 'sources') {
      if (record.text === null) return [{ address, why: 'has no text' }];
      // No answer tells the text: it is known of what was written.
      const isKnown = memory.secrets.has(`${id} text`);
      return isSame(record.text, wanted.fields.text) || !isKnown
        ? []
        : [{ address, why: 'has another text' }];
    }
    const moved =
      section === 'agents' && record.organization_id !== wanted.organization
        ? [{ address, why: 'is in another organization' }]
        : [];
    const differing = ownLeaves(wanted).flatMap(([path, value]) => {
      const now = valueAt(record, path);
      const expected =
        isFields(value) && typeof value.$ref === 'string' ? (idOf(value.$ref) ?? '?') : value;
      const why = `${path} is ${show(now)}, not ${show(expected)}`;
      const pair = memory.stored.get(`${id} ${path}`);
      const isStored = pair && isSame(pair.sent, expected) && isSame(pair.returned, now);
      return isSame(expected, now) || isStored ? [] : [{ address, why }];
    });
    return [...moved, ...differing];
  });
}

export type Expectation = {
  /** Why the plan must show something. */
  readonly reasons: readonly Reason[];
  /** Addresses of which it cannot be told if the plan has a change; undefined: so it is with all of them. */
  readonly open: ReadonlySet<string> | undefined;
};

/** What a plan of the files must be. */
export function expectPlan(
  all: readonly Wanted[],
  forgotten: readonly string[],
  live: Live,
  memory: Memory,
  given: Readonly<Record<string, string>>,
): Expectation {
  const reasons = [...differences(all, live, memory)];
  const open = new Set<string>();
  const found = bindLive(all, live, memory);
  const bound = new Set([...found.values()].map(([id]) => id));
  for (const wanted of all) {
    const { address } = wanted;
    const [id, record] = found.get(address) ?? [];
    if (id === undefined) continue;
    if (wanted.section === 'sources' && !memory.secrets.has(`${id} text`)) open.add(address);
    const [earlier] = [...memory.managed].find(([, one]) => one.id === id) ?? [];
    for (const [path, source] of secretsOf(wanted)) {
      const key = `${id} ${path}`;
      const known = memory.secrets.get(key);
      // A rollback put back what the files say by now, from whichever source it came.
      const isBack = valueAt(record, path) === secretValue(source, given);
      if (memory.lost.has(key) && isBack) open.add(address);
      else if (memory.lost.has(key)) reasons.push({ address, why: `${path} was taken away` });
      else if (known === undefined) open.add(address);
      else if (known.value !== secretValue(source, given))
        reasons.push({ address, why: `${path} was rotated` });
      else if (known.source !== source)
        reasons.push({ address, why: `${path} has another source` });
    }
    const desired = [...leavesOf(wanted.fields).keys()];
    for (const path of memory.written.get(earlier ?? '') ?? [])
      if (!desired.some((one) => touches(one, path)) && !isNothing(valueAt(record, path)))
        open.add(address);
  }
  // Whoever lets go of an address lets go of what a replacement left there.
  const isLetGo = (address: string) => forgotten.includes(address.replace(/\.replaced$/, ''));
  for (const [address, { section, id }] of memory.managed) {
    if (bound.has(id) || isLetGo(address) || live[section][id] === undefined) continue;
    if (section === 'voices' || section === 'sources') open.add(address);
    else reasons.push({ address, why: 'is not in the files any more' });
  }
  if (memory.isCertain) return { reasons, open };
  // Of a run that did not end well live alone tells, and what it has replaced is to go.
  const replaced = [...memory.managed].flatMap(([address, { section, id }]) =>
    address.endsWith('.replaced') &&
    !isLetGo(address) &&
    live[section][id] !== undefined &&
    !bound.has(id)
      ? [{ address, why: 'is replaced' }]
      : [],
  );
  return { reasons: [...differences(all, live, memory), ...replaced], open: undefined };
}

/** Where one record is not what it was before, by path. */
export function changesOf(before: Fields, after: Fields): readonly string[] {
  const [then, now] = [leavesOf(before), leavesOf(after)];
  return [...new Set([...then.keys(), ...now.keys()])].filter(
    (path) =>
      !ITS_OWN.has(path.split('.')[0] ?? '') &&
      !isSame(valueAt(before, path), valueAt(after, path)) &&
      // Of an object that was empty, or is, its members tell.
      ![then, now].some((leaves) => [...leaves.keys()].some((leaf) => leaf.startsWith(`${path}.`))),
  );
}

/** Everything in which two moments of the platform differ, as `section id path`. */
export function allChanges(before: Live, after: Live): readonly Changed[] {
  return (Object.keys(before) as Wanted['section'][]).flatMap((section) =>
    [...new Set([...Object.keys(before[section]), ...Object.keys(after[section])])].flatMap(
      (id): readonly Changed[] => {
        const [then, now] = [before[section][id], after[section][id]];
        if (then === undefined) return [{ section, id, path: undefined, is: 'made' }];
        if (now === undefined) return [{ section, id, path: undefined, is: 'gone' }];
        return changesOf(then, now).map((path) => ({ section, id, path, is: 'changed' }));
      },
    ),
  );
}

export type Changed = {
  readonly section: Wanted['section'];
  readonly id: string;
  readonly path: string | undefined;
  readonly is: 'made' | 'gone' | 'changed';
};

const SECRET = /(?:^|\.)(?:auth_token|password|access_token|value)$/;

/** Secrets that a record had and has no longer. */
export function lostSecrets(before: Fields, after: Fields | undefined): readonly string[] {
  return [...leavesOf(before)]
    .filter(([path, value]) => SECRET.test(path) && !isNothing(value))
    .filter(([path]) => isNothing(valueAt(after, path)))
    .map(([path]) => path);
}

/** Members that are stored as null, or objects that have nothing in them. */
export function hollowIn(record: Fields): readonly string[] {
  return [...leavesOf({ integrations: record.integrations ?? 0 })]
    .filter(([, value]) => isNothing(value))
    .map(([path]) => path);
}

export function show(value: Value | undefined): string {
  return JSON.stringify(value)?.slice(0, 80) ?? 'absent';
}
