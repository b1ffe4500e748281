/**
 * `core/` holds what every other folder speaks of: values, paths, addresses, diagnostics and errors.
 * It imports nothing of Callsheet and does nothing but compute.
 *
 * This file: the values that documents are made of. What the platform returns is plain `Json`. What
 * the configuration wants may also hold a `Ref`, a `Secret` or a `Blob`: things whose content is not
 * in the YAML. They are classes so that platform data that merely looks alike (`{"$ref": …}` inside an
 * MCP tool's JSON Schema, say) can never be taken for one.
 */

export type JsonScalar = null | boolean | number | string;

export type Json = JsonScalar | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/** `{ $ref: kind.name }`: the id of another resource, known only once that resource exists. */
export class Ref {
  readonly address: string;
  constructor(address: string) {
    this.address = address;
  }
  toJSON(): JsonObject {
    return { $ref: this.address };
  }
}

/**
 * A text in which ids of other resources stand, such as a transfer rule: known once all of them exist. Documents that
 * are put back have it in the place of the ids that were. Until then `${kind.name}` stands for an id.
 */
export class LinkedText {
  readonly parts: readonly (string | Ref)[];
  constructor(parts: readonly (string | Ref)[]) {
    this.parts = parts;
  }
  toJSON(): string {
    return this.parts.map((part) => (part instanceof Ref ? `\${${part.address}}` : part)).join('');
  }
}

/** `{ $secret: env:NAME }`: read at the moment of writing. It carries its source, never its value. */
export class Secret {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
  toJSON(): JsonObject {
    return { $secret: this.source };
  }
}

/** A file of the stack whose bytes go to the platform: a voice clip, a knowledge document. */
export class Blob {
  /** Relative to the stack folder, with forward slashes. */
  readonly path: string;
  /** Lower-case hex of the content. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly mime: string;
  constructor(path: string, sha256: string, size: number, mime: string) {
    this.path = path;
    this.sha256 = sha256;
    this.size = size;
    this.mime = mime;
  }
  toJSON(): JsonObject {
    return { $blob: `sha256:${this.sha256}`, path: this.path, size: this.size, mime: this.mime };
  }
}

export type Value = JsonScalar | Ref | LinkedText | Secret | Blob | readonly Value[] | ValueObject;

export type ValueObject = { readonly [key: string]: Value };

/** An object of members: neither null, nor an array, nor one of the special values. */
export function isObject(value: Json | undefined): value is JsonObject;

export function isObject(value: Value | undefined): value is ValueObject;

export function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Ref) &&
    !(value instanceof LinkedText) &&
    !(value instanceof Secret) &&
    !(value instanceof Blob)
  );
}

/** Checks that a value is absent, or an object in which every member is. */
export function isNothing(value: Value | undefined): boolean {
  return isObject(value) ? Object.values(value).every(isNothing) : (value ?? null) === null;
}

/** A value, and everything inside of it. */
export function valuesIn(value: Value): readonly Value[] {
  if (isList(value)) return [value, ...value.flatMap(valuesIn)];
  return isObject(value) ? [value, ...Object.values(value).flatMap(valuesIn)] : [value];
}

/** The references in a value, those in texts among them. */
export function refsIn(value: Value): readonly Ref[] {
  return valuesIn(value).flatMap((one) => {
    if (one instanceof LinkedText) return one.parts.filter((part) => part instanceof Ref);
    return one instanceof Ref ? [one] : [];
  });
}

/** A value with every text in it changed, and the names of its members where `rename` says how. */
export function mapTexts(
  value: Json,
  change: (text: string) => string,
  rename = (name: string) => name,
): Json {
  if (typeof value === 'string') return change(value);
  if (isList(value)) return value.map((item) => mapTexts(item, change, rename));
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [rename(name), mapTexts(member, change, rename)]),
  );
}

/** Every unit of a text as JSON and YAML escape it: `\u2028`. */
export function escapeUnits(text: string): string {
  return text.replace(
    /[\s\S]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A value as a field of a form, which has texts alone. */
export function formText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text, where it is one. */
export function findText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A text with something in it, where it is one. */
export function findFilled(value: unknown): string | undefined {
  return findText(value) || undefined;
}

/** A text that the platform may not tell. */
export function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** A list of values. (`Array.isArray` does not narrow readonly arrays well.) */
export function isList(value: Json | undefined): value is readonly Json[];

export function isList(value: Value | undefined): value is readonly Value[];

export function isList(value: unknown): boolean {
  return Array.isArray(value);
}

/** The objects of a list; nothing where there is no list. */
export function objectsIn<V extends Value>(
  value: V | undefined,
): readonly Extract<V, ValueObject>[];

export function objectsIn(value: Value | undefined): readonly ValueObject[] {
  return isList(value) ? value.filter((one) => isObject(one)) : [];
}

/**
 * Returns true if two plain values have the same JSON but for the order of members; an undefined one counts as
 * absent. Equal digests would say the same, at a multiple of the cost.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = listKeys(one);
  return (
    keys.length === listKeys(other).length &&
    keys.every((key) => isSameJson(Reflect.get(one, key), Reflect.get(other, key)))
  );
}

function listKeys(value: object): readonly string[] {
  return Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
}

/** A function that makes its answer once for each object, and remembers it as long as there is the object. */
export function oncePer<K extends object, V extends object | string>(
  make: (key: K) => V,
): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = make(key);
      known.set(key, value);
    }
    return value;
  };
}

/**
 * Looks up a name that somebody else wrote. A plain look-up would also find the members that every object has, such
 * as `constructor`.
 */
export function getOwn<T>(
  table: { readonly [name: string]: T } | undefined,
  name: string,
): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A table read the other way round, such as names by id of ids by name. */
export function invert(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [value, key]));
}

/** How many elements two sequences have in common where they begin and, behind those, where they end. */
export function commonEnds<T>(
  a: readonly T[],
  b: readonly T[],
  isSame = (one: T | undefined, other: T | undefined) => one === other,
): readonly [head: number, tail: number] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && isSame(a[head], b[head])) head += 1;
  let tail = 0;
  while (tail < most - head && isSame(a.at(-1 - tail), b.at(-1 - tail))) tail += 1;
  return [head, tail];
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** How often each of some keys is there. */
export function countEach<K>(keys: Iterable<K>): Map<K, number> {
  const counts = new Map<K, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Compares texts in the same order on every machine. For `sort`. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** An id in the spelling that ids are compared in: a UUID in capitals is the same one. Other texts stay as they are. */
export function plainId(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}

/**
 * A piece of a text as a text of its own. In V8 a piece of 13 characters or more points into the whole, which then stays in
 * memory as long as the piece does.
 */
export function detached<T extends string | null>(piece: T): T {
  return piece === null ? piece : JSON.parse(JSON.stringify(piece));
}

/** Returns true for a moment, such as when a provider was connected: a time without its zone is none. */
export function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text);
}

/** `2026-11-21T09:45:12Z`: a moment for people, in UTC as receipts of runs have it. Other texts stay as they are. */
export function inSeconds(time: string): string {
  const at = isMoment(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(at) ? time : `${new Date(at).toISOString().slice(0, -5)}Z`;
}

const MILLISECONDS: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of a length of time such as `10s`, `30m`, `2h`, `7d` or `4w`; undefined where a text is none. */
export function millisecondsIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([smhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (MILLISECONDS[unit] ?? 0);
}

/** Works through items, so many at a time, and never holds more than it works on. The first failure ends it. */
export async function inTurns<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const turns = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async () => {
    for (let turn = turns.next(); turn.done !== true && !hasFailed; turn = turns.next()) {
      try {
        await work(turn.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
