import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { DOCUMENTS, type DocumentFormat } from '../../src/console/show.ts';
import { features } from '../../src/features/index.ts';
import { checkPrinted, problemsOf } from '../documents.ts';

const { commands: COMMANDS } = openTable(features);

const FOLDER = join(import.meta.dirname, '../../schemas');

/** Files that describe what is written by hand, or parts of it. */
const CONFIGURATION = ['callsheet'];

type Schema = { readonly [keyword: string]: unknown };

function schemaOf(name: string): Schema {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), 'utf8'));
}

test('every command that prints JSON says which documents', () => {
  const wrong = COMMANDS.filter(({ name, flags = [], prints = [] }) => {
    const isJson = flags.some(
      ({ spelling, choices }) => spelling.startsWith('--format ') && choices?.includes('json'),
    );
    // It has no other form.
    return prints.length > 0 !== (isJson || name === 'state pull');
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test('every file below schemas/ is that of a document or of the configuration', () => {
  const files = globSync('*.schema.json', { cwd: FOLDER }).map((file) => file.split('.')[0] ?? '');
  expect([...files].sort()).toEqual(
    [...new Set(Object.values(DOCUMENTS)), ...CONFIGURATION].sort(),
  );
});

test('a receipt describes whatever a journal may hold', () => {
  const membersOf = (name: string) => {
    const defs = schemaOf(name).$defs as Record<string, { readonly properties?: object }>;
    return new Map(
      Object.entries(defs).map(([one, { properties = {} }]) => [
        one,
        Object.keys(properties).sort(),
      ]),
    );
  };
  const [journal, receipt] = [membersOf('state'), membersOf('runs')];
  // A leaf is one of several forms in the one, and described by each in the other.
  const shared = [...journal.keys()].filter((name) => name !== 'leaf' && receipt.has(name));
  expect(shared.length).toBeGreaterThan(9);
  for (const name of shared) expect(receipt.get(name), name).toEqual(journal.get(name));
});

describe.each([...new Set(Object.values(DOCUMENTS))])('%s.schema.json', (name) => {
  const schema = schemaOf(name);

  test('is of draft 2020-12 and has an id with a version of its own', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema.$id).toMatch(/^urn:callsheet:[a-z-]+(:[1-4])?$/);
    expect(schema.title).toEqual(expect.any(String));
  });

  test('names each of its documents, and the version', () => {
    const heads = objectsOf(schema).flatMap(({ properties }) => {
      const { format, version } = (properties ?? {}) as { [name: string]: Schema };
      return typeof format?.const === 'string' ? [[format.const, version?.const]] : [];
    });
    const own = Object.entries(DOCUMENTS).filter(([, file]) => file === name);
    for (const [format] of own) expect(heads).toContainEqual([format, 1]);
  });

  // The state and its journal are read as they are: strictness there is a matter of reading.
  if (name !== 'state' && name !== 'snapshot')
    test('is strict, and says what each member is', () => {
      const open = objectsOf(schema).filter(
        (one) => one.properties && one.additionalProperties !== false,
      );
      expect(open.map(({ properties }) => properties)).toEqual([]);
      const silent = objectsOf(schema).flatMap(({ properties = {} }) =>
        Object.entries(properties as { [name: string]: Schema })
          .filter(([, one]) => one.description === undefined && one.$ref === undefined)
          .map(([member]) => member),
      );
      expect(silent).toEqual([]);
    });
});

test.each<[DocumentFormat, Schema]>([
  ['callsheet-lock', { location: 'x', held: null, unlocked: false, unlockd: true }],
  ['callsheet-lock', { location: 'x', held: null }],
  ['callsheet-lock', { location: 'x', held: null, unlocked: 'no' }],
  ['callsheet-runs', { runs: [{ run: 'a' }] }],
])('%s with a slip in it is none: %j', async (format, content) => {
  const document = { format, version: 1, ...content };
  expect((await problemsOf(format, document)).length).toBeGreaterThan(0);
  const text = JSON.stringify(document, null, 2);
  await expect(checkPrinted(text)).rejects.toThrow('schema.json says');
});

test('a command prints documents of its own alone', async () => {
  const document = {
    format: 'callsheet-lock',
    version: 1,
    location: 'x',
    held: null,
    unlocked: false,
  };
  const text = JSON.stringify(document, null, 2);
  await checkPrinted(text, ['state', 'unlock', '--format', 'json']);
  await expect(checkPrinted(text, ['plan', '--format', 'json'])).rejects.toThrow('callsheet-lock');
});

/** Every schema of an object in a schema. */
function objectsOf(value: unknown): readonly Schema[] {
  if (Array.isArray(value)) return value.flatMap(objectsOf);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'properties' in value && 'type' in value ? [value as Schema] : [];
  return [...own, ...Object.values(value).flatMap(objectsOf)];
}
