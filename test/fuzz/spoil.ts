import { hash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import type { Json } from '../../src/core/value.ts';
import { oneOf } from './choice.ts';
import { isLive } from './step.ts';

/** What a value is spoilt with: one change, anywhere in it. */
const TWISTS: readonly Json[] = [
  null,
  true,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'x'.repeat(20_000),
  '\u0000\uFFFF\u202E',
  '\uD800',
  'null',
  '../../etc/passwd',
  '{{token',
  [],
  {},
  [[[[null]]]],
  { $ref: '#/components/schemas/Agent' },
  { toString: null, constructor: 'x', hasOwnProperty: 1 },
];

/** Members that no schema has and that objects of the language do have. */
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  '',
  'unknown',
  'a.b',
  '$ref',
  '0',
  'id',
];

/** Of so many values one is only nearly valid: a place of it is dropped, replaced or added to. */
export function sometimesSpoilt(values: Arbitrary<Json>, oneIn: number): Arbitrary<Json> {
  const damage = oneOf<Damage | undefined>(
    { weight: oneIn - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: DAMAGES },
  );
  return fc
    .tuple(damage, values)
    .map(([done, value]) => (done === undefined ? value : damaged(value, done)));
}

type Damage = {
  readonly draw: number;
  readonly how: 'drop' | 'replace' | 'add' | 'double';
  readonly twist: Json;
  readonly name: string;
};

const DAMAGES: Arbitrary<Damage> = fc.record({
  draw: fc.noShrink(fc.nat()),
  how: fc.constantFrom('drop', 'replace', 'add', 'double'),
  twist: fc.constantFrom(...TWISTS),
  name: fc.constantFrom(...NAMES),
});

function damaged(value: Json, { draw, how, twist, name }: Damage): Json {
  return changed(value, placeOf(value, draw), (old) => {
    switch (how) {
      case 'drop':
        return undefined;
      case 'replace':
        return twist;
      case 'double':
        return Array.isArray(old)
          ? [...old, ...old, ...old, ...old, ...old]
          : [old ?? null, old ?? null];
      default:
        return isPlain(old) ? withMember(old, name, twist) : twist;
    }
  });
}

/** One place of a value. It stays the same when others are taken out, so that a finding can lose them. */
function placeOf(value: Json, draw: number): Keys {
  const lots = pathsOf(value).map((path) => ({
    path,
    lot: hash('sha1', JSON.stringify([draw, path])),
  }));
  return lots.reduce((a, b) => (b.lot < a.lot ? b : a)).path;
}

type Keys = readonly (string | number)[];

function pathsOf(value: Json, at: Keys = []): readonly Keys[] {
  if (isLive(value) || typeof value !== 'object' || value === null) return [at];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [at, ...entries.flatMap(([key, member]) => pathsOf(member, [...at, key]))];
}

/** A copy with the value at a path replaced; undefined takes it out, but not the whole. */
function changed(value: Json, path: Keys, change: (old: Json) => Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return change(value) ?? null;
  const next = (member: Json) =>
    rest.length === 0 ? change(member) : changed(member, rest, change);
  if (Array.isArray(value))
    return value.flatMap((member, index) =>
      index === key ? [next(member) ?? []].flat() : [member],
    );
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    if (name !== key) return [[name, member]];
    const changedMember = next(member);
    return changedMember === undefined ? [] : [[name, changedMember]];
  });
  return Object.fromEntries(entries);
}

/** A copy with one more member, which may be called `__proto__`. */
function withMember(value: { readonly [name: string]: Json }, name: string, member: Json): Json {
  return Object.fromEntries([...Object.entries(value), [name, member]]);
}

function isPlain(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLive(value);
}
