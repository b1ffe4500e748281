import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { pickLeaves } from '../../src/core/walk.ts';
import { compare } from '../../src/diff/compare.ts';
import { NO_FINGERPRINTS } from '../../src/diff/leaves.ts';
import { mergeDocuments, requestBody } from '../../src/diff/merge.ts';
import { kindNamed } from '../../src/kinds/index.ts';

/** Names that every object has without anybody giving them. */
const NAMES = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];

const { schema } = kindNamed('agent');
const WORLD = {
  findId: () => undefined,
  findSecret: () => undefined,
  fingerprints: NO_FINGERPRINTS,
};
const SIDES = { address: 'agent.desk', ignore: [], isPartial: false, resend: false };
const INTENT = { secrets: new Set<string>(), cleared: new Set<string>(), ignore: [] };

describe.each(NAMES)('a field called %s', (name) => {
  test('is compared as any other', () => {
    const changes = (live: JsonObject) =>
      compare(schema, { [name]: 'mine' }, live, { ...SIDES, applied: {} }, WORLD);
    expect(changes({ [name]: 'mine' })).toEqual([]);
    expect(changes({})).toMatchObject([{ text: name, before: undefined, cause: 'changed' }]);
    expect(changes({ [name]: 'theirs' })).toMatchObject([{ before: 'theirs', cause: 'changed' }]);
  });

  test('is nothing where only one side has it', () => {
    const config = { inactivity_timeout: 10 };
    const merged = mergeDocuments(schema, { config: { [name]: 'x' } }, { config }, INTENT, WORLD);
    expect(merged).toEqual({ config: { ...config, [name]: 'x' } });
    const kept = mergeDocuments(schema, { config }, { config: { [name]: 'x' } }, INTENT, WORLD);
    expect(kept).toEqual({ config: { ...config, [name]: 'x' } });
    expect(requestBody(schema, { [name]: 'x' }, [name])).toEqual({ [name]: 'x' });
  });

  test('is put back as it was, or to nothing', () => {
    expect(pickLeaves(schema, { config: {} }, [['config', name]])).toEqual({
      config: { [name]: null },
    });
    expect(pickLeaves(schema, { [name]: 'x' }, [[name]])).toEqual({ [name]: 'x' });
  });
});

test('a member called __proto__ stays where the rest of its object is written', () => {
  const live = JSON.parse('{"config":{"__proto__":{"a":1}}}');
  const merged = mergeDocuments(schema, { config: { volume: 0.5 } }, live, INTENT, WORLD);
  expect(JSON.stringify(merged)).toBe('{"config":{"__proto__":{"a":1},"volume":0.5}}');
});
