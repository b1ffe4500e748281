import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import wire from '../../schemas/wire.schema.generated.json' with { type: 'json' };
import { type FieldSchema, itemSchema, memberSchema } from '../../src/core/schema.ts';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { catalogues } from '../../src/kinds/catalogues.ts';
import { kinds } from '../../src/kinds/index.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { assumptions, operations } from '../../src/platform/operations.generated.ts';
import { FORMATS } from '../../src/stack/formats.ts';
import { samples } from './samples.ts';

/** A field wherever it stands in a schema. */
type Field = { readonly path: string; readonly schema: FieldSchema };

/** Every named field, those of list elements and shared definitions included. */
function fieldsOf(root: FieldSchema): readonly Field[] {
  const found: Field[] = [];
  const visit = (schema: FieldSchema, path: string): void => {
    for (const name of Object.keys(schema.properties ?? {})) {
      const member = memberSchema(root, schema, name);
      const at = path === '' ? name : `${path}.${name}`;
      found.push({ path: at, schema: member });
      visit(member, at);
    }
    if (schema.items !== undefined) visit(itemSchema(root, schema), `${path}[]`);
  };
  visit(root, '');
  return found;
}

/** The facts that the head of `core/schema.ts` explains. */
const EXPLAINED = new Set(
  [...readFileSync('src/core/schema.ts', 'utf8').matchAll(/^ \* \| `(x-[a-z-]+)`/gm)].map(
    ([, name]) => name,
  ),
);

/** What the configuration may give: everything but what the platform owns or the block hands down. */
const isGiven = ({ schema }: Field) => schema.readOnly !== true && schema['x-config'] !== false;

describe.each(kinds.map((kind) => ({ name: kind.name, kind })))('$name', ({ kind }) => {
  const fields = fieldsOf(kind.schema);
  const facts = fields.flatMap(({ path, schema }) =>
    Object.entries(schema).flatMap(([fact, value]) =>
      fact.startsWith('x-') ? [{ path, fact, value }] : [],
    ),
  );
  const having = (fact: string) => facts.filter((one) => one.fact === fact);

  test('its schema compiles, strictly', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
    ajv.addVocabulary([...EXPLAINED].map(String));
    for (const [name, { check }] of Object.entries(FORMATS)) ajv.addFormat(name, check);
    ajv.addFormat('date-time', true);
    expect(typeof ajv.compile(kind.schema)).toBe('function');
    expect(kind.schema.$id).toBe(`urn:callsheet:kind:${kind.name}`);
  });

  test('every fact about a field is one that core/schema.ts explains', () => {
    expect(EXPLAINED.size).toBeGreaterThan(15);
    expect(facts.filter(({ fact }) => !EXPLAINED.has(fact))).toEqual([]);
  });

  test('every field says what it is, and shows an example where it can be given', () => {
    const silent = fields.filter(({ schema }) => !/^[A-Z`].*\.$/s.test(schema.description ?? ''));
    expect(silent.map(({ path }) => path)).toEqual([]);
    const bare = fields.filter(
      (field) => isGiven(field) && (field.schema.examples ?? []).length === 0,
    );
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  test('every operation that it names exists', () => {
    const named = [
      ...Object.values(kind.operations).flat(),
      ...kind.facets.flatMap((facet) => facet.operations),
      ...having('x-operations').flatMap(({ value }) => (Array.isArray(value) ? value : [])),
    ];
    expect(named.filter((name) => !(name in operations))).toEqual([]);
    const scope = Object.fromEntries(kind.scope.map((field) => [field, 'id']));
    const calls = [
      kind.list(scope),
      ...(kind.get ? [kind.get('id')] : []),
      ...(kind.history ? [kind.history.list('id', 1), kind.history.revert('id', 1)] : []),
      ...kind.facets.flatMap((facet) => [
        facet.write('id', {}),
        ...(facet.get ? [facet.get('id')] : []),
      ]),
    ];
    for (const call of calls) expect(named).toContain(call.operation);
    expect(kind.operations.update.length > 0).toBe(kind.update !== undefined);
    expect(kind.operations.delete.length > 0).toBe(kind.delete !== undefined);
    expect(kind.operations.revert.length > 0).toBe(kind.history !== undefined);
  });

  test('of every secret that is never returned it says which member beside it tells that it is set', () => {
    const isSent = ({ schema }: Field) =>
      schema.writeOnly === true && schema['x-local'] !== true && schema['x-file'] === undefined;
    const paths = new Set(fields.map(({ path }) => path));
    const told = fields.filter(isSent).map(({ path, schema }) => {
      const beside = schema['x-secret-of'];
      const place = path.slice(0, path.lastIndexOf('.') + 1);
      return { path, isSaid: beside === false || paths.has(`${place}${beside}`) };
    });
    expect(told.filter(({ isSaid }) => !isSaid)).toEqual([]);
  });

  test('the fields that it is recognised by and listed by are its own', () => {
    const own = Object.keys(kind.schema.properties ?? {});
    for (const field of [...kind.scope, ...kind.naturalKey.flat()]) expect(own).toContain(field);
    for (const facet of kind.facets)
      expect(kind.schema.properties?.[facet.field]?.['x-facet']).toBe(true);
    expect(having('x-facet').map(({ path }) => path)).toEqual(
      kind.facets.map(({ field }) => field),
    );
    for (const field of Object.values(kind.nested?.inherit ?? {})) expect(own).toContain(field);
  });

  test('what its fields point at exists', () => {
    const names = kinds.map(({ name }) => name);
    const paths = fields.map(({ path }) => path);
    for (const { value } of having('x-ref')) expect(names).toContain(value);
    for (const { value } of having('x-assumption'))
      expect(Object.keys(assumptions)).toContain(value);
    for (const { value } of having('x-write-with'))
      for (const field of Array.isArray(value) ? value : []) expect(paths).toContain(field);
    for (const { value } of having('x-told-while')) expect(paths).toContain(value);
    for (const { value } of having('x-lock'))
      expect(value).toMatch(/^[a-z_]+(\.\{(value|key)\})?$/);
    const locks = [kind.schema['x-lock']].filter((lock) => lock !== undefined);
    for (const lock of locks) expect(lock).toMatch(/^[a-z_]+$/);
    for (const { value } of having('x-one-of')) expect(Object.keys(catalogues)).toContain(value);
    for (const { path } of having('x-ready'))
      expect(
        kind.facets.find(({ field }) => path.startsWith(`${field}.`))?.readiness,
      ).toBeDefined();
    for (const { path, value } of having('x-identity'))
      expect(paths).toContain(`${path}[].${value}`);
  });

  test('every field that can be given stands in a sample', () => {
    const mine = samples.filter((sample) => sample.kind === kind.name);
    const given = new Set(mine.flatMap(({ whole }) => pathsIn(whole)));
    const missing = fields.filter((field) => isGiven(field) && !given.has(field.path));
    // The stack gives the organization to all of its resources.
    const paths = missing.map(({ path }) => path).filter((path) => path !== 'organization_id');
    expect(paths, 'add them to test/kinds/agent-sample.ts or samples.ts').toEqual([]);
  });
});

test('agents are written under the names that the platform takes', () => {
  const agent = kinds.find(({ name }) => name === 'agent');
  const written = topLevel(agent).map(({ schema }) => schema['x-write']);
  const { agent_write: update, agent_create: creation } = wire.$defs;
  const names = new Set([...Object.keys(update.properties), ...Object.keys(creation.properties)]);
  expect([...written].sort()).toEqual([...names].sort());
});

test('kinds have names, sections and schemas of their own', () => {
  for (const of of [
    kinds.map(({ name }) => name),
    kinds.map(({ section }) => section),
    kinds.map(({ schema }) => schema.$id),
  ])
    expect(new Set(of).size).toBe(kinds.length);
  expect(new Set(samples.map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ name }) => name)));
});

/** The fields that an update of the resource itself may write. */
function topLevel(kind: Kind | undefined): readonly Field[] {
  const properties = Object.entries(kind?.schema.properties ?? {});
  return properties
    .map(([path, schema]) => ({ path, schema }))
    .filter(({ schema }) => schema.readOnly !== true && schema['x-facet'] !== true);
}

/** The paths of a document's members, list elements under `[]`. */
function pathsIn(document: JsonObject): readonly string[] {
  const visit = (value: Json, path: string): readonly string[] => {
    if (Array.isArray(value))
      return [path, ...value.flatMap((item: Json) => visit(item, `${path}[]`))];
    if (!isObject(value)) return [path];
    return [
      path,
      ...Object.entries(value).flatMap(([key, member]) =>
        visit(member, path === '' ? key : `${path}.${key}`),
      ),
    ];
  };
  return visit(document, '');
}
