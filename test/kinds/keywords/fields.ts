import { elementSegments, formatPath, isIdentity, type Path } from '../../../src/core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../../../src/core/schema.ts';
import {
  Blob,
  isList,
  isObject,
  type Json,
  type JsonObject,
  LinkedText,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../../../src/core/value.ts';
import { memberAt, placeValue, schemaAt, valueAt } from '../../../src/core/walk.ts';
import { compare, type LeafChange } from '../../../src/diff/compare.ts';
import { listLeaves, type Sides, type World } from '../../../src/diff/leaves.ts';
import { kinds } from '../../../src/kinds/index.ts';
import type { Kind } from '../../../src/kinds/kind.ts';
import { rememberResource } from '../../../src/plan/state-entry.ts';
import type { ResourceState } from '../../../src/state/model.ts';
import { desiredResource, fingerprinter, HARBOR, KEY } from '../../world.ts';
import { samples } from '../samples.ts';

/** A field that a schema says a keyword of, with the place of one in the sample of its kind. */
export type Field = {
  readonly kind: Kind;
  /** `agent.extensions.tools[].url`; a kind itself has its name alone. */
  readonly name: string;
  readonly schema: FieldSchema;
  readonly path: Path;
  readonly text: string;
  /** The kind's sample, and another with other values. */
  readonly whole: ValueObject;
  readonly other: ValueObject;
};

/** Where ids, secrets and fingerprints are looked up. */
export const WORLD: World = {
  findId: (address) => `id of ${address}`,
  findSecret: (source) => `value of ${source}`,
  fingerprints: fingerprinter(KEY),
};

const SCOPE = {
  organization_id: HARBOR,
  knowledge_base_id: '7c346549-f8c6-406a-809e-72392ed69b41',
};

/** A sample as the configuration resolves it: files are bytes by then. */
function resolved(kind: Kind, document: JsonObject): ValueObject {
  const members = Object.entries(desiredResource(`${kind.name}.one`, document).document).map(
    ([name, value]): [string, Value] => {
      const isFile = memberSchema(kind.schema, kind.schema, name)['x-file'] !== undefined;
      return isFile && typeof value === 'string'
        ? [name, new Blob(value, value.length.toString(16).padStart(64, '0'), 40, 'text/csv')]
        : [name, value];
    },
  );
  const scope = Object.entries(SCOPE).filter(([name]) => kind.scope.includes(name));
  return Object.fromEntries([...members, ...scope]);
}

/** Every field of a kind, the kind itself first, under the path of its place in a schema. */
function placesOf({ schema: root }: Kind): readonly (readonly [Path, FieldSchema])[] {
  const visit = (schema: FieldSchema, path: Path): readonly (readonly [Path, FieldSchema])[] => [
    [path, schema],
    ...Object.keys(schema.properties ?? {}).flatMap((name) =>
      visit(memberSchema(root, schema, name), [...path, name]),
    ),
    ...(schema.items === undefined ? [] : visit(itemSchema(root, schema), [...path, '[]'])),
  ];
  return visit(root, []);
}

/** The first path of a document that has the form of a place; what lies in a list without identities is the list. */
function locate(root: FieldSchema, document: ValueObject, place: Path): Path | undefined {
  let schema = root;
  let value: Value | undefined = document;
  const path: string[] = [];
  for (const step of place) {
    if (step === '[]') {
      const { 'x-identity': identity } = schema;
      if (identity === undefined) return path;
      const segments: readonly string[] = isList(value) ? elementSegments(identity, value) : [];
      const [first] = segments;
      if (first === undefined) return undefined;
      path.push(first);
      value = memberAt(schema, value, first);
      schema = itemSchema(root, schema);
    } else {
      path.push(step);
      value = memberAt(schema, value, step);
      schema = memberSchema(root, schema, step);
    }
  }
  return path;
}

/** The fields that have a keyword, each in the first sample of its kind that has something there. */
export function fieldsWith(keyword: keyof FieldSchema): readonly Field[] {
  return kinds.flatMap((kind) => {
    const own = samples.filter((sample) => sample.kind === kind.name);
    return placesOf(kind).flatMap(([place, schema]): readonly Field[] => {
      if (schema[keyword] === undefined) return [];
      const found = own.flatMap(({ whole, changed }) => {
        const document = resolved(kind, whole);
        const path = locate(kind.schema, document, place);
        return path === undefined ? [] : [{ document, path, changed: changed.resource }];
      });
      const isThere = ({ document, path }: (typeof found)[number]) =>
        (valueAt(kind.schema, document, path) ?? null) !== null;
      const best = found.find(isThere) ?? found[0];
      if (best === undefined) throw new Error(`no sample leads to ${kind.name}.${place.join('.')}`);
      const name = [kind.name, ...place].join('.').replaceAll('.[]', '[]');
      const { document: whole, path } = best;
      const other = resolved(kind, best.changed);
      return [{ kind, name, schema, path, text: formatPath(path), whole, other }];
    });
  });
}

/** What the platform returns of a resource that is as it is configured. */
export function liveOf(
  { kind: { schema: root } }: Pick<Field, 'kind'>,
  document: ValueObject,
): JsonObject {
  const visit = (schema: FieldSchema, value: Value): Json | undefined => {
    if (schema.writeOnly === true || schema['x-local'] === true || value instanceof Blob)
      return undefined;
    if (value instanceof Ref) return `id of ${value.address}`;
    if (value instanceof LinkedText) return value.toJSON();
    if (value instanceof Secret) return `value of ${value.source}`;
    if (isList(value)) return value.map((item) => visit(itemSchema(root, schema), item) ?? null);
    return isObject(value) ? object(schema, value) : value;
  };
  const object = (schema: FieldSchema, value: ValueObject): JsonObject =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const found = visit(memberSchema(root, schema, name), member);
        return found === undefined ? [] : [[name, found]];
      }),
    );
  return object(root, document);
}

/** What the state remembers of a resource that was written like this. */
export function recordOf({ kind }: Pick<Field, 'kind'>, document: ValueObject): ResourceState {
  const desired = { ...desiredResource(`${kind.name}.one`, {}), document };
  const all = new Set(listLeaves(kind.schema, document).leaves.keys());
  const live = { id: 'one', scope: SCOPE, pin: null, document: liveOf({ kind }, document) };
  return rememberResource(kind, desired, live, undefined, all, WORLD);
}

/** What a comparison finds where this was written last, unless `sides` say otherwise. */
export function compared(
  { kind, whole }: Field,
  { wanted = whole, live = liveOf({ kind }, whole) }: { wanted?: ValueObject; live?: JsonObject },
  sides: Partial<Sides> = {},
): readonly LeafChange[] {
  const given: Sides = {
    address: `${kind.name}.one`,
    applied: recordOf({ kind }, whole).leaves,
    ignore: [],
    isPartial: false,
    resend: false,
    ...sides,
  };
  return compare(kind.schema, wanted, live, given, WORLD);
}

/** The sample with another value at a path; undefined takes it away. */
export function withValue(
  { kind, whole, path }: Pick<Field, 'kind' | 'whole' | 'path'>,
  value: Value | undefined,
  document: ValueObject = whole,
): ValueObject {
  return placeValue(kind.schema, document, path, value);
}

/** The same of what is live. */
export function liveWith(field: Field, value: Json | undefined, path = field.path): JsonObject {
  return placeValue<Json>(field.kind.schema, liveOf(field, field.whole), path, value);
}

/** Another value of the same form, made up. */
export function different(field: Field): Value {
  const value = valueAt(field.kind.schema, field.whole, field.path);
  const { enum: among = [] } = schemaAt(field.kind.schema, field.path);
  if (among.length > 0) return among.find((one) => one !== value && one !== null) as Value;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (value instanceof Secret) return new Secret('env:ANOTHER');
  if (value instanceof Blob) return new Blob(value.path, 'f'.repeat(64), 41, value.mime);
  if (value instanceof Ref) return new Ref(`${field.schema['x-ref']}.another`);
  return typeof value === 'string' ? `${value}x` : 'x';
}

/** Whether a field is a leaf that a resource can be given by itself: none of a list's elements, and no name of one. */
export const isPlain = ({ path }: Field) => path.length > 0 && !path.some(isIdentity);
